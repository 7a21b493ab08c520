package ranks

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
)

// slots is a host, and how many ranks it takes.
type slots struct {
	host string
	n    int
}

// parseHosts reads hosts as --hosts takes them, such as "a:2,b:2".
func parseHosts(text string) (list []slots, err error) {
	for part := range strings.SplitSeq(text, ",") {
		if list, err = addHost(list, strings.TrimSpace(part), ""); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// parseHostfile reads a file with a host in each line, as Open MPI ("a slots=2")
// or MPICH ("a:2") has it. A host that comes again has more slots.
func parseHostfile(path string) (list []slots, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		count := ""
		for _, f := range fields[1:] {
			if value, ok := strings.CutPrefix(f, "slots="); ok {
				count = value
			}
		}
		if list, err = addHost(list, fields[0], count); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, number, err)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s names no host", path)
	}
	return list, nil
}

// addHost adds "a", "a:2", or "a" with a count of its own.
func addHost(list []slots, text, count string) ([]slots, error) {
	host, after, colon := strings.Cut(text, ":")
	if colon {
		count = after
	}
	n := 1
	if count != "" || colon {
		var err error
		if n, err = strconv.Atoi(count); err != nil || n < 1 {
			return nil, fmt.Errorf("%q is not a number of ranks for %s", count, host)
		}
	}
	if host == "" || strings.HasPrefix(host, "-") {
		return nil, fmt.Errorf("%q names no host: write a:2,b:2 for two ranks on a and two on b", text)
	}
	if i := slices.IndexFunc(list, func(s slots) bool { return s.host == host }); i >= 0 {
		list[i].n += n
		return list, nil
	}
	return append(list, slots{host, n}), nil
}

// hostList writes hosts as parseHosts, Open MPI and MPICH read them.
func hostList(list []slots) string {
	var parts []string
	for _, s := range list {
		parts = append(parts, fmt.Sprintf("%s:%d", s.host, s.n))
	}
	return strings.Join(parts, ",")
}

// total is how many ranks hosts take.
func total(list []slots) (n int) {
	for _, s := range list {
		n += s.n
	}
	return n
}

// isHere says whether a name means this host.
func isHere(name string) bool {
	if own, err := os.Hostname(); err == nil && sameHost(name, own) {
		return true
	}
	addresses, _ := net.LookupHost(name)
	interfaces, _ := net.InterfaceAddrs()
	for _, i := range interfaces {
		if ip, ok := i.(*net.IPNet); ok && slices.Contains(addresses, ip.IP.String()) {
			return true
		}
	}
	return false
}

// sameHost compares the names that a host has in a list and says of itself:
// one of them may have its domain.
func sameHost(a, b string) bool {
	shortA, _, longA := strings.Cut(a, ".")
	shortB, _, longB := strings.Cut(b, ".")
	return a == b || longA != longB && shortA == shortB
}

// without leaves ranks out of a start: those of hosts, or, for "lost", those of the
// hosts that have lost one; where the launcher then ended all, of the one that was
// lost first, which is not this one.
func (p *pool) without(o startOptions, names string) (startOptions, error) {
	gone := strings.Split(names, ",")
	p.mu.Lock()
	defer p.mu.Unlock()
	if names == "lost" {
		gone = nil
		var first *rank
		alive := false
		for _, r := range p.ranks {
			if r.lost == "" {
				alive = true
				continue
			}
			if (first == nil || r.lostAt.Before(first.lostAt)) && !isHere(r.host) {
				first = r
			}
			if !slices.Contains(gone, r.host) {
				gone = append(gone, r.host)
			}
		}
		if !alive && first != nil {
			gone = []string{first.host}
		}
	}
	isGone := func(host string) bool {
		return slices.ContainsFunc(gone, func(name string) bool { return sameHost(name, host) })
	}
	left := 0
	for _, r := range p.ranks {
		if !isGone(r.host) {
			left++
		}
	}
	switch {
	case left == len(p.ranks):
		return o, fmt.Errorf("no rank is on %s", strings.Join(gone, ", "))
	case left == 0:
		return o, fmt.Errorf("no host would be left")
	case o.launcher == "srun":
		o.options = append(slices.Clone(o.options), "--exclude="+strings.Join(gone, ","))
	case len(o.hosts) > 0:
		o.hosts = slices.DeleteFunc(slices.Clone(o.hosts), func(s slots) bool { return isGone(s.host) })
	default:
		return o, fmt.Errorf("the ranks' hosts were not named by --hosts or --hostfile: %%mpi stop, then start those that are left")
	}
	o.n = left
	return o, nil
}
