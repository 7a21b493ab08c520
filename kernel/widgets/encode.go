package widgets

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
)

// encoder turns a state into JSON, from which bytes are taken out: they travel as
// they are.
type encoder struct {
	paths   [][]any
	buffers [][]byte
}

// absent stands for bytes in a state.
type absent struct{}

func (e *encoder) encode(v any, path []any) any {
	switch v := v.(type) {
	case []byte:
		e.paths, e.buffers = append(e.paths, slices.Clone(path)), append(e.buffers, v)
		return absent{}
	case *Widget:
		if v == nil {
			return nil
		}
		return "IPY_MODEL_" + v.id
	case nil, string, bool, int, float64:
		return v
	case Props:
		return e.object(v, path)
	case map[string]any:
		return e.object(v, path)
	}
	switch x := reflect.ValueOf(v); x.Kind() {
	case reflect.Slice, reflect.Array:
		list := make([]any, x.Len())
		for i := range list {
			if list[i] = e.encode(x.Index(i).Interface(), append(path, i)); list[i] == (absent{}) {
				list[i] = nil
			}
		}
		return list
	case reflect.Map:
		m := map[string]any{}
		for it := x.MapRange(); it.Next(); {
			m[fmt.Sprint(it.Key().Interface())] = it.Value().Interface()
		}
		return e.object(m, path)
	}
	return v
}

func (e *encoder) object(m map[string]any, path []any) map[string]any {
	out := make(map[string]any, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if v := e.encode(m[k], append(path, k)); v != (any)(absent{}) {
			out[k] = v
		}
	}
	return out
}

// putBuffers puts bytes that came beside a state into their places.
func putBuffers(state map[string]any, paths [][]any, buffers [][]byte) error {
	if len(paths) > len(buffers) {
		return fmt.Errorf("%d places for %d buffers", len(paths), len(buffers))
	}
	for i, path := range paths {
		var at any = state
		for j, step := range path {
			last := j == len(path)-1
			switch to := at.(type) {
			case map[string]any:
				name, ok := step.(string)
				if !ok {
					return fmt.Errorf("no place %v for a buffer", path)
				}
				if last {
					to[name] = buffers[i]
				}
				at = to[name]
			case []any:
				n, ok := step.(float64)
				if !ok || n < 0 || int(n) >= len(to) {
					return fmt.Errorf("no place %v for a buffer", path)
				}
				if last {
					to[int(n)] = buffers[i]
				}
				at = to[int(n)]
			default:
				return fmt.Errorf("no place %v for a buffer", path)
			}
		}
	}
	return nil
}

// like turns what came as JSON into the type that the property's default has: whole
// numbers are ints, lists of one kind of numbers slices of them.
func like(v, model any) any {
	switch model := model.(type) {
	case int:
		if f, ok := v.(float64); ok {
			return whole(f)
		}
	case nil:
		if f, ok := v.(float64); ok && f == float64(whole(f)) {
			return whole(f)
		}
		if list, ok := v.([]any); ok {
			return likeList(list, nil)
		}
	case []any:
		if list, ok := v.([]any); ok {
			var first any
			if len(model) > 0 {
				first = model[0]
			}
			return likeList(list, first)
		}
	}
	return v
}

// whole is the int next to a number, towards 0.
func whole(f float64) int {
	switch {
	case f >= math.MaxInt:
		return math.MaxInt
	case f <= math.MinInt:
		return math.MinInt
	}
	return int(f)
}

// likeList makes a list a slice of ints, floats or strings, if that is what it has.
func likeList(list []any, model any) any {
	_, whole := model.(int)
	_, real := model.(float64)
	ints, floats, texts := make([]int, 0, len(list)), make([]float64, 0, len(list)), make([]string, 0, len(list))
	for _, v := range list {
		switch v := v.(type) {
		case float64:
			floats = append(floats, v)
			if v == float64(int(v)) {
				ints = append(ints, int(v))
			}
		case int:
			ints, floats = append(ints, v), append(floats, float64(v))
		case string:
			texts = append(texts, v)
		}
	}
	switch n := len(list); {
	case real && len(floats) == n:
		return floats
	case (whole || n > 0) && len(ints) == n:
		return ints
	case n > 0 && len(floats) == n:
		return floats
	case n > 0 && len(texts) == n:
		return texts
	}
	return list
}
