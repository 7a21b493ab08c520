// Package backend makes the CUDA back ends of this project known to package
// cuda: NVIDIA's GPUs first, then simulated devices. Import it for its side
// effect; GOCUDA_BACKEND (nvidia, sim, or auto) chooses at first use.
package backend

import (
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
		return sim.New(options)
	})
}
