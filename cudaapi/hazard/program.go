package hazard

import (
	"fmt"
	"io"
	"os"
)

// Env is the variable that has a process checked from its start: 1, or the folder
// that its record goes to.
const Env = "GOCUDA_CHECK"

// FromEnv begins to check the process if Env asks for it.
func FromEnv() error {
	value := os.Getenv(Env)
	if value == "" || value == "0" {
		return nil
	}
	if value != "1" {
		checking.Lock()
		checking.folder = value
		checking.Unlock()
	}
	return On()
}

// Conclude ends the check of a process that Env asked for: its reports go to w, and
// its record is written, if the variable names a folder. It tells how many hazards
// there are that are more than possible.
func Conclude(w io.Writer) (hazards int, err error) {
	if !Checking() {
		return 0, nil
	}
	list := show(w)
	checking.Lock()
	defer checking.Unlock()
	return list.Proved(), closeFile()
}

// Checked runs f with the check on, as %%check does a cell: what is found goes to w.
// If the check is on already, the reports come where it ends.
func Checked(w io.Writer, f func()) error {
	if Checking() {
		f()
		return nil
	}
	if err := On(); err != nil {
		return err
	}
	ended := false
	defer func() {
		if !ended { // a panic
			Off()
		}
	}()
	f()
	ended = true
	show(w)
	return Off()
}

// show writes the reports, and how much was looked at.
func show(w io.Writer) List {
	list := Reports()
	if len(list) > 0 {
		fmt.Fprint(w, list)
	}
	fmt.Fprintf(w, "checked: %s: %s\n", Looked(), list.counted())
	return list
}

// Read checks the records of a job's processes, which have ended, in the folder that
// they went to. It tells how many processes there are, and gives what was found.
func Read(folder string) (processes int, list List, err error) {
	f, err := OpenFolder(folder, true)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	list, _, err = f.Check(true)
	return len(f.Processes()), list, err
}
