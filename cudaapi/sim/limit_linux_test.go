package sim_test

import (
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"gocuda/cudaapi/sim"
)

// TestLittleAddressSpace: under ulimit -v devices have less memory than asked for, what
// they say to have can be allocated, and the program has address space left.
func TestLittleAddressSpace(t *testing.T) {
	const env = "GOCUDA_TEST_LITTLE"
	if os.Getenv(env) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestLittleAddressSpace$")
		cmd.Env = append(os.Environ(), env+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	limit := unix.Rlimit{Cur: 8 << 30, Max: 8 << 30}
	if err := unix.Setrlimit(unix.RLIMIT_AS, &limit); err != nil {
		t.Fatal(err)
	}
	b := newBox(t, sim.Options{Devices: 4})
	total, err := b.d.DeviceTotalMem(0)
	b.ok(err)
	free, of, err := b.d.MemInfo(b.c)
	b.ok(err)
	if total >= 8<<30 || total < 64<<20 || of != total || free > total {
		t.Fatalf("%d bytes of memory, %d of %d free", total, free, of)
	}
	p, err := b.d.MemAlloc(b.c, total)
	b.ok(err)
	b.ok(b.d.Memset(b.c, p, 1, 1, total))
	h, err := b.d.HostAlloc(b.c, total, 0)
	b.ok(err)
	b.ok(b.d.Memset(b.c, h, 1, 1, 1<<20))
	if heap := make([]byte, 1<<30); heap[len(heap)-1] != 0 {
		t.Error("the program has no address space left")
	}
}
