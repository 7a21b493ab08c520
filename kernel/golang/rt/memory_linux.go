package rt

import (
	"math"
	"syscall"
)

// addressSpace is how large the process may get, in bytes; 0: as it likes.
func addressSpace() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &limit) != nil || limit.Cur > math.MaxInt {
		return 0
	}
	return int(limit.Cur)
}
