package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
)

const hang = time.Minute // before a test is taken to hang

// logged collects a log.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// await waits until the log holds the text so many times.
func (l *logged) await(t *testing.T, text string, times int) {
	t.Helper()
	for deadline := time.Now().Add(hang); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		l.mu.Lock()
		found := strings.Count(l.text.String(), text) >= times
		l.mu.Unlock()
		if found {
			return
		}
	}
	t.Fatalf("the log has no %q:\n%s", text, l.text.String())
}

func listen(t *testing.T, c Connection) (*Sockets, *logged) {
	t.Helper()
	if c.Transport == "" {
		c.Transport, c.IP = "tcp", "127.0.0.1"
	}
	c.SignatureScheme = "hmac-sha256"
	log := &logged{}
	s, err := Listen(c, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(0) })
	return s, log
}

func dial(t *testing.T, s *Sockets, ch Channel, id string) zmq4.Socket {
	t.Helper()
	quiet := zmq4.WithLogger(slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo))
	var socket zmq4.Socket
	if ch == IOPub {
		socket = zmq4.NewSub(context.Background(), quiet)
	} else {
		socket = zmq4.NewDealer(context.Background(), quiet, zmq4.WithID(zmq4.SocketIdentity(id)))
	}
	t.Cleanup(func() { socket.Close() })
	if err := socket.Dial(s.Connection().Endpoint(ch)); err != nil {
		t.Fatal(err)
	}
	return socket
}

func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(hang); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still not: %s", what)
		}
	}
}

// receive waits for a message's frames.
func receive(t *testing.T, socket zmq4.Socket) [][]byte {
	t.Helper()
	got := make(chan [][]byte, 1)
	go func() {
		if m, err := socket.Recv(); err == nil {
			got <- m.Frames
		}
	}()
	select {
	case frames := <-got:
		return frames
	case <-time.After(hang):
		t.Fatal("nothing was received")
		return nil
	}
}

func subscribe(t *testing.T, s *Sockets, topic string) zmq4.Socket {
	t.Helper()
	sub := dial(t, s, IOPub, "")
	if err := sub.SetOption(zmq4.OptionSubscribe, topic); err != nil {
		t.Fatal(err)
	}
	if frames := receive(t, sub); string(frames[0]) != topic || !bytes.Contains(frames[3], []byte("iopub_welcome")) ||
		string(frames[6]) != fmt.Sprintf(`{"subscription":%q}`, topic) {
		t.Fatalf("welcome %q", frames)
	}
	return sub
}

func next(t *testing.T, s *Sockets, ch Channel) *Message {
	t.Helper()
	select {
	case m := <-s.Messages(ch):
		return m
	case <-time.After(hang):
		t.Fatalf("nothing came on %s", ch)
		return nil
	}
}

// request makes the frames of a good request.
func request(s *Sockets, n int) [][]byte {
	return signed(s.signer, parts(fmt.Sprintf(`{"msg_id":"%d","msg_type":"x_request"}`, n), `{}`, `{}`, `{}`))[1:]
}

func send(t *testing.T, socket zmq4.Socket, frames [][]byte) {
	t.Helper()
	if err := socket.SendMulti(zmq4.NewMsgFrom(frames...)); err != nil {
		t.Fatal(err)
	}
}

