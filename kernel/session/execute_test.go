package session

import (
	"fmt"
	"strings"
	"testing"
)

func TestCellsKeepState(t *testing.T) {
	h := start(t, nil)
	h.succeed("set 41")
	h.shows("get", "41\n")
	if r := h.execute("frobnicate"); r.Err == nil || r.Restarted || !strings.Contains(r.Err.Message, "frobnicate") {
		t.Errorf("a failing cell gave %+v", r)
	}
	h.shows("get", "41\n")
}

func TestManyLinesArriveWholeAndInOrder(t *testing.T) {
	h := start(t, nil)
	var want strings.Builder
	for i := range 5000 {
		fmt.Fprintln(&want, "line", i)
	}
	for range 5 {
		h.shows("lines 5000", want.String())
	}
}
