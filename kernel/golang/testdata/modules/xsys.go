package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

func main() {
	var st unix.Stat_t
	fmt.Println(unix.Stat("/", &st), st.Mode&unix.S_IFMT == unix.S_IFDIR)
	fmt.Println(unix.Getpid() == os.Getpid(), unix.ENOENT, unix.Access("/nonexistent", unix.R_OK) == unix.ENOENT)
	fmt.Println(cpu.CacheLinePad{} == cpu.CacheLinePad{}, term.IsTerminal(1))
	var u unix.Utsname
	fmt.Println(unix.Uname(&u), unix.ByteSliceToString(u.Sysname[:]))
	r, w := 0, 0
	p := []int{r, w}
	fmt.Println(unix.Pipe(p))
	unix.Write(p[1], []byte("hi"))
	b := make([]byte, 5)
	n, err := unix.Read(p[0], b)
	fmt.Println(n, err, string(b[:n]))
}