// What is wrong is dropped and logged; what comes after it is not harmed.
func TestBadMessagesAreDroppedAndLogged(t *testing.T) {
	s, log := listen(t, Connection{Key: "key"})
	client := dial(t, s, Shell, "client")
	stranger, seen := testSigner(t, "another key"), map[string]int{}
	good := parts(`{"msg_id":"0","msg_type":"execute_request"}`, `{}`, `{}`, `{"code":"evil"}`)
	for _, test := range []struct {
		frames [][]byte
		want   string
	}{
		{signed(stranger, good)[1:], "wrong or missing signature"},
		{append([][]byte{delimiter, nil}, good...), "wrong or missing signature"},
		{signed(s.signer, parts(`{"msg_id"`, `{}`, `{}`, `{}`))[1:], "header is not"},
		{[][]byte{{}}, "no <IDS|MSG>"},
		{[][]byte{delimiter}, "0 frames after"},
		{bytes.Split(bytes.Repeat([]byte("\xff,"), 1000), []byte(",")), "no <IDS|MSG> among"},
	} {
		if err := client.SendMulti(zmq4.NewMsgFrom(test.frames...)); err != nil {
			t.Fatal(err)
		}
		seen[test.want]++
		log.await(t, test.want, seen[test.want])
	}
	if err := client.SendMulti(zmq4.NewMsgFrom(request(s, 1)...)); err != nil {
		t.Fatal(err)
	}
	if m := next(t, s, Shell); m.Header.ID != "1" || string(m.Identities[0]) != "client" {
		t.Errorf("%+v", m)
	}
}

func TestRepliesFindTheirClients(t *testing.T) {
	s, _ := listen(t, Connection{Key: "key"})
	const clients = 100
	var sockets [clients]zmq4.Socket
	for i := range sockets {
		id := fmt.Sprintf("client %d", i)
		if i%2 == 0 {
			id = "" // the kernel gives it one
		}
		sockets[i] = dial(t, s, Shell, id)
	}
	for i, socket := range sockets {
		frames := request(s, i)
		frames = append([][]byte{[]byte("a further identity")}, frames...)
		if err := socket.SendMulti(zmq4.NewMsgFrom(frames...)); err != nil {
			t.Fatal(err)
		}
	}
	for range sockets {
		m := next(t, s, Shell)
		err := s.Send(Shell, m.Identities, Outgoing{Type: "x_reply", Parent: m, Content: m.Header})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, socket := range sockets {
		frames := receive(t, socket)
		var got Header
		if err := json.Unmarshal(frames[6], &got); err != nil || got.ID != fmt.Sprint(i) || string(frames[0]) != "a further identity" {
			t.Errorf("client %d got %q", i, frames)
		}
	}
	if err := s.Send(Shell, [][]byte{[]byte(ownIdentity + "nobody")}, Outgoing{Type: "x_reply"}); err == nil {
		t.Error("a reply to nobody is no error")
	}
}

// Clients that give no identity, as libzmq's do, are told apart all the same.
func TestClientsWithoutIdentity(t *testing.T) {
	s, _ := listen(t, Connection{})
	clients := []*rawClient{raw(t, s, Shell, "DEALER"), raw(t, s, Shell, "DEALER")}
	for i, c := range clients {
		frames := request(s, i)
		for j, f := range frames {
			flag := byte(flagMore)
			if j == len(frames)-1 {
				flag = 0
			}
			c.Write(append([]byte{flag, byte(len(f))}, f...))
		}
	}
	for _, m := range []*Message{next(t, s, Shell), next(t, s, Shell)} {
		if err := s.Send(Shell, m.Identities, Outgoing{Type: "x_reply", Parent: m, Content: struct{}{}}); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range clients {
		want := fmt.Appendf(nil, `{"msg_id":"%d","msg_type":"x_request"}`, i)
		c.SetReadDeadline(time.Now().Add(hang))
		var got []byte
		for b := make([]byte, 4096); !bytes.Contains(got, want); {
			n, err := c.Read(b)
			if got = append(got, b[:n]...); err != nil {
				t.Fatalf("client %d got %q, %v", i, got, err)
			}
		}
	}
}

// A client that connects again under its identity takes the place of what it
// was, as Jupyter's clients do when they reconnect. A stranger cannot.
func TestAClientComesBack(t *testing.T) {
	s, log := listen(t, Connection{Key: "key"})
	for i := range 3 {
		socket := dial(t, s, Shell, "the same")
		stranger := dial(t, s, Shell, "the same")
		evil := parts(`{"msg_id":"0","msg_type":"execute_request"}`, `{}`, `{}`, `{}`)
		if err := stranger.SendMulti(zmq4.NewMsgFrom(signed(testSigner(t, "no key"), evil)[1:]...)); err != nil {
			t.Fatal(err)
		}
		log.await(t, "dropped a message", i+1)
		if err := socket.SendMulti(zmq4.NewMsgFrom(request(s, i)...)); err != nil {
			t.Fatal(err)
		}
		m := next(t, s, Shell)
		if err := s.Send(Shell, m.Identities, Outgoing{Type: "x_reply", Parent: m, Content: m.Header}); err != nil {
			t.Fatal(err)
		}
		if frames := receive(t, socket); !bytes.Contains(frames[5], []byte(fmt.Sprintf(`"msg_id":"%d"`, i))) {
			t.Errorf("got %q", frames)
		}
	}
}

func TestPublishByTopic(t *testing.T) {
	s, _ := listen(t, Connection{Key: "key"})
	all, streams := subscribe(t, s, ""), subscribe(t, s, "stream")
	const n = 200
	for i := range n {
		for _, kind := range []string{"status", "stream"} {
			if err := s.Publish(Outgoing{Type: kind, Content: map[string]int{"n": i}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range n {
		want := fmt.Sprintf(`{"n":%d}`, i)
		for _, get := range []struct {
			socket zmq4.Socket
			kind   string
		}{{all, "status"}, {all, "stream"}, {streams, "stream"}} {
			if frames := receive(t, get.socket); string(frames[0]) != get.kind || string(frames[6]) != want {
				t.Fatalf("got %q, want %s %s", frames, get.kind, want)
			}
		}
	}
	if err := streams.SetOption(zmq4.OptionUnsubscribe, "stream"); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(hang); len(subscribers(s, "stream")) > 1; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("still subscribed")
		}
	}
}

// A subscriber's first message is its welcome, whatever is published meanwhile.
func TestTheWelcomeComesFirst(t *testing.T) {
	s, _ := listen(t, Connection{})
	stop := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				s.Publish(Outgoing{Type: "status", Content: struct{}{}})
			}
		}
	})
	for range 30 {
		subscribe(t, s, "").Close()
	}
	close(stop)
	wait.Wait()
}

