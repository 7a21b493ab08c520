package ranks

import (
	"errors"
	"net"
	"syscall"
	"time"
)

// How long the other end of a link may be silent: a host that has lost its power or
// its network says nothing. The systems at both ends ask each other, so a process
// that computes, or is stopped by a debugger, does not count as lost.
const (
	silence  = 6 * time.Second
	askAfter = 2 * time.Second
	askEvery = time.Second
)

// watchOver has a connection end when its other end has been silent for too long.
func watchOver(c net.Conn) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return // of this host
	}
	tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: askAfter, Interval: askEvery, Count: int((silence - askAfter) / askEvery)})
	limitUnanswered(tcp, silence)
}

// isSilent says whether a connection ended since the other end is not to be
// reached.
func isSilent(err error) bool {
	return errors.Is(err, syscall.ETIMEDOUT) || errors.Is(err, syscall.EHOSTUNREACH) || errors.Is(err, syscall.ENETUNREACH)
}
