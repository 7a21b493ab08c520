package ranks

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"text/tabwriter"
	"time"

	"gocuda/kernel/magic"
	"gocuda/kernel/ranks/label"
)

var errInterrupt = errors.New("interrupted by %mpi interrupt")

// complete says whether no rank is lost.
func (p *pool) complete() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.ranks {
		if r.lost != "" {
			return false
		}
	}
	return true
}

// status writes a line for each rank.
func (p *pool) status(w io.Writer) error {
	p.look(p.ranks)
	p.mu.Lock()
	defer p.mu.Unlock()
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "rank\tpid\thost\tdevice\tstate")
	for _, r := range p.ranks {
		fmt.Fprintf(t, "%d\t%d\t%s\t%s\t%s\n", r.number, r.Pid(), r.host, r.Device, r.state())
	}
	p.hosts(t)
	t.Flush()
	fmt.Fprintln(&text, "MPI:", p.library)
	for _, line := range p.launcher.notes() {
		fmt.Fprintln(&text, line)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// hosts writes a line for each host, where there are several. The caller holds the
// pool's mu.
func (p *pool) hosts(t io.Writer) {
	on := map[string][]int{}
	var order []string
	for _, r := range p.ranks {
		if on[r.host] == nil {
			order = append(order, r.host)
		}
		on[r.host] = append(on[r.host], r.number)
	}
	if len(order) < 2 {
		return
	}
	fmt.Fprintln(t, "\nhost\tranks\tdevices\tprocessors\tlink")
	for _, host := range order {
		first := p.ranks[on[host][0]]
		link := "this host"
		if r, ok := first.member.(*remote); ok && r.from.RemoteAddr().Network() == "tcp" {
			link = fmt.Sprintf("%v, round trip %v", r.from.RemoteAddr().(*net.TCPAddr).IP, roundTrip(r.from))
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\n", host, label.Set(on[host]), first.Devices, first.Processors, link)
	}
}

// state is what a rank does. The caller holds the pool's mu.
func (r *rank) state() string {
	switch {
	case r.lost != "":
		return "lost: " + r.lost
	case r.job == nil:
		return "idle"
	}
	text := fmt.Sprintf("runs %s for %v", describePlace(r.place), time.Since(r.since).Round(100*time.Millisecond))
	if r.place.Waited >= time.Second {
		text += fmt.Sprintf(" (in this call for %v)", r.place.Waited.Round(100*time.Millisecond))
	}
	if n := len(r.queue); n > 0 {
		text += fmt.Sprintf("; %d more wait", n)
	}
	return text
}

// greet says what was started.
func (n *notebook) greet(env magic.Env) {
	n.mu.Lock()
	defer n.mu.Unlock()
	library := n.pool.library.Name
	if n.pool.library.Path != "" {
		library += ", " + n.pool.library.Path
	} else {
		library = "gocuda's built-in transport"
	}
	text := fmt.Sprintf("%d ranks are running (launcher: %s; MPI: %s)\n", len(n.pool.ranks), n.options, library)
	for _, line := range n.pool.launcher.notes() {
		text += line + "\n"
	}
	io.WriteString(env.Stdout(), text)
}
