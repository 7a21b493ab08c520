// Kernels, the host and streams that tell each other by flags that work elsewhere may
// begin: what lies behind a poll is no hazard, what the flag does not stand for is.
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"gocuda/cudaapi/cuda"
)

const n = 64

const source = `
__global__ void tell(volatile unsigned *flag, float *x, int n) { for (int i = 0; i < n; i++) x[i] = 7; __threadfence_system(); *flag = 1; }
__global__ void wait(volatile unsigned *flag, const float *x, float *y, int n) {
    while (*flag == 0) {}
    __threadfence_system();
    for (int i = 0; i < n; i++) y[i] = x[i];
}
__global__ void raise(float *x) { x[threadIdx.x] += 1; }
`

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func main() {
	d := must(cuda.CurrentDevice())
	m := must(cuda.Compile(source))
	tell, wait, raise := must(m.Kernel("tell")), must(m.Kernel("wait")), must(m.Kernel("raise"))
	one, all := cuda.Grid(1), cuda.Block(n)
	stream := func() *cuda.Stream { return must(d.NewStream(cuda.NonBlocking)) }
	buffer := func() *cuda.Buffer { return must(d.Alloc(n, cuda.Float32)) }
	s, t, u := stream(), stream(), stream()
	x, y := buffer(), buffer()
	h := must(cuda.AllocHost(1, cuda.Uint32, cuda.Mapped))
	flag := must(h.Uint32s())
	idle := func() {
		must(0, d.Synchronize())
		flag[0] = 0
	}

	// A kernel tells the host, by a read and by an atomic load.
	idle()
	must(0, y.MemsetAsync(1, s))
	must(0, tell.Launch(one, cuda.Block(1), s, h, x, n))
	for flag[0] == 0 {
	}
	must(0, raise.Launch(one, all, t, x))
	must(0, raise.Launch(one, all, t, y))
	idle()
	must(0, tell.Launch(one, cuda.Block(1), s, h, x, n))
	for atomic.LoadUint32(&flag[0]) == 0 {
	}
	must(0, raise.Launch(one, all, t, x))
	idle()
	must(0, tell.Launch(one, cuda.Block(1), s, h, x, n)) //! 1
	must(0, raise.Launch(one, all, t, x))                //! 1

	// The host, and a stream, tell a kernel.
	idle()
	must(0, wait.Launch(one, cuda.Block(1), s, h, x, y, n))
	must(0, x.MemsetAsync(1, t))
	must(0, t.Synchronize())
	atomic.StoreUint32(&flag[0], 1)
	idle()
	must(0, wait.Launch(one, cuda.Block(1), s, h, x, y, n)) //! 2
	must(0, x.MemsetAsync(1, t))                            //! 2
	atomic.StoreUint32(&flag[0], 1)
	idle()
	must(0, wait.Launch(one, cuda.Block(1), s, h, x, y, n))
	must(0, x.MemsetAsync(1, t))
	must(0, t.WriteValue(h, 1))
	idle()
	must(0, wait.Launch(one, cuda.Block(1), s, h, x, y, n)) //! 3
	must(0, x.MemsetAsync(1, u))                            //! 3
	must(0, t.WriteValue(h, 1))
	idle()

	// What the library reads and writes by pointers and slices.
	floats, bytes := must(cuda.AllocHost(n, cuda.Float32)), must(cuda.AllocHost(n, cuda.Uint8))
	v, b := must(floats.Float32s()), must(bytes.Uint8s())
	z := must(d.Alloc(n, cuda.Uint8))
	must(0, x.UploadAsync(floats, s)) //! 4
	must(0, z.UploadAsync(bytes, s))  //! 5 6
	fmt.Println(&v[1] != nil)
	must(fmt.Sscan("3", &v[1]))                                            //! 4
	must(io.ReadFull(strings.NewReader("abcd"), b[:4]))                    //! 5
	binary.LittleEndian.PutUint32(b[4:], atomic.AddUint32(new(uint32), 1)) //! 6
	must(0, s.Synchronize())
}
