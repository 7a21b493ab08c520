package nvtools_test

import (
	"os"
	"testing"

	"gocuda/internal/nvtools"
)

func TestDetach(t *testing.T) {
	for _, c := range []struct {
		name, value, left string
		attached          bool
	}{
		{"LD_PRELOAD", "/lib/libasan.so", "/lib/libasan.so", false},
		{"LD_PRELOAD", "/cs/libInterceptorInjectionTarget.so:/lib/libasan.so", "/lib/libasan.so", true},
		{"LD_PRELOAD", "/cs/libTreeLauncherTargetInjection.so", "", true},
		{"NV_TPS_LAUNCH_TOKEN", "7", "", true},
		{"CUDA_INJECTION64_PATH", "/ncu/lib.so", "", true},
		{"CUDA_HOME", "/usr/local/cuda", "/usr/local/cuda", false},
	} {
		t.Setenv("LD_PRELOAD", "")
		t.Setenv(c.name, c.value)
		if got := nvtools.Detach(); got != c.attached || os.Getenv(c.name) != c.left {
			t.Errorf("%s=%s: attached %v, left %q", c.name, c.value, got, os.Getenv(c.name))
		}
		os.Unsetenv(c.name)
	}
}
