// Pinned memory of structures and arrays, field by field, and memory that methods reach
// through their receivers; each once without a wait and once with one.
package main

import (
	"fmt"

	"gocuda/cudaapi/cuda"
)

const n = 64

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

type vector [3]float32

type particle struct {
	At, Speed vector
	ID        int32
	Fixed     bool
}

func (p *particle) move() {
	p.At[0] += p.Speed[0] //! 1 19
}

func (p particle) energy() float32 { return p.Speed[0] * p.Speed[0] }

// A view's methods, called directly, through an interface, and as values.
type view []float32

func (v view) first() float32 {
	return v[0] //! 10
}

func (v view) sum() (s float32) {
	for _, x := range v { //! 11
		s += x
	}
	return s
}

func (v view) set(i int, x float32) {
	v[i] = x //! 12
}

type summer interface{ sum() float32 }

type row struct{ cells *[8]float32 }

func main() {
	d := must(cuda.CurrentDevice())
	s := must(d.NewStream(cuda.NonBlocking))
	list := make([]particle, n)
	pinned := must(cuda.RegisterHost(list))
	x := must(d.Upload(list))
	wait := func() { must(0, s.Synchronize()) }
	down := func() {
		wait()
		must(0, x.DownloadAsync(pinned, s)) //! 1 19 2 3 4 5 6 7 8 9 17 18 20
	}
	sum := float32(0)

	down()
	list[3].move()
	down()
	sum += list[3].At[1] //! 2
	down()
	list[n-1].Speed[2] = 4 //! 3
	down()
	one := list[4] //! 4
	sum += one.energy()
	down()
	sum += list[5].energy() //! 5
	down()
	p := &list[7]
	if p.ID > 3 && p.Fixed { //! 6
		sum++
	}
	down()
	p.Speed = vector{1, 2, 3} //! 7
	down()
	for _, a := range p.At { //! 20
		sum += a
	}
	down()
	for _, q := range list { //! 8
		sum += q.energy()
	}
	down()
	for i := range list {
		list[i].ID++ //! 9
	}
	down()
	q := &list[2].Speed[1]
	*q = 5 //! 17
	down()
	part := list[2].At[:2]
	sum += part[1] //! 18
	down()
	wait()
	list[3].move()
	sum += list[3].At[1] + list[5].energy() + p.At[0] + *q + part[0]
	list[n-1].Speed[2], p.ID = 4, 3
	list[2] = one

	// A copy of other elements, and of other fields.
	must(0, x.Slice(0, 8).DownloadAsync(pinned.Slice(0, 8), s))
	list[8].move()
	list[9].ID = 3
	const size, from = 32, 24 // of a particle, and where its ID is
	ids := must(x.As(cuda.Uint8))
	wait()
	must(0, cuda.Memcpy2DAsync(must(d.Alloc(4*n, cuda.Uint8)), 4, ids.Slice(from, ids.Len()), size, 4, n-1, s))
	wait()

	numbers := must(cuda.AllocHost(n, cuda.Float32))
	y := must(d.Alloc(n, cuda.Float32))
	v := view(must(numbers.Float32s()))
	fetch := func() {
		wait()
		must(0, y.DownloadAsync(numbers, s)) //! 10 11 12 13 14 15 16
	}
	fetch()
	sum += v.first()
	fetch()
	for _, of := range []summer{v} {
		sum += of.sum()
	}
	fetch()
	set := v.set
	set(3, 1)
	fetch()
	array := (*[16]float32)(v)
	sum += array[3] //! 13
	fetch()
	array[4] = 2 //! 14
	fetch()
	for i := range array {
		sum += float32(i)
	}
	for _, e := range array { //! 15
		sum += e
	}
	r := row{(*[8]float32)(v[8:])}
	fetch()
	r.cells[2]++ //! 16
	fetch()
	wait()
	sum += v.first() + v.sum() + array[1] + r.cells[3]
	set(2, 1)
	fmt.Println(sum >= 0)
}
