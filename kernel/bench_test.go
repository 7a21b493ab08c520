package kernel

import (
	"testing"

	"gocuda/kernel/wire"
)

// The kernel's own share of a cell's round trip: from the request to the idle
// status, with an evaluator that takes no time.
func BenchmarkExecute(b *testing.B) {
	c, evaluator := start(b)
	content := map[string]any{"code": "value 2", "store_history": false}
	for b.Loop() {
		id := c.send(wire.Shell, "execute_request", content)
		<-evaluator.began
		c.answer(wire.Shell, id)
	}
}

// What a heartbeat takes is the least that any round trip can take.
func BenchmarkKernelInfo(b *testing.B) {
	c, _ := start(b)
	for b.Loop() {
		c.ask(wire.Control, "kernel_info_request", map[string]any{})
	}
}

func BenchmarkFlood(b *testing.B) {
	c, evaluator := start(b)
	for b.Loop() {
		id := c.send(wire.Shell, "execute_request", map[string]any{"code": "flood 5000"})
		<-evaluator.began
		c.answer(wire.Shell, id)
	}
}
