package hazard

import (
	"slices"

	"gocuda/cudaapi/record"
)

// signal is an operation that may tell others by a word that they may go on, or be told
// so. Whether it was, the record does not know.
type signal struct {
	op     *record.Op
	dim    int
	n      uint64
	clock  clock // of what comes after it
	words  []record.Access
	writes bool
	reads  bool
}

// signals are the last of each kind: kernels that look at words while they run, elements
// that the host itself touches, and values that streams write.
type signals struct{ kernels, hosts, values []signal }

// mostSignals is how many of a kind are kept.
const mostSignals = 256

func keep(list []signal, s signal) []signal {
	if len(list) >= mostSignals {
		list = slices.Delete(list, 0, mostSignals/2)
	}
	return append(list, s)
}

// kernel notes one of which it is known what it touched.
func (l *signals) kernel(j *job) {
	if len(j.op.Told) > 0 {
		l.kernels = keep(l.kernels, signal{j.op, j.dim, j.n, j.after(), j.op.Told, true, true})
	}
}

// host notes that the host touches elements.
func (l *signals) host(o *record.Op, dim int, n uint64, at clock) {
	const word = 8
	if o.Single && o.Accesses[0].Hi-o.Accesses[0].Lo <= word {
		write := o.Accesses[0].Mode == record.Write
		l.hosts = keep(l.hosts, signal{o, dim, n, at, o.Accesses, write, !write})
	}
}

// value notes that a stream writes one.
func (l *signals) value(o *record.Op, dim int, n uint64, at clock) {
	l.values = keep(l.values, signal{o, dim, n, at, o.Accesses, true, false})
}

// side is one of two operations that nothing orders.
type side struct {
	op   *record.Op
	dim  int
	n    uint64
	base clock // of what comes before it, where it is known
}

// may reports whether, of two operations, a word that kernels look at while they run may
// have told one that the other is done: nobody can say that nothing orders them.
func (l *signals) may(a, b side) bool {
	return len(l.kernels) > 0 && (l.leads(a, b) || l.leads(b, a))
}

// leads reports whether who comes after from, or is it, may have told who comes before
// to, or is it. One of the two is a kernel.
func (l *signals) leads(from, to side) bool {
	tells := func(x signal) bool { return x.writes && (x.op == from.op || x.clock.at(from.dim) >= from.n) }
	told := func(y signal) bool { return y.reads && (y.op == to.op || to.base.at(y.dim) >= y.n) }
	for _, k := range l.kernels {
		meets := func(o signal) bool { return o.op != k.op && overlap(o.words, k.words) }
		if told(k) {
			for _, list := range [][]signal{l.kernels, l.hosts, l.values} {
				// What comes after the kernel's end tells it nothing.
				if slices.ContainsFunc(list, func(x signal) bool { return tells(x) && x.clock.at(k.dim) < k.n && meets(x) }) {
					return true
				}
			}
		}
		// The host reads what the kernel wrote only if it looks behind its launch.
		if tells(k) && slices.ContainsFunc(l.hosts, func(y signal) bool { return y.op.Seq > k.op.Seq && told(y) && meets(y) }) {
			return true
		}
	}
	return false
}

func overlap(a, b []record.Access) bool {
	return slices.ContainsFunc(a, func(f record.Access) bool {
		return slices.ContainsFunc(b, func(g record.Access) bool { return f.Lo < g.Hi && g.Lo < f.Hi })
	})
}
