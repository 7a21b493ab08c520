package main

import (
	"context"
	"encoding/json"
	"os/exec"

	"gocuda/cmd/gocuda-kernel/internal/doctor"
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/sim/calibrate"
)

func runDoctor(c *call) error {
	asJSON := c.flags.Bool("json", false, "print the findings as JSON")
	profile := c.flags.Bool("profile", false, "measure the GPUs and print a profile for simulated devices: GOCUDA_SIM_PROFILE=FILE.json")
	if _, err := c.parse(); err != nil {
		return err
	}
	if *profile {
		return writeProfile(c)
	}
	binary, err := executable()
	if err != nil {
		return err
	}
	report := doctor.Examine(c.ctx, build(), func(ctx context.Context, subject string) *exec.Cmd {
		return exec.CommandContext(ctx, binary, "probe", subject)
	})
	if !*asJSON {
		report.Write(c.stdout)
		return nil
	}
	return writeJSON(c, report)
}

func writeJSON(c *call, v any) error {
	e := json.NewEncoder(c.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// writeProfile measures the devices of the back end in use.
func writeProfile(c *call) error {
	devices, err := cuda.Devices()
	if err != nil {
		return err
	}
	p, err := calibrate.Measure(devices)
	if err != nil {
		return err
	}
	return writeJSON(c, p)
}

// runProbe is the doctor's child.
func runProbe(c *call) error {
	args, err := c.parse("subject")
	if err != nil {
		return err
	}
	return doctor.Probe(c.stdout, args[0])
}
