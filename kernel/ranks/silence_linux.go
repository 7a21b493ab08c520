package ranks

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// limitUnanswered ends a connection whose data is not acknowledged for so long:
// while there is such data, the system does not ask.
func limitUnanswered(c *net.TCPConn, most time.Duration) {
	if raw, err := c.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) {
			unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(most.Milliseconds())) //nolint:errcheck // then it takes longer
		})
	}
}

// roundTrip is how long a packet takes to the other end and back at best, as the
// system has measured it; 0 if it is not known.
func roundTrip(c net.Conn) (d time.Duration) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return 0
	}
	if raw, err := tcp.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) {
			if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
				d = time.Duration(info.Min_rtt) * time.Microsecond
			}
		})
	}
	return d
}
