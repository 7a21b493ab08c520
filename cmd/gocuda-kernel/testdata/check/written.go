// Elements of pinned memory that are written where an index or a pointer is the result of
// a call, in the order in which assignments evaluate, and conversions that read.
package main

import (
	"fmt"

	"gocuda/cudaapi/cuda"
)

const n = 16

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

type grid struct{ v []float32 }

func (g *grid) at(i, j int) *float32 { return &g.v[4*i+j] }

func main() {
	d := must(cuda.CurrentDevice())
	s := must(d.NewStream(cuda.NonBlocking))
	x := must(d.Alloc(n, cuda.Float32))
	h := must(cuda.AllocHost(n, cuda.Float32))
	v := must(h.Float32s())
	g := &grid{v}
	wait := func() { must(0, s.Synchronize()) }
	pick := func() int { return 3 }
	waits := func() float32 {
		wait()
		return 1
	}
	doesNot := func() float32 { return 2 }
	both := func() (float32, float32) { return 3, 4 }
	up := func() {
		wait()
		must(0, x.UploadAsync(h, s)) //! 1 2 3 4 5 6 7 8 9
	}

	up()
	v[pick()] = 1 //! 1
	up()
	wait()
	v[pick()] = 1
	up()
	*g.at(1, 2) += 4 //! 2
	up()
	wait()
	*g.at(1, 2) += 4
	up()
	*g.at(1, 2)-- //! 3

	// What is assigned is evaluated first: it may wait.
	p := &v[1]
	up()
	v[0] = waits()
	up()
	v[0] = doesNot() //! 4
	up()
	*p = waits()
	up()
	*p = doesNot() //! 5
	up()
	v[2] += waits()
	up()
	v[2] += doesNot() //! 6
	up()
	v[3], v[4] = 1, waits()
	up()
	v[3], v[4] = 1, doesNot() //! 7
	up()
	v[pick()], v[4] = both() //! 8
	up()
	for _, v[5] = range []float32{1, 2} { //! 9
	}
	wait()

	b := must(cuda.AllocHost(n, cuda.Uint8))
	text := must(b.Uint8s())
	y := must(d.Alloc(n, cuda.Uint8))
	must(0, y.Memset('a'))
	must(0, d.Synchronize())
	down := func() {
		wait()
		must(0, y.DownloadAsync(b, s)) //! 10 11
	}
	down()
	fmt.Println(len(string(text[:4]))) //! 10
	down()
	parts := [4]byte(text[2:6]) //! 11
	fmt.Println(len(parts))
	down()
	wait()
	fmt.Println(string(text))
}
