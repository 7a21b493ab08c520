package main

import (
	"fmt"
	"gocuda/cudaapi/cuda"
)

func produce(x *cuda.Buffer, s *cuda.Stream) error {
	return x.Fill(float32(1), s) //! 1 2
}

type user struct{ s *cuda.Stream }

func (u user) consume(x, y *cuda.Buffer) (err error) {
	func() {
		err = cuda.MemcpyAsync(y, //! 1 2
			x, u.s)
	}()
	return
}

func main() {
	d, _ := cuda.Devices()
	x, _ := d[0].Alloc(1024, cuda.Float32)
	y, _ := d[0].Alloc(1024, cuda.Float32)
	a, _ := d[0].NewStream(cuda.NonBlocking)
	b, _ := d[0].NewStream(cuda.NonBlocking)
	for range 3 {
		if err := produce(x, a); err != nil {
			panic(err)
		}
		done := make(chan error)
		go func() { done <- user{b}.consume(x, y) }()
		fmt.Println(<-done)
	}
	cuda.Synchronize()
}
