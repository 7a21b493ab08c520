package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

// Profile is a model of a device: what its attributes say and how long its
// work takes. Rates are bytes per second, for copies large enough to reach
// them; latencies are paid once by each operation.
type Profile struct {
	Name         string
	Major, Minor int // compute capability
	SMs          int
	ClockKHz     int
	MemClockKHz  int
	MemBusBits   int
	L2Bytes      int
	SharedPerSM  int

	MemoryRate   float64       // device memory
	HostRate     float64       // pinned host memory to or from the device
	PageableRate float64       // pageable host memory to or from the device
	PeerRate     float64       // device to device over a link
	CopyLatency  time.Duration // of a copy to or from the host
	PeerLatency  time.Duration // of a copy between devices
	FillLatency  time.Duration // of a fill or a copy inside a device
	KernelTime   time.Duration // of an empty kernel on the device
	LaunchCall   time.Duration // host time of a launch
	AsyncCall    time.Duration // host time of another asynchronous call
	EventCall    time.Duration // host time of an event record or a stream wait
	SyncCall     time.Duration // host time of a wait that finds the work done
	StartDelay   time.Duration // from the host's call to the start on an idle device
	WaitDelay    time.Duration // from an event's record to a waiting stream's next start
}

// Set from figures measured on 2x H200 (NVLink) and from published ones for
// the H100.
var profiles = map[string]*Profile{
	"h200": {
		Name: "H200", Major: 9, Minor: 0, SMs: 132, ClockKHz: 1980000,
		MemClockKHz: 3201000, MemBusBits: 6144, L2Bytes: 60 << 20, SharedPerSM: 228 << 10,
		MemoryRate: 4.2e12, HostRate: 55e9, PageableRate: 12e9, PeerRate: 397e9,
		CopyLatency: 4 * time.Microsecond, PeerLatency: 2100 * time.Nanosecond, FillLatency: 1200 * time.Nanosecond,
		KernelTime: 1500 * time.Nanosecond, LaunchCall: 2700 * time.Nanosecond, AsyncCall: 1500 * time.Nanosecond,
		EventCall: 110 * time.Nanosecond, SyncCall: 1400 * time.Nanosecond, StartDelay: 2 * time.Microsecond,
		WaitDelay: 4 * time.Microsecond,
	},
	"h100": {
		Name: "H100", Major: 9, Minor: 0, SMs: 132, ClockKHz: 1980000,
		MemClockKHz: 2619000, MemBusBits: 5120, L2Bytes: 50 << 20, SharedPerSM: 228 << 10,
		MemoryRate: 3.0e12, HostRate: 55e9, PageableRate: 12e9, PeerRate: 374e9,
		CopyLatency: 4 * time.Microsecond, PeerLatency: 2100 * time.Nanosecond, FillLatency: 1200 * time.Nanosecond,
		KernelTime: 1500 * time.Nanosecond, LaunchCall: 2700 * time.Nanosecond, AsyncCall: 1500 * time.Nanosecond,
		EventCall: 110 * time.Nanosecond, SyncCall: 1400 * time.Nanosecond, StartDelay: 2 * time.Microsecond,
		WaitDelay: 4 * time.Microsecond,
	},
}

// profileNamed is a profile of this package, or one from a file NAME.json that
// holds one (gocuda-kernel doctor --profile writes it).
func profileNamed(name string) (*Profile, error) {
	if p := profiles[strings.ToLower(name)]; p != nil {
		return p, nil
	}
	if !strings.HasSuffix(name, ".json") {
		return nil, fmt.Errorf("want h100, h200 or a file that ends in .json")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	p := *profiles["h200"] // for what the file leaves out
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return nil, fmt.Errorf("not a profile: %w", err)
	}
	return &p, p.valid()
}

// valid refuses what no device can be.
func (p *Profile) valid() error {
	for _, c := range []struct {
		name string
		ok   bool
	}{
		{"Major", p.Major >= 7 && p.Major < 100}, {"Minor", p.Minor >= 0 && p.Minor < 10},
		{"SMs", p.SMs > 0}, {"SharedPerSM", p.SharedPerSM >= maxSharedOptin},
		{"MemoryRate", p.MemoryRate > 0}, {"HostRate", p.HostRate > 0}, {"PageableRate", p.PageableRate > 0}, {"PeerRate", p.PeerRate > 0},
		{"CopyLatency", p.CopyLatency >= 0}, {"PeerLatency", p.PeerLatency >= 0}, {"FillLatency", p.FillLatency >= 0},
		{"KernelTime", p.KernelTime >= 0}, {"LaunchCall", p.LaunchCall >= 0}, {"AsyncCall", p.AsyncCall >= 0},
		{"EventCall", p.EventCall >= 0}, {"SyncCall", p.SyncCall >= 0}, {"StartDelay", p.StartDelay >= 0}, {"WaitDelay", p.WaitDelay >= 0},
	} {
		if !c.ok {
			return fmt.Errorf("not a profile: %s is out of range", c.name)
		}
	}
	return nil
}
