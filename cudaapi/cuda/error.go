package cuda

import (
	"errors"
	"fmt"
	"strings"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/waits"
)

// Codes to compare errors with: errors.Is(err, cuda.ErrOutOfMemory).
const (
	ErrInvalidValue             = driver.ErrInvalidValue
	ErrOutOfMemory              = driver.ErrOutOfMemory
	ErrInvalidContext           = driver.ErrInvalidContext
	ErrInvalidHandle            = driver.ErrInvalidHandle
	ErrInvalidSource            = driver.ErrInvalidSource
	ErrInvalidPTX               = driver.ErrInvalidPTX
	ErrInvalidImage             = driver.ErrInvalidImage
	ErrNotFound                 = driver.ErrNotFound
	ErrIllegalAddress           = driver.ErrIllegalAddress
	ErrLaunchOutOfResources     = driver.ErrLaunchOutOfResources
	ErrPeerAccessAlreadyEnabled = driver.ErrPeerAccessAlreadyEnabled
	ErrPeerAccessNotEnabled     = driver.ErrPeerAccessNotEnabled
	ErrPeerAccessUnsupported    = driver.ErrPeerAccessUnsupported
	ErrLaunchFailed             = driver.ErrLaunchFailed
	ErrAssert                   = driver.ErrAssert
	ErrNotSupported             = driver.ErrNotSupported
	ErrInvalidClusterSize       = driver.ErrInvalidClusterSize
)

// ErrInterrupted is returned by a wait that was told to stop.
var ErrInterrupted = driver.ErrInterrupted

// Error is a failed call: one of CUDA's errors, or a mistake that was seen
// before CUDA was called (its Call is then this package's name for it).
type Error struct {
	Name   string // CUDA's, such as "CUDA_ERROR_INVALID_VALUE"
	Code   int    // CUDA's number
	Call   string // such as "cuMemAlloc" or "Buffer.Upload"
	Device int    // ordinal, -1 if the call has none
	Detail string // what was wrong in this case
	Hint   string // what it means and what to do

	code driver.Code
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Call)
	if e.Device >= 0 {
		fmt.Fprintf(&b, " (device %d)", e.Device)
	}
	fmt.Fprintf(&b, ": %s (%d)", e.Name, e.Code)
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Unwrap gives CUDA's code, for errors.Is.
func (e *Error) Unwrap() error { return e.code }

// Sticky reports whether the error stays: every later call of the process fails
// with it, on all devices, until a new process starts.
func (e *Error) Sticky() bool { return e.code.Sticky() }

const inCapture = "an event that was recorded in a capture is an edge of the graph, not a time: record events around the graph's launch"

// failEvent is fail for what was asked of an event.
func (d *Device) failEvent(err error) error {
	err = d.fail(err)
	if e, ok := err.(*Error); ok && e.code == driver.ErrInvalidValue {
		e.Hint = join(e.Hint, "was the event recorded last in a capture? "+inCapture)
	}
	return err
}

