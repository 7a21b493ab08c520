// Package doctor looks for what gocuda can use on this machine, and says what
// to do about what is missing.
//
// Libraries are loaded in child processes, one for each subject: a broken
// driver that crashes or hangs ends a child, never the examination.
package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"gocuda/internal/settings"
)

// Status is the outcome of looking for one thing.
type Status string

const (
	Found   Status = "found"
	Missing Status = "missing"
	// Broken things are there and do not work.
	Broken Status = "broken"
)

// Check is one thing that was looked for.
type Check struct {
	Name    string `json:"name"`
	Status  Status `json:"status"`
	Version string `json:"version,omitempty"`
	Where   string `json:"where,omitempty"`
	// Detail says more: what was searched, or what went wrong.
	Detail string `json:"detail,omitempty"`
	// Advice is what to do about what is missing or broken.
	Advice string `json:"advice,omitempty"`
}

// Device is a GPU.
type Device struct {
	Index             int    `json:"index"`
	Name              string `json:"name"`
	UUID              string `json:"uuid"`
	PCI               string `json:"pci"`
	ComputeCapability string `json:"compute_capability"`
	Memory            uint64 `json:"memory_bytes"`
	Multiprocessors   int    `json:"multiprocessors"`
}

// Report is everything that was found out.
type Report struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	// Backend is what notebooks run on: "nvidia" or "sim".
	Backend string   `json:"backend"`
	Checks  []Check  `json:"checks"`
	Devices []Device `json:"devices"`
	// Peers tells, by device and other device, whether the first can reach
	// the second's memory.
	Peers [][]bool `json:"peers"`
	// Settings are the environment variables of gocuda that are set, as NAME=VALUE.
	Settings []string `json:"settings"`
}

// Prober starts the child that looks into a subject: its standard output must
// be what Probe returns, as JSON.
type Prober func(ctx context.Context, subject string) *exec.Cmd

// patience is how long a child may take: a first look at a GPU after a boot
// takes seconds.
const patience = 30 * time.Second

// Examine looks for everything at once.
func Examine(ctx context.Context, version string, prober Prober) Report {
	r := Report{
		Version: version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Settings: settings.Set(),
		Devices: []Device{}, Peers: [][]bool{},
	}
	var gpu cudaFinding
	looks := []func() Check{
		func() (c Check) { c, gpu = driverCheck(ctx, prober); return c },
		func() Check { return libraryCheck(ctx, prober, nvrtcSubject) },
		func() Check { return libraryCheck(ctx, prober, cuptiSubject) },
		func() Check { return compilerCheck(ctx) },
		func() Check { return libraryCheck(ctx, prober, mpiSubject) },
		func() Check { return launcherCheck(ctx) },
		func() Check { return ranksCheck(ctx, prober) },
		func() Check { return libraryCheck(ctx, prober, ncclSubject) },
		func() Check { return jupyterCheck(ctx) },
		func() Check { return widgetsCheck(ctx) },
		func() Check { return languageServerCheck(ctx) },
		func() Check { return kernelspecCheck(ctx) },
	}
	r.Checks = make([]Check, len(looks))
	var all sync.WaitGroup
	for i, look := range looks {
		all.Go(func() { r.Checks[i] = look() })
	}
	all.Wait()
	r.Checks[1] = simulatedWay(r.Checks[1], os.Getenv("GOCUDA_SIM_CUDA"))
	r.Backend = "sim"
	if len(gpu.Devices) > 0 {
		r.Backend, r.Devices, r.Peers = "nvidia", gpu.Devices, gpu.Peers
	}
	return r
}

// finding is what a child says about a library.
type finding struct {
	Where   string `json:"where"`
	Version string `json:"version"`
	Detail  string `json:"detail"`
	// Missing is set if there is no such library, and says what was searched.
	Missing string `json:"missing"`
	// Broken is set if there is one that does not work.
	Broken string `json:"broken"`
}

// cudaFinding is what a child says about the driver and the GPUs.
type cudaFinding struct {
	finding
	Devices []Device `json:"devices"`
	Peers   [][]bool `json:"peers"`
}

// ask runs a child and reads its finding into v. The error is how the child
// ended if it did not answer.
func ask(ctx context.Context, prober Prober, subject string, v any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, err := output(prober(ctx, subject), ctx)
	// A library may have printed before.
	text := strings.TrimSpace(string(out))
	if i := strings.LastIndex(text, "\n"); i >= 0 {
		text = text[i+1:]
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), v)
	}
	if err != nil {
		return fmt.Errorf("the process that loaded it failed: %w", err)
	}
	return nil
}

// output runs a command to its end and returns its standard output. A command
// that cannot even be killed, as one that hangs in a driver, is left behind.
func output(cmd *exec.Cmd, ctx context.Context) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	stuck := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { time.Sleep(3 * time.Second); close(stuck) })
	defer stop()
	select {
	case err := <-done:
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return nil, fmt.Errorf("no answer within %v", patience)
		case err != nil && stderr.Len() > 0:
			return stdout.Bytes(), fmt.Errorf("%w: %s", err, lastLine(stderr.String()))
		}
		return stdout.Bytes(), err
	case <-stuck:
		return nil, fmt.Errorf("no answer within %v, and it cannot be ended", patience)
	}
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}
