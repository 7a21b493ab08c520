package sim_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

// TestInterrupt stops waits for a stream that a host function holds: the wait
// ends, the work goes on.
func TestInterrupt(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 1})
	s, err := b.d.StreamCreate(b.c, driver.StreamNonBlocking, 0)
	b.ok(err)
	e, err := b.d.EventCreate(b.c, 0)
	b.ok(err)
	gate := make(chan struct{})
	ran := false
	b.ok(b.d.LaunchHostFunc(b.c, s, func() { <-gate }))
	b.ok(b.d.LaunchHostFunc(b.c, s, func() { ran = true }))
	b.ok(b.d.EventRecord(b.c, e, s))
	stop := make(chan struct{})
	close(stop)
	for name, wait := range map[string]func() error{
		"stream":  func() error { return b.d.StreamSynchronize(b.c, s, stop) },
		"event":   func() error { return b.d.EventSynchronize(b.c, e, stop) },
		"context": func() error { return b.d.CtxSynchronize(b.c, stop) },
	} {
		if err := wait(); !errors.Is(err, driver.ErrInterrupted) {
			t.Errorf("%s: %v", name, err)
		}
	}
	close(gate)
	b.ok(b.d.StreamSynchronize(b.c, s, nil))
	if !ran {
		t.Error("the work did not go on")
	}
}

// TestDevicesStartByThemselves lets a host wait for pinned memory to change
// without asking the device after anything.
func TestDevicesStartByThemselves(t *testing.T) {
	for _, adversarial := range []bool{false, true} {
		b := newBox(t, sim.Options{Devices: 1, Adversarial: adversarial})
		done := make(chan struct{})
		b.ok(b.d.LaunchHostFunc(b.c, 0, func() { close(done) }))
		<-done
	}
}

// TestKernelsOfTwoStreamsMeet has a kernel spin until one of another device
// writes: both must run at a time.
func TestKernelsOfTwoStreamsMeet(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 2})
	other := &box{t, b.d, retain(t, b.d, 1)}
	flag, err := b.d.HostAlloc(b.c, 4, driver.HostPortable)
	b.ok(err)
	const wait = `__global__ void meet(volatile int *flag) { while (*flag != 1) {} *flag = 2; }`
	const write = `__global__ void meet(volatile int *flag) { *flag = 1; }`
	b.ok(b.launch(b.kernel(wait), dim(1), dim(1), 0, flag))
	other.ok(other.launch(other.kernel(write), dim(1), dim(1), 0, flag))
	other.ok(other.sync())
	b.ok(b.sync())
}

func TestPrintf(t *testing.T) { prints(t, sim.Options{Devices: 1}) }

// prints runs a test's part in a process of its own: kernels print to descriptor 1.
func prints(t *testing.T, o sim.Options) {
	if os.Getenv("GOCUDA_TEST_PRINTF") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), "GOCUDA_TEST_PRINTF=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		for _, want := range []string{"thread 2 of 4: 1.50 block\n", strings.Repeat(" ", 2999) + "7" + strings.Repeat(" ", 3999) + "8, 100% of it\n"} {
			if !strings.Contains(string(out), want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
		return
	}
	b := newBox(t, o)
	k := b.kernel(`__global__ void say(float x) { printf("thread %d of %d: %.2f %s\n", threadIdx.x, blockDim.x, x, "block"); }`)
	b.ok(b.launch(k, dim(1), dim(4), 0, float32(1.5)))
	k = b.kernel(`__global__ void much() { printf("%3000d%4000d, %d%% of it\n", 7, 8, 100); }`)
	b.ok(b.launch(k, dim(1), dim(1), 0))
	b.ok(b.sync())
}

func TestInlinePTXIsExplained(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 1})
	_, err := b.d.Compile(0, &driver.Source{Name: "ptx.cu", Code: `__global__ void f(int *x) { asm volatile("mov.u32 %0, %%laneid;" : "=r"(*x)); }`})
	if err == nil || !strings.Contains(err.Error(), "PTX") {
		t.Errorf("%v", err)
	}
}
