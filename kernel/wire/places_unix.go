//go:build unix

package wire

import (
	"fmt"
	"syscall"
)

// mostConnections is how many connections there may be to one channel.
func mostConnections() (int, error) {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return largestConnection, nil
	}
	// Each channel has a quarter more for those that shake hands.
	most := (float64(limit.Cur) - ownDescriptors) / (float64(channels) * 1.25)
	if most < leastConnections {
		return 0, fmt.Errorf("this process may open %d files; a kernel needs %d (ulimit -n raises the limit)",
			limit.Cur, ownDescriptors+int(channels)*5)
	}
	return int(min(most, largestConnection)), nil
}
