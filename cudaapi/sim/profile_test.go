package sim_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gocuda/cudaapi/sim"
)

func TestProfileFromFile(t *testing.T) {
	for _, c := range []struct{ text, wrong string }{
		{`{"Name": "Toy", "SMs": 3, "PeerRate": 1e9}`, ""},
		{`{"Name": "Toy", "SMs": 0}`, "SMs"},
		{`{"Name": "Toy", "PeerRate": -1}`, "PeerRate"},
		{`{"Colour": "red"}`, "Colour"},
		{`no profile`, "not a profile"},
	} {
		file := filepath.Join(t.TempDir(), "toy.json")
		if err := os.WriteFile(file, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		var o sim.Options
		err := o.Set("profile", file)
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: %v", c.text, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if name, err := newDriver(t, o).DeviceName(0); name != "Simulated Toy" || err != nil {
			t.Errorf("%s: %q, %v", c.text, name, err)
		}
	}
	var o sim.Options
	if err := o.Set("profile", "nowhere.json"); err == nil {
		t.Error("a file that does not exist is no error")
	}
}
