package main

import (
	"fmt"
	"gocuda/cudaapi/cuda"
	"runtime"
	"sync"
)

type stage struct {
	buf  *cuda.HostBuffer
	data []float32
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func sum(v []float32) (s float32) {
	for _, x := range v { //! 2
		s += x
	}
	return
}

func main() {
	d, _ := cuda.Devices()
	x, _ := d[0].Alloc(1024, cuda.Float32)
	h, _ := cuda.AllocHost(1024, cuda.Float32)
	s, _ := d[0].NewStream(cuda.NonBlocking)
	st := stage{buf: h, data: must(h.Float32s())}
	for i := range st.data {
		st.data[i] = float32(i)
	}
	cuda.MemcpyAsync(x, h, s) //! 1
	st.data[5] = 1            //! 1
	s.Synchronize()
	st.data[6] = 2
	cuda.MemcpyAsync(h, x, s) //! 2
	out := must(h.Float32s())
	fmt.Println(len(out), sum(out))
	s.Synchronize()
	fmt.Println(out[:2])

	row := make([]float32, 1024)
	x.DownloadAsync(row, s) //! 3
	fmt.Println(row[0])     //! 3
	s.Synchronize()
	fmt.Println(row[1])
	m, _ := d[0].AllocManaged(16, cuda.Int32)
	m.Fill(3, s) //! 4
	host, _ := m.Host()
	v := must(host.Int32s())
	if v[0] == 3 { //! 4
		fmt.Println("three")
	}
	d[0].Synchronize()
	if v[0] == 3 {
		fmt.Println("three")
	}
	gate, _ := cuda.AllocHost(1, cuda.Uint32, cuda.Portable, cuda.Mapped)
	must(gate.Uint32s())[0] = 0
	s.WaitValue(gate, 1, cuda.WaitGEQ)
	var wg sync.WaitGroup
	wg.Go(func() { must(gate.Uint32s())[0] = 1 })
	wg.Wait()
	s.Synchronize()
	runtime.KeepAlive(h)
}
