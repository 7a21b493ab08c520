package cpp

import (
	"fmt"
	"slices"

	"gocuda/cudaapi/ptx"
)

// exponents are those of the formats of 8 bits, of which instructions convert two.
var exponents = map[string]int{"e4m3x2": 4, "e5m2x2": 5}

// small does conversions to and from formats of 8 bits, and to tf32; it reports whether it did.
func (b *body) small(i *ptx.Instruction) bool {
	flags := map[string]bool{}
	var types []string
	for _, m := range i.Mods {
		switch {
		case exponents[m] != 0 || m == "tf32" || m == "f32" || m == "f16x2":
			types = append(types, m)
		case slices.Contains([]string{"rn", "rna", "rz", "satfinite", "relu"}, m):
			flags[m] = true
		default:
			return false
		}
	}
	if len(types) != 2 {
		return false
	}
	o, to, from := i.Operands, types[0], types[1]
	narrow := func(v string) string {
		return fmt.Sprintf("gocuda::small<%d, %v>((double)%s)", exponents[to], flags["relu"], v)
	}
	half := func(format string) string {
		return fmt.Sprintf("gocuda::widen<10, 5>("+format+")", b.read(o[1], "b32"))
	}
	switch {
	case to == "tf32" && from == "f32" && len(o) == 2:
		tie := "toEven"
		if flags["rna"] {
			tie = "away"
		} else if flags["rz"] {
			tie = "cut"
		}
		b.write(o[0], "b32", fmt.Sprintf("gocuda::tf32<gocuda::%s, %v, %v>(%s)", tie, flags["relu"], flags["satfinite"], b.read(o[1], "f32")))
	case exponents[to] != 0 && from == "f32" && len(o) == 3 && flags["rn"] && flags["satfinite"]:
		b.write(o[0], "b16", fmt.Sprintf("(gocuda_u16)(%s << 8 | %s)", narrow(b.read(o[1], "f32")), narrow(b.read(o[2], "f32"))))
	case exponents[to] != 0 && from == "f16x2" && len(o) == 2 && flags["rn"] && flags["satfinite"]:
		b.write(o[0], "b16", fmt.Sprintf("(gocuda_u16)(%s << 8 | %s)", narrow(half(high)), narrow(half(low))))
	case to == "f16x2" && exponents[from] != 0 && len(o) == 2 && flags["rn"]:
		part := func(shift int) string {
			text := fmt.Sprintf("gocuda::half_of<%d>(%s >> %d & 255u)", exponents[from], b.read(o[1], "b16"), shift)
			if flags["relu"] {
				text = fmt.Sprintf("gocuda::Short<10, 5>::relu(%s)", text)
			}
			return text
		}
		b.write(o[0], "b32", fmt.Sprintf("%s | (gocuda_u32)%s << 16", part(0), part(8)))
	default:
		return false
	}
	return true
}
