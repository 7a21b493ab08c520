package sim

import (
	"bytes"
	"fmt"
	"math/bits"
	"regexp"
	"strconv"
)

// The compiler's assembly is changed in two ways before it is assembled. Calls
// that check an access to memory become the few instructions that find most
// accesses right (see include/sim/check.h). And each function looks first
// whether the thread's stack has room for it: the compiler calls __fentry__
// there, as for a profiler.

var (
	checkCall = regexp.MustCompile(`^\s+call\s+__asan_(load|store)(1|2|4|8|16)_noabort(@PLT)?$`)
	entryCall = regexp.MustCompile(`^(?:\d+:)?\s*callq?\s+\*?__fentry__(@\S+)?$`)
	frameSize = regexp.MustCompile(`^\s+(sub|add)q\s+\$(-?\d+), %rsp$`)
	pushes    = regexp.MustCompile(`^\s+pushq\s`)
)

// stackReserve is what a function that is entered leaves of the stack: for what
// it calls in libraries, which do not look, and for what tells of an overflow.
const stackReserve = 16 << 10

// rewrite changes x86-64 assembly; inline lets checks stay in the code.
func rewrite(text []byte, inline bool) []byte {
	lines := bytes.Split(text, []byte{'\n'})
	var out, misses bytes.Buffer
	sites := 0
	for i, l := range lines {
		if g := checkCall.FindSubmatch(l); g != nil && inline && sites < maxSites {
			site(&out, &misses, sites, string(g[1]), string(g[2]))
			sites++
			continue
		}
		if entryCall.Match(l) {
			fmt.Fprintf(&out, "\tmovl %%esp, %%r11d\n\tandl $%d, %%r11d\n\tcmpl $%d, %%r11d\n\tjb gocuda_overflow\n",
				stackSize-1, frame(lines[i+1:])+stackReserve)
			continue
		}
		out.Write(l)
		out.WriteByte('\n')
	}
	out.WriteString("\t.text\n")
	out.Write(misses.Bytes())
	if inline {
		fmt.Fprintf(&out, "\t.globl gocuda_sites\n\t.set gocuda_sites, %d\n", sites)
	}
	return out.Bytes()
}

// site writes the check of an access to the address in rdi. What the call it
// stands for may change, it may: rax is free. The address, counted from the
// region's start and turned round by the bits that an aligned one lacks, is the
// number of an access, if it is a right one.
func site(out, misses *bytes.Buffer, n int, kind, size string) {
	at := n * siteSize
	turn, _ := strconv.Atoi(size)
	fmt.Fprintf(out, "\tmovq %%rdi, %%rax\n\tsubq %d(%%r15), %%rax\n", at)
	if turn = bits.Len(uint(min(turn, 8))) - 1; turn > 0 {
		fmt.Fprintf(out, "\trorq $%d, %%rax\n", turn)
	}
	fmt.Fprintf(out, "\tcmpq %d(%%r15), %%rax\n\tjae .Lgocuda_miss%d\n.Lgocuda_hit%d:\n", at+8, n, n)
	fmt.Fprintf(misses, ".Lgocuda_miss%d:\n\tleaq %d(%%r15), %%rsi\n\tcall gocuda_miss_%s%s\n\tjmp .Lgocuda_hit%d\n", n, at, kind, size, n)
}

// frame is how much stack a function takes, from its first instructions.
func frame(lines [][]byte) int {
	n := 0
	for _, l := range lines {
		if g := frameSize.FindSubmatch(l); g != nil {
			if k, err := strconv.Atoi(string(g[2])); err == nil && (k > 0) == (g[1][0] == 's') {
				return n + max(k, -k)
			}
			return n
		}
		if pushes.Match(l) {
			n += 8
		}
		if entryCall.Match(l) || bytes.HasPrefix(l, []byte("\t.size")) {
			return n
		}
	}
	return n
}
