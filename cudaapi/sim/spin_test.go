package sim_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

// soon fails the test if f does not end.
func soon(t testing.TB, what string, f func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	case <-time.After(time.Minute):
		stack := make([]byte, 1<<16)
		t.Fatalf("%s does not end\n%s", what, stack[:runtime.Stack(stack, true)])
	}
}

// spinning are kernels in which threads wait for what others of the grid write.
// Each leaves in out[0] how many threads did right.
var spinning = []struct {
	name, code  string
	grid, block uint32
	want        uint32
}{
	{"a block waits for one that begins much later", `
__global__ void k(unsigned *out, volatile unsigned *flags) {
    if (blockIdx.x == 0) while (flags[0] == 0);
    if (blockIdx.x == gridDim.x - 1) { __threadfence(); flags[0] = 1; }
    atomicAdd(out, 1u);
}`, 400, 1, 400},
	{"each block waits for the next", `
__global__ void k(unsigned *out, volatile unsigned *flags) {
    if (threadIdx.x == 0) {
        if (blockIdx.x + 1 < gridDim.x)
            while (!flags[blockIdx.x + 1]) { }
        flags[blockIdx.x] = 1;
    }
    __syncthreads();
    atomicAdd(out, 1u);
}`, 100, 64, 6400},
	{"a barrier of the grid made of atomics", `
__device__ unsigned arrived;
__device__ void barrier(unsigned turn) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&arrived, 1u);
        while (atomicAdd(&arrived, 0u) < turn * gridDim.x);
        __threadfence();
    }
    __syncthreads();
}
__global__ void k(unsigned *out, unsigned *at) {
    __shared__ unsigned mine;
    if (threadIdx.x == 0) mine = blockIdx.x;
    for (unsigned turn = 1; turn <= 10; turn++) {
        if (threadIdx.x == 0) at[blockIdx.x] = turn;
        barrier(2 * turn - 1);
        unsigned other = (blockIdx.x + threadIdx.x) % gridDim.x;
        if (mine == blockIdx.x && at[other] == turn) atomicAdd(out, 1u);
        barrier(2 * turn);
    }
}`, 132, 32, 132 * 32 * 10},
	{"a lock that all threads take", `
__device__ int lock;
__global__ void k(unsigned *out, unsigned *) {
    bool done = false;
    while (!done) {
        if (atomicExch(&lock, 1) == 0) {
            *(volatile unsigned *)out = *(volatile unsigned *)out + 1;
            __threadfence();
            atomicExch(&lock, 0);
            done = true;
        }
    }
}`, 16, 64, 1024},
	{"a lock that is waited for within a warp", `
__device__ int lock;
__global__ void k(unsigned *out, unsigned *) {
    while (atomicCAS(&lock, 0, 1) != 0);
    unsigned v = *(volatile unsigned *)out;
    *(volatile unsigned *)out = v + 1;
    __threadfence();
    atomicExch(&lock, 0);
}`, 8, 64, 512},
	{"tickets", `
__device__ unsigned next, serving;
__global__ void k(unsigned *out, unsigned *) {
    unsigned mine = atomicAdd(&next, 1u);
    while (*(volatile unsigned *)&serving != mine) __nanosleep(20);
    *(volatile unsigned *)out = mine + 1;
    __threadfence();
    *(volatile unsigned *)&serving = mine + 1;
}`, 8, 128, 1024},
	{"threads of a block wait for each other in turn", `
__global__ void k(unsigned *out, unsigned *) {
    __shared__ volatile unsigned turn;
    if (threadIdx.x == 0) turn = 0;
    __syncthreads();
    while (turn != blockDim.x - 1 - threadIdx.x) { }
    out[0] = out[0] + 1;
    turn = turn + 1;
}`, 1, 256, 256},
	{"the last block adds up", `
__device__ unsigned finished;
__global__ void k(unsigned *out, volatile unsigned *parts) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = blockIdx.x;
        __threadfence();
        last = atomicInc(&finished, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) atomicAdd(out, threadIdx.x < gridDim.x ? parts[threadIdx.x] : 0);
}`, 200, 256, 199 * 200 / 2},
	{"a scan in which each block looks back", `
__global__ void k(unsigned *out, volatile unsigned *sums) {
    if (threadIdx.x) return;
    unsigned before = 0;
    if (blockIdx.x) {
        do { before = sums[blockIdx.x - 1]; } while (before == 0);
    }
    sums[blockIdx.x] = before + 1;
    if (before == blockIdx.x) atomicAdd(out, 1u);
}`, 500, 32, 500},
	{"a loop that goes on by itself", `
__device__ unsigned ready(const unsigned *p) { return *(const volatile unsigned *)p; }
__global__ void k(unsigned *out, unsigned *flags) {
    for (;;) {
        if (blockIdx.x == gridDim.x - 1 || ready(&flags[0])) break;
    }
    if (threadIdx.x == 0) *(volatile unsigned *)flags = 1;
    atomicAdd(out, 1u);
}`, 64, 32, 2048},
}

