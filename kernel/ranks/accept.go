package ranks

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"gocuda/internal/ownfolder"
	"gocuda/kernel/session"
	"gocuda/kernel/session/link"
)

const (
	// How long a connection may take to prove that it is a rank.
	proofTime = 5 * time.Second
	// How many connections may be doing so: one more costs the oldest its place.
	maxUnproven = 32
	// How many refused connections are reported one by one.
	maxStrangers = 10
)

// acceptor is where the ranks that mpirun starts report. It is open until all have
// come. Ranks of this host come by a socket in a folder that no other user can
// enter, so that nobody stands in their way.
type acceptor struct {
	listener *net.TCPListener
	own      *net.UnixListener // nil: there is no place for it
	remove   func()            // its folder
	key      []byte
	n        int
	arrived  chan arrival

	mu        sync.Mutex
	unproven  []net.Conn
	taken     map[int]bool
	strangers []string
	more      int // strangers beyond those
}

// arrival is a rank that has proved itself.
type arrival struct {
	session.Hello
	conn *link.Conn
	from net.Conn // below conn
}

// openAcceptor listens on the loopback interface, or on all of them.
func openAcceptor(n int, key []byte, wide bool) (*acceptor, error) {
	address := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}
	if wide {
		address = nil
	}
	l, err := net.ListenTCP("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen for the ranks: %w", err)
	}
	d := &acceptor{listener: l, key: key, n: n, arrived: make(chan arrival, n), taken: map[int]bool{}}
	if dir, remove, err := ownfolder.Temporary("", "gocuda-"); err == nil {
		path := filepath.Join(dir, "ranks")
		if d.own, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"}); err != nil {
			remove()
		} else {
			d.remove = remove
		}
	}
	go d.serve(l) // which looks at own
	if d.own != nil {
		go d.serve(d.own)
	}
	return d, nil
}

// ownPrefix begins the address of the acceptor's own socket.
const ownPrefix = "unix:"

// addresses are where ranks can reach the acceptor, the likeliest first.
func (d *acceptor) addresses(wide bool) (list []string) {
	if d.own != nil {
		list = append(list, ownPrefix+d.own.Addr().String())
	}
	port := fmt.Sprint(d.listener.Addr().(*net.TCPAddr).Port)
	if !wide {
		return append(list, net.JoinHostPort("127.0.0.1", port))
	}
	if name, err := os.Hostname(); err == nil {
		list = append(list, net.JoinHostPort(name, port))
	}
	interfaces, _ := net.InterfaceAddrs()
	for _, a := range interfaces {
		if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLoopback() && !ip.IP.IsLinkLocalUnicast() {
			list = append(list, net.JoinHostPort(ip.IP.String(), port))
		}
	}
	return append(list, net.JoinHostPort("127.0.0.1", port))
}

func (d *acceptor) serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			time.Sleep(10 * time.Millisecond) // such as too many open files
			continue
		}
		c.SetDeadline(time.Now().Add(proofTime))
		watchOver(c)
		d.mu.Lock()
		if l == d.own {
			d.mu.Unlock()
			go d.admit(c)
			continue
		}
		if len(d.unproven) >= maxUnproven {
			d.unproven[0].Close()
			d.unproven = d.unproven[1:]
		}
		d.unproven = append(d.unproven, c)
		d.mu.Unlock()
		go d.admit(c)
	}
}

// admit lets a connection in that knows the key and is a rank that is missing.
func (d *acceptor) admit(c net.Conn) {
	a, err := d.examine(c)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unproven = slices.DeleteFunc(d.unproven, func(other net.Conn) bool { return other == c })
	if err == nil {
		switch {
		case a.Rank < 0 || a.Rank >= d.n:
			err = fmt.Errorf("it says that it is rank %d of %d", a.Rank, d.n)
		case d.taken[a.Rank]:
			err = fmt.Errorf("there is a rank %d already", a.Rank)
		}
	}
	if err != nil {
		c.Close()
		d.note(c.RemoteAddr(), err)
		return
	}
	d.taken[a.Rank] = true
	c.SetDeadline(time.Time{})
	d.arrived <- a // has room for all
}

func (d *acceptor) examine(c net.Conn) (a arrival, err error) {
	a.from = c
	if a.conn, err = link.Sign(c, d.key, true); err != nil {
		return a, err
	}
	a.Hello, err = session.ReadHello(a.conn)
	return a, err
}

// note remembers a connection that was refused. The caller holds d.mu.
func (d *acceptor) note(from net.Addr, err error) {
	switch {
	case errors.Is(err, link.ErrStranger):
		err = errors.New("it did not prove that it knows the key")
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = errors.New("it did not identify itself in time")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		err = errors.New("it disconnected before it proved that it knows the key")
	case errors.Is(err, net.ErrClosed):
		err = errors.New("too many connections came at once")
	}
	if len(d.strangers) == maxStrangers {
		d.more++
		return
	}
	d.strangers = append(d.strangers, fmt.Sprintf("refused a connection from %v: %v", from, err))
}

// refused reports the connections that were refused so far.
func (d *acceptor) refused() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := slices.Clone(d.strangers)
	if d.more > 0 {
		list = append(list, fmt.Sprintf("refused %d more connections", d.more))
	}
	return list
}

// close ends the listening and refuses who has not proved himself yet.
func (d *acceptor) close() {
	d.listener.Close()
	if d.own != nil {
		d.own.Close()
		d.remove()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.unproven {
		c.Close()
	}
}
