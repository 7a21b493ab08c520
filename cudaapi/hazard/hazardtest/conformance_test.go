package hazardtest

import (
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/driver/drivertest"
	"gocuda/cudaapi/hazard"
	"gocuda/cudaapi/nvidia"
	"gocuda/cudaapi/record"
	"gocuda/cudaapi/sim"
)

// The cases that every driver passes have the order that they need, but for what they
// say that they lack on purpose. With the check around the driver they pass too, and
// it reports nothing.
func TestConformanceOnSimulatedDevices(t *testing.T) {
	if _, err := sim.Compiler(); err != nil {
		t.Skip(err)
	}
	if raceDetector {
		t.Skip("package sim runs them under it")
	}
	conformance(t, func() (driver.Driver, error) { return sim.New(sim.Options{Devices: 2}) })
}

func TestConformanceOnGPUs(t *testing.T) {
	if err := nvidia.Available(); err != nil {
		t.Skip(err)
	}
	conformance(t, func() (driver.Driver, error) { return nvidia.Open() })
}

func conformance(t *testing.T, open func() (driver.Driver, error)) {
	c := hazard.New()
	t.Run("cases", func(t *testing.T) {
		drivertest.Run(t, func(t *testing.T) driver.Driver {
			d, err := open()
			if err != nil {
				t.Fatal(err)
			}
			return record.Wrap(d, record.New(c), nil)
		})
	})
	c.Finish()
	for _, h := range c.Found() {
		t.Error(hazard.Namer{}.Report(h))
	}
	t.Log(c.Counts())
}
