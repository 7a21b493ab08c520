// Pinned memory that the program touches through pointers, channels, interfaces and
// values of functions, and in conditions; each once without a wait and once with one.
package main

import (
	"fmt"
	"slices"
	"unsafe"

	"gocuda/cudaapi/cuda"
)

const n = 64

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// ok is what programs call must otherwise.
func ok[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func same[T any](v T) T { return v }

type cell struct{ at *float32 }

func (c cell) set(v float32) {
	*c.at = v //! 3
}

// A filler fills, as several types do.
type filler interface{ fill(v []float32) }

type ones struct{}

func (ones) fill(v []float32) {
	v[0] = 1 //! 7
}

type source interface{ values() []float32 }

type held struct{ v []float32 }

func (h *held) values() []float32 { return h.v }

func raise(v *[]float32) {
	(*v)[2] += 1 //! 5
}

func first(x any) float32 {
	switch v := x.(type) {
	case []float32:
		return v[0] //! 10
	case float32:
		return v
	}
	return 0
}

func main() {
	d := must(cuda.CurrentDevice())
	s := must(d.NewStream(cuda.NonBlocking))
	x := must(d.Alloc(n, cuda.Float32))
	h := must(cuda.AllocHost(n, cuda.Float32))
	v := must(h.Float32s())
	wait := func() { must(0, s.Synchronize()) }
	up := func() {
		wait()
		must(0, x.UploadAsync(h, s)) //! 1 2 3 4 5 6 7 8
	}
	down := func() {
		wait()
		must(0, x.DownloadAsync(h, s)) //! 9 10 11 12 13 14 15 16 17 18 19 20 21 22
	}

	p := &v[3]
	up()
	*p = 1 //! 1
	up()
	wait()
	*p = 2

	up()
	for i := range v {
		q := &v[i]
		*q++ //! 2
	}
	up()
	cell{p}.set(3)
	up()
	wait()
	*p = 3

	lines := [2]*float32{&v[0], &v[1]}
	up()
	*lines[1] = 4 //! 4
	up()
	raise(&v)

	up()
	ready := make(chan []float32, 1)
	ready <- v
	part := <-ready
	part[0] = 5 //! 6
	up()
	wait()
	ready <- v
	part = <-ready
	part[0] = 5

	up()
	for _, f := range []filler{ones{}} {
		f.fill(v)
	}
	up()
	set := func(v []float32) { v[1] = 6 } //! 8
	for _, f := range []func([]float32){set} {
		f(v)
	}

	down()
	go func() {
		ready <- v
		close(ready)
	}()
	sum := float32(0)
	for part := range ready {
		for _, x := range part { //! 9
			sum += x
		}
	}
	down()
	sum += first(v)
	down()
	wait()
	sum += first(v) + first(sum)

	down()
	var some source = &held{v}
	sum += some.values()[1] //! 11
	down()
	w := some.values()
	sum += w[1] //! 12

	down()
	for i := 0; v[i] > 100; i++ { //! 13
		sum++
	}
	down()
	if i := n - 1; sum < 0 || v[i] > 100 { //! 14
		sum++
	}
	down()
	wait()
	for i := 0; v[i] > 100; i++ {
		sum++
	}
	down()
	if sum < 0 && v[0] > 100 { // which is not looked at
		sum++
	}
	switch {
	case sum < 0, v[2] > 100: //! 15
		sum++
	}
	down()
	for slices.Max(v) > 100 { //! 16
		sum++
	}
	down()
	for _, x := range some.values() { //! 17
		sum += x
	}
	down()
	sum = min(sum, slices.Max(some.values())) //! 18
	views := map[string][]float32{"v": v}
	down()
	if w, ok := views["v"]; ok && w[2] > 100 { //! 19
		sum++
	}
	mine := ok(h.Float32s())
	down()
	sum += mine[4] //! 20
	down()
	sum += same(v)[5] //! 21
	part = unsafe.Slice((*float32)(must(h.Pointer())), n)
	down()
	sum += part[6] //! 22
	down()
	wait()
	sum += mine[4] + same(v)[5] + part[6]
	for _, x := range some.values() {
		sum += slices.Max(some.values()) + x
	}
	fmt.Println(*p >= 0)
}
