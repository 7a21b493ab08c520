package driver

import (
	"errors"
	"fmt"
)

// ErrInterrupted is returned by a call that waited for a device and was told
// to stop waiting. The device's work goes on.
var ErrInterrupted = errors.New("interrupted while waiting for a device")

// Error is a failed CUDA call.
type Error struct {
	Code   Code
	Call   string // the driver API's name, such as "cuMemAlloc"
	Detail string // what CUDA does not say: a compiler's log, sizes, a hint
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s (%d)", e.Call, e.Code, int(e.Code))
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Is makes errors.Is(err, code) true for an Error with that code.
func (e *Error) Is(target error) bool { c, ok := target.(Code); return ok && c == e.Code }

// Code is a CUresult. It is an error itself, to be compared with errors.Is.
type Code int32

// The results of the CUDA driver API that this project meets.
const (
	Success                     Code = 0
	ErrInvalidValue             Code = 1
	ErrOutOfMemory              Code = 2
	ErrNotInitialized           Code = 3
	ErrDeinitialized            Code = 4
	ErrNoDevice                 Code = 100
	ErrInvalidDevice            Code = 101
	ErrInvalidImage             Code = 200
	ErrInvalidContext           Code = 201
	ErrMapFailed                Code = 205
	ErrUnmapFailed              Code = 206
	ErrAlreadyMapped            Code = 208
	ErrNoBinaryForGPU           Code = 209
	ErrUncorrectableECC         Code = 214
	ErrUnsupportedLimit         Code = 215
	ErrPeerAccessUnsupported    Code = 217
	ErrInvalidPTX               Code = 218
	ErrNVLinkUncorrectable      Code = 220
	ErrUnsupportedPTXVersion    Code = 222
	ErrInvalidSource            Code = 300
	ErrFileNotFound             Code = 301
	ErrSharedObjectSymbol       Code = 302
	ErrSharedObjectInit         Code = 303
	ErrOperatingSystem          Code = 304
	ErrInvalidHandle            Code = 400
	ErrIllegalState             Code = 401
	ErrNotFound                 Code = 500
	ErrNotReady                 Code = 600
	ErrIllegalAddress           Code = 700
	ErrLaunchOutOfResources     Code = 701
	ErrLaunchTimeout            Code = 702
	ErrPeerAccessAlreadyEnabled Code = 704
	ErrPeerAccessNotEnabled     Code = 705
	ErrPrimaryContextActive     Code = 708
	ErrContextIsDestroyed       Code = 709
	ErrAssert                   Code = 710
	ErrTooManyPeers             Code = 711
	ErrHostMemoryRegistered     Code = 712
	ErrHostMemoryNotRegistered  Code = 713
	ErrHardwareStack            Code = 714
	ErrIllegalInstruction       Code = 715
	ErrMisalignedAddress        Code = 716
	ErrInvalidAddressSpace      Code = 717
	ErrInvalidPC                Code = 718
	ErrLaunchFailed             Code = 719
	ErrCooperativeTooLarge      Code = 720
	ErrNotPermitted             Code = 800
	ErrNotSupported             Code = 801
	ErrSystemNotReady           Code = 802
	ErrSystemDriverMismatch     Code = 803
	ErrStreamCaptureUnsupported Code = 900
	ErrStreamCaptureInvalidated Code = 901
	ErrStreamCaptureMerge       Code = 902
	ErrStreamCaptureUnmatched   Code = 903
	ErrStreamCaptureUnjoined    Code = 904
	ErrStreamCaptureIsolation   Code = 905
	ErrStreamCaptureImplicit    Code = 906
	ErrCapturedEvent            Code = 907
	ErrStreamCaptureWrongThread Code = 908
	ErrGraphExecUpdateFailure   Code = 910
	ErrInvalidClusterSize       Code = 912
	ErrUnknown                  Code = 999
)

var codeNames = map[Code]string{
	Success:                     "CUDA_SUCCESS",
	ErrInvalidValue:             "CUDA_ERROR_INVALID_VALUE",
	ErrOutOfMemory:              "CUDA_ERROR_OUT_OF_MEMORY",
	ErrNotInitialized:           "CUDA_ERROR_NOT_INITIALIZED",
	ErrDeinitialized:            "CUDA_ERROR_DEINITIALIZED",
	ErrNoDevice:                 "CUDA_ERROR_NO_DEVICE",
	ErrInvalidDevice:            "CUDA_ERROR_INVALID_DEVICE",
	ErrInvalidImage:             "CUDA_ERROR_INVALID_IMAGE",
	ErrInvalidContext:           "CUDA_ERROR_INVALID_CONTEXT",
	ErrMapFailed:                "CUDA_ERROR_MAP_FAILED",
	ErrUnmapFailed:              "CUDA_ERROR_UNMAP_FAILED",
	ErrAlreadyMapped:            "CUDA_ERROR_ALREADY_MAPPED",
	ErrNoBinaryForGPU:           "CUDA_ERROR_NO_BINARY_FOR_GPU",
	ErrUncorrectableECC:         "CUDA_ERROR_ECC_UNCORRECTABLE",
	ErrUnsupportedLimit:         "CUDA_ERROR_UNSUPPORTED_LIMIT",
	ErrPeerAccessUnsupported:    "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
	ErrInvalidPTX:               "CUDA_ERROR_INVALID_PTX",
	ErrNVLinkUncorrectable:      "CUDA_ERROR_NVLINK_UNCORRECTABLE",
	ErrUnsupportedPTXVersion:    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
	ErrInvalidSource:            "CUDA_ERROR_INVALID_SOURCE",
	ErrFileNotFound:             "CUDA_ERROR_FILE_NOT_FOUND",
	ErrSharedObjectSymbol:       "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND",
	ErrSharedObjectInit:         "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED",
	ErrOperatingSystem:          "CUDA_ERROR_OPERATING_SYSTEM",
	ErrInvalidHandle:            "CUDA_ERROR_INVALID_HANDLE",
	ErrIllegalState:             "CUDA_ERROR_ILLEGAL_STATE",
	ErrNotFound:                 "CUDA_ERROR_NOT_FOUND",
	ErrNotReady:                 "CUDA_ERROR_NOT_READY",
	ErrIllegalAddress:           "CUDA_ERROR_ILLEGAL_ADDRESS",
	ErrLaunchOutOfResources:     "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
	ErrLaunchTimeout:            "CUDA_ERROR_LAUNCH_TIMEOUT",
	ErrPeerAccessAlreadyEnabled: "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
	ErrPeerAccessNotEnabled:     "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED",
	ErrPrimaryContextActive:     "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE",
	ErrContextIsDestroyed:       "CUDA_ERROR_CONTEXT_IS_DESTROYED",
	ErrAssert:                   "CUDA_ERROR_ASSERT",
	ErrTooManyPeers:             "CUDA_ERROR_TOO_MANY_PEERS",
	ErrHostMemoryRegistered:     "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
	ErrHostMemoryNotRegistered:  "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
	ErrHardwareStack:            "CUDA_ERROR_HARDWARE_STACK_ERROR",
	ErrIllegalInstruction:       "CUDA_ERROR_ILLEGAL_INSTRUCTION",
	ErrMisalignedAddress:        "CUDA_ERROR_MISALIGNED_ADDRESS",
	ErrInvalidAddressSpace:      "CUDA_ERROR_INVALID_ADDRESS_SPACE",
	ErrInvalidPC:                "CUDA_ERROR_INVALID_PC",
	ErrLaunchFailed:             "CUDA_ERROR_LAUNCH_FAILED",
	ErrCooperativeTooLarge:      "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
	ErrNotPermitted:             "CUDA_ERROR_NOT_PERMITTED",
	ErrNotSupported:             "CUDA_ERROR_NOT_SUPPORTED",
	ErrSystemNotReady:           "CUDA_ERROR_SYSTEM_NOT_READY",
	ErrSystemDriverMismatch:     "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
	ErrStreamCaptureUnsupported: "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
	ErrStreamCaptureInvalidated: "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
	ErrStreamCaptureMerge:       "CUDA_ERROR_STREAM_CAPTURE_MERGE",
	ErrStreamCaptureUnmatched:   "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
	ErrStreamCaptureUnjoined:    "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
	ErrStreamCaptureIsolation:   "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
	ErrStreamCaptureImplicit:    "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
	ErrCapturedEvent:            "CUDA_ERROR_CAPTURED_EVENT",
	ErrStreamCaptureWrongThread: "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
	ErrGraphExecUpdateFailure:   "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE",
	ErrInvalidClusterSize:       "CUDA_ERROR_INVALID_CLUSTER_SIZE",
	ErrUnknown:                  "CUDA_ERROR_UNKNOWN",
}

// String is CUDA's symbolic name, such as CUDA_ERROR_INVALID_VALUE.
func (c Code) String() string {
	if s, ok := codeNames[c]; ok {
		return s
	}
	return fmt.Sprintf("CUresult %d", int(c))
}

func (c Code) Error() string { return c.String() }

// Name is CUDA's name: what a notebook's cell that fails of it shows.
func (c Code) Name() string { return c.String() }

// Sticky reports whether the code poisons its context, and the others of the
// process with it: every later call fails until a new process starts.
func (c Code) Sticky() bool {
	switch c {
	case ErrIllegalAddress, ErrLaunchTimeout, ErrAssert, ErrHardwareStack, ErrIllegalInstruction,
		ErrMisalignedAddress, ErrInvalidAddressSpace, ErrInvalidPC, ErrLaunchFailed,
		ErrUncorrectableECC, ErrNVLinkUncorrectable:
		return true
	}
	return false
}
