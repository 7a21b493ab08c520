package device

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// newPage is memory that other processes of this user can open by the process
// and the descriptor, which must stay open until they have. It has no name that
// could be left behind, and nobody can cut it short. nil if it is not available.
func newPage() *ownPage {
	fd, err := unix.MemfdCreate("gocuda-notices", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil
	}
	file := os.NewFile(uintptr(fd), "gocuda-notices")
	if file.Truncate(int64(pageBytes)) == nil {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err == nil {
			if page, err := unix.Mmap(fd, 0, pageBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err == nil {
				return &ownPage{memory: page, file: file}
			}
		}
	}
	file.Close()
	return nil
}

// openPage is another process's; nil if it cannot be opened.
func openPage(pid uint32, fd int32) []byte {
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
