package main

import (
	"gocuda/kernel/ranks"
	"gocuda/kernel/session"
)

// runEvaluate is the evaluator process: the kernel and run start it.
func runEvaluate(c *call) error {
	if _, err := c.parse(); err != nil {
		return err
	}
	return session.Evaluate(ranks.Attach)
}
