package wire

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseConnection(t *testing.T) {
	c, err := ParseConnection([]byte(`{"shell_port":5,"iopub_port":6,"stdin_port":7,"control_port":8,"hb_port":9,
		"ip":"127.0.0.1","key":"k","transport":"tcp","signature_scheme":"hmac-sha256","kernel_name":"gocuda"}`))
	if err != nil {
		t.Fatal(err)
	}
	for ch, want := range map[Channel]string{
		Shell: "tcp://127.0.0.1:5", IOPub: "tcp://127.0.0.1:6", Stdin: "tcp://127.0.0.1:7",
		Control: "tcp://127.0.0.1:8", Heartbeat: "tcp://127.0.0.1:9",
	} {
		if got := c.Endpoint(ch); got != want {
			t.Errorf("%s is at %s, want %s", ch, got, want)
		}
	}
	c, err = ParseConnection([]byte(`{"transport":"ipc","ip":"/run/k","shell_port":1}`))
	if err != nil || c.Endpoint(Shell) != "ipc:///run/k-1" {
		t.Errorf("ipc: %s, %v", c.Endpoint(Shell), err)
	}
	c, err = ParseConnection([]byte(`{"ip":"::1","shell_port":1}`))
	if err != nil || c.Endpoint(Shell) != "tcp://[::1]:1" || c.SignatureScheme != "hmac-sha256" {
		t.Errorf("IPv6: %s, %v", c.Endpoint(Shell), err)
	}
}

func TestParseConnectionRefuses(t *testing.T) {
	for text, want := range map[string]string{
		``:                                "unexpected end",
		`[]`:                              "cannot unmarshal",
		`{"transport":"udp"}`:             `"udp"`,
		`{"transport":"ipc"}`:             "ip",
		`{"signature_scheme":"hmac-md5"}`: `"hmac-md5"`,
		`{"shell_port":65536}`:            "shell port 65536",
		`{"hb_port":-1}`:                  "heartbeat port -1",
		`{"shell_port":"5"}`:              "shell_port",
	} {
		if _, err := ParseConnection([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", text, err, want)
		}
	}
}

func TestConnectionFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kernel.json")
	if _, err := ReadConnection(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a missing file: %v", err)
	}
	want := Connection{Transport: "tcp", IP: "127.0.0.1", ShellPort: 4, SignatureScheme: "hmac-sha256", Key: "secret"}
	if err := want.Write(path); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v: others can read the key", info.Mode(), err)
	}
	if got, err := ReadConnection(path); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Whatever stands in a connection file, it is an error or describes five places.
func FuzzParseConnection(f *testing.F) {
	f.Add([]byte(`{"transport":"tcp","ip":"127.0.0.1","shell_port":1,"key":"k","signature_scheme":"hmac-sha256"}`))
	f.Add([]byte(`{"transport":"ipc","ip":"/tmp/k","hb_port":7}`))
	f.Add([]byte(`{"ip":"*","control_port":65536}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ParseConnection(text)
		if err != nil {
			return
		}
		for ch := Channel(0); ch < channels; ch++ {
			if e := c.Endpoint(ch); !strings.HasPrefix(e, c.Transport+"://") {
				t.Errorf("%s is at %q", ch, e)
			}
		}
		path := filepath.Join(t.TempDir(), "c.json")
		if err := c.Write(path); err != nil {
			t.Fatal(err)
		}
		if again, err := ReadConnection(path); err != nil || again != c {
			t.Errorf("written and read it is %+v, %v; was %+v", again, err, c)
		}
	})
}
