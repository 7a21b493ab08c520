package sim

import (
	"bytes"
	"fmt"
	"math/bits"
	"regexp"
	"strconv"
)

// The compiler's assembly is changed in some ways before it is assembled. Calls
// that check an access to memory become the few instructions that find most
// accesses right (see include/runtime/check.h). And each function looks first
// whether the thread's stack has room for it: the compiler calls __fentry__
// there, as for a profiler. And divisions of integers for which a CPU raises a
// signal give the numbers that GPUs give.

var (
	checkCall = regexp.MustCompile(`^\s+call\s+__asan_(load|store)(1|2|4|8|16)_noabort(@PLT)?$`)
	siteLine  = regexp.MustCompile(`^\s+gocuda_site (load|store) (1|2|4|8|16) (\S+) (%\w+)$`)
	nearLine  = regexp.MustCompile(`^\s+gocuda_near (load|store) (1|2|4|8|16) (-?\d+) (\S+) (\S+) (%\w+)$`)
	entryCall = regexp.MustCompile(`^(?:\d+:)?\s*callq?\s+\*?__fentry__(@\S+)?$`)
	frameSize = regexp.MustCompile(`^\s+(sub|add)q\s+\$(-?\d+), %rsp$`)
	pushes    = regexp.MustCompile(`^\s+pushq\s`)
	division  = regexp.MustCompile(`^\s+(i?)div([bwlq])\s+([^\s#]+)\s*(#.*)?$`)
	sourceIs  = regexp.MustCompile(`^\s+\.file\s+(\d+)\s+(?:".*"\s+)?("(?:[^"\\]|\\.)*")`)
	placeIs   = regexp.MustCompile(`^\s+\.loc\s+(\d+)\s+(\d+)\s`)
	section   = regexp.MustCompile(`^\s+\.(?:section|text|data|bss)\b`)
)

// stackReserve is what a function that is entered leaves of the stack: for what
// it calls in libraries, which do not look, and for what reports an overflow.
const stackReserve = 16 << 10

