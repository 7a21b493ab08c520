package ir

import "go/types"

// Half says whether a type is one of package gpu's of 16 bits, and which: the
// checker takes them for float32.
func Half(t types.Type) HalfKind {
	switch ofGPU(t) {
	case "Float16":
		return Float16
	case "BFloat16":
		return BFloat16
	}
	return NoHalf
}

// ofGPU is the name of a type that package gpu declares; "" of others.
func ofGPU(t types.Type) string {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != "gocuda/cudaapi/gpu" {
		return ""
	}
	return n.Obj().Name()
}

// IsSymmetric says whether a type is package gpu's of symmetric memory.
func IsSymmetric(t types.Type) bool { return ofGPU(t) == "Symmetric" }

// HalfKind is a format of 16 bits.
type HalfKind int

// The formats.
const (
	NoHalf HalfKind = iota
	Float16
	BFloat16
)

// Sizes are those of both sides: a GPU lays values out as amd64 does.
type Sizes struct{}

var amd64 = types.SizesFor("gc", "amd64")

// Alignof is a type's alignment in bytes.
func (s Sizes) Alignof(t types.Type) int64 {
	if Half(t) != NoHalf {
		return 2
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		return s.Alignof(u.Elem())
	case *types.Struct:
		most := int64(1)
		for f := range u.Fields() {
			most = max(most, s.Alignof(f.Type()))
		}
		return most
	}
	return amd64.Alignof(t)
}

// Sizeof is a type's size in bytes.
func (s Sizes) Sizeof(t types.Type) int64 {
	if Half(t) != NoHalf {
		return 2
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		return u.Len() * s.Sizeof(u.Elem())
	case *types.Struct:
		end := s.end(u)
		// A last field without a size is padded, so that its address is within.
		if n := u.NumFields(); n > 0 && end > 0 && s.Sizeof(u.Field(n-1).Type()) == 0 {
			end++
		}
		return rounded(end, s.Alignof(t))
	}
	return amd64.Sizeof(t)
}

// Offsetsof are the places of fields in bytes.
func (s Sizes) Offsetsof(fields []*types.Var) []int64 {
	list := make([]int64, len(fields))
	at := int64(0)
	for i, f := range fields {
		at = rounded(at, s.Alignof(f.Type()))
		list[i] = at
		at += s.Sizeof(f.Type())
	}
	return list
}

// FieldOffset is the place of a struct's field in bytes.
func (s Sizes) FieldOffset(t *types.Struct, i int) int64 {
	fields := make([]*types.Var, i+1)
	for j := range fields {
		fields[j] = t.Field(j)
	}
	return s.Offsetsof(fields)[i]
}

// end is where a struct's last field ends.
func (s Sizes) end(t *types.Struct) int64 {
	n := t.NumFields()
	if n == 0 {
		return 0
	}
	return s.FieldOffset(t, n-1) + s.Sizeof(t.Field(n-1).Type())
}

func rounded(n, to int64) int64 { return (n + to - 1) / to * to }

// IsBool says whether a type is one of bools.
func IsBool(t types.Type) bool { return isBasic(t, types.IsBoolean) }

// IsInteger says whether a type is one of integers.
func IsInteger(t types.Type) bool { return isBasic(t, types.IsInteger) }

// IsUnsigned says whether it is one of integers without a sign.
func IsUnsigned(t types.Type) bool { return isBasic(t, types.IsUnsigned) }

// IsString says whether it is one of strings.
func IsString(t types.Type) bool { return isBasic(t, types.IsString) }

func isBasic(t types.Type, info types.BasicInfo) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&info != 0
}
