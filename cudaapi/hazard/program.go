package hazard

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// Env is the variable that has a process checked from its start: 1, or the folder
// that its record goes to.
const Env = "GOCUDA_CHECK"

// Process is what a process's record begins with.
type Process struct {
	Program string
	PID     int
	Rank    int
}

// rankVariables are where launchers say which rank a process is.
var rankVariables = []string{"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "GOCUDA_MPI_RANK"}

// FromEnv begins to check the process if Env asks for it.
func FromEnv() error {
	value := os.Getenv(Env)
	if value == "" || value == "0" {
		return nil
	}
	for _, name := range rankVariables {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			SetRank(n)
			break
		}
	}
	return On()
}

// Conclude ends the check of a process that Env asked for: its reports go to w,
// and to its record, if the variable names a folder. It tells how many there are.
func Conclude(w io.Writer) (hazards int, err error) {
	if !Checking() {
		return 0, nil
	}
	list := Reports()
	counts := Looked()
	if len(list) > 0 {
		fmt.Fprint(w, list)
	}
	fmt.Fprintf(w, "checked: %s: %d hazards\n", counts, len(list))
	folder := os.Getenv(Env)
	if folder == "" || folder == "1" {
		return len(list), nil
	}
	checking.Lock()
	p := Process{Program: filepath.Base(os.Args[0]), PID: os.Getpid(), Rank: checking.rank}
	checking.Unlock()
	return len(list), write(folder, p, list)
}

// write keeps a process's reports in a folder: a line for the process, and one for
// each report.
func write(folder string, p Process, list List) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(folder, fmt.Sprintf("rank%d-%d.check", p.Rank, p.PID)))
	if err != nil {
		return err
	}
	out := json.NewEncoder(f)
	err = out.Encode(p)
	for _, r := range list {
		if err == nil {
			err = out.Encode(r)
		}
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// Read gives what the processes of a job found, from the folder that their records
// went to, by rank.
func Read(folder string) (processes []Process, all List, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.check"))
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(files)
	for _, name := range files {
		p, list, err := read(name)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		processes = append(processes, p)
		all = append(all, list...)
	}
	slices.SortStableFunc(all, func(a, b Report) int { return a.First.Rank - b.First.Rank })
	return processes, all, nil
}

func read(name string) (p Process, list List, err error) {
	f, err := os.Open(name)
	if err != nil {
		return p, nil, err
	}
	defer f.Close()
	in := json.NewDecoder(bufio.NewReader(f))
	if err := in.Decode(&p); err != nil {
		return p, nil, err
	}
	for {
		var r Report
		switch err := in.Decode(&r); err {
		case nil:
			list = append(list, r)
		case io.EOF:
			return p, list, nil
		default:
			return p, nil, err
		}
	}
}
