package local

import (
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// futexWait sleeps while *word is value, until it is woken, for limit at most.
func futexWait(word unsafe.Pointer, value uint32, limit time.Duration) {
	most := unix.NsecToTimespec(int64(limit))
	syscall.Syscall6(unix.SYS_FUTEX, uintptr(word), 0 /* FUTEX_WAIT */, uintptr(value), uintptr(unsafe.Pointer(&most)), 0, 0)
}

// futexWake wakes who sleeps on word, in whatever process.
func futexWake(word unsafe.Pointer) {
	syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(word), 1 /* FUTEX_WAKE */, 1<<30, 0, 0, 0)
}

// yieldProcessor lets other processes run on this core.
func yieldProcessor() { syscall.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// readProcess copies n bytes at addr of another process to dst. It returns how
// many came; an error only if none did.
func readProcess(pid int, dst unsafe.Pointer, addr uint64, n int) (int, error) {
	local := unix.Iovec{Base: (*byte)(dst)}
	local.SetLen(n)
	return unix.ProcessVMReadv(pid, []unix.Iovec{local}, []unix.RemoteIovec{{Base: uintptr(addr), Len: n}}, 0)
}

// letRead allows the launcher and its children to read this process's memory
// where Yama guards it.
func letRead(launcher int) {
	unix.Prctl(unix.PR_SET_PTRACER, uintptr(launcher), 0, 0, 0)
}

// isGone tells from the error of readProcess that there is no such process.
func isGone(err error) bool { return err == unix.ESRCH }

func mapSegment(fd, size int) ([]byte, error) {
	return unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

func unmapSegment(mem []byte) { unix.Munmap(mem) }

// newSegment makes the memory of a job: it has no name, so that nothing of it
// stays when the last process that has it ends, and nobody can cut it short.
func newSegment(ranks int) (*os.File, error) {
	fd, err := unix.MemfdCreate("gocuda-mpi", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), "gocuda-mpi")
	size := segmentBytes(ranks)
	if err := f.Truncate(int64(size)); err != nil {
		f.Close()
		return nil, err
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err != nil {
		f.Close()
		return nil, os.NewSyscallError("fcntl F_ADD_SEALS", err)
	}
	header := make([]byte, headerBytes)
	formatSegment(header, ranks)
	if _, err := f.WriteAt(header, 0); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// shareable is memory that another process of this user can open and map.
type shareable = *os.File

func newShareable(bytes int) (shareable, error) {
	fd, err := unix.MemfdCreate("gocuda-window", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), "gocuda-window")
	if err := f.Truncate(int64(bytes)); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func openShareable(pid, fd int) (shareable, error) {
	return os.OpenFile(fmt.Sprintf("/proc/%d/fd/%d", pid, fd), os.O_RDWR, 0)
}

// mapOwn is memory that no other process needs.
func mapOwn(bytes int) ([]byte, error) {
	mem, err := unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
	return mem, os.NewSyscallError("mmap", err)
}
