package display

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// build makes a value of whatever shape the bytes say.
func build(data *[]byte, depth int) any {
	next := func() byte {
		if len(*data) == 0 {
			return 0
		}
		b := (*data)[0]
		*data = (*data)[1:]
		return b
	}
	op := next()
	if depth > 12 {
		op %= 12
	}
	text := func() string {
		n := min(int(next()), len(*data))
		s := string((*data)[:n])
		*data = (*data)[n:]
		return s
	}
	switch op % 28 {
	case 0:
		return nil
	case 1:
		return int8(next())
	case 2:
		return text()
	case 3:
		return []byte(text())
	case 4:
		return math.Float64frombits(uint64(next()) << 52)
	case 5:
		return errors.New(text())
	case 6:
		return (*nilStringer)(nil)
	case 7:
		return panicker{}
	case 8:
		return time.Duration(next()) << 40
	case 9:
		return &broken{}
	case 10:
		return make(chan int, next())
	case 11:
		return rich{html: text()}
	case 12, 13:
		list := make([]any, next()%8)
		for i := range list {
			list[i] = build(data, depth+1)
		}
		return list
	case 14:
		m := map[any]any{}
		for range next() % 6 {
			k := build(data, depth+1)
			if k != nil && !reflect.ValueOf(k).Comparable() {
				continue
			}
			m[k] = build(data, depth+1)
		}
		return m
	case 15:
		v := build(data, depth+1)
		return &v
	case 16:
		return shape2{Name: text(), Any: build(data, depth+1)}
	case 17:
		s := &shape2{Any: build(data, depth+1)}
		s.Next = s
		return s
	case 18:
		self := []any{nil, build(data, depth+1)}
		self[0] = self
		return self
	case 19:
		self := map[string]any{"": build(data, depth+1)}
		self[text()] = self
		return &self
	case 20:
		return make([]int, int(next())*10)
	case 21:
		inner := build(data, depth+1)
		if inner == nil {
			return []int(nil)
		}
		// A slice, array, pointer or struct of the inner value's own type.
		t := reflect.TypeOf(inner)
		v := reflect.MakeSlice(reflect.SliceOf(t), int(next())%5, 5)
		for i := range v.Len() {
			v.Index(i).Set(reflect.ValueOf(inner))
		}
		return v.Interface()
	case 22:
		inner := build(data, depth+1)
		if inner == nil {
			return [0]int{}
		}
		v := reflect.New(reflect.StructOf([]reflect.StructField{
			{Name: "Xname", Type: reflect.TypeOf(inner)}, {Name: "Y", Type: reflect.TypeFor[any]()},
		})).Elem()
		v.Field(0).Set(reflect.ValueOf(inner))
		return v.Interface()
	case 23:
		return reflect.ValueOf(build(data, depth+1))
	case 24:
		return build
	case 25:
		return HTML(text())
	case 26:
		return [][]string{{text()}, nil}
	}
	return []error{nil, errors.New(text())}
}

func FuzzOf(f *testing.F) {
	for op := range byte(28) {
		f.Add([]byte{op, 3, op + 1, 2, 65, op + 2, 1, 66, 21, 2})
		f.Add([]byte{22, 14, 2, op, 2, 15, 22, op})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v := build(&data, 0)
		b := Of(v)
		text, ok := b.Data["text/plain"].(string)
		if !ok {
			t.Errorf("%T has no plain text: %v", v, b)
		}
		if _, err := json.Marshal(b); err != nil {
			t.Errorf("the bundle of %T cannot be sent: %v", v, err)
		}
		if again := Format(v); again != Format(v) {
			t.Errorf("two forms of one value: %q", again)
		}
		if len(text) > 4<<20 {
			t.Errorf("%T takes %d bytes", v, len(text))
		}
		if html := Table(v, "a", "b").Data["text/html"].(string); !strings.HasSuffix(html, "</table>") {
			t.Errorf("no table of %T: %s", v, html)
		}
	})
}
