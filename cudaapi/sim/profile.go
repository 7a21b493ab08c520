package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
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
	CacheRate    float64       // the L2 cache
	HostRate     float64       // pinned host memory to or from the device
	PageableRate float64       // pageable host memory to or from the device
	PeerRate     float64       // device to device over a link
	NoPeerRate   float64       // device to device without peer access: through the host
	CopyLatency  time.Duration // of a copy to or from the host
	PeerLatency  time.Duration // of a copy between devices
	NoPeerTime   time.Duration // of such a copy without peer access
	NetRate      float64       // device to device in another node: one network adapter for each device
	NetLatency   time.Duration // of such a message, from the wait for its data to its end
	FillLatency  time.Duration // of a fill or a copy inside a device

	KernelTime    time.Duration // of an empty kernel on the device
	BlockRate     float64       // blocks that begin in a second
	BlockTurn     time.Duration // from one block's end to the next one's begin in its place
	WarpTime      time.Duration // that a block takes longer for each warp above eight
	AccessTime    time.Duration // that a thread takes for a load or store of its own, beside its wait
	BarrierTime   time.Duration // that a block takes for a barrier
	CacheLatency  time.Duration // that a thread waits for a load from the L2 cache,
	MemoryLatency time.Duration // from device memory,
	BusyLatency   time.Duration // how much longer if that is used to the full,
	PeerAccess    time.Duration // from another device's memory
	HostAccess    time.Duration // and from the host's

	LaunchCall time.Duration // host time of a launch
	AsyncCall  time.Duration // host time of another asynchronous call
	EventCall  time.Duration // host time of an event record or a stream wait
	SyncCall   time.Duration // host time of a wait that finds the work done

	StartDelay  time.Duration // from the host's call to the start on an idle device
	EventTime   time.Duration // that a stream takes to record an event with timing
	WaitDelay   time.Duration // from an event's record to the next start on a waiting stream of the device,
	PeerWait    time.Duration // and on one of another device
	SwitchDelay time.Duration // between a kernel and a copy over a link, one of which waits for the other
}

// hopper is what an H100 and an H200 have in common. It was set from some of what
// the probes of package calibrate measured on two H200 (NVLink); the others, and
// that package's programs, served to check it. The network's are not measured but
// published: a ConnectX-7 at 400 Gb/s reaches 46 to 49 GB/s (NVIDIA on
// github.com/NVIDIA/nccl-tests, issues 267 and 290; a DGX H100 has one for each
// GPU), and NCCL reckons with 14 us for a step over the network (hwLat in its
// src/graph/tuning.cc, NET, Ring, Simple).
var hopper = Profile{
	Major: 9, Minor: 0, SMs: 132, ClockKHz: 1980000, SharedPerSM: 228 << 10,
	HostRate: 55.4e9, PageableRate: 12e9, NoPeerRate: 36e9, NoPeerTime: 12500 * time.Nanosecond, NetRate: 48e9, NetLatency: 14 * time.Microsecond,
	CopyLatency: 2500 * time.Nanosecond, PeerLatency: 2150 * time.Nanosecond, FillLatency: 1650 * time.Nanosecond,

	KernelTime: 1310 * time.Nanosecond, BlockRate: 1.67e9, BlockTurn: 60 * time.Nanosecond,
	WarpTime: 7 * time.Nanosecond, AccessTime: 60 * time.Nanosecond, BarrierTime: 55 * time.Nanosecond,
	CacheLatency: 220 * time.Nanosecond, MemoryLatency: 400 * time.Nanosecond, BusyLatency: 360 * time.Nanosecond,
	PeerAccess: 1000 * time.Nanosecond, HostAccess: 1500 * time.Nanosecond,

	LaunchCall: 2700 * time.Nanosecond, AsyncCall: 1500 * time.Nanosecond, EventCall: 110 * time.Nanosecond, SyncCall: 1400 * time.Nanosecond,
	StartDelay: 2 * time.Microsecond, EventTime: 2900 * time.Nanosecond,
	WaitDelay: 200 * time.Nanosecond, PeerWait: 5200 * time.Nanosecond, SwitchDelay: 4750 * time.Nanosecond,
}

var profiles = map[string]*Profile{"h100": h100(), "h200": h200()}

// Hopper is a profile of an H100 or H200 without a name and bandwidths, for those
// who measure the rest.
func Hopper() *Profile {
	p := hopper
	return &p
}

func h200() *Profile {
	p := hopper
	p.Name, p.MemClockKHz, p.MemBusBits, p.L2Bytes = "H200", 3201000, 6144, 60<<20
	p.MemoryRate, p.CacheRate, p.PeerRate = 4.2e12, 7.5e12, 395e9
	return &p
}

// h100 has the bandwidths that are published; the rest is the H200's, whose
// processors are the same.
func h100() *Profile {
	p := hopper
	p.Name, p.MemClockKHz, p.MemBusBits, p.L2Bytes = "H100", 2619000, 5120, 50<<20
	p.MemoryRate, p.CacheRate, p.PeerRate = 3.0e12, 7.5e12, 374e9
	return &p
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
	type check struct {
		name string
		ok   bool
	}
	checks := []check{
		{"Major", p.Major >= 7 && p.Major < 100}, {"Minor", p.Minor >= 0 && p.Minor < 10},
		{"SMs", p.SMs > 0}, {"SharedPerSM", p.SharedPerSM >= maxSharedOptin},
	}
	// All rates are above 0, no time is below.
	v := reflect.ValueOf(*p)
	for i := range v.NumField() {
		switch f := v.Field(i).Interface().(type) {
		case float64:
			checks = append(checks, check{v.Type().Field(i).Name, f > 0})
		case time.Duration:
			checks = append(checks, check{v.Type().Field(i).Name, f >= 0})
		}
	}
	for _, c := range checks {
		if !c.ok {
			return fmt.Errorf("not a profile: %s is out of range", c.name)
		}
	}
	return nil
}
