package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestMain makes a program of the test binary: it takes as many nanoseconds a
// call as its first argument says, knows no case but launches and copies, and ends
// at the case that the second one names.
func TestMain(m *testing.M) {
	if os.Getenv("TURNS_TEST_PROGRAM") == "" {
		os.Exit(m.Run())
	}
	var each, n, size int
	fmt.Sscan(os.Args[1], &each)
	if each == 0 {
		fmt.Println("no GPU")
		os.Exit(1)
	}
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		words := strings.SplitN(in.Text(), " ", 3)
		fmt.Sscan(words[0]+" "+words[1], &n, &size)
		switch {
		case len(os.Args) > 2 && words[2] == os.Args[2]:
			os.Exit(3)
		case words[2] == "launch" || words[2] == "peer copy":
			fmt.Println(n * each)
		default:
			fmt.Println("-")
		}
	}
}

func TestTurns(t *testing.T) {
	t.Setenv("TURNS_TEST_PROGRAM", "1")
	me := os.Args[0]
	for _, c := range []struct {
		name, args string
		want       []string
		err        string
	}{
		{"side by side", "-rounds 5 -copies 3 c++ ME 100 -- go ME 150", []string{
			"| us | c++ | go |\n", "| launch | 0.100 | 0.150 |\n", "| event record |  |  |\n", "| peer copy 4 KiB, GB/s | 40.960 | 27.307 |\n",
			"== go less c++", "| launch | +0.050 | +0.050 | +0.050 |\n", "| peer copy 1 MiB, GB/s | 0.667 | 0.667 | 0.667 |\n",
		}, ""},
		{"one alone", "-rounds 1 -copies 1 -trial go ME 2000", []string{"| launch | 2.000 |\n", "peer copy 64 MiB"}, ""},
		{"one cannot run", "-rounds 1 -copies 1 c++ ME 0 -- go ME 300", []string{"c++: no GPU\n", "c++ ended before it was ready (exit status 1) and is left out\n", "| launch | 0.300 |\n"}, "c++ ended"},
		{"none can", "go ME 0", nil, "no program to measure"},
		{"one dies", "c++ ME 100 -- go ME 100 launch", nil, "go ended at launch (exit status 3)"},
		{"no command", "go", nil, "want a label and a command"},
	} {
		var out bytes.Buffer
		err := run(strings.Fields(strings.ReplaceAll(c.args, "ME", me)), &out)
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.err)
		}
		for _, w := range c.want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("%s: no %q in\n%s", c.name, w, out.String())
			}
		}
	}
}

// TestOrder counts who is first and who comes before whom.
func TestOrder(t *testing.T) {
	var programs []*program
	for _, l := range strings.Split("abcde", "") {
		programs = append(programs, &program{label: l})
	}
	first, before := map[string]int{}, map[string]int{}
	const rounds = 10
	for r := range rounds {
		o := order(programs, r)
		first[o[0].label]++
		for i, p := range o {
			for _, q := range o[i+1:] {
				before[p.label+q.label]++
			}
		}
	}
	for _, p := range programs {
		if first[p.label] != rounds/len(programs) {
			t.Errorf("%s is first in %d of %d rounds", p.label, first[p.label], rounds)
		}
		for _, q := range programs {
			if n := before[p.label+q.label]; p != q && n != rounds/2 {
				t.Errorf("%s comes before %s in %d of %d rounds", p.label, q.label, n, rounds)
			}
		}
	}
}
