package hazardtest

import (
	"os"
	"testing"

	_ "gocuda/cudaapi/backend"
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/nvidia"
	"gocuda/cudaapi/sim"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asRank+"_ACROSS") != "":
		acrossMain()
	case os.Getenv(asRank) != "":
		rankMain()
	}
	os.Exit(m.Run())
}

func TestRanksOnSimulatedDevices(t *testing.T) {
	if _, err := sim.Compiler(); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{"ipc", "staged"} {
		RunRanks(t, "GOCUDA_BACKEND=sim", "GOCUDA_SIM_DEVICES=2", "GOCUDA_MPI_PATH="+path)
	}
	RunRanks(t, "GOCUDA_BACKEND=sim", "GOCUDA_SIM_DEVICES=1")
}

func TestAcrossRanksOnSimulatedDevices(t *testing.T) {
	if _, err := sim.Compiler(); err != nil {
		t.Skip(err)
	}
	schedules := []string{"random", "adversarial"}
	if testing.Short() {
		schedules = schedules[:1]
	}
	for _, schedule := range schedules {
		RunAcross(t, "GOCUDA_BACKEND=sim", "GOCUDA_SIM_DEVICES=2", "GOCUDA_SIM_SCHEDULE="+schedule)
	}
}

func TestRanksOnGPUs(t *testing.T) {
	if err := nvidia.Available(); err != nil {
		t.Skip(err)
	}
	RunRanks(t, "GOCUDA_BACKEND=nvidia")
}

func TestAcrossRanksOnGPUs(t *testing.T) {
	if err := nvidia.Available(); err != nil {
		t.Skip(err)
	}
	RunAcross(t, "GOCUDA_BACKEND=nvidia")
}

func use(t *testing.T, d driver.Driver) {
	t.Helper()
	if err := cuda.Use(d); err != nil {
		t.Fatal(err)
	}
}

func TestProgramsWithoutDevices(t *testing.T) {
	for _, late := range []bool{false, true} {
		Run(t, func(t *testing.T) {
			d := NewClockless()
			d.Late = late
			use(t, d)
		})
	}
}

func TestProgramsOnSimulatedDevices(t *testing.T) {
	if _, err := sim.Compiler(); err != nil {
		t.Skip(err)
	}
	for _, adversarial := range []bool{false, true} {
		Run(t, func(t *testing.T) { // new ones each, small ones: their address space stays reserved, which the race detector needs
			d, err := sim.New(sim.Options{Devices: 2, Memory: 1 << 28, Adversarial: adversarial})
			if err != nil {
				t.Fatal(err)
			}
			use(t, d)
		})
	}
}

func TestProgramsOnGPUs(t *testing.T) {
	if err := nvidia.Available(); err != nil {
		t.Skip(err)
	}
	d, err := nvidia.Open()
	if err != nil {
		t.Fatal(err)
	}
	use(t, d)
	Run(t, func(*testing.T) {})
}
