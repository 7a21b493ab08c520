package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type person struct {
	Name string
	Age  int
}

type recorder struct{ n int }

func (r *recorder) Errorf(format string, args ...any) {
	r.n++
	s := fmt.Sprintf(format, args...)
	trace := false // which differs from machine to machine
	for line := range strings.Lines(s) {
		switch {
		case strings.Contains(line, "Error Trace:"):
			trace = true
		case strings.Contains(line, "Error:"):
			trace = false
		}
		if !trace {
			fmt.Print(line)
		}
	}
	fmt.Println()
}
func (r *recorder) FailNow() { panic("FailNow") }

func main() {
	t := &recorder{}
	assert.Equal(t, 1, 2, "numbers")
	assert.Equal(t, person{"Ann", 3}, person{"Bob", 3})
	assert.NoError(t, errors.New("bad"))
	assert.Contains(t, []int{1, 2}, 3)
	assert.ElementsMatch(t, []int{1, 2}, []int{2, 1})
	assert.Panics(t, func() { panic(1) })
	assert.JSONEq(t, `{"a":1}`, `{"a": 1}`)
	assert.InDelta(t, 1.0, 1.001, 0.01)
	assert.Implements(t, (*error)(nil), errors.New("x"))
	require.True(t, true)
	fmt.Println(t.n)
}
