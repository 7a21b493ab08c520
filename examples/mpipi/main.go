// Mpipi computes pi on all ranks of an MPI job, each on a device of its own: a
// rank integrates its share of 4/(1+x²), in many partial sums that stay in
// device memory; the ranks add them up by an all-reduce of the device buffers.
// One binary serves any MPI library, CUDA-aware or not, and none:
//
//	CGO_ENABLED=0 go build ./examples/mpipi
//	mpirun -n 4 ./mpipi
//	./mpipi
//
// Without GPUs it runs on simulated devices (GOCUDA_BACKEND=sim).
package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"

	_ "gocuda/cudaapi/backend"
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi"
)

const source = `
// Thread i of all ranks' threads adds up every stride-th strip from first + i on.
extern "C" __global__ void integrate(double *sums, int n, long long strips, long long first, long long stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double width = 1.0 / strips, sum = 0;
    for (long long k = first + i; k < strips; k += stride) {
        double x = (k + 0.5) * width;
        sum += 4 / (1 + x * x);
    }
    sums[i] = sum * width;
}`

func main() {
	strips := flag.Int("strips", 10_000_000, "how many strips to cut the area into")
	flag.Parse()
	if *strips < 1 {
		fmt.Fprintln(os.Stderr, "mpipi: -strips must be at least 1")
		os.Exit(2)
	}
	if err := run(os.Stdout, *strips); err != nil {
		fmt.Fprintln(os.Stderr, "mpipi:", err)
		mpi.Abort(1) // the others would wait for this rank
	}
}

func run(w io.Writer, strips int) error {
	const threads = 4096
	world, err := mpi.Init()
	if err != nil {
		return err
	}
	device, err := ownDevice(world)
	if err != nil {
		return err
	}
	module, err := cuda.Compile(source, cuda.ForDevice(device))
	if err != nil {
		return err
	}
	integrate, err := module.Kernel("integrate")
	if err != nil {
		return err
	}
	sums, err := device.Alloc(threads, cuda.Float64)
	if err != nil {
		return err
	}
	total, err := device.Alloc(threads, cuda.Float64)
	if err != nil {
		return err
	}
	stream := device.DefaultStream()
	if err := integrate.Launch(cuda.GridFor(threads, 256), cuda.Block(256), stream,
		sums, threads, strips, world.Rank()*threads, world.Size()*threads); err != nil {
		return err
	}
	if err := world.Allreduce(sums, total, mpi.Sum); err != nil {
		return err
	}
	pi, err := total.Sum(stream)
	if err != nil {
		return err
	}
	if d := math.Abs(pi - math.Pi); d > 1e-9 {
		return fmt.Errorf("rank %d: pi came out as %.15f, wrong by %g", world.Rank(), pi, d)
	}
	if world.Rank() == 0 {
		library, err := mpi.LibraryInfo()
		if err != nil {
			return err
		}
		path, why := mpi.Path(world, world.Size()-1)
		fmt.Fprintf(w, "%v\ndevice memory to rank %d: %s (%s)\n", library, world.Size()-1, path, why)
		fmt.Fprintf(w, "pi is %.12f, from %d ranks\n", pi, world.Size())
	}
	return mpi.Finalize()
}

// ownDevice chooses a device by the rank among those of this host.
func ownDevice(world *mpi.Comm) (*cuda.Device, error) {
	host, err := world.SplitShared(world.Rank())
	if err != nil {
		return nil, err
	}
	defer host.Free()
	n, err := cuda.DeviceCount()
	if err != nil {
		return nil, err
	}
	if err := cuda.SetDevice(host.Rank() % n); err != nil {
		return nil, err
	}
	return cuda.CurrentDevice()
}
