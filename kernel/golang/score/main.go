// Command score runs programs through the kernel and counts those that behave
// as compiled Go does: make go-score those of Go's own test directory, whose
// test recipe is "// run" without arguments, and make modules-score those of a
// folder with a go.mod, which try popular modules.
//
// A program passes if it ends with status 0, within a limit of processor time, and prints
// exactly what its .out file holds, or nothing where there is none. With
// -record, the .out files of a folder's programs are written: what they print
// when the go command compiles them.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"sort"
	"strings"
	"sync"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("score: ")
	if lost := score(); lost > 0 {
		os.Exit(1)
	}
}

func score() (lost int) {
	command := flag.String("exec", "bin/gocuda-kernel exec", "the `command` that runs a Go file")
	var limit limits
	flag.DurationVar(&limit.processor, "timeout", 20*time.Second, "processor time that one program may take")
	flag.DurationVar(&limit.idle, "idle", time.Minute, "time for which one program may wait")
	jobs := flag.Int("j", runtime.NumCPU(), "programs that run at a time")
	only := flag.String("run", "", "only programs whose name matches this `regexp`")
	list := flag.String("list", "", "`file` of passing programs to compare with and, if all programs ran, to write")
	reasons := flag.String("reasons", "", "`file` that says why programs cannot pass")
	folder := flag.String("dir", "", "run the programs of this `folder` instead of Go's test directory")
	record := flag.Bool("record", false, "write what the programs of -dir print when they are compiled")
	verbose := flag.Bool("v", false, "show the output of each failure")
	flag.Parse()
	match, err := regexp.Compile(*only)
	if err != nil {
		log.Fatal(err)
	}
	if *record {
		if err := recordAll(*folder, match); err != nil {
			log.Fatal(err)
		}
		return 0
	}
	var dir string
	var programs []program
	if *folder == "" {
		root, err := goroot()
		if err != nil {
			log.Fatal(err)
		}
		os.Setenv("GOROOT", root) // a compiled program has it built in
		if dir, err = prepare(root); err != nil {
			log.Fatal(err)
		}
		programs, err = find(filepath.Join(dir, "test"), match)
		if err != nil {
			log.Fatal(err)
		}
	} else if dir, programs, err = copied(*folder, match); err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	args := strings.Fields(*command)
	if path, err := exec.LookPath(args[0]); err == nil {
		args[0], _ = filepath.Abs(path)
	} else {
		log.Fatal(err)
	}
	results := runAll(programs, args, limit, *jobs)
	why, err := readReasons(*reasons)
	if err != nil {
		log.Fatal(err)
	}
	report(results, why, *verbose)
	if *list == "" {
		return 0
	}
	lost = compare(*list, results)
	if *only == "" {
		if err := writeList(*list, results); err != nil {
			log.Fatal(err)
		}
	}
	return lost
}

// prepare makes a folder with what programs find around them when Go's own
// test runner runs them: a copy of the test directory, since they may write
// there, and the list of the standard library's compiled packages.
func prepare(root string) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "score"); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()
	if err := os.CopyFS(filepath.Join(dir, "test"), os.DirFS(filepath.Join(root, "test"))); err != nil {
		return "", err
	}
	packages, err := exec.Command("go", "list", "-trimpath", "-export", "-f", "{{if .Export}}packagefile {{.ImportPath}}={{.Export}}{{end}}", "std").Output()
	if err != nil {
		return "", fmt.Errorf("go list std: %w", err)
	}
	return dir, os.WriteFile(filepath.Join(dir, importcfg), packages, 0o644)
}

const importcfg = "importcfg"

func goroot() (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w (the programs are in a Go installation)", err)
	}
	root := strings.TrimSpace(string(out))
	if _, err := os.Stat(filepath.Join(root, "test")); err != nil {
		return "", fmt.Errorf("%w: this Go installation came without its tests", err)
	}
	return root, nil
}

// find lists the programs below a folder, sorted.
func find(dir string, match *regexp.Regexp) ([]program, error) {
	var list []program
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if isRun(string(src)) && match.MatchString(name) {
			list = append(list, program{name: name, dir: dir, skip: !wanted(string(src))})
		}
		return nil
	})
	return list, err
}

