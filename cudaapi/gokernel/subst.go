package gokernel

import "go/types"

// substitution gives type parameters their arguments.
type substitution map[*types.TypeParam]types.Type

func (s substitution) of(t types.Type) types.Type {
	if len(s) == 0 || t == nil {
		return t
	}
	switch t := t.(type) {
	case *types.TypeParam:
		if to, ok := s[t]; ok {
			return to
		}
	case *types.Alias:
		return s.of(types.Unalias(t))
	case *types.Named:
		if t.TypeArgs().Len() == 0 {
			return t
		}
		args := make([]types.Type, t.TypeArgs().Len())
		changed := false
		for i := range args {
			args[i] = s.of(t.TypeArgs().At(i))
			changed = changed || args[i] != t.TypeArgs().At(i)
		}
		if !changed {
			return t
		}
		if inst, err := types.Instantiate(nil, t.Origin(), args, false); err == nil {
			return inst
		}
	case *types.Pointer:
		return types.NewPointer(s.of(t.Elem()))
	case *types.Slice:
		return types.NewSlice(s.of(t.Elem()))
	case *types.Array:
		return types.NewArray(s.of(t.Elem()), t.Len())
	case *types.Map:
		return types.NewMap(s.of(t.Key()), s.of(t.Elem()))
	case *types.Tuple:
		return s.tuple(t)
	case *types.Signature:
		return types.NewSignatureType(nil, nil, nil, s.tuple(t.Params()), s.tuple(t.Results()), t.Variadic())
	case *types.Struct:
		fields := make([]*types.Var, t.NumFields())
		tags := make([]string, t.NumFields())
		for i := range fields {
			f := t.Field(i)
			fields[i] = types.NewField(f.Pos(), f.Pkg(), f.Name(), s.of(f.Type()), f.Embedded())
			tags[i] = t.Tag(i)
		}
		return types.NewStruct(fields, tags)
	}
	return t
}

func (s substitution) tuple(t *types.Tuple) *types.Tuple {
	vars := make([]*types.Var, t.Len())
	for i := range vars {
		v := t.At(i)
		vars[i] = types.NewParam(v.Pos(), v.Pkg(), v.Name(), s.of(v.Type()))
	}
	return types.NewTuple(vars...)
}

// typeList numbers types: identical ones have one number.
type typeList []types.Type

func (l *typeList) number(t types.Type) int {
	for i, have := range *l {
		if types.Identical(have, t) {
			return i
		}
	}
	*l = append(*l, t)
	return len(*l) - 1
}
