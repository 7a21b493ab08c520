package cuda

import (
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"gocuda/cudaapi/driver"
)

// Resources are what a kernel needs of a device.
type Resources struct {
	Registers    int // of each thread
	SharedBytes  int // static shared memory of each block
	LocalBytes   int // of each thread: what did not fit into registers
	MaxThreads   int // of a block
	Block        int // threads of the block that Blocks and Occupancy are of
	Blocks       int // of that size that a multiprocessor holds at once
	OccupancyPct int // the threads of these, of those that a multiprocessor holds, in percent
}

func (r Resources) String() string {
	text := fmt.Sprintf("%d registers, %s shared", r.Registers, byteCount(uint64(r.SharedBytes)))
	if r.LocalBytes > 0 {
		text += fmt.Sprintf(", %s local", byteCount(uint64(r.LocalBytes)))
	}
	return text + fmt.Sprintf("; blocks of %d threads: %d on a multiprocessor, occupancy %d %%", r.Block, r.Blocks, r.OccupancyPct)
}

// Resources tells what the kernel needs on d, and how many blocks of a size fit. A
// block of no size stands for 256 threads, or as many as the kernel can have.
func (k *Kernel) Resources(d *Device, block BlockDim) (Resources, error) {
	var r Resources
	for _, a := range []struct {
		what driver.FunctionAttribute
		to   *int
	}{{driver.FuncRegisters, &r.Registers}, {driver.FuncSharedBytes, &r.SharedBytes}, {driver.FuncLocalBytes, &r.LocalBytes}, {driver.FuncMaxThreadsPerBlock, &r.MaxThreads}} {
		v, err := k.Attribute(d, a.what)
		if err != nil {
			return r, err
		}
		*a.to = v
	}
	if block == (BlockDim{}) {
		block = Block(min(256, r.MaxThreads))
	}
	var err error
	if r.Blocks, err = k.MaxActiveBlocks(d, block); err != nil {
		return r, err
	}
	r.Block = block.X * block.Y * block.Z
	most, err := d.Attribute(driver.MaxThreadsPerSM)
	if err != nil {
		return r, err
	}
	r.OccupancyPct = 100 * r.Blocks * r.Block / max(1, most)
	return r, nil
}

// HTML is the kernel with what it needs of the current device.
func (k *Kernel) HTML() string {
	text := "<code>" + html.EscapeString(k.String()) + "</code>"
	if d, err := CurrentDevice(); err == nil {
		if r, err := k.Resources(d, BlockDim{}); err == nil {
			text += "<br>" + html.EscapeString(r.String())
		}
	}
	return text
}

// PTX is the module as NVIDIA's intermediate language, compiled for d's architecture.
// Simulated devices, and modules that were loaded as images, have none.
func (m *Module) PTX(d *Device) (string, error) {
	const name = "Module.PTX"
	if m.src == nil {
		return "", misuse(driver.ErrNotSupported, name, d, "the module was loaded as an image, and has no source")
	}
	if d.drv().Name() != "nvidia" {
		return "", misuse(driver.ErrNotSupported, name, d, "%s is not an NVIDIA GPU: there is no PTX for it", d.Name())
	}
	major, minor, err := d.ComputeCapability()
	if err != nil {
		return "", err
	}
	src := *m.src
	src.Options = append([]string{fmt.Sprintf("-arch=compute_%d%d", major, minor)}, src.Options...)
	c, err := d.drv().Compile(d.id, &src)
	if err != nil {
		return "", d.fail(err)
	}
	return strings.TrimRight(string(c.Image), "\x00"), nil
}

// SASS is the module's machine code for d, as CUDA's cuobjdump writes it: it is
// looked for in PATH, in CUDA_HOME and in /usr/local/cuda. It is run, and waited for.
func (m *Module) SASS(d *Device) (string, error) {
	const name = "Module.SASS"
	if d.drv().Name() != "nvidia" {
		return "", misuse(driver.ErrNotSupported, name, d, "%s is not an NVIDIA GPU: there is no SASS for it", d.Name())
	}
	image := m.image
	if m.src != nil {
		m.mu.Lock()
		c, err := m.compile(d)
		m.mu.Unlock()
		if err != nil {
			return "", err
		}
		image = c.Image
	}
	for _, tool := range [][]string{{"cuobjdump", "-sass"}, {"nvdisasm", "-c"}} {
		path, ok := toolkitProgram(tool[0])
		if !ok {
			continue
		}
		file, err := os.CreateTemp("", "gocuda-*.cubin")
		if err != nil {
			return "", err
		}
		defer os.Remove(file.Name())
		_, err = file.Write(image)
		if err = errors.Join(err, file.Close()); err != nil {
			return "", err
		}
		out, err := exec.Command(path, tool[1], file.Name()).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%s: %w: %s", path, err, strings.TrimSpace(string(out)))
		}
		return string(out), nil
	}
	return "", misuse(driver.ErrNotFound, name, d, "neither cuobjdump nor nvdisasm was found, which come with the CUDA toolkit: put one in PATH, or set CUDA_HOME")
}

// toolkitProgram finds a program of the CUDA toolkit.
func toolkitProgram(name string) (string, bool) {
	if path, err := exec.LookPath(name); err == nil {
		return path, true
	}
	for _, root := range []string{os.Getenv("CUDA_HOME"), os.Getenv("CUDA_PATH"), "/usr/local/cuda"} {
		if root == "" {
			continue
		}
		path := filepath.Join(root, "bin", name)
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
			return path, true
		}
	}
	return "", false
}