// TestSpinning has blocks and threads wait for each other without barriers: on
// a GPU all blocks that it has room for make progress.
func TestSpinning(t *testing.T) {
	for _, noCheck := range []bool{false, true} {
		for _, adversarial := range []bool{false, true} {
			t.Run(fmt.Sprintf("check=%v/adversarial=%v", !noCheck, adversarial), func(t *testing.T) {
				b := newBox(t, sim.Options{Devices: 1, NoCheck: noCheck, Adversarial: adversarial})
				for _, c := range spinning {
					t.Run(c.name, func(t *testing.T) {
						b := &box{t, b.d, b.c}
						k, p, flags := b.kernel(c.code), upload(b, make([]uint32, 1)), upload(b, make([]uint32, 1024))
						begin := time.Now()
						b.ok(b.launch(k, dim(c.grid), dim(c.block), 0, p, flags))
						soon(t, c.name, b.sync)
						t.Log(time.Since(begin))
						if got := download[uint32](b, p, 1)[0]; got != c.want {
							t.Errorf("%d, want %d", got, c.want)
						}
					})
				}
			})
		}
	}
}

// TestSpinUnseen waits in a way that is not seen in the source, without checks:
// further workers let the later blocks run.
func TestSpinUnseen(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 1, NoCheck: true})
	k := b.kernel(`
__global__ void k(unsigned *out, volatile unsigned *flags) {
again:
    if (blockIdx.x < gridDim.x - 1 && flags[0] == 0) goto again;
    flags[0] = 1;
    atomicAdd(out, 1u);
}`)
	p, flags := upload(b, make([]uint32, 1)), upload(b, make([]uint32, 1))
	b.ok(b.launch(k, dim(5), dim(256), 0, p, flags))
	soon(t, "the kernel", b.sync)
	if got := download[uint32](b, p, 1)[0]; got != 5*256 {
		t.Errorf("%d threads came through, want %d", got, 5*256)
	}
}

const relay = `
__global__ void relay(int first, int turns, unsigned *flag) {
    if (blockIdx.x || threadIdx.x) return;
    volatile unsigned *f = flag;
    for (unsigned turn = first; turn < 2 * turns; turn += 2) {
        while (*f != turn);
        __threadfence_system();
        atomicExch_system(flag, turn + 1);
    }
}`

// TestDevicesSpin has kernels of two devices wait for each other in turn.
func TestDevicesSpin(t *testing.T) {
	const turns = 500
	a := newBox(t, sim.Options{Devices: 2})
	b := &box{t, a.d, retain(t, a.d, 1)}
	a.ok(a.d.EnablePeerAccess(a.c, b.c))
	b.ok(b.d.EnablePeerAccess(b.c, a.c))
	flag := upload(a, make([]uint32, 1))
	begin := time.Now()
	a.ok(a.launch(a.kernel(relay), dim(4), dim(32), 0, 1, turns, flag))
	b.ok(b.launch(b.kernel(relay), dim(4), dim(32), 0, 0, turns, flag))
	soon(t, "the second", b.sync)
	soon(t, "the first", a.sync)
	t.Log(time.Since(begin))
	if got := download[uint32](a, flag, 1)[0]; got != 2*turns {
		t.Errorf("the flag is %d, want %d", got, 2*turns)
	}
}

// TestHostEndsSpin has a kernel wait for the host, and for another stream.
func TestHostEndsSpin(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 1})
	k := b.kernel(`__global__ void wait(volatile unsigned *flag) { while (flag[0] == 0) __nanosleep(100); flag[1] = 2; }`)
	flag, err := b.d.HostAlloc(b.c, 8, driver.HostPortable)
	b.ok(err)
	words := unsafe.Slice((*uint32)(*(*unsafe.Pointer)(unsafe.Pointer(&flag))), 2)
	clear(words)
	b.ok(b.launch(k, dim(3), dim(32), 0, flag))
	e, err := b.d.EventCreate(b.c, 0)
	b.ok(err)
	b.ok(b.d.EventRecord(b.c, e, 0))
	for range 5 {
		if done, err := b.d.EventQuery(b.c, e); done || err != nil {
			t.Fatal("the kernel did not wait:", done, err)
		}
		time.Sleep(2 * time.Millisecond)
	}
	atomic.StoreUint32(&words[0], 1)
	soon(t, "the kernel that waits for the host", b.sync)

	clear(words)
	b.ok(b.launch(k, dim(3), dim(32), 0, flag))
	s, err := b.d.StreamCreate(b.c, driver.StreamNonBlocking, 0)
	b.ok(err)
	b.ok(b.d.StreamWriteValue32(b.c, s, flag, 1))
	soon(t, "the kernel that waits for a stream", b.sync)
	if words[1] != 2 {
		t.Error("the kernel did not run to its end")
	}
}

