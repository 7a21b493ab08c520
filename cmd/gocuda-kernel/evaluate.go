package main

import (
	"gocuda/kernel/check"
	"gocuda/kernel/evaluator"
	"gocuda/kernel/ranks"
	"gocuda/kernel/tracing"
)

// runEvaluate is the evaluator process: the kernel and run start it.
func runEvaluate(c *call) error {
	if _, err := c.parse(); err != nil {
		return err
	}
	return evaluator.Main(ranks.Attach, check.Attach, tracing.Attach)
}