// rewrite changes x86-64 assembly; inline lets checks stay in the code. If report,
// divisions by zero are reported, with the line of the source of that name. What is there
// for debuggers stays only if debug.
func rewrite(text []byte, inline, report, debug bool, source string) []byte {
	lines, places := code(text, debug, source)
	var out, misses bytes.Buffer
	sites, nears, divisions := 0, 0, 0
	both := changed(lines)
	for i, l := range lines {
		if g := division.FindSubmatch(l); g != nil {
			at := ""
			if report {
				at = places[i]
			}
			divide(&out, &misses, divisions, l, string(g[1]) == "i", g[2][0], string(g[3]), at)
			divisions++
			continue
		}
		if g := siteLine.FindSubmatch(l); g != nil {
			if sites < maxSites {
				siteAt(&out, &misses, sites, string(g[1]), string(g[2]), string(g[3]), string(g[4]), places[i])
				sites++
			} else {
				fmt.Fprintf(&out, "\tleaq %s, %s\n\tpushq %%rdi\n\tmovq %[2]s, %%rdi\n\tcall gocuda_spare_plain_%s%s\n\tpopq %%rdi\n", g[3], g[4], g[1], g[2])
			}
			continue
		}
		if g := nearLine.FindSubmatch(l); g != nil {
			near(&out, &misses, sites, nears, string(g[1]), string(g[2]), string(g[3]), string(g[4]), string(g[5]), string(g[6]), places[i])
			sites, nears = min(sites+1, maxSites), nears+1
			continue
		}
		if g := checkCall.FindSubmatch(l); g != nil {
			kind := string(g[1])
			if both[i] {
				kind = "both"
			}
			if inline && sites < maxSites {
				site(&out, &misses, sites, kind, string(g[2]), places[i])
				sites++
				continue
			}
			l = bytes.Replace(l, []byte("__asan_"+string(g[1])), []byte("__asan_"+kind), 1)
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

// code is assembly without what is there for debuggers, unless debug: the assembler would take
// half of its time for it; and which line of the source of that name each of its lines is of.
func code(text []byte, debug bool, source string) (lines [][]byte, places []string) {
	skip, file, place := false, "", "0" // the file's number in the assembly
	for l := range bytes.SplitSeq(text, []byte{'\n'}) {
		directive := bytes.HasPrefix(l, []byte("\t."))
		if directive && section.Match(l) {
			skip = !debug && bytes.Contains(l, []byte(".debug_"))
		}
		if skip {
			continue
		}
		if directive {
			if g := sourceIs.FindSubmatch(l); g != nil {
				if name, err := strconv.Unquote(string(g[2])); err == nil && name == source && file == "" {
					file = string(g[1])
				}
				if !debug {
					continue
				}
			}
			if g := placeIs.FindSubmatch(l); g != nil {
				if place = "0"; string(g[1]) == file {
					place = string(g[2])
				}
				if !debug {
					continue
				}
			}
		}
		lines, places = append(lines, l), append(places, place)
	}
	return lines, places
}

// site writes the check of an access to the address in rdi. What the call it
// stands for may change, it may: rax is free. The address, counted from the
// region's start and turned round by the bits that an aligned one lacks, is the
// number of an access, if it is a right one. Who looks at the others is told their line.
func site(out, misses *bytes.Buffer, n int, kind, size, line string) {
	at := n * siteSize
	turn, _ := strconv.Atoi(size)
	fmt.Fprintf(out, "\tmovq %%rdi, %%rax\n\tsubq %d(%%r15), %%rax\n", at)
	if turn = bits.Len(uint(min(turn, 8))) - 1; turn > 0 {
		fmt.Fprintf(out, "\trorq $%d, %%rax\n", turn)
	}
	fmt.Fprintf(out, "\tcmpq %d(%%r15), %%rax\n\tjae .Lgocuda_miss%d\n.Lgocuda_hit%d:\n", at+8, n, n)
	// Most accesses that are followed, by trails, are the next on theirs.
	trail := sitesSize + n*trailSize
	fmt.Fprintf(misses, ".Lgocuda_miss%d:\n\tmovq %d(%%r15), %%rax\n\tcmpq %%rax, %%rdi\n\tjne .Lgocuda_call%d\n", n, trail+8, n)
	fmt.Fprintf(misses, "\taddq $%s, %%rax\n\tcmpq %d(%%r15), %%rax\n\tja .Lgocuda_call%d\n\tmovq %%rax, %d(%%r15)\n\tjmp .Lgocuda_hit%d\n", size, trail+24, n, trail+8, n)
	fmt.Fprintf(misses, ".Lgocuda_call%d:\n\tleaq %d(%%r15), %%rsi\n\tmovl $%s, %%edx\n\tcall gocuda_miss_%s%s\n\tjmp .Lgocuda_hit%d\n", n, at, line, kind, size, n)
}

// siteAt writes the check of an access of the PTX (include/sim/access.h), which may change one
// register alone: the compiler keeps values in all others.
func siteAt(out, misses *bytes.Buffer, n int, kind, size, memory, register, line string) {
	at, trail := n*siteSize, sitesSize+n*trailSize
	wide, _ := strconv.Atoi(size)
	fmt.Fprintf(out, "\tleaq %s, %s\n\tsubq %d(%%r15), %[2]s\n", memory, register, at)
	turn := bits.Len(uint(min(wide, 8))) - 1
	if turn > 0 {
		fmt.Fprintf(out, "\trorq $%d, %s\n", turn, register)
	}
	fmt.Fprintf(out, "\tcmpq %d(%%r15), %s\n\tjae .Lgocuda_miss%d\n.Lgocuda_hit%[3]d:\n", at+8, register, n)
	fmt.Fprintf(misses, ".Lgocuda_miss%d:\n\tleaq %s, %s\n\tpushq %%rax\n\tpushq %%rdi\n\tmovq %[3]s, %%rdi\n", n, memory, register)
	fmt.Fprintf(misses, "\tmovq %d(%%r15), %%rax\n\tcmpq %%rax, %%rdi\n\tjne .Lgocuda_call%d\n", trail+8, n)
	fmt.Fprintf(misses, "\taddq $%s, %%rax\n\tcmpq %d(%%r15), %%rax\n\tja .Lgocuda_call%d\n\tmovq %%rax, %d(%%r15)\n\tjmp .Lgocuda_back%[3]d\n", size, trail+24, n, trail+8)
	fmt.Fprintf(misses, ".Lgocuda_call%d:\n\tpushq %%rsi\n\tpushq %%rdx\n\tleaq %d(%%r15), %%rsi\n\tmovl $%s, %%edx\n\tcall gocuda_spare_%s%s\n\tpopq %%rdx\n\tpopq %%rsi\n", n, at, line, kind, size)
	fmt.Fprintf(misses, ".Lgocuda_back%d:\n\tpopq %%rdi\n\tpopq %%rax\n\tjmp .Lgocuda_hit%[1]d\n", n)
}

// near writes the check of an access of eight lanes (include/sim/lanes.h): of the first and the
// last, which lie in a region with all between them. k is its number among these.
func near(out, misses *bytes.Buffer, n, k int, kind, size, by, first, last, register, line string) {
	at := n * siteSize
	site := fmt.Sprintf("leaq %d(%%r15)", at)
	wide, _ := strconv.Atoi(size)
	turn := bits.Len(uint(min(wide, 8))) - 1
	places := []string{first, last}
	if by == "0" {
		places = places[:1]
	}
	if n == maxSites {
		places, site = nil, "movq $0"
		fmt.Fprintf(out, "\tjmp .Lgocuda_far%d\n", k)
	}
	for _, memory := range places {
		fmt.Fprintf(out, "\tleaq %s, %s\n\tsubq %d(%%r15), %[2]s\n", memory, register, at)
		if turn > 0 {
			fmt.Fprintf(out, "\trorq $%d, %s\n", turn, register)
		}
		fmt.Fprintf(out, "\tcmpq %d(%%r15), %s\n\tjae .Lgocuda_far%d\n", at+8, register, k)
	}
	fmt.Fprintf(out, ".Lgocuda_near%d:\n", k)
	fmt.Fprintf(misses, ".Lgocuda_far%d:\n\tleaq %s, %s\n\tpushq %%rdi\n\tpushq %%rsi\n\tpushq %%rdx\n\tpushq %%rcx\n\tmovq %[3]s, %%rdi\n", k, first, register)
	fmt.Fprintf(misses, "\t%s, %%rsi\n\tmovl $%s, %%edx\n\tmovq $%s, %%rcx\n\tcall gocuda_spare_near_%s%s\n", site, line, by, kind, size)
	fmt.Fprintf(misses, "\tpopq %%rcx\n\tpopq %%rdx\n\tpopq %%rsi\n\tpopq %%rdi\n\tjmp .Lgocuda_near%d\n", k)
}

// divide writes a division whose dividend is in rax (and rdx). By zero, GPUs give a
// quotient of all ones, for 64 bits if the dividend has more than 32, and the
// dividend as the remainder; the smallest number by -1 is itself. Compilers expect
// no flags of a division. line, if any, is told where one by zero is reported.
func divide(out, misses *bytes.Buffer, n int, instruction []byte, signed bool, size byte, divisor, line string) {
	fmt.Fprintf(out, "\tcmp%c $0, %s\n\tje .Lgocuda_zero%d\n", size, divisor, n)
	if signed {
		fmt.Fprintf(out, "\tcmp%c $-1, %s\n\tje .Lgocuda_minus%d\n", size, divisor, n)
	}
	fmt.Fprintf(out, "%s\n.Lgocuda_divided%d:\n", instruction, n)
	fmt.Fprintf(misses, ".Lgocuda_zero%d:\n", n)
	if line != "" {
		fmt.Fprintf(misses, "\tpushq %%rdi\n\tmovl $%s, %%edi\n\tcall gocuda_zero\n\tpopq %%rdi\n", line)
	}
	fmt.Fprintf(misses, "%s\tjmp .Lgocuda_divided%d\n", map[byte]string{
		'b': "\tmovb %al, %ah\n\tmovb $-1, %al\n",
		'w': "\tmovw %ax, %dx\n\tmovw $-1, %ax\n",
		'l': "\tmovl %eax, %edx\n\tmovl $-1, %eax\n",
		'q': fmt.Sprintf("\tmovq %%rax, %%rdx\n\tshrq $32, %%rax\n\tmovl $-1, %%eax\n\tje .Lgocuda_divided%d\n\tmovq $-1, %%rax\n", n),
	}[size], n)
	if signed {
		fmt.Fprintf(misses, ".Lgocuda_minus%d:\n%s\tjmp .Lgocuda_divided%d\n", n, map[byte]string{
			'b': "\tnegb %al\n\tmovb $0, %ah\n",
			'w': "\tnegw %ax\n\txorw %dx, %dx\n",
			'l': "\tnegl %eax\n\txorl %edx, %edx\n",
			'q': "\tnegq %rax\n\txorl %edx, %edx\n",
		}[size], n)
	}
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
