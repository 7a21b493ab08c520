package magic

import (
	"errors"
	"strings"
	"testing"

	"gocuda/cudaapi/backend"
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
)

func TestSim(t *testing.T) {
	t.Setenv("GOCUDA_BACKEND", "sim")
	say := func(code string) string {
		t.Helper()
		r, err := run(t, code)
		if err != nil {
			t.Fatal(err)
		}
		return r.text()
	}
	want := func(text string, parts ...string) {
		t.Helper()
		for _, p := range parts {
			if !strings.Contains(text, p) {
				t.Errorf("%q lacks %q", text, p)
			}
		}
	}
	want(say("%sim devices 3 memory 64M"), "devices 3, memory 64M")
	dev, err := cuda.Get(2)
	if err != nil {
		t.Fatal(err)
	}
	buffer, err := dev.Alloc(1000, cuda.Float32)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	pinned, err := cuda.AllocHost(4, cuda.Float32)
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := pinned.Float32s()
	if err != nil {
		t.Fatal(err)
	}
	numbers[3] = 7
	want(say("%sim"), "devices 3", "in use: 2 buffers (4016 bytes)", "1 stream")

	want(say("%sim devices 8 schedule adversarial seed 5 check off profile h100"),
		"devices 8, memory 64M, seed 5, schedule adversarial, check off, profile h100", "Gone", "2 buffers", "1 stream")
	if n, err := cuda.DeviceCount(); n != 8 || err != nil {
		t.Errorf("%d devices, %v", n, err)
	}
	for name, err := range map[string]error{
		"upload":      buffer.Upload(make([]float32, 1000)),
		"free":        buffer.Free(),
		"synchronize": stream.Synchronize(),
		"the device":  dev.Synchronize(),
	} {
		if !errors.Is(err, driver.ErrContextIsDestroyed) || !strings.Contains(err.Error(), "replaced") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if numbers[3] != 7 {
		t.Error("pinned memory lost what the program had there")
	}
	if now, err := cuda.Get(7); err != nil || now.Synchronize() != nil {
		t.Errorf("the new devices: %v", err)
	}
	want(say("%sim devices 2 schedule normal check on"), "devices 2", "schedule random", "check on")
}

func TestSimRefuses(t *testing.T) {
	t.Setenv("GOCUDA_BACKEND", "sim")
	for code, want := range map[string]string{
		"%sim devices":      "has no value",
		"%sim devices 0":    "want a number from 1 to 1024",
		"%sim colour red":   "no setting \"colour\"",
		"%sim schedule bad": "want random or adversarial",
		"%sim check maybe":  "want on (1) or off (0)",
	} {
		if _, err := run(t, code); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", code, err, want)
		}
	}
}

// other is a driver that is not simulated.
type other struct{ driver.Driver }

func (other) Name() string              { return "nvidia" }
func (other) DeviceCount() (int, error) { return 1, nil }
func (other) Version() (int, error)     { return 13000, nil }

func TestSimLeavesGPUsAlone(t *testing.T) {
	t.Setenv("GOCUDA_BACKEND", "sim")
	if _, err := run(t, "%sim devices 2"); err != nil {
		t.Fatal(err)
	}
	machine, err := backend.Simulated()
	if err != nil {
		t.Fatal(err)
	}
	if err := cuda.Use(other{}); err != nil {
		t.Fatal(err)
	}
	defer cuda.Use(machine) //nolint:errcheck // other tests would say
	for _, code := range []string{"%sim", "%sim devices 8"} {
		if _, err := run(t, code); err == nil || !strings.Contains(err.Error(), "nvidia, CUDA 13.0") || !strings.Contains(err.Error(), "GOCUDA_BACKEND=sim") {
			t.Errorf("%s: %v", code, err)
		}
	}
}
