//go:build linux && (amd64 || arm64)

package libmpi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// prefixWith makes an installation: bin/mpirun and the libraries named.
func prefixWith(t *testing.T, libs ...string) string {
	t.Helper()
	prefix, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(libs, "bin/mpirun") {
		path := filepath.Join(prefix, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return prefix
}

func TestCandidates(t *testing.T) {
	ompi := prefixWith(t, "lib/libmpi.so.40")
	mpich := prefixWith(t, "lib64/libmpi.so.12", "lib64/libmpi_abi.so.0")
	hydra := &Launcher{families: []family{mpichFamily, standardFamily}, ancestor: filepath.Join(mpich, "bin/mpirun")}
	for _, test := range []struct {
		name     string
		env      map[string]string
		launcher *Launcher
		want     []string // the first candidates
		why      string   // of the first
		only     bool
	}{
		{"a file by name", map[string]string{"GOCUDA_MPI": "/some/libmpi.so.40"}, nil, []string{"/some/libmpi.so.40"}, "by GOCUDA_MPI", true},
		{"a folder", map[string]string{"GOCUDA_MPI": mpich + "/lib64"}, nil,
			[]string{mpich + "/lib64/libmpi.so.12", mpich + "/lib64/libmpi_abi.so.0", mpich + "/lib64"}, "in GOCUDA_MPI's folder", true},
		{"PATH", map[string]string{"PATH": ompi + "/bin"}, nil, []string{ompi + "/lib/libmpi.so.40"}, "beside " + ompi + "/bin/mpirun, which is on PATH", false},
		{"a prefix before PATH", map[string]string{"PATH": ompi + "/bin", "MPI_HOME": mpich}, nil,
			[]string{mpich + "/lib64/libmpi.so.12", mpich + "/lib64/libmpi_abi.so.0", ompi + "/lib/libmpi.so.40"}, "by MPI_HOME", false},
		{"the launcher before all, and only its family", map[string]string{"PATH": ompi + "/bin", "OPAL_PREFIX": ompi}, hydra,
			[]string{mpich + "/lib64/libmpi.so.12", mpich + "/lib64/libmpi_abi.so.0", "libmpi.so.12"},
			"beside " + mpich + "/bin/mpirun, which started this process", false},
		{"a family against the launcher's", map[string]string{"GOCUDA_MPI": "openmpi", "OPAL_PREFIX": ompi, "PATH": "/nowhere"}, hydra,
			[]string{ompi + "/lib/libmpi.so.40", "libmpi.so.40"}, "by OPAL_PREFIX", false},
		{"Intel's is of MPICH's family", map[string]string{"GOCUDA_MPI": "intel", "I_MPI_ROOT": mpich, "PATH": "/nowhere"}, nil,
			[]string{mpich + "/lib64/libmpi.so.12", "libmpi.so.12"}, "by I_MPI_ROOT", false},
		{"the loader", map[string]string{"PATH": "/nowhere"}, nil, []string{"libmpi.so.40", "libmpi.so.41"}, "by the loader", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, name := range []string{"GOCUDA_MPI", "OPAL_PREFIX", "I_MPI_ROOT", "MPI_HOME", "MPI_ROOT", "MPICH_DIR"} {
				t.Setenv(name, test.env[name])
			}
			if path, ok := test.env["PATH"]; ok {
				t.Setenv("PATH", path)
			}
			got, err := candidates(test.launcher)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range test.want {
				if i >= len(got) || got[i].path != want {
					t.Fatalf("candidate %d of %v is not %s", i, got[:min(len(got), 5)], want)
				}
			}
			if got[0].why != test.why {
				t.Errorf("the first is there %q, want %q", got[0].why, test.why)
			}
			if test.only && len(got) != len(test.want) {
				t.Errorf("%d candidates: %v", len(got), got)
			}
		})
	}
}

func TestNoLibrary(t *testing.T) {
	text := filepath.Join(prefixWith(t), "bin/mpirun")
	for want, says := range map[string][]string{
		"vapor":         {`GOCUDA_MPI is "vapor"`, "openmpi, mpich, intel, abi"},
		"/no/libmpi.so": {"/no/libmpi.so", "GOCUDA_MPI"},
		text:            {text, "GOCUDA_MPI"},
		"libm.so.6":     {"libm.so.6", "by GOCUDA_MPI", "no MPI_Init_thread"},
	} {
		t.Setenv("GOCUDA_MPI", want)
		_, err := identify(nil)
		if err == nil {
			t.Errorf("%s: no error", want)
			continue
		}
		for _, s := range says {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%s: %q does not say %q", want, err, s)
			}
		}
	}
}

func TestLaunched(t *testing.T) {
	for _, l := range launchers {
		t.Setenv(l.rank, "")
		os.Unsetenv(l.rank)
	}
	if l := Launched(); l != nil {
		t.Errorf("started by nobody: %v", l)
	}
	for _, test := range []struct {
		env  map[string]string
		says string
	}{
		{map[string]string{"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "5"}, "mpirun of Open MPI, as rank 2 of 5"},
		{map[string]string{"PMI_RANK": "1", "PMI_SIZE": "3"}, "mpirun of MPICH (Hydra), as rank 1 of 3"},
		{map[string]string{"PMI_RANK": "1", "PMI_SIZE": "3", "I_MPI_HYDRA_TOPOLIB": "hwloc"}, "mpirun of Intel MPI, as rank 1 of 3"},
		{map[string]string{"PMIX_RANK": "7"}, "a PMIx launcher, as rank 7"},
		{map[string]string{"PMIX_RANK": "0", "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"}, "mpirun of Open MPI, as rank 0 of 1"},
	} {
		t.Run(test.says, func(t *testing.T) {
			for name, v := range test.env {
				t.Setenv(name, v)
			}
			if l := Launched(); l == nil || l.String() != test.says {
				t.Errorf("%v", l)
			}
		})
	}
}
