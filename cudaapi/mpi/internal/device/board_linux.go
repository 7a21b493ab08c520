package device

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// newPage is memory that another process of this user can open by the process
// and descriptor, without a name that could be left behind; nil if it cannot be
// had.
func newPage() (page []byte, pid, fd int) {
	fd, err := unix.MemfdCreate("gocuda-boards", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, 0, -1
	}
	if err := unix.Ftruncate(fd, int64(pageBytes)); err == nil {
		if page, err := unix.Mmap(fd, 0, pageBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err == nil {
			return page, os.Getpid(), fd
		}
	}
	unix.Close(fd)
	return nil, 0, -1
}

// openPage is another process's; nil if it cannot be opened.
func openPage(pid, fd int) []byte {
	if fd < 0 {
		return nil
	}
	f, err := os.Open(fmt.Sprintf("/proc/%d/fd/%d", pid, fd))
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() != int64(pageBytes) {
		return nil
	}
	page, err := unix.Mmap(int(f.Fd()), 0, pageBytes, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil
	}
	return page
}
