package sim_test

import (
	"fmt"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/driver/drivertest"
	"gocuda/cudaapi/sim"
)

func TestConformance(t *testing.T) {
	machines := []sim.Options{{Devices: 2, Adversarial: true}, {Devices: 4}, {Devices: 1}, {Devices: 2}, {Devices: 8, Adversarial: true}}
	if testing.Short() {
		machines = machines[:2]
	}
	for _, o := range machines {
		t.Run(fmt.Sprintf("devices=%d/adversarial=%v", o.Devices, o.Adversarial), func(t *testing.T) {
			drivertest.Run(t, func(t *testing.T) driver.Driver { return newDriver(t, o) })
		})
	}
}