func subscribers(s *Sockets, topic string) (list []*peer) {
	for _, p := range s.list(IOPub) {
		if p.subscribed(topic) {
			list = append(list, p)
		}
	}
	return list
}

func TestHugeMessages(t *testing.T) {
	s, _ := listen(t, Connection{Key: "key"})
	s.lag.queued = 1 << 20
	client, sub := dial(t, s, Shell, "client"), subscribe(t, s, "")
	text := strings.Repeat("0123456789abcdef", 1<<20) // more than may wait
	frames := signed(s.signer, parts(`{"msg_type":"x_request"}`, `{}`, `{}`, `{"code":"`+text+`"}`))[1:]
	if err := client.SendMulti(zmq4.NewMsgFrom(frames...)); err != nil {
		t.Fatal(err)
	}
	if m := next(t, s, Shell); len(m.Content) != len(text)+len(`{"code":""}`) {
		t.Errorf("content of %d bytes", len(m.Content))
	}
	for range 2 {
		go s.Publish(Outgoing{Type: "stream", Content: map[string]string{"text": text}})
	}
	for range 2 {
		if frames := receive(t, sub); len(frames) != 7 || len(frames[6]) != len(text)+len(`{"text":""}`) {
			t.Errorf("%d frames", len(frames))
		}
	}
}

