package evaluator

import (
	"maps"
	"sync"
)

// verdicts are what judges said last, by the exercises' ids.
type verdicts struct {
	mu sync.Mutex
	of map[string]string
}

// note takes note of a verdict; "" says that a judge begins.
func (v *verdicts) note(id, verdict string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.of == nil {
		v.of = map[string]string{}
	}
	if verdict != "" {
		v.of[id] = verdict
	}
}

func (v *verdicts) forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.of = nil
}

func (v *verdicts) all() map[string]string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return maps.Clone(v.of)
}
