package allreduce

import (
	"fmt"
	"strings"
	"testing"
)

// TestDecide has what each caller gets, on both sides of each limit.
func TestDecide(t *testing.T) {
	waits := Call{Waits: true, OneShot: true, Shared: true}
	stream := Call{OneShot: true, Shared: true}
	with := func(c Call, set func(*Call)) Call { set(&c); return c }
	nccl := func(c *Call) { c.NCCL = true }
	for name, c := range map[string]struct {
		call    Call
		members int
		want    string // bytes:algorithm
	}{
		"mpi, 2":               {waits, 2, "4:LL 262144:LL 262148:simple 1073741824:simple"},
		"mpi, 4":               {waits, 4, "87380:LL 87384:simple 1048576:simple 1048580:ring"},
		"mpi, 9":               {waits, 9, "4:local 16388:halving-doubling 1048580:ring"},
		"mpi, pools":           {with(waits, func(c *Call) { c.Shared = false }), 4, "4:LL 1073741824:simple"},
		"mpi, pools, 9":        {with(waits, func(c *Call) { c.Shared = false }), 9, "4:host 1073741824:host"},
		"mpi, simulated":       {with(waits, func(c *Call) { c.Simulated = true }), 2, "4:local 16388:ring"},
		"mpi, host":            {with(waits, func(c *Call) { c.Want = Host }), 2, "4:host 1073741824:host"},
		"mpi, LL":              {with(waits, func(c *Call) { c.Want = LL }), 4, "262144:LL 262148:simple"},
		"mpi, LL, simulated":   {with(waits, func(c *Call) { c.Want, c.Simulated = LL, true }), 4, "262144:LL"},
		"mpi, simple":          {with(waits, func(c *Call) { c.Want = Simple }), 2, "4:simple 1073741824:simple"},
		"mpi, ring":            {with(waits, func(c *Call) { c.Want = Ring }), 2, "4:ring"},
		"mpi, group":           {with(waits, func(c *Call) { c.Want = Group }), 2, "4:local 16388:ring"},
		"mpi, cannot open":     {with(waits, func(c *Call) { c.OneShot = false }), 2, "4:local 16388:ring"},
		"streams, 2":           {stream, 2, "4:LL 262144:LL 262148:simple 1048576:simple 1048580:ring"},
		"streams, 4":           {stream, 4, "87380:LL 87384:simple 1048580:ring"},
		"streams, NCCL, 2":     {with(stream, nccl), 2, "4:LL 262144:LL 262148:NCCL 67108860:NCCL 67108864:ring"},
		"streams, NCCL, 4":     {with(stream, nccl), 4, "4:NCCL 1073741824:NCCL"},
		"streams, NCCL, apart": {with(stream, func(c *Call) { c.NCCL, c.Apart = true, true }), 2, "4:NCCL 1073741824:NCCL"},
		"one process, 2":       {Call{Shared: true}, 2, "16384:local 16388:ring"},
		"one process, 4":       {Call{Shared: true}, 4, "16384:local 16388:halving-doubling 1048576:halving-doubling 1048580:ring"},
		"nodes":                {Call{Shared: true, Nodes: 4}, 32, "16384:local 16388:hierarchical 1073741824:hierarchical"},
		"nodes, NCCL":          {Call{Shared: true, Nodes: 4, NCCL: true}, 32, "4:NCCL 1073741824:NCCL"},
		"one process, alone":   {Call{Shared: true, NCCL: true}, 1, "4:local"},
		"one-shot, wished":     {with(stream, func(c *Call) { c.Want, c.NCCL = OneShot, true }), 4, "87380:LL 1073741824:simple"},
		"nothing":              {waits, 2, "0:local"},
	} {
		for _, want := range strings.Fields(c.want) {
			call := c.call
			call.Members = c.members
			fmt.Sscanf(want, "%d:", &call.Bytes)
			if got := fmt.Sprintf("%d:%s", call.Bytes, Decide(call)); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
	}
}

func TestWorthAsking(t *testing.T) {
	for _, c := range []struct {
		call Call
		want bool
	}{
		{Call{Bytes: 4}, false}, {Call{Bytes: AskBytes}, true}, {Call{Bytes: AskBytes, Want: Host}, false},
		{Call{Bytes: 4, Waits: true}, true}, {Call{Bytes: 4, Waits: true, Simulated: true}, false},
		{Call{Bytes: 4, Waits: true, Simulated: true, Want: LL}, true}, {Call{Bytes: AskBytes, Waits: true, Simulated: true}, true},
	} {
		if got := c.call.WorthAsking(); got != c.want {
			t.Errorf("%+v: %v", c.call, got)
		}
	}
}

func TestParse(t *testing.T) {
	for name, want := range map[string]Algorithm{"": Auto, "auto": Auto, "ll": LL, "quick": LL, "simple": Simple, "bulk": Simple, "host": Host, "group": Group, "nccl": NCCL, "ring": Ring} {
		if got, err := Parse(name); got != want || err != nil {
			t.Errorf("%q is %s, %v", name, got, err)
		}
	}
	if _, err := Parse("rings"); err == nil || err.Error() != `GOCUDA_MPI_ALLREDUCE="rings": want one of auto, host, ll, simple, group, nccl, ring` {
		t.Error(err)
	}
	if s := Algorithm(99).String(); s != "Algorithm(99)" {
		t.Error(s)
	}
}
