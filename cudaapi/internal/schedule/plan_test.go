package schedule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// schedules are what the tests run, by name.
func schedules(p, n int) map[string]Schedule {
	s := map[string]Schedule{
		"ring": Ring(p, n), "chunked": ChunkedRing(p, n, 3), "halving": HalvingDoubling(p, n), "tree": Tree(p, n),
	}
	for each := 2; each < p; each++ {
		if p%each == 0 {
			s[fmt.Sprintf("nodes of %d", each)] = Hierarchical(p/each, each, n)
		}
	}
	for _, root := range []int{0, p - 1} {
		s[fmt.Sprintf("reduce to %d", root)] = ReduceTree(p, n, root)
		s[fmt.Sprintf("broadcast from %d", root)] = OneToAll(p, n, root)
	}
	return s
}

// queues carries a plan out on host memory: each member's stream is a queue,
// and pick says which queue goes on. Before its work a stream writes the
// member's input, after it keeps the outcome and overwrites the buffer.
type queues struct {
	plan    *Plan
	todo    [][]Action // by member
	started []bool
	ended   []bool
	done    []bool // marks
	data    [][]int
	out     [][]int
}

func newQueues(plan *Plan, n, drop int) *queues {
	q := &queues{plan: plan, todo: make([][]Action, plan.Members), started: make([]bool, plan.Members),
		ended: make([]bool, plan.Members), done: make([]bool, len(plan.Marks)), out: make([][]int, plan.Members)}
	for i, a := range plan.Actions {
		if i != drop {
			q.todo[a.On] = append(q.todo[a.On], a)
		}
	}
	for range plan.Members {
		q.data = append(q.data, slices.Repeat([]int{-1000000}, n))
	}
	return q
}

func input(member, i, p int) int { return i*p + member }

// step lets member m's queue do its next action; false if it has to wait or is
// at its end.
func (q *queues) step(m int) bool {
	if !q.started[m] {
		q.started[m] = true
		for i := range q.data[m] {
			q.data[m][i] = input(m, i, q.plan.Members)
		}
		return true
	}
	if len(q.todo[m]) == 0 {
		if !q.ended[m] {
			q.ended[m] = true
			q.out[m] = slices.Clone(q.data[m])
			for i := range q.data[m] {
				q.data[m][i] = -2000000
			}
			return true
		}
		return false
	}
	a := q.todo[m][0]
	switch a.Kind {
	case Wait:
		if !q.done[a.Mark] {
			return false
		}
	case Record:
		q.done[a.Mark] = true
	case Move:
		t := a.Transfer
		for i := t.Lo; i < t.Hi; i++ {
			if t.Combine {
				q.data[t.To][i] += q.data[t.From][i]
			} else {
				q.data[t.To][i] = q.data[t.From][i]
			}
		}
	}
	q.todo[m] = q.todo[m][1:]
	return true
}

// run lets the first member in order() that can go on do so, until none can.
func (q *queues) run(order func() []int) error {
	for {
		if slices.IndexFunc(order(), q.step) < 0 {
			break
		}
	}
	for m := range q.ended {
		if !q.ended[m] {
			return fmt.Errorf("member %d never came to its end: %+v", m, q.todo[m][0])
		}
	}
	return nil
}

// wrong tells what is wrong with the outcome of a schedule.
func (q *queues) wrong(name string, s Schedule, n int) string {
	p := q.plan.Members
	for m := range p {
		for i := range n {
			want := 0
			var root int
			switch {
			case scan(name, "broadcast from %d", &root):
				want = input(root, i, p)
			case scan(name, "reduce to %d", &root) && m != root:
				continue // anything
			default:
				want = i*p*p + p*(p-1)/2
			}
			if q.out[m][i] != want {
				return fmt.Sprintf("member %d has %d at %d, want %d", m, q.out[m][i], i, want)
			}
		}
	}
	return ""
}

func scan(name, format string, root *int) bool {
	n, _ := fmt.Sscanf(name, format, root)
	return n == 1
}

// Every order that the waits allow gives the right outcome.
func TestPlans(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	sizes := []int{0, 1, 2, 5, 64, 129, 1000}
	if testing.Short() {
		sizes = []int{1, 2, 129}
	}
	for _, p := range []int{1, 2, 3, 4, 5, 7, 8, 9, 13} {
		for _, n := range sizes {
			for name, s := range schedules(p, n) {
				plan := Compile(s, p)
				for range 4 {
					q := newQueues(plan, n, -1)
					if err := q.run(func() []int { return rng.Perm(p) }); err != nil {
						t.Fatalf("%s, %d members, %d elements: %v", name, p, n, err)
					}
					if w := q.wrong(name, s, n); w != "" {
						t.Fatalf("%s, %d members, %d elements: %s", name, p, n, w)
					}
				}
			}
		}
	}
}

// No wait can be left out: without it, an order in which the one that should
// wait goes first, and the one waited for last, gives another outcome.
func TestEveryWaitCounts(t *testing.T) {
	for _, p := range []int{2, 3, 4, 5, 8} {
		const n = 96
		for name, s := range schedules(p, n) {
			plan := Compile(s, p)
			for i, a := range plan.Actions {
				if a.Kind != Wait {
					continue
				}
				last := plan.Marks[a.Mark].Of
				order := []int{a.On}
				for m := range p {
					if m != a.On && m != last {
						order = append(order, m)
					}
				}
				order = append(order, last)
				q := newQueues(plan, n, i)
				if err := q.run(func() []int { return order }); err != nil {
					t.Fatal(err)
				}
				if q.wrong(name, s, n) == "" {
					t.Errorf("%s, %d members: action %d of %d, the wait of %d for %+v, is not needed", name, p, i, len(plan.Actions), a.On, plan.Marks[a.Mark])
				}
			}
		}
	}
}

// A ring passes each part once around and once back, whatever the number of
// members.
func TestHowMuchMoves(t *testing.T) {
	for _, p := range []int{2, 3, 8} {
		const n = 64 * 8 * 3 * 10
		in := make([]int, p)
		for _, tr := range Ring(p, n) {
			in[tr.To] += tr.Hi - tr.Lo
		}
		for m, got := range in {
			if want := 2 * (p - 1) * n / p; got != want {
				t.Errorf("%d members: member %d takes %d elements, want %d", p, m, got, want)
			}
		}
	}
}