// hints say in plain words what a code most often means.
var hints = map[driver.Code]string{
	driver.ErrOutOfMemory:              "free buffers that are no longer needed (cuda.Leaks lists them), or use a smaller size",
	driver.ErrNoDevice:                 "no GPU is visible: is CUDA_VISIBLE_DEVICES empty?",
	driver.ErrInvalidDevice:            "there is no device of that number",
	driver.ErrNoBinaryForGPU:           "the code was compiled for another GPU architecture",
	driver.ErrInvalidPTX:               "the PTX does not assemble",
	driver.ErrInvalidImage:             "it is neither PTX nor a binary (cubin, fatbin) for this device",
	driver.ErrUnsupportedPTXVersion:    "the PTX comes from a newer CUDA than this driver knows",
	driver.ErrInvalidHandle:            "the stream, event or function belongs to another device, or was destroyed",
	driver.ErrPeerAccessUnsupported:    "these two devices have no direct link; peer copies between them still work, staged by the driver",
	driver.ErrPeerAccessNotEnabled:     "call EnablePeerAccess first",
	driver.ErrLaunchOutOfResources:     "too many threads, registers or bytes of shared memory for one block",
	driver.ErrIllegalAddress:           "a kernel read or wrote outside of its buffers",
	driver.ErrMisalignedAddress:        "a kernel used an address that is not a multiple of the element's size",
	driver.ErrAssert:                   "an assert() in a kernel failed; its message is in the output",
	driver.ErrLaunchFailed:             "a kernel failed while it ran",
	driver.ErrLaunchTimeout:            "a kernel ran longer than the display's watchdog allows",
	driver.ErrIllegalInstruction:       "a kernel executed an instruction that the GPU does not have (or a trap)",
	driver.ErrHardwareStack:            "a kernel's stack overflowed",
	driver.ErrCooperativeTooLarge:      "a cooperative launch, as of a kernel in Go that calls gpu.SyncGrid, must fit on the device at once: see Kernel.MaxActiveBlocks",
	driver.ErrInvalidClusterSize:       "a grid must be a multiple of its clusters, which have at most 8 blocks each",
	driver.ErrSystemDriverMismatch:     "the kernel module and libcuda are of different versions: reboot, or reinstall the driver",
	driver.ErrSystemNotReady:           "the fabric manager (nv-fabricmanager) is not running",
	driver.ErrStreamCaptureUnsupported: "this call cannot be captured into a graph: the stream's work is recorded, and does not run yet",
	driver.ErrStreamCaptureImplicit:    "the legacy default stream cannot be used while a stream is captured",
	driver.ErrCapturedEvent:            inCapture,
	driver.ErrStreamCaptureUnjoined:    "streams that joined the capture must be waited for (by an event) before it ends",
}

// What brings devices back after an error that stays.
const (
	stickyHint    = "CUDA fails every later call of this process, on all devices; start a new one (in a notebook: restart the kernel) to go on"
	stickySimHint = "CUDA fails every later call of this process, on all devices; simulated ones come back when each is Reset, GPUs in a new process"
)

// fail turns a driver's error into an [Error] that names the device. Interrupts
// pass unchanged.
func (d *Device) fail(err error) error {
	if err == nil {
		return nil
	}
	var de *driver.Error
	if !errors.As(err, &de) {
		if d != nil && errors.Is(err, driver.ErrInterrupted) {
			waits.Interrupted(int(d.id))
		}
		return err
	}
	e := &Error{Name: de.Code.String(), Code: int(de.Code), Call: de.Call, Device: -1, Detail: de.Detail, Hint: hints[de.Code], code: de.Code}
	if de.Detail != "" && de.Code == driver.ErrInvalidHandle {
		e.Hint = "" // it lists what may be the matter, and that is known
	}
	if d != nil {
		e.Device = int(d.id)
		if e.Sticky() {
			e.Detail = join(e.Detail, d.suspects())
			if d.sys.info.Name == "sim" {
				e.Hint = join(e.Hint, stickySimHint)
			} else {
				e.Hint = join(e.Hint, stickyHint)
			}
		}
	}
	return e
}

// says tells an error of a code in this package's words, the same for every driver. The hint
// that goes with the code stays.
func says(err error, code driver.Code, format string, args ...any) error {
	if e, ok := err.(*Error); ok && e.code == code {
		if e.Detail, e.Hint = fmt.Sprintf(format, args...), hints[code]; code == driver.ErrInvalidHandle {
			e.Hint = "" // it lists what may be the matter
		}
	}
	return err
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// misuse is a mistake seen before CUDA is called.
func misuse(code driver.Code, call string, d *Device, format string, args ...any) error {
	e := &Error{Name: code.String(), Code: int(code), Call: call, Device: -1, Detail: fmt.Sprintf(format, args...), code: code}
	if d != nil {
		e.Device = int(d.id)
	}
	return e
}

// lost says why what was made in a device's past cannot be used.
func (d *Device) lost(what, how string, born uint32) string {
	if born != d.epoch.Load() {
		return fmt.Sprintf("%s is gone: device %d was reset after it was made; make it again", what, d.id)
	}
	return what + " was " + how
}

// holds gives the context for a call on what was made on d, unless that was
// destroyed, or went with a reset.
func (d *Device) holds(call, what string, destroyed bool, born uint32) (driver.Context, error) {
	if destroyed || born != d.epoch.Load() {
		return 0, misuse(driver.ErrInvalidHandle, call, d, "%s", d.lost(what, "destroyed", born))
	}
	return d.context()
}
