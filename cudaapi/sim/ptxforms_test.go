package sim_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"gocuda/cudaapi/driver"
)

// differences are what devices give otherwise than a model: of each kind, which a name tells, how
// many there are, and some of them. One log so holds what thousands of comparisons found.
type differences struct {
	mu    sync.Mutex
	count map[string]int
	rows  map[string][]string
}

var rowsOfKind = flag.Int("rows", 6, "differences of a kind that are shown")

func (d *differences) add(kind, format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.count == nil {
		d.count, d.rows = map[string]int{}, map[string][]string{}
	}
	if d.count[kind]++; d.count[kind] <= *rowsOfKind {
		d.rows[kind] = append(d.rows[kind], fmt.Sprintf(format, args...))
	}
}

func (d *differences) String() string {
	var b strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(d.count)) {
		fmt.Fprintf(&b, "%s, %d times\n", kind, d.count[kind])
		for _, row := range d.rows[kind] {
			fmt.Fprintf(&b, "  %s\n", row)
		}
	}
	return b.String()
}

// check fails a test that found some.
func (d *differences) check(t testing.TB) {
	t.Helper()
	if len(d.count) > 0 {
		t.Errorf("%d kinds of differences\n%s", len(d.count), d)
	}
}

// name is an instruction's form in one line.
func (op ptxOp) name() string { return strings.ReplaceAll(op.text, "\n", " ") + " " + op.kinds }

// write is an instruction with its operands.
func (op ptxOp) write(operands []string) string {
	form, list := op.text, []any{strings.Join(operands, ", ")}
	if strings.Contains(form, "%[1]s") {
		list = nil
		for _, o := range operands {
			list = append(list, o)
		}
	} else {
		form += " %s"
	}
	return fmt.Sprintf(form+";\n", list...)
}

var (
	registerNames = map[byte]string{'h': "%h", 'r': "%r", 'd': "%d", 'f': "%f", 'g': "%g", 'p': "%p"}
	registerTypes = map[byte]string{'h': "b16", 'r': "b32", 'd': "b64", 'f': "f32", 'g': "f64", 'p': "pred"}
)

// seen are the bits of a register that hold its value.
func seen(kind byte, v uint64) uint64 {
	switch kind {
	case 'p':
		return v & 1
	case 'h':
		return v & 0xffff
	case 'r', 'f':
		return v & 0xffffffff
	}
	return v
}

// sameBits compares, but for the bits of f64 that is no number, which depend on what a compiler
// makes of operands' order.
func sameBits(kind byte, a, b uint64) bool {
	return a == b || kind == 'g' && f64(a) != f64(a) && f64(b) != f64(b)
}

func words16(kinds string, list []uint64) string {
	width := map[byte]int{'p': 1, 'h': 4, 'r': 8, 'd': 16, 'f': 8, 'g': 16}
	var words []string
	for i, v := range list {
		words = append(words, fmt.Sprintf("%0*x", width[kinds[i]], v))
	}
	return strings.Join(words, " ")
}

// emulated are video instructions for which ptxas of CUDA 13.0 has code that does otherwise than
// the PTX manual says: simulated devices do as it says. (vadd.sat of u32 does not saturate, minima of
// u32 take a number of 32 bits for one with a sign, vmad takes both factors for signed if one is.)
var emulated = []string{"vadd.u32.u32.u32.sat", "vadd.u32.u32.u32.min", "vsub.u32.u32.u32.min", "vmad.s32.u32.s32.sat", "vmad.s32.u32.u32.sat.shr7", "vmad.u32.u32.u32.po.sat.shr15"}

func (op ptxOp) emulated() bool {
	name, _, _ := strings.Cut(op.text, " ")
	return slices.Contains(emulated, name)
}

