package kerneltest

import (
	"fmt"
	"testing"

	_ "gocuda/cudaapi/backend"
	"gocuda/cudaapi/cuda"
)

func TestFirst(t *testing.T) {
	m, err := cuda.CompileGo(`
func saxpy(a float32, x, y []float32) {
	i := gpu.BlockIdx.X*gpu.BlockDim.X + gpu.ThreadIdx.X
	if i < len(y) {
		y[i] = a*x[i] + y[i]
	}
}

func bad(x []float32, n int) {
	x[gpu.ThreadIdx.X*n] = 1
}
`, cuda.SourceName("In[5]"))
	if err != nil {
		t.Fatal(err)
	}
	d, _ := cuda.CurrentDevice()
	x, _ := d.Upload([]float32{1, 2, 3, 4})
	y, _ := d.Upload([]float32{10, 20, 30, 40})
	k, err := m.Kernel("saxpy")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(k)
	if err := k.Launch(cuda.Grid(1), cuda.Block(32), nil, 2, x, y); err != nil {
		t.Fatal(err)
	}
	fmt.Println(y.Float32s())
	b, _ := m.Kernel("bad")
	fmt.Println(b.Launch(cuda.Grid(1), cuda.Block(32), nil, x, 3))
	fmt.Println(d.Synchronize())
	fmt.Println(d.Synchronize())
	fmt.Println(x.Float32s())
	fmt.Println(k.Launch(cuda.Grid(1), cuda.Block(32), nil, 2, 3, y))
}
