package main

import (
	"gocuda/kernel/check"
	"gocuda/kernel/evaluator"
	"gocuda/kernel/profiling"
	"gocuda/kernel/ranks"
	"gocuda/kernel/solved"
	"gocuda/kernel/tracing"
)

// runEvaluate is the evaluator process: the kernel and run start it. Its arguments are
// those of the cells.
func runEvaluate(c *call) error {
	return evaluator.Main(c.args, ranks.Attach, check.Attach, tracing.Attach, profiling.Attach, solved.Attach)
}