// A subscriber that stops reading must not hold up the others for longer than
// the kernel has patience.
func TestAStalledSubscriberIsCutOff(t *testing.T) {
	s, log := listen(t, Connection{})
	s.lag = patience{queued: 1 << 20, while: time.Second, pace: 1 << 16}
	stalled := raw(t, s, IOPub, "SUB")
	stalled.send(1, 0, 0) // one byte: subscribe to everything
	until(t, "the subscription is there", func() bool { return len(subscribers(s, "")) == 1 })
	sub := subscribe(t, s, "")
	const n = 200
	go func() {
		for i := range n {
			s.Publish(Outgoing{Type: "stream", Content: map[string]any{"n": i, "text": strings.Repeat("x", 1<<18)}})
		}
	}()
	for i := range n {
		if frames := receive(t, sub); !bytes.HasPrefix(frames[6], fmt.Appendf(nil, `{"n":%d,`, i)) {
			t.Fatalf("got %.40q, want number %d", frames[6], i)
		}
	}
	log.await(t, "was disconnected", 1)
}

// However many subscribers never read, nobody waits for them in turn.
func TestSilentSubscribersAreNotWaitedForInTurn(t *testing.T) {
	s, log := listen(t, Connection{})
	s.lag = patience{queued: 1 << 20, while: 5 * time.Second, pace: 1 << 16}
	const silent, n = 20, 60
	for range silent {
		raw(t, s, IOPub, "SUB").send(1, 0, 0)
	}
	until(t, "all have subscribed", func() bool { return len(subscribers(s, "")) == silent })
	sub := subscribe(t, s, "")
	go func() {
		for i := range n {
			s.Publish(Outgoing{Type: "stream", Content: map[string]any{"n": i, "text": strings.Repeat("x", 1<<18)}})
		}
	}()
	for i := range n {
		if frames := receive(t, sub); !bytes.HasPrefix(frames[6], fmt.Appendf(nil, `{"n":%d,`, i)) {
			t.Fatalf("got %.40q, want number %d", frames[6], i)
		}
	}
	log.await(t, "was disconnected", silent)
}

// What waits for a subscriber that reads slowly is bounded in memory, not only in
// bytes of the messages: many are small, and what it has taken is let go.
func TestASlowSubscriberCostsBoundedMemory(t *testing.T) {
	const bound = 8 << 20
	s, _ := listen(t, Connection{Key: "key"})
	s.lag = patience{queued: bound, while: time.Hour, pace: 4 << 20}
	slow := raw(t, s, IOPub, "SUB")
	slow.send(1, 0, 0)
	until(t, "it has subscribed", func() bool { return len(subscribers(s, "")) == 1 })
	before := inUse()
	p := subscribers(s, "")[0]
	go func() {
		for { // beyond the bound, until the sockets are closed
			select {
			case <-s.closed:
				return
			default:
				s.Publish(Outgoing{Type: "stream", Content: map[string]string{"text": strings.Repeat("x", 100)}})
			}
		}
	}()
	for range 4 {
		until(t, "its queue is full", func() bool { return !p.fits(1 << 10) })
		// What the publisher makes during a collection stays until the next.
		until(t, fmt.Sprintf("little more than %d bytes are in use", bound), func() bool {
			return inUse()-before <= bound*5/4
		})
		if _, err := io.CopyN(io.Discard, slow, bound/4); err != nil {
			t.Fatal(err)
		}
	}
}

func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A status goes out while outputs wait for a subscriber.
func TestAStatusDoesNotWait(t *testing.T) {
	s, _ := listen(t, Connection{})
	s.lag = patience{queued: 1 << 20, while: time.Hour, pace: 4 << 20}
	raw(t, s, IOPub, "SUB").send(1, 0, 0)
	until(t, "it has subscribed", func() bool { return len(subscribers(s, "")) == 1 })
	stuck := make(chan struct{})
	go func() {
		defer close(stuck)
		for range 100 {
			s.Publish(Outgoing{Type: "stream", Content: strings.Repeat("x", 1<<18)})
		}
	}()
	full := func() bool {
		p := subscribers(s, "")[0]
		return !p.fits(1 << 18)
	}
	until(t, "its queue is full", full)
	s.Publish(Outgoing{Type: "status", Content: struct{}{}})
	select {
	case <-stuck:
		t.Error("the outputs did not wait")
	default:
	}
}