// TestTooManySpin has all blocks that a device has room for wait for one that
// there is no room for: that never ends. An interrupt ends the wait and says why,
// and a reset of the device ends the kernel.
func TestTooManySpin(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 1})
	k := b.kernel(`
__global__ void late(volatile unsigned *flag) {
    if (blockIdx.x == gridDim.x - 1) flag[0] = 1;
    if (threadIdx.x == 0) while (flag[0] == 0);
}`)
	perSM, err := b.d.MaxActiveBlocks(b.c, k, 1024, 0)
	b.ok(err)
	sms, err := b.d.DeviceAttribute(driver.MultiprocessorCount, 0)
	b.ok(err)
	room := uint32(perSM * sms)
	flag := upload(b, make([]uint32, 1))
	b.ok(b.launch(k, dim(room), dim(1024), 0, flag))
	soon(t, "a grid for which there is room", b.sync)

	b.ok(b.d.Memset(b.c, flag, 0, 1, 4))
	b.ok(b.launch(k, dim(room+1), dim(1024), 0, flag))
	for deadline := time.Now().Add(time.Minute); ; {
		stop := make(chan struct{})
		time.AfterFunc(50*time.Millisecond, func() { close(stop) })
		err := b.d.CtxSynchronize(b.c, stop)
		if !errors.Is(err, driver.ErrInterrupted) {
			t.Fatal(err)
		}
		if strings.Contains(err.Error(), "kernel late of device 0") && strings.Contains(err.Error(), fmt.Sprintf(" 1 of its %d blocks", room+1)) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no word of the blocks:", err)
		}
	}
	soon(t, "the reset", func() error { return b.d.PrimaryReset(0) })
	b.ok(b.launch(b.kernel(`__global__ void k() {}`), dim(1), dim(1), 0))
	soon(t, "a kernel after the reset", b.sync)
}

// TestFailureEndsSpin has a block fail for which the others wait.
func TestFailureEndsSpin(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 1})
	k := b.kernel(`
__global__ void k(volatile unsigned *flag) {
    if (blockIdx.x == gridDim.x - 1) *(int *)nullptr = 1;
    while (flag[0] == 0);
}`)
	b.ok(b.launch(k, dim(20), dim(64), 0, upload(b, make([]uint32, 1))))
	soon(t, "the kernel", func() error {
		if err := b.sync(); !errors.Is(err, driver.ErrIllegalAddress) {
			return fmt.Errorf("no illegal address: %w", err)
		}
		return nil
	})
}

// TestProcessesSpin has kernels of two processes wait for each other in turn, on
// one's memory.
func TestProcessesSpin(t *testing.T) {
	const turns, env = 200, "GOCUDA_TEST_RELAY"
	b := newBox(t, sim.Options{Devices: 1})
	if text := os.Getenv(env); text != "" { // the other process
		h, err := hex.DecodeString(text)
		b.ok(err)
		flag, err := b.d.IPCOpenMemHandle(b.c, driver.IPCMemHandle(h))
		b.ok(err)
		b.ok(b.launch(b.kernel(relay), dim(2), dim(32), 0, 1, turns, flag))
		soon(t, "the second", b.sync)
		b.ok(b.d.IPCCloseMemHandle(b.c, flag))
		return
	}
	flag, err := b.d.MemAlloc(b.c, 2<<20)
	b.ok(err)
	b.ok(b.d.Memset(b.c, flag, 0, 1, 4))
	h, err := b.d.IPCGetMemHandle(b.c, flag)
	b.ok(err)
	b.ok(b.launch(b.kernel(relay), dim(2), dim(32), 0, 0, turns, flag))
	cmd := exec.Command(os.Args[0], "-test.run=^TestProcessesSpin$")
	cmd.Env = append(os.Environ(), env+"="+hex.EncodeToString(h[:]))
	soon(t, "the other process", func() error {
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	})
	soon(t, "the first", b.sync)
	if got := download[uint32](b, flag, 1)[0]; got != 2*turns {
		t.Errorf("the flag is %d, want %d", got, 2*turns)
	}
}

// TestLateWorkEndsSpin issues what a kernel waits for while the host waits for
// the kernel.
func TestLateWorkEndsSpin(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 1})
	k := b.kernel(`__global__ void wait(volatile unsigned *flag) { while (*flag == 0); }`)
	flag := upload(b, make([]uint32, 1))
	s, err := b.d.StreamCreate(b.c, driver.StreamNonBlocking, 0)
	b.ok(err)
	b.ok(b.launch(k, dim(1), dim(1), 0, flag))
	done := make(chan error, 1)
	go func() { done <- b.sync() }()
	time.Sleep(50 * time.Millisecond)
	b.ok(b.d.MemsetAsync(b.c, flag, 1, 1, 4, s))
	soon(t, "the kernel", func() error { return <-done })
}
