// Package assist answers questions about code that is being typed: how to
// complete it, what a name means, whether it is ready to run.
package assist

import "gocuda/kernel/golang/answer"

// What is answered.
type (
	Completion   = answer.Completion
	Match        = answer.Match
	Completeness = answer.Completeness
)
