package corpus

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"
	"hash/fnv"
	"math"
	"math/big"
	"math/bits"
	"regexp"
	"strings"
	"unicode/utf8"
)

// texts are the cases of strings.cu.
func texts() []kernelCase {
	words := []string{"warp", "block", "grid", "thread", "größe", "a", "barrier", "données", "of", "shared"}
	var lines, amounts []string
	for i := range 64 {
		s := words[i%7]
		for k := range i % 5 {
			s += " ,;-."[k:k+1] + words[mix(uint32(5*i+k))%10]
		}
		lines = append(lines, s)
		amounts = append(amounts, []string{"12", "-3.5", "1e9", "1.e", "+7E-2", "--1", ".5", "8.25e+10", "x", "0.0"}[mix(uint32(i))%10])
	}
	join := func(lines []string) (*buffer, *buffer) {
		off := []int32{0}
		for _, s := range lines {
			off = append(off, off[len(off)-1]+int32(len(s)))
		}
		return input([]byte(strings.Join(lines, ""))), input(off)
	}
	n := len(lines)
	btext, boff := join(lines)
	bamounts, bamountsOff := join(amounts)
	text := strings.Join(lines, "\n")
	for len(text)%4 != 0 {
		text += "\n"
	}
	grid, block, whole := dim(2), dim(32), dim(uint32(len(text)+127)/128)

	a, b := []byte(strings.Join(words[:6], "")), []byte(strings.Join(words[3:], "-"))
	w := len(a) + 1
	edits, common := make([]int32, w*(len(b)+1)), make([]int32, w*(len(b)+1))
	for i := range edits {
		x, y := i%w, i/w
		if x == 0 || y == 0 {
			edits[i] = int32(x + y)
			continue
		}
		edits[i] = min(edits[i-1]+1, edits[i-w]+1, edits[i-w-1]+truth(a[x-1] != b[y-1]))
		common[i] = max(common[i-1], common[i-w])
		if a[x-1] == b[y-1] {
			common[i] = common[i-w-1] + 1
		}
	}
	bcommon := out(common)
	murmur := func(s string) uint32 {
		h := uint32(42)
		for p := []byte(s); len(p) > 0; {
			var word [4]byte
			k := copy(word[:], p)
			p = p[k:]
			h ^= bits.RotateLeft32(binary.LittleEndian.Uint32(word[:])*0xcc9e2d51, 15) * 0x1b873593
			if k == 4 {
				h = bits.RotateLeft32(h, 13)*5 + 0xe6546b64
			}
		}
		h ^= uint32(len(s))
		h = (h ^ h>>16) * 0x85ebca6b
		h = (h ^ h>>13) * 0xc2b2ae35
		return h ^ h>>16
	}
	// The fractions of the cube roots of the first primes.
	var rounds []uint32
	for p := int64(2); len(rounds) < 64; p++ {
		if big.NewInt(p).ProbablyPrime(0) {
			rounds = append(rounds, uint32(cubeRoot(p)))
		}
	}
	short := fill(n, func(i int) string { return lines[i][:min(len(lines[i]), 20+i%36)] })
	bshort, bshortOff := join(short)
	var digests []uint32
	for _, s := range short {
		d := sha256.Sum256([]byte(s))
		for k := 0; k < 32; k += 4 {
			digests = append(digests, binary.BigEndian.Uint32(d[k:]))
		}
	}
	data := bytesOf(100, 8)
	number := regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
	countWords := len(regexp.MustCompile(`[A-Za-z]+`).FindAllString(text, -1))
	upper := []byte(text)
	for i, c := range upper {
		if 'a' <= c && c <= 'z' {
			upper[i] = c - 32
		}
	}
	keys := fill(500, func(i int) uint32 { return 1 + mix(uint32(i))%120 })
	times := map[uint32]int32{}
	for _, k := range keys {
		times[k]++
	}
	table, asked := scratch[uint64](211), fill(200, func(i int) uint32 { return uint32(i + 1) })
	on := func(kernel string, want *buffer) launch {
		return launch{kernel, grid, block, 0, []any{btext, boff, want, int32(n)}}
	}
	return []kernelCase{
		program("a search", launch{"find", whole, dim(128), 0, []any{input([]byte(text)), int32(len(text)), input([]byte("block")), int32(5), out([]int32{int32(strings.Count(text, "block"))}), changed([]int32{math.MaxInt32}, []int32{int32(strings.Index(text, "block"))})}}),
		program("the edit distance", launch{"edit_distance", dim(1), dim(64), uint32(12 * w), []any{input(a), input(b), int32(len(a)), int32(len(b)), out(edits[len(edits)-1:])}}),
		program("the longest common subsequence", each(len(a)+len(b)-1, func(d int) launch {
			return launch{"common_diagonal", dim(1), dim(64), 0, []any{input(a), input(b), bcommon, int32(len(a)), int32(len(b)), int32(d)}}
		})...),
		program("FNV", on("fnv", out(fill(n, func(i int) uint64 {
			h := fnv.New64a()
			h.Write([]byte(lines[i])) //nolint:errcheck // it has none
			return h.Sum64()
		})))),
		program("CRC", on("crc32", out(fill(n, func(i int) uint32 { return crc32.ChecksumIEEE([]byte(lines[i])) })))).with(map[string]any{"crc_table": crc32.IEEETable[:]}),
		program("Adler", on("adler32", out(fill(n, func(i int) uint32 { return adler32.Checksum([]byte(lines[i])) })))),
		program("MurmurHash", on("murmur3", out(fill(n, func(i int) uint32 { return murmur(lines[i]) })))),
		program("SHA-256", launch{"sha256", grid, block, 0, []any{bshort, bshortOff, out(digests), int32(n)}}).with(map[string]any{"rounds": rounds}),
		program("words", launch{"count_words", whole, dim(128), 0, []any{input([]byte(text)), out([]int32{int32(countWords)}), int32(len(text))}}),
		program("characters of UTF-8", launch{"count_runes", whole, dim(128), 0, []any{input([]byte(text)), out([]int32{int32(utf8.RuneCountInString(text))}), int32(len(text))}}),
		program("base64", launch{"base64", dim(1), dim(64), 0, []any{input(data), out([]byte(base64.StdEncoding.EncodeToString(data))), int32(len(data))}}),
		program("capitals", launch{"upper", whole, dim(32), 0, []any{changed([]byte(text), upper), int32(len(text) / 4)}}),
		program("a machine of states", launch{"numbers_in", grid, block, 0, []any{bamounts, bamountsOff, out(fill(n, func(i int) int32 { return truth(number.MatchString(amounts[i])) })), int32(n)}}),
		program("a table with open addressing",
			launch{"count_in_table", dim(4), dim(128), 0, []any{input(keys), table, int32(len(keys)), int32(211)}},
			launch{"look_up", dim(2), dim(128), 0, []any{input(asked), table, out(fill(200, func(i int) int32 { return times[asked[i]] })), int32(200), int32(211)}}),
	}
}

// cubeRoot is the root of p times 2 to the 32nd, rounded down.
func cubeRoot(p int64) int64 {
	cube := new(big.Int).Lsh(big.NewInt(p), 96)
	lo, hi := big.NewInt(0), big.NewInt(1<<40)
	for one := big.NewInt(1); new(big.Int).Sub(hi, lo).Cmp(one) > 0; {
		mid := new(big.Int).Rsh(new(big.Int).Add(lo, hi), 1)
		if new(big.Int).Exp(mid, big.NewInt(3), nil).Cmp(cube) <= 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo.Int64()
}