// TestFormsOfPTX has a function for each form of an instruction, on special operands, in many
// combinations, and random ones.
func TestFormsOfPTX(t *testing.T) {
	const each, columns = 48, 5
	operands := 1024 // special ones, and as many at random
	if testing.Short() {
		operands = 128
	}
	var differ differences
	t.Cleanup(func() {
		t.Logf("%d forms", len(ptxOps))
		differ.check(t)
	})
	for from := 0; from < len(ptxOps); from += each {
		ops := ptxOps[from:min(from+each, len(ptxOps))]
		t.Run(fmt.Sprint(from/each), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(35, uint64(from)))
			var text strings.Builder
			var data [][]uint64
			for n, op := range ops {
				fmt.Fprintf(&text, ".visible .entry k%d(.param .u64 k_data) {\n.reg .b64 %%at<4>;\n.reg .b32 %%t<4>;\n.reg .b32 %%low32;\n.reg .b64 %%low64;\n.reg .b128 %%wide;\n", n)
				for _, k := range "phrdfg" {
					fmt.Fprintf(&text, ".reg .%s %s<%d>;\n", registerTypes[byte(k)], registerNames[byte(k)], columns)
				}
				fmt.Fprintf(&text, "ld.param.u64 %%at0, [k_data];\ncvta.to.global.u64 %%at1, %%at0;\nmov.u32 %%t0, %%tid.x;\nmov.u32 %%t1, %%ctaid.x;\nmad.lo.u32 %%t0, %%t1, 128, %%t0;\n"+
					"mul.wide.u32 %%at2, %%t0, %d;\nadd.s64 %%at3, %%at1, %%at2;\n", 8*columns)
				var names []string
				for i, k := range []byte(op.kinds) {
					name := fmt.Sprint(registerNames[k], i)
					names = append(names, name)
					switch {
					case i == 0:
					case k == 'p':
						fmt.Fprintf(&text, "ld.global.u32 %%t2, [%%at3+%d];\nsetp.ne.s32 %s, %%t2, 0;\n", 8*i, name)
					default:
						fmt.Fprintf(&text, "ld.global.%s %s, [%%at3+%d];\n", registerTypes[k], name, 8*i)
					}
				}
				text.WriteString(op.write(names))
				if op.kinds[0] == 'p' {
					text.WriteString("selp.u32 %t2, 1, 0, %p0;\nst.global.u32 [%at3], %t2;\n")
				} else {
					fmt.Fprintf(&text, "st.global.%s [%%at3], %s;\n", registerTypes[op.kinds[0]], names[0])
				}
				text.WriteString("ret;\n}\n")
				data = append(data, operandsOf(rng, op, operands, columns))
			}
			onBoth(t, ofPTX(text.String()), func(t *testing.T, b *box) {
				device := t.Name()[strings.LastIndexByte(t.Name(), '/')+1:]
				m := b.load(&driver.Source{Name: fmt.Sprintf("forms%d.ptx", from/each)})
				for n, op := range ops {
					if device == "GPU" && op.emulated() {
						continue
					}
					f, err := b.d.ModuleFunction(b.c, m, fmt.Sprintf("k%d", n))
					b.ok(err)
					words := data[n]
					at := upload(b, words)
					b.ok(b.launch(f, dim(uint32(len(words)/columns/128)), dim(128), 0, at))
					after := download[uint64](b, at, len(words))
					b.ok(b.d.MemFree(b.c, at))
					for i := 0; i < len(words); i += columns {
						args, kind := words[i+1:i+len(op.kinds)], op.kinds[0]
						got, want := seen(kind, after[i]), op.of(args)
						if got != want {
							differ.add(device+" "+op.name(), "%s: %s, model %s", words16(op.kinds[1:], args), words16(op.kinds[:1], []uint64{got}), words16(op.kinds[:1], []uint64{want}))
						}
					}
				}
			})
		})
	}
}

// operandsOf are rows of a word for the result and the operands of a form, of which n are special.
func operandsOf(rng *rand.Rand, op ptxOp, n, columns int) (words []uint64) {
	kinds := op.kinds[1:]
	all := 1
	for _, k := range []byte(kinds) {
		all *= max(len(special[k]), 2)
	}
	for i := range 2 * n {
		at := i
		if all > n {
			at = rng.IntN(all)
		}
		row := make([]uint64, columns)
		for c, k := range []byte(kinds) {
			switch list := special[k]; {
			case k == 'p':
				row[c+1], at = uint64(at&1), at/2
			case i < min(n, all):
				row[c+1], at = list[at%len(list)], at/len(list)
			default:
				row[c+1] = randomBits(rng, k)
			}
		}
		words = append(words, row...)
	}
	return words
}
