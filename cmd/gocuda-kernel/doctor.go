package main

import (
	"context"
	"encoding/json"
	"os/exec"

	"gocuda/cmd/gocuda-kernel/internal/doctor"
)

func runDoctor(c *call) error {
	asJSON := c.flags.Bool("json", false, "print the findings as JSON")
	if _, err := c.parse(); err != nil {
		return err
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
	e := json.NewEncoder(c.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(report)
}

// runProbe is the doctor's child.
func runProbe(c *call) error {
	args, err := c.parse("subject")
	if err != nil {
		return err
	}
	return doctor.Probe(c.stdout, args[0])
}