// runAll runs the programs, jobs at a time.
func runAll(programs []program, args []string, limit limits, jobs int) []result {
	results := make([]result, len(programs))
	next := make(chan int)
	var wg sync.WaitGroup
	for range max(jobs, 1) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range next {
				results[i] = programs[i].run(args, limit)
			}
		}()
	}
	for i := range programs {
		next <- i
		if i%50 == 49 {
			fmt.Fprintf(os.Stderr, "%d of %d\n", i+1, len(programs))
		}
	}
	close(next)
	wg.Wait()
	return results
}

// report prints the score by folder, and the failures by cause.
func report(results []result, why map[string]string, verbose bool) {
	type count struct{ passed, total, skipped int }
	folders := make(map[string]*count)
	all := &count{}
	causes := make(map[string][]string)
	known := 0
	for _, r := range results {
		dir := filepath.ToSlash(filepath.Dir(r.name))
		if folders[dir] == nil {
			folders[dir] = &count{}
		}
		for _, c := range []*count{folders[dir], all} {
			c.total++
			if r.cause == "" {
				c.passed++
			} else if r.skip {
				c.skipped++
			}
		}
		if r.cause == "" {
			continue
		}
		cause := r.cause
		if text, ok := why[r.name]; ok {
			cause = "cannot pass: " + text
			known++
		}
		causes[cause] = append(causes[cause], r.name)
		if verbose {
			fmt.Printf("--- %s, after %.1f s of processor time: %s\n%s\n", r.name, r.took.Seconds(), r.cause, r.output)
		}
	}
	names := make([]string, 0, len(causes))
	for c := range causes {
		names = append(names, c)
	}
	sort.Slice(names, func(i, j int) bool {
		if a, b := len(causes[names[i]]), len(causes[names[j]]); a != b {
			return a > b
		}
		return names[i] < names[j]
	})
	for _, c := range names {
		fmt.Printf("%4d %s\n", len(causes[c]), c)
		for _, name := range causes[c] {
			fmt.Printf("       %s\n", name)
		}
	}
	dirs := make([]string, 0, len(folders))
	for d := range folders {
		dirs = append(dirs, d)
	}
	sort.Strings(dirs)
	fmt.Println()
	for _, d := range dirs {
		fmt.Printf("%-24s %4d of %4d\n", d, folders[d].passed, folders[d].total)
	}
	fmt.Printf("%-24s %4d of %4d (%d are not for this platform, %d have a reason why they cannot pass)\n",
		"passed", all.passed, all.total, all.skipped, known)
}

// compare tells which programs of a list no longer pass, and how many new
// ones do.
func compare(path string, results []result) (lost int) {
	before, err := readList(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	if err != nil {
		log.Fatal(err)
	}
	gained := 0
	for _, r := range results {
		switch {
		case before[r.name] && r.cause != "":
			fmt.Printf("lost: %s: %s\n", r.name, r.cause)
			lost++
		case !before[r.name] && r.cause == "":
			gained++
		}
	}
	fmt.Printf("against %s: %d gained, %d lost\n", path, gained, lost)
	return lost
}

func readList(path string) (map[string]bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list := make(map[string]bool)
	s := bufio.NewScanner(f)
	for s.Scan() {
		if line := strings.TrimSpace(s.Text()); line != "" && line[0] != '#' {
			list[line] = true
		}
	}
	return list, s.Err()
}

func writeList(path string, results []result) error {
	var b strings.Builder
	b.WriteString("# Programs that pass. Written by make go-score and make modules-score.\n")
	for _, r := range results {
		if r.cause == "" {
			b.WriteString(r.name + "\n")
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// readReasons reads lines of a program's name, a colon and a reason.
func readReasons(path string) (map[string]string, error) {
	why := make(map[string]string)
	if path == "" {
		return why, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for _, line := range strings.Split(string(text), "\n") {
		if name, reason, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(line, "#") {
			why[strings.TrimSpace(name)] = strings.TrimSpace(reason)
		}
	}
	return why, nil
}
