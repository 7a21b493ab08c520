package sim

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"gocuda/cudaapi/driver"
)

// Options say what to simulate. The zero value of a field takes its default.
type Options struct {
	Devices     int    // how many devices; default 4, or as many as the nodes have
	Nodes       int    // of so many devices each, joined by a network; default 1
	Memory      uint64 // bytes of each device, committed as touched; default 16 GiB
	Seed        uint64 // chooses among the orders that CUDA allows; default 1
	Adversarial bool   // delay whatever is not ordered, so that missing waits show
	NoCheck     bool   // do not check kernels' accesses to memory: faster
	Races       bool   // look for races between the threads of a launch
	CUDA        string // what CUDA C++ is compiled by: NVRTC (ptx), the host's compiler (c++), or NVRTC where it is found (auto, the default)

	// PTX is NVRTC: it compiles for a virtual architecture, such as compute_90. Its error is
	// ErrSharedObjectInit where NVRTC cannot be used.
	PTX func(src *driver.Source, arch string) (*driver.Compiled, error)

	// OnRaces is told the races of each launch in the place of standard error.
	OnRaces func([]driver.Race)

	Profile *Profile
}

const maxDevices = 1024

// parseNodes reads NODESxDEVICES, such as 128x8.
func parseNodes(s string) (nodes, each int, ok bool) {
	a, b, found := strings.Cut(s, "x")
	nodes, err := strconv.Atoi(a)
	each, err2 := strconv.Atoi(b)
	return nodes, each, found && err == nil && err2 == nil && nodes > 0 && each > 0 && nodes <= maxDevices && each <= maxDevices && nodes*each <= maxDevices
}

// Settings are the names that [Options.Set] knows.
func Settings() []string {
	return []string{"devices", "nodes", "memory", "seed", "schedule", "check", "races", "profile", "cuda"}
}

// Set changes one option by its name: devices (1 to 1024), nodes (NODESxDEVICES,
// such as 128x8, which says how many devices there are as well), memory (bytes, or with
// the suffix K, M, G or T), seed, schedule (random, which is also called
// normal, or adversarial), check (on or 1, off or 0), races (on or 1, off or 0), profile
// (h100, h200, or a file NAME.json with a [Profile]) or cuda (ptx, c++ or auto).
func (o *Options) Set(name, value string) (err error) {
	want := ""
	switch name {
	case "devices":
		var n int
		if n, err = strconv.Atoi(value); err != nil || n < 1 || n > maxDevices {
			want = fmt.Sprintf("a number from 1 to %d", maxDevices)
		} else {
			o.Devices, o.Nodes = n, 0 // one node
		}
	case "nodes":
		if nodes, each, ok := parseNodes(value); !ok {
			want = fmt.Sprintf("NODESxDEVICES, such as 128x8, with %d devices at most", maxDevices)
		} else {
			o.Nodes, o.Devices = nodes, nodes*each
		}
	case "memory":
		var n uint64
		if n, err = parseBytes(value); err != nil {
			want = "a size such as 512M or 16G"
		} else {
			o.Memory = n
		}
	case "seed":
		var n uint64
		if n, err = strconv.ParseUint(value, 0, 64); err != nil || n == 0 {
			want = "a whole number from 1"
		} else {
			o.Seed = n
		}
	case "schedule":
		switch value {
		case "random", "normal", "adversarial":
			o.Adversarial = value == "adversarial"
		default:
			want = "random or adversarial"
		}
	case "check":
		switch value {
		case "on", "1", "off", "0":
			o.NoCheck = value == "off" || value == "0"
		default:
			want = "on (1) or off (0)"
		}
	case "races":
		switch value {
		case "on", "1", "off", "0":
			o.Races = value == "on" || value == "1"
		default:
			want = "on (1) or off (0)"
		}
	case "profile":
		p, err := profileNamed(value)
		if err != nil {
			return fmt.Errorf("profile %q: %w", value, err)
		}
		o.Profile = p
	case "cuda":
		if !slices.Contains([]string{"ptx", "c++", "auto"}, value) {
			want = "ptx, c++ or auto"
		} else {
			o.CUDA = value
		}
	default:
		return fmt.Errorf("simulated devices have no setting %q; there are %s", name, strings.Join(Settings(), ", "))
	}
	if want != "" {
		return fmt.Errorf("%s %q: want %s", name, value, want)
	}
	return nil
}

// FromEnv takes the settings from the environment: GOCUDA_SIM_DEVICES,
// GOCUDA_SIM_MEMORY and so on, for each name of [Settings].
func FromEnv() (o Options, err error) {
	for _, name := range Settings() {
		variable := "GOCUDA_SIM_" + strings.ToUpper(name)
		if v := os.Getenv(variable); v != "" {
			devices := o.Devices
			if err := o.Set(name, v); err != nil {
				return o, fmt.Errorf("%s: %w", variable, err)
			}
			if devices != 0 && o.Devices != devices {
				return o, fmt.Errorf("%s: nodes %q have %d devices, and GOCUDA_SIM_DEVICES says %d", variable, v, o.Devices, devices)
			}
		}
	}
	return o, nil
}

// complete puts the defaults where nothing is set.
func (o Options) complete() (Options, error) {
	if o.Devices == 0 {
		o.Devices = 4
	}
	if o.Nodes == 0 {
		o.Nodes = 1
	}
	if o.Memory == 0 {
		o.Memory = 16 << 30
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	if o.Profile == nil {
		o.Profile = profiles["h200"]
	}
	if o.Devices < 0 || o.Devices > maxDevices {
		return o, fmt.Errorf("sim: %d devices: want 1 to %d", o.Devices, maxDevices)
	}
	if o.Nodes < 0 || o.Devices%o.Nodes != 0 {
		return o, fmt.Errorf("sim: %d devices cannot be divided among %d nodes", o.Devices, o.Nodes)
	}
	return o, nil
}

// String says it in one line.
func (o Options) String() string {
	o, err := o.complete()
	if err != nil {
		return err.Error()
	}
	schedule, check := "random", "on"
	if o.Adversarial {
		schedule = "adversarial"
	}
	if o.NoCheck {
		check = "off"
	}
	devices := strconv.Itoa(o.Devices)
	if o.Nodes > 1 {
		devices = fmt.Sprintf("%d in %d nodes", o.Devices, o.Nodes)
	}
	return fmt.Sprintf("devices %s, memory %s, seed %d, schedule %s, check %s, profile %s",
		devices, formatBytes(o.Memory), o.Seed, schedule, check, strings.ToLower(o.Profile.Name))
}

const byteUnits = "KMGT"

func parseBytes(s string) (uint64, error) {
	shift := 0
	if i := strings.IndexByte(byteUnits, s[len(s)-1]&^0x20); i >= 0 {
		shift, s = 10*(i+1), s[:len(s)-1]
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n == 0 || n > 1<<44>>shift {
		return 0, fmt.Errorf("not a size of memory")
	}
	return n << shift, nil
}

// formatBytes writes a size as parseBytes reads it.
func formatBytes(n uint64) string {
	for i := range slices.Backward([]byte(byteUnits)) {
		if shift := 10 * (i + 1); n>>shift<<shift == n && n > 0 {
			return fmt.Sprintf("%d%c", n>>shift, byteUnits[i])
		}
	}
	return strconv.FormatUint(n, 10)
}
