package sim_test

import (
	"fmt"
	"testing"

	"gocuda/cudaapi/sim"
	"gocuda/cudaapi/sim/corpus"
)

func TestCorpus(t *testing.T) {
	for _, o := range []sim.Options{{}, {NoCheck: true}, {Adversarial: true}} {
		o.Devices = 1
		t.Run(fmt.Sprintf("check=%v/adversarial=%v", !o.NoCheck, o.Adversarial), func(t *testing.T) { corpus.Run(t, newDriver(t, o)) })
	}
}