// Statuses that nobody reads are bounded, and who reads them in time gets all.
func TestUnreadStatusesAreBounded(t *testing.T) {
	s, log := listen(t, Connection{})
	s.lag = patience{queued: 1 << 20, while: time.Hour, pace: 4 << 20}
	reader := raw(t, s, IOPub, "SUB")
	reader.send(1, 0, 0)
	go io.Copy(io.Discard, reader)
	raw(t, s, IOPub, "SUB").send(1, 0, 0) // never reads
	until(t, "both have subscribed", func() bool { return len(subscribers(s, "")) == 2 })
	for i := 0; len(subscribers(s, "")) == 2; i++ {
		if i == 1e5 {
			t.Fatal("a hundred thousand statuses wait for a subscriber who never reads")
		}
		s.Publish(Outgoing{Type: "status", Content: struct{}{}})
		if i%100 == 0 {
			until(t, "one has read all", func() bool {
				return slices.ContainsFunc(subscribers(s, ""), func(p *peer) bool { return p.fits(1 << 20) })
			})
		}
	}
	log.await(t, "a subscriber misses messages", 1)
	if n := len(subscribers(s, "")); n != 1 {
		t.Errorf("%d subscribers are left, want the one who reads", n)
	}
}

// A reply to a client that has gone is for nobody else; the client finds it when
// it is back.
func TestAReplyWaitsForItsClient(t *testing.T) {
	s, log := listen(t, Connection{Key: "key"})
	client := dial(t, s, Shell, "the client")
	send(t, client, request(s, 1))
	m := next(t, s, Shell)
	client.Close()
	until(t, "it is gone", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.peers[Shell]) == 0 })
	stranger := dial(t, s, Shell, "the client")
	heard := make(chan [][]byte, 1)
	go func() {
		if m, err := stranger.Recv(); err == nil {
			heard <- m.Frames
		}
	}()
	send(t, stranger, signed(testSigner(t, "no key"), parts(`{"msg_type":"x_request"}`, `{}`, `{}`, `{}`))[1:])
	log.await(t, "dropped a message", 1)
	if err := s.Send(Shell, m.Identities, Outgoing{Type: "x_reply", Parent: m, Content: struct{}{}}); err != nil {
		t.Error(err)
	}
	if err := s.Send(Stdin, m.Identities, Outgoing{Type: "input_request", Parent: m, Content: struct{}{}}); err == nil {
		t.Error("nobody can be asked, and it is no error")
	}
	back := dial(t, s, Shell, "the client")
	send(t, back, request(s, 2))
	if frames := receive(t, back); !bytes.Contains(frames[2], []byte("x_reply")) {
		t.Errorf("%q", frames)
	}
	select {
	case frames := <-heard:
		t.Errorf("the stranger got %q", frames)
	default:
	}
}

// Strangers take no place from those who have proved themselves, and no more
// than there are.
func TestStrangersLeaveRoom(t *testing.T) {
	s, _ := listen(t, Connection{Key: "key"})
	s.mu.Lock()
	s.most = 8
	s.mu.Unlock()
	client := dial(t, s, Shell, "client")
	sub := subscribe(t, s, "")
	send(t, client, request(s, 1))
	next(t, s, Shell)
	kinds := map[Channel]string{Shell: "DEALER", Control: "DEALER", Stdin: "DEALER", IOPub: "SUB", Heartbeat: "REQ"}
	for ch, kind := range kinds {
		for range 5 * s.most {
			rawDial(t, s, ch) // says nothing
			ready := append([]byte("\x05READY"), property("Socket-Type", kind)...)
			rawDial(t, s, ch).Write(append(greeting(), append([]byte{flagCommand, byte(len(ready))}, ready...)...))
		}
	}
	until(t, "most are gone", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for ch := range kinds {
			count := len(s.greeting[ch])
			for _, peers := range s.peers[ch] {
				count += len(peers)
			}
			if count > s.most+s.most/4+1 {
				return false
			}
		}
		return true
	})
	send(t, client, request(s, 2))
	m := next(t, s, Shell)
	if err := s.Send(Shell, m.Identities, Outgoing{Type: "x_reply", Parent: m, Content: struct{}{}}); err != nil {
		t.Error(err)
	}
	receive(t, client)
	s.Publish(Outgoing{Type: "stream", Content: struct{}{}})
	if frames := receive(t, sub); string(frames[0]) != "stream" {
		t.Errorf("%q", frames)
	}
	newcomer := dial(t, s, Shell, "newcomer")
	send(t, newcomer, request(s, 3))
	next(t, s, Shell)
}

