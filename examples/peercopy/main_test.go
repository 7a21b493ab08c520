package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(&out, 5<<20+123, 1<<20); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "every byte right"); n != 3 {
		t.Errorf("%d of 3 copies were right:\n%s", n, out.String())
	}
}
