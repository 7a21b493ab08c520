// Package backend makes the CUDA back ends of this project known to package
// cuda: NVIDIA's GPUs first, then simulated devices. Import it for its side
// effect; GOCUDA_BACKEND (nvidia, sim, or auto) chooses at first use.
package backend

import (
	"fmt"
	"sync"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/nvidia"
	"gocuda/cudaapi/sim"
)

func init() {
	cuda.Register("nvidia", func() (driver.Driver, error) {
		if err := nvidia.Available(); err != nil {
			return nil, err
		}
		return nvidia.Open()
	})
	cuda.Register("sim", func() (driver.Driver, error) {
		options, err := sim.FromEnv()
		if err != nil {
			return nil, err
		}
		options.PTX = nvidia.PTX
		m, err := sim.New(options)
		if err != nil {
			return nil, err
		}
		simulated.Lock()
		defer simulated.Unlock()
		simulated.machine = m
		return m, nil
	})
}

// simulated is the machine that package cuda uses, if it uses a simulated one.
var simulated struct {
	sync.Mutex
	machine *sim.Driver
}

// Simulated is the simulated machine in use, which this call opens if no back
// end is open yet. Where GPUs are in use, or nothing can be opened, the error
// says so.
func Simulated() (*sim.Driver, error) {
	info, err := cuda.Backend()
	if err != nil {
		return nil, err
	}
	simulated.Lock()
	defer simulated.Unlock()
	if info.Name != "sim" || simulated.machine == nil {
		return nil, fmt.Errorf("the devices in use are not simulated (%s): for simulated ones, set GOCUDA_BACKEND=sim before the process starts", info)
	}
	return simulated.machine, nil
}

// Simulate replaces the simulated machine in use by one with other options, and
// tells what the program had on the old one: all of that is lost, and its use
// is an error. It waits for the old machine's work, or until stop closes.
func Simulate(o sim.Options, stop <-chan struct{}) (lost sim.Holdings, err error) {
	old, err := Simulated()
	if err != nil {
		return lost, err
	}
	o.PTX = nvidia.PTX
	next, err := sim.New(o)
	if err != nil {
		return lost, err
	}
	lost = old.Holdings()
	if err := old.Retire(stop); err != nil {
		next.Close() //nolint:errcheck // nothing is on it
		return lost, err
	}
	simulated.Lock()
	simulated.machine = next
	simulated.Unlock()
	return lost, cuda.Use(next)
}

// Cluster makes a simulated cluster the devices in use, also where there are
// GPUs: so many nodes of so many devices each, 1,024 in all at most. restore ends
// it, which waits for its work, and gives the devices from before back. What was
// made on the cluster is of no use then.
func Cluster(nodes, each int) (restore func() error, err error) {
	o := sim.Options{PTX: nvidia.PTX}
	if err := o.Set("nodes", fmt.Sprintf("%dx%d", nodes, each)); err != nil {
		return nil, err
	}
	m, err := sim.New(o)
	if err != nil {
		return nil, err
	}
	back, err := cuda.UseUntil(m)
	if err != nil {
		m.Close() //nolint:errcheck // nothing is on it
		return nil, err
	}
	return func() error {
		back()
		return m.Retire(nil)
	}, nil
}
