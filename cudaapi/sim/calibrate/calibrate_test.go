package calibrate

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	_ "gocuda/cudaapi/backend"
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/sim"
)

// simulate makes simulated devices those of package cuda.
func simulate(t *testing.T, o sim.Options) []*cuda.Device {
	t.Helper()
	m, err := sim.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := cuda.Use(m); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Retire(nil); err != nil {
			t.Error(err)
		}
	})
	devices, err := cuda.Devices()
	if err != nil {
		t.Fatal(err)
	}
	return devices
}

// TestModelAgainstMetal runs the programs on the GPUs at hand and on simulated
// ones. It logs a profile measured here too.
func TestModelAgainstMetal(t *testing.T) {
	info, err := cuda.Backend()
	if err != nil || info.Name != "nvidia" {
		t.Skip("there are no GPUs to compare with:", info)
	}
	devices, err := cuda.Devices()
	if err != nil {
		t.Fatal(err)
	}
	metal, err := Run(devices, Usual)
	if err != nil {
		t.Fatal(err)
	}
	measured, err := Measure(devices)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(measured, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("measured profile:\n%s", text)
	own := sim.Options{Devices: min(2, len(devices))}
	for _, name := range []string{"h100", "h200"} {
		if strings.Contains(strings.ToLower(devices[0].Name()), name) {
			if err := own.Set("profile", name); err != nil {
				t.Fatal(err)
			}
		}
	}
	modelled, err := Run(simulate(t, own), Usual)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "built-in profile:\n| program | %s | simulated | error |\n|---|---|---|---|\n", devices[0].Name())
	for i, m := range metal {
		fmt.Fprintf(&b, "| %s | %v | %v | %+.1f %% |\n", m.Program, m.Time, modelled[i].Time, 100*(modelled[i].Time.Seconds()/m.Time.Seconds()-1))
	}
	t.Log(b.String())
}

// TestMeasureFindsTheProfile measures simulated devices: what comes out must be
// what they were made with.
func TestMeasureFindsTheProfile(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine measures")
	}
	for _, name := range []string{"h100", "h200"} {
		o := sim.Options{Devices: 2, NoCheck: true}
		if err := o.Set("profile", name); err != nil {
			t.Fatal(err)
		}
		want := o.Profile
		got, err := Measure(simulate(t, o))
		if err != nil {
			t.Fatal(err)
		}
		if got.SMs != want.SMs || got.Major != want.Major || got.SharedPerSM != want.SharedPerSM {
			t.Errorf("%s: %+v", name, got)
		}
		for _, c := range []struct {
			what      string
			got, want float64
		}{
			{"rate of device memory", got.MemoryRate, want.MemoryRate},
			{"rate to the host", got.HostRate, want.HostRate},
			{"rate between devices", got.PeerRate, want.PeerRate},
			{"latency of copies", got.CopyLatency.Seconds(), want.CopyLatency.Seconds()},
			{"latency of peer copies", got.PeerLatency.Seconds(), want.PeerLatency.Seconds()},
			{"latency of fills", got.FillLatency.Seconds(), want.FillLatency.Seconds()},
			{"time of an empty kernel", got.KernelTime.Seconds(), want.KernelTime.Seconds()},
			{"rate of the cache", got.CacheRate, want.CacheRate},
			{"rate of blocks", got.BlockRate, want.BlockRate},
			{"time of an event", got.EventTime.Seconds(), want.EventTime.Seconds()},
			{"delay of a wait", got.WaitDelay.Seconds(), want.WaitDelay.Seconds()},
			{"delay of a wait for another device", got.PeerWait.Seconds(), want.PeerWait.Seconds()},
			{"delay between a kernel and a copy", got.SwitchDelay.Seconds(), want.SwitchDelay.Seconds()},
		} {
			if math.Abs(c.got/c.want-1) > 0.05 {
				t.Errorf("%s: %s: measured %g, it is %g", name, c.what, c.got, c.want)
			}
		}
	}
}

// TestPrograms checks the programs' results on one and two simulated devices,
// and that what should gain time does.
func TestPrograms(t *testing.T) {
	small := Sizes{Copy: 8 << 20, Width: 256, Turns: 4}
	for devices, programs := range map[int]int{1: 3, 2: 7} {
		results, err := Run(simulate(t, sim.Options{Devices: devices, NoCheck: true}), small)
		if err != nil || len(results) != programs {
			t.Fatalf("%d devices: %d results, %v", devices, len(results), err)
		}
		took := map[string]time.Duration{}
		for _, r := range results {
			took[r.Program] = r.Time
		}
		if one, two := took["copy in, work, copy out, one stream"], took["copy in, work, copy out, two streams"]; two == 0 || two > one*8/10 {
			t.Errorf("%d devices: two streams took %v, one %v", devices, two, one)
		}
	}
	if _, err := Run(nil, small); err == nil {
		t.Error("no devices are no error")
	}
	if _, err := Measure(nil); err == nil {
		t.Error("no devices are no error")
	}
}
