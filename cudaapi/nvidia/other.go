//go:build !linux || (!amd64 && !arm64)

package nvidia

import (
	"fmt"
	"runtime"

	"gocuda/cudaapi/driver"
)

// Open says that GPUs are used on Linux only.
func Open() (driver.Driver, error) { return nil, Available() }

// Available says that GPUs are used on Linux only.
func Available() error {
	return fmt.Errorf("NVIDIA GPUs can be used on Linux (amd64, arm64) only, not on %s/%s", runtime.GOOS, runtime.GOARCH)
}

// PTX says that NVRTC is used on Linux only.
func PTX(*driver.Source, string) (*driver.Compiled, error) {
	return nil, &driver.Error{Code: driver.ErrSharedObjectInit, Call: "nvrtcCreateProgram", Detail: Available().Error()}
}
