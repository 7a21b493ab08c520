package mpitest

import (
	"math"
	"strings"

	"gocuda/cudaapi/mpi"
)

// thing is an object: what no buffer can be.
type thing struct {
	Name  string
	Parts map[string][]float64
	Next  *thing
}

func thingOf(rank int) thing {
	return thing{Name: strings.Repeat("long", 100*rank), Parts: map[string][]float64{"a": {float64(rank), 1.5}}, Next: &thing{Name: "é\"\n"}}
}

// objectCases: values that travel as text.
func objectCases() []Case {
	return []Case{
		{Name: "object/messages", Run: func(t *T) {
			done := make(chan error, 1)
			go func() { done <- t.SendObject(thingOf(t.rank), t.next(), 3) }()
			var got thing
			st, err := t.RecvObject(&got, t.prev(), 3)
			t.ok(err)
			t.ok(<-done)
			t.same("object", got, thingOf(t.prev()))
			t.same("source and tag", []int{st.Source, st.Tag}, []int{t.prev(), 3})
		}},
		{Name: "object/collectives", Run: func(t *T) {
			last := t.size - 1
			var got thing
			if t.rank == last {
				got = thingOf(7)
			}
			t.ok(t.BcastObject(&got, last))
			t.same("broadcast", got, thingOf(7))

			var all []thing
			t.ok(t.AllgatherObject(thingOf(t.rank), &all))
			t.same("gathered everywhere", len(all), t.size)
			for r, a := range all {
				t.same("gathered", a, thingOf(r))
			}
			var at []thing
			if t.rank == last {
				t.ok(t.GatherObject(thingOf(t.rank), &at, last))
				t.same("gathered at one", at, all)
			} else {
				t.ok(t.GatherObject(thingOf(t.rank), nil, last))
			}
			if t.rank != 0 {
				all = nil
			}
			var mine thing
			t.ok(t.ScatterObject(all, &mine, 0))
			t.same("scattered", mine, thingOf(t.rank))
		}},
		{Name: "object/mistakes", Run: func(t *T) {
			// What one rank cannot give, or cannot take, leaves nobody waiting.
			at0 := func(err error, here, elsewhere mpi.Class) {
				if t.rank == 0 {
					t.is(err, here)
				} else {
					t.is(err, elsewhere)
				}
			}
			t.is(t.SendObject(func() {}, 0, 0), mpi.ErrType)
			_, err := t.RecvObject(thing{}, 0, 0)
			t.is(err, mpi.ErrBuffer)
			x := math.NaN()
			if t.rank > 0 {
				x = 1
			}
			var all []float64
			at0(t.AllgatherObject(x, &all), mpi.ErrType, mpi.ErrArg)
			at0(t.BcastObject(&x, 0), mpi.ErrType, mpi.ErrArg)
			var values []int
			if t.rank == 0 {
				values = make([]int, t.size+1)
			}
			var number int
			at0(t.ScatterObject(values, &number, 0), mpi.ErrCount, mpi.ErrArg)
			text := "text"
			if t.rank == 0 {
				t.ok(t.BcastObject(&text, 0))
			} else {
				t.is(t.BcastObject(&number, 0), mpi.ErrType)
			}
			t.ok(t.Barrier())
		}},
	}
}
