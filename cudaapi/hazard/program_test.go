package hazard

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestRecordsOfRanks(t *testing.T) {
	folder := t.TempDir()
	report := Report{First: Operation{Place: "main.go:3", Rank: 1}, Second: Operation{Place: "main.go:4", Rank: 1}, Bytes: 8, Missing: "a wait", Times: 2}
	for _, c := range []struct {
		p    Process
		list List
	}{{Process{"a", 7, 1}, List{report}}, {Process{"a", 6, 0}, nil}} {
		if err := write(folder, c.p, c.list); err != nil {
			t.Fatal(err)
		}
	}
	processes, list, err := Read(folder)
	if err != nil || len(processes) != 2 || !reflect.DeepEqual(list, List{report}) {
		t.Fatalf("%v, %v, %v", processes, list, err)
	}
	if err := os.WriteFile(filepath.Join(folder, "rank2-1.check"), []byte(`{"PID":1}{"First"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Read(folder); err == nil {
		t.Error("a record that was cut off is no error")
	}
}
