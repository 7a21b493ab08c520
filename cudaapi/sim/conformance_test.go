package sim_test

import (
	"fmt"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/driver/drivertest"
	"gocuda/cudaapi/sim"
)

func TestConformance(t *testing.T) {
	for _, n := range []int{1, 2, 4, 8} {
		for _, adversarial := range []bool{false, true} {
			t.Run(fmt.Sprintf("devices=%d/adversarial=%v", n, adversarial), func(t *testing.T) {
				drivertest.Run(t, func(t *testing.T) driver.Driver {
					return newDriver(t, sim.Options{Devices: n, Adversarial: adversarial})
				})
			})
		}
	}
}
