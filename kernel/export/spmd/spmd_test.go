package spmd

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/kernel/display"
)

func TestMerge(t *testing.T) {
	lines := func(texts ...string) (list []said) {
		for _, s := range texts {
			list = append(list, said{s, false})
		}
		return list
	}
	for _, c := range []struct {
		all  [][]said
		want string
	}{
		{[][]said{lines("a", "b"), lines("a", "b")}, "[0-1] a\n[0-1] b\n"},
		{[][]said{lines("0", "end"), lines("1", "end"), lines("2", "end")}, "[0] 0\n[1] 1\n[2] 2\n[0-2] end\n"},
		{[][]said{nil, lines("only here"), nil}, "[1] only here\n"},
		{[][]said{lines("x", "more", "x"), lines("x")}, "[0-1] x\n[0] more\n[0] x\n"},
		{[][]said{lines("later"), lines("first", "later")}, "[1] first\n[0-1] later\n"},
		{[][]said{{{"two\nlines", true}}, {{"two\nlines", true}}}, "[0-1]\ntwo\nlines\n"},
		{[][]said{{{"same", true}}, lines("same")}, "[0] same\n[1] same\n"},
		{[][]said{lines("a", "b"), lines("b", "a")}, "[0] a\n[0-1] b\n[1] a\n"},
	} {
		if got := merge(c.all); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// What a cell prints and shows is recorded in order, and the process's output is as
// before then.
func TestRecorded(t *testing.T) {
	out := os.Stdout
	list := recorded(func() {
		fmt.Print("begun, ")
		fmt.Println("ended")
		display.Show(display.Text("one\ntwo"))
		fmt.Print("no line's end")
		display.Show(7)
		fmt.Print("last")
	})
	want := []said{{"begun, ended", false}, {"one\ntwo", true}, {"no line's end", false}, {"7", true}, {"last", false}}
	if !slices.Equal(list, want) {
		t.Errorf("%+v, want %+v", list, want)
	}
	if os.Stdout != out {
		t.Error("the standard output is another")
	}
}

func TestWithout(t *testing.T) {
	leak := func(bytes uint64) cuda.Leak { return cuda.Leak{Kind: "device", Bytes: bytes} }
	got := without([]cuda.Leak{leak(1), leak(1), leak(2), leak(3)}, []cuda.Leak{leak(1), leak(3), leak(4)})
	if want := []cuda.Leak{leak(1), leak(2)}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
