// Package wire carries Jupyter messages: connection files, signed messages
// and a kernel's five sockets. It knows nothing of what the messages ask for.
//
// The sockets speak ZMTP through go-zeromq/zmq4's Conn, one for each client
// connection. zmq4's own sockets are not used, because a kernel needs what
// they do not give:
//
//   - zmq4 shakes hands in its accept loop, so that one client that connects
//     and says nothing keeps all others out; and a malformed handshake, or a
//     frame that claims an absurd length, panics the process.
//   - Its ROUTER and PUB send while they hold a lock, so that one stalled
//     client stops the answers to all others.
//   - Its RecvMsg makes room for whatever a frame claims.
//   - Its XPUB keeps subscriptions to itself, and nothing lingers on close.
//
// Here every connection has its own reader, its own queue and the one
// goroutine that writes to it. A client proves that it knows the key by its first
// well signed message; what those cost who have not is bounded (guard.go,
// places.go), and so is how long a subscriber, who signs nothing, is waited for.
package wire
