//go:build linux && (amd64 || arm64)

package doctor

import (
	"fmt"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/nvidia"
)

// probeNVRTC compiles a kernel: NVRTC without its builtins library loads well
// and fails at the first use.
func probeNVRTC() (f finding) {
	newest, arch := 0, "sm_90"
	if d, err := nvidia.Open(); err == nil {
		newest, _ = d.Version()
		if device, err := describe(d, 0); err == nil {
			var major, minor int
			fmt.Sscanf(device.ComputeCapability, "%d.%d", &major, &minor)
			arch = fmt.Sprintf("sm_%d%d", major, minor)
		}
	}
	c, err := nvidia.OpenCompiler(newest)
	if err != nil {
		f.Missing = tidy(err)
		return f
	}
	f.Where, f.Version = c.Path(), c.Version()
	if _, err := c.Compile(&driver.Source{Name: "doctor.cu", Code: "extern \"C\" __global__ void k(int *p) { *p = threadIdx.x; }"}, arch); err != nil {
		f.Broken = "it does not compile for " + arch + ": " + err.Error()
		return f
	}
	f.Detail = "compiles for " + arch
	if len(c.Include()) == 0 {
		f.Detail += "; without CUDA's headers (pip install nvidia-cuda-runtime nvidia-cuda-cccl)"
	}
	return f
}

// probeCUPTI begins a trace, where there is a driver: another profiler, or a CUPTI that
// is newer than the driver, shows only then.
func probeCUPTI() (f finding) {
	t, err := nvidia.OpenTracing()
	if err != nil {
		f.Missing = tidy(err)
		return f
	}
	f.Where, f.Version = t.Path(), fmt.Sprint("API ", t.Version())
	d, err := nvidia.Open()
	if err != nil {
		f.Detail = "there is no GPU to time"
		return f
	}
	if err := d.StartTrace(func(driver.Activity) {}); err != nil {
		f.Broken = err.Error()
		return f
	}
	if err := d.EndTrace(); err != nil {
		f.Broken = err.Error()
		return f
	}
	f.Detail = "%%timeline has its times"
	return f
}
