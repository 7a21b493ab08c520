package doctor

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"regexp"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/mpi"
	"gocuda/cudaapi/nvidia"
)

// Probe is the child's part: it looks into a subject and writes what it finds.
func Probe(w io.Writer, subject string) error {
	probes := map[string]func() any{
		"cuda":  func() any { return probeCUDA() },
		"nvrtc": func() any { return probeNVRTC() },
		"cupti": func() any { return probeCUPTI() },
		"mpi":   func() any { return probeMPI() },
		"nccl":  func() any { return probeNCCL() },
		"ranks": func() any { return probeRanks() },
	}
	probe, ok := probes[subject]
	if !ok {
		return fmt.Errorf("there is no subject %q", subject)
	}
	data, err := json.Marshal(probe())
	if err != nil {
		return err
	}
	// On a line of its own, whatever a library printed before.
	_, err = fmt.Fprintf(w, "\n%s\n", data)
	return err
}

// absent is what the loader says of each file that is not there.
var absent = regexp.MustCompile(` \([^()]*: cannot open shared object file: No such file or directory\)`)

// tidy is the text of an error without the loader's refrain.
func tidy(err error) string { return absent.ReplaceAllString(err.Error(), "") }

func probeCUDA() (f cudaFinding) {
	d, err := nvidia.Open()
	if err != nil {
		f.Missing = tidy(err)
		return f
	}
	if p, ok := any(d).(interface{ Path() string }); ok {
		f.Where = p.Path()
	}
	version, err := d.Version()
	if err != nil {
		f.Broken = err.Error()
		return f
	}
	f.Version = fmt.Sprintf("CUDA %d.%d", version/1000, version%1000/10)
	count, err := d.DeviceCount()
	if err != nil {
		f.Broken = err.Error()
		return f
	}
	if count == 0 {
		f.Broken = "the driver works, but shows no GPU (CUDA_VISIBLE_DEVICES hides those that it does not name)"
		return f
	}
	for i := range count {
		device, err := describe(d, i)
		if err != nil {
			f.Broken = fmt.Sprintf("device %d: %v", i, err)
			return f
		}
		f.Devices = append(f.Devices, device)
		row := make([]bool, count)
		for j := range count {
			if i != j {
				row[j], err = d.CanAccessPeer(driver.Device(i), driver.Device(j))
			}
			if err != nil {
				f.Broken = fmt.Sprintf("peer access of devices %d and %d: %v", i, j, err)
				return f
			}
		}
		f.Peers = append(f.Peers, row)
	}
	f.Detail = fmt.Sprintf("%d GPUs", count)
	if count == 1 {
		f.Detail = "1 GPU"
	}
	return f
}

// probeRanks tells which MPI this process has, which was started as a rank is.
func probeRanks() (f finding) {
	if _, err := mpi.Init(); err != nil {
		f.Broken = err.Error()
		return f
	}
	defer mpi.Finalize()
	i, err := mpi.LibraryInfo()
	if err != nil {
		f.Broken = err.Error()
		return f
	}
	f.Where, f.Version = i.Path, mpiVersion(i.Version)
	found := "library found " + i.Found + "; "
	if i.Path == "" {
		f.Where, f.Version, found = "built in", i.Name, ""
	}
	way := "CUDA-aware: it takes device buffers itself"
	if !i.CUDAAware {
		way = "not CUDA-aware: device buffers go by CUDA IPC within a machine, and through the host beyond"
	}
	f.Detail = fmt.Sprintf("%s%s (%s)", found, way, i.Why)
	return f
}

func describe(d driver.Driver, i int) (Device, error) {
	id := driver.Device(i)
	out := Device{Index: i}
	var err error
	if out.Name, err = d.DeviceName(id); err != nil {
		return out, err
	}
	uuid, err := d.DeviceUUID(id)
	if err != nil {
		return out, err
	}
	x := hex.EncodeToString(uuid[:])
	out.UUID = "GPU-" + x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:]
	if out.Memory, err = d.DeviceTotalMem(id); err != nil {
		return out, err
	}
	var n [6]int
	for k, a := range []driver.Attribute{
		driver.ComputeCapabilityMajor, driver.ComputeCapabilityMinor, driver.MultiprocessorCount,
		driver.PCIDomainID, driver.PCIBusID, driver.PCIDeviceID,
	} {
		if n[k], err = d.DeviceAttribute(a, id); err != nil {
			return out, err
		}
	}
	out.ComputeCapability = fmt.Sprintf("%d.%d", n[0], n[1])
	out.Multiprocessors = n[2]
	out.PCI = fmt.Sprintf("%04x:%02x:%02x.0", n[3], n[4], n[5])
	return out, nil
}
