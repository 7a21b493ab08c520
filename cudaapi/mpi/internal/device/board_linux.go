package device

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// newPage is memory that other processes of this user can open by the process
// and the descriptor of file, which must stay open until they have. It has no
// name that could be left behind, and nobody can cut it short. nil if it cannot
// be had.
func newPage() (page []byte, file *os.File) {
	fd, err := unix.MemfdCreate("gocuda-boards", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, nil
	}
	file = os.NewFile(uintptr(fd), "gocuda-boards")
	if file.Truncate(int64(pageBytes)) == nil {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err == nil {
			if page, err := unix.Mmap(fd, 0, pageBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err == nil {
				return page, file
			}
		}
	}
	file.Close()
	return nil, nil
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