// rawClient speaks ZMTP by hand, so that it can speak it wrong.
type rawClient struct {
	t *testing.T
	net.Conn
}

func rawDial(t *testing.T, s *Sockets, ch Channel) *rawClient {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.Connection().Endpoint(ch), "tcp://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &rawClient{t, c}
}

func greeting() []byte {
	g := make([]byte, greetingSize)
	g[0], g[9], g[10] = 0xff, 0x7f, 3
	copy(g[12:], "NULL")
	return g
}

func property(name, value string) []byte {
	p := append([]byte{byte(len(name))}, name...)
	p = binary.BigEndian.AppendUint32(p, uint32(len(value)))
	return append(p, value...)
}

// raw connects and shakes hands.
func raw(t *testing.T, s *Sockets, ch Channel, kind string) *rawClient {
	t.Helper()
	c := rawDial(t, s, ch)
	ready := append([]byte("\x05READY"), property("Socket-Type", kind)...)
	c.Write(append(greeting(), append([]byte{flagCommand, byte(len(ready))}, ready...)...))
	answer := make([]byte, greetingSize+2)
	if _, err := io.ReadFull(c, answer); err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, c, int64(answer[greetingSize+1])); err != nil {
		t.Fatal(err)
	}
	return c
}

// send sends a frame: its first byte of data is given, zeros follow.
func (c *rawClient) send(first byte, flags byte, zeros int) {
	c.Write(append([]byte{flags, byte(1 + zeros), first}, make([]byte, zeros)...))
}

// closed checks that the kernel hangs up.
func (c *rawClient) closed(what string) {
	c.t.Helper()
	c.SetReadDeadline(time.Now().Add(hang))
	if _, err := io.Copy(io.Discard, c); err != nil && strings.Contains(err.Error(), "timeout") {
		c.t.Errorf("%s: the connection stays open", what)
	}
}

