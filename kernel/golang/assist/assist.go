// Package assist answers questions about code that is being typed: how to
// complete it, what a name means, whether it is ready to run.
package assist

import "go/types"

// Completion answers a request to complete code at a cursor. Positions count
// bytes of the UTF-8 text.
type Completion struct {
	Start   int     `json:"start"`
	End     int     `json:"end"`
	Matches []Match `json:"matches"`
}

// Match is one way to complete.
type Match struct {
	Text      string `json:"text"`
	Kind      string `json:"kind"`                // function, variable, type, const, field, method, package, keyword, magic, file
	Signature string `json:"signature,omitempty"` // its type, as Go writes it

	obj types.Object // what it names, where that is known
}

// Completeness says whether code is ready to run: "complete", "incomplete"
// (with the indentation that the next line should have), "invalid" or "unknown".
type Completeness struct {
	Status string `json:"status"`
	Indent string `json:"indent,omitempty"`
}