// Nothing that a client sends may harm the kernel or other clients.
func TestHostileClients(t *testing.T) {
	s, _ := listen(t, Connection{Key: "key"})
	handshake := func(body []byte) func(*rawClient) {
		return func(c *rawClient) {
			c.Write(append(greeting(), append([]byte{flagCommand, byte(len(body))}, body...)...))
		}
	}
	for name, attack := range map[string]func(*rawClient){
		"HTTP":                        func(c *rawClient) { fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", strings.Repeat("x", 64)) },
		"another mechanism":           func(c *rawClient) { g := greeting(); copy(g[12:], "CURVE"); c.Write(g) },
		"an old protocol":             func(c *rawClient) { g := greeting(); g[10] = 2; c.Write(g) },
		"a property cut short":        handshake(append([]byte("\x05READY"), 5, 'a')),
		"a value's length cut short":  handshake(append([]byte("\x05READY"), 1, 'a', 0)),
		"a value cut short":           handshake(append([]byte("\x05READY"), 1, 'a', 0, 0, 1, 0)),
		"a socket type there is none": handshake(append([]byte("\x05READY"), property("Socket-Type", "TEAPOT")...)),
		"a socket type that does not fit": handshake(
			append([]byte("\x05READY"), property("Socket-Type", "PULL")...)),
		"no socket type": handshake([]byte("\x05READY")),
		"no command":     handshake(nil),
		"a huge handshake": func(c *rawClient) {
			body := append([]byte("\x05READY"), property("Socket-Type", "DEALER")...)
			body = append(body, property("X-Story", strings.Repeat("x", 1<<20))...)
			c.Write(binary.BigEndian.AppendUint64(append(greeting(), flagCommand|flagLong), uint64(len(body))))
			c.Write(body)
		},
	} {
		c := rawDial(t, s, Shell)
		attack(c)
		c.closed(name)
	}
	for name, head := range map[string][]byte{
		"a frame of 2^63 bytes":   {flagLong, 0x80, 0, 0, 0, 0, 0, 0, 0},
		"a frame of 2^62 bytes":   {flagLong, 0x40, 0, 0, 0, 0, 0, 0, 0},
		"a frame of 2^40 bytes":   {flagLong, 0, 0, 1, 0, 0, 0, 0, 0},
		"a command of 2^40 bytes": {flagLong | flagCommand, 0, 0, 1, 0, 0, 0, 0, 0},
	} {
		for _, ch := range []Channel{Shell, IOPub, Heartbeat} {
			c := raw(t, s, ch, map[Channel]string{Shell: "DEALER", IOPub: "SUB", Heartbeat: "REQ"}[ch])
			c.Write(head)
			c.closed(fmt.Sprint(name, " on ", ch))
		}
	}
	endless := raw(t, s, Shell, "DEALER")
	endless.SetWriteDeadline(time.Now().Add(hang))
	for err := error(nil); err == nil; { // a message without an end
		_, err = endless.Write(bytes.Repeat([]byte{flagMore, 0}, 1000))
	}
	endless.closed("a message without an end")

	// Commands after the handshake are passed over.
	c := raw(t, s, Heartbeat, "REQ")
	c.Write([]byte("\x04\x07\x04PING\x00\x00"))
	c.Write([]byte{flagMore, 0, 0, 4, 'b', 'e', 'a', 't'})
	echo := make([]byte, 8)
	c.SetReadDeadline(time.Now().Add(hang))
	if _, err := io.ReadFull(c, echo); err != nil || string(echo[4:]) != "beat" {
		t.Errorf("echo %q, %v", echo, err)
	}

	silent := make([]*rawClient, 50)
	for i := range silent {
		silent[i] = rawDial(t, s, Shell)
	}
	client := dial(t, s, Shell, "client")
	if err := client.SendMulti(zmq4.NewMsgFrom(request(s, 1)...)); err != nil {
		t.Fatal(err)
	}
	if m := next(t, s, Shell); m.Header.ID != "1" {
		t.Errorf("%+v", m)
	}
}

// Clients come and go without a trace.
func TestConnectionsLeaveNothingBehind(t *testing.T) {
	s, _ := listen(t, Connection{})
	before := runtime.NumGoroutine()
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 25 {
				for ch, kind := range map[Channel]string{Shell: "DEALER", IOPub: "SUB"} {
					raw(t, s, ch, kind).Close()
				}
			}
		})
	}
	wait.Wait()
	for deadline := time.Now().Add(hang); ; time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		peers := len(s.peers[Shell]) + len(s.peers[IOPub])
		s.mu.Unlock()
		if peers == 0 && runtime.NumGoroutine() <= before {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d connections and %d goroutines are left", peers, runtime.NumGoroutine()-before)
		}
	}
}

// What was sent before Close arrives, however much it is.
func TestCloseLingers(t *testing.T) {
	s, _ := listen(t, Connection{})
	sub, client := subscribe(t, s, ""), dial(t, s, Shell, "client")
	if err := client.SendMulti(zmq4.NewMsgFrom(request(s, 1)...)); err != nil {
		t.Fatal(err)
	}
	m := next(t, s, Shell)
	const n = 500
	for i := range n {
		if err := s.Publish(Outgoing{Type: "stream", Content: map[string]any{"n": i, "text": strings.Repeat("x", 10000)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Send(Shell, m.Identities, Outgoing{Type: "shutdown_reply", Parent: m, Content: struct{}{}}); err != nil {
		t.Fatal(err)
	}
	// Unread requests must not reset the connection under the reply.
	for range 100 {
		client.SendMulti(zmq4.NewMsgFrom(request(s, 2)...))
	}
	closed := make(chan struct{})
	go func() { s.Close(hang); close(closed) }()
	for i := range n {
		if frames := receive(t, sub); !bytes.HasPrefix(frames[6], fmt.Appendf(nil, `{"n":%d,`, i)) {
			t.Fatalf("got %.40q, want number %d", frames[6], i)
		}
	}
	if frames := receive(t, client); !bytes.Contains(frames[2], []byte("shutdown_reply")) {
		t.Errorf("got %q", frames)
	}
	select {
	case <-closed:
	case <-time.After(hang):
		t.Error("Close does not end")
	}
	if _, err := net.Dial("tcp", strings.TrimPrefix(s.Connection().Endpoint(Shell), "tcp://")); err == nil {
		t.Error("the shell socket still accepts connections")
	}
}

func TestIPC(t *testing.T) {
	dir, err := os.MkdirTemp("", "wire") // short: a socket's path has little room
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	conn := Connection{Transport: "ipc", IP: filepath.Join(dir, "k"), ShellPort: 1, HBPort: 7, SignatureScheme: "hmac-sha256"}
	for range 2 { // the second finds the first one's places free
		s, _ := listen(t, conn)
		if e := s.Connection().Endpoint(Shell); e != "ipc://"+conn.IP+"-1" {
			t.Errorf("shell is at %s", e)
		}
		client := dial(t, s, Shell, "client")
		if err := client.SendMulti(zmq4.NewMsgFrom(request(s, 1)...)); err != nil {
			t.Fatal(err)
		}
		m := next(t, s, Shell)
		if err := s.Send(Shell, m.Identities, Outgoing{Type: "x_reply", Parent: m, Content: struct{}{}}); err != nil {
			t.Fatal(err)
		}
		receive(t, client)
		if _, err := Listen(conn, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "in use") {
			t.Errorf("a second kernel at the same place: %v", err)
		}
		send(t, client, request(s, 2)) // the first one has kept it
		next(t, s, Shell)
		client.Close()
		s.Close(time.Second)
	}
	// A socket file that a killed kernel left is no obstacle.
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: conn.IP + "-1"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	listen(t, conn)
}

func TestAPortInUseIsAnError(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = Listen(Connection{Transport: "tcp", IP: "127.0.0.1", SignatureScheme: "hmac-sha256",
		StdinPort: l.Addr().(*net.TCPAddr).Port}, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "stdin socket") {
		t.Errorf("%v", err)
	}
}

// Whatever bytes come after the handshake, they end in messages or an error.
func FuzzGuard(f *testing.F) {
	f.Add([]byte{0, 1, 'a'})
	f.Add([]byte{flagMore, 0, flagLong, 0, 0, 0, 0, 0, 0, 0, 1, 'x'})
	f.Add([]byte{flagLong, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte("\x04\x05\x04PING\x00\x03a"))
	f.Fuzz(func(t *testing.T, data []byte) {
		server, client := net.Pipe()
		defer server.Close()
		go func() {
			client.Write(data)
			client.Close()
		}()
		g := newGuard(server, &counted{Conn: server})
		total := 0
		for slots := make(chan struct{}, 1); ; {
			frames, err := g.message(func() limits { return limits{size: strangerMessage, frames: 10, slots: slots} })
			if len(slots) != 0 {
				t.Fatal("a slot is not free")
			}
			if err != nil {
				break
			}
			total += len(bytes.Join(frames, nil))
			if len(frames) == 0 || len(frames) > 10 {
				t.Fatalf("%d frames", len(frames))
			}
		}
		if total > len(data) {
			t.Fatalf("%d bytes out of %d", total, len(data))
		}
	})
}
