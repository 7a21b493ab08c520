package ranks

import (
	"cmp"
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unsafe"
)

// encoded is a variable's value on its way between processes.
type encoded struct {
	Type  string // as a cell writes it
	Shape string // how that is represented: both ends must agree
	Bytes []byte
}

// maxEncoded is the longest value that goes to another process, in bytes: with its encoding
// as text it must fit in a frame of the link.
const maxEncoded = 128 << 20

// pack copies a value of a cell.
func pack(value any) (encoded, error) {
	v := reflect.ValueOf(value)
	if !v.IsValid() {
		return encoded{}, errors.New("nil has no type: convert it to that of the variable")
	}
	c := encoded{Type: cellName(v.Type())}
	if err := portable(v.Type(), c.Type, 0); err != nil {
		return encoded{}, err
	}
	c.Shape = shapeOf(v.Type())
	var err error
	c.Bytes, err = appendValue(nil, v)
	if err == nil && len(c.Bytes) > maxEncoded {
		err = fmt.Errorf("it takes %d MiB, and at most %d MiB can go to another process: write it to a file, or make it in the ranks", len(c.Bytes)>>20, maxEncoded>>20)
	}
	return c, err
}

// unpack sets the variable that a pointer of a cell points to.
func (c encoded) unpack(pointer any) error {
	p := reflect.ValueOf(pointer)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return fmt.Errorf("%T is not a pointer", pointer)
	}
	v := p.Elem()
	if err := portable(v.Type(), c.Type, 0); err != nil {
		return err
	}
	if shape := shapeOf(v.Type()); shape != c.Shape {
		return fmt.Errorf("its type %s is %s where it comes from, and %s here: declare it with the same fields", c.Type, c.Shape, shape)
	}
	in := reader{c.Bytes}
	if err := in.value(v); err != nil {
		return err
	}
	if len(in.rest) > 0 {
		return errDamagedValue
	}
	return nil
}

var errDamagedValue = errors.New("the value was damaged on its way")

var ownPackage = regexp.MustCompile(`\bmain\.`)

// cellName is a type as a cell writes it.
func cellName(t reflect.Type) string { return ownPackage.ReplaceAllString(t.String(), "") }

// shapeOf writes what a portable type of a cell is made of; other types by their
// names, which mean the same in all processes.
func shapeOf(t reflect.Type) string {
	if t.Name() != "" && !ofCell(t.PkgPath()) || marshals(t) != byFields {
		return t.String()
	}
	switch t.Kind() {
	case reflect.Slice:
		return "[]" + shapeOf(t.Elem())
	case reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), shapeOf(t.Elem()))
	case reflect.Map:
		return "map[" + shapeOf(t.Key()) + "]" + shapeOf(t.Elem())
	case reflect.Struct:
		var text strings.Builder
		text.WriteString("struct {")
		for i := range t.NumField() {
			fmt.Fprintf(&text, " %s %s;", t.Field(i).Name, shapeOf(t.Field(i).Type))
		}
		return text.String() + " }"
	}
	return t.Kind().String()
}

// ofCell says whether a package is that of the types that cells declare.
func ofCell(pkg string) bool { return pkg == "main" }

// fieldOf is a struct's field, exported or not, which can be read and, if the
// struct can be set, set.
func fieldOf(v reflect.Value, i int) reflect.Value {
	if v.Type().Field(i).IsExported() {
		return v.Field(i)
	}
	if !v.CanAddr() {
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		v = p.Elem()
	}
	f := v.Field(i)
	return reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()
}

// maxNesting bounds types that contain themselves.
const maxNesting = 32

// A kernel is of the process that compiled it.
const (
	kernelType   = "*cuda.Kernel"
	compileThere = "compile it on the ranks too, with %%mpi above %%cuda or %%kernel"
)

// portable says whether values of a type mean the same in another process; what
// is what it is about, such as a variable's type or one of its fields.
func portable(t reflect.Type, what string, depth int) error {
	if depth > maxNesting {
		return fmt.Errorf("%s: a type that contains itself cannot be copied to another process", what)
	}
	within := func(t reflect.Type, what string) error { return portable(t, what, depth+1) }
	if marshals(t) != byFields {
		return nil
	}
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return nil
	case reflect.Slice, reflect.Array:
		return within(t.Elem(), "an element of "+what)
	case reflect.Map:
		if err := within(t.Key(), "a key of "+what); err != nil {
			return err
		}
		return within(t.Elem(), "an element of "+what)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() && !ofCell(f.PkgPath) {
				return fmt.Errorf("%s: %s keeps fields to itself, such as %s: it cannot be copied to another process", what, t, f.Name)
			}
			if err := within(f.Type, "field "+f.Name+" of "+what); err != nil {
				return err
			}
		}
		return nil
	}
	switch {
	case t.String() == kernelType:
		return fmt.Errorf("%s is a kernel of this process, and cannot be copied to another: %s", what, compileThere)
	case strings.HasPrefix(t.String(), "*cuda."):
		how := "make one there"
		if strings.HasSuffix(t.String(), "Buffer") {
			how = "copy the data to the host first, as Float32s does"
		}
		return fmt.Errorf("%s is an object of this process's devices, and cannot be copied to another process: %s", what, how)
	case t.Kind() == reflect.Interface:
		return fmt.Errorf("%s is an interface, which cannot be copied to another process: convert it to the type of what it holds", what)
	}
	kind := map[reflect.Kind]string{
		reflect.Chan: "channel", reflect.Func: "function", reflect.Pointer: "pointer", reflect.UnsafePointer: "pointer",
	}[t.Kind()]
	return fmt.Errorf("%s is a %s, which means nothing in another process", what, cmp.Or(kind, "memory address"))
}

// marshalling is how a type's values are written.
type marshalling int

const (
	byFields marshalling = iota
	asBinary
	asText
)

var (
	binaryOut, binaryIn = reflect.TypeFor[encoding.BinaryMarshaler](), reflect.TypeFor[encoding.BinaryUnmarshaler]()
	textOut, textIn     = reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler]()
)

// marshals says whether a type writes and reads itself.
func marshals(t reflect.Type) marshalling {
	if t.Name() == "" || t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer {
		return byFields
	}
	switch p := reflect.PointerTo(t); {
	case p.Implements(binaryOut) && p.Implements(binaryIn):
		return asBinary
	case p.Implements(textOut) && p.Implements(textIn):
		return asText
	}
	return byFields
}

// raw says whether the elements of a slice are copied as they are in memory,
// which is little-endian wherever this program runs. A bool is not: not every
// byte is one.
func raw(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return marshals(t) == byFields
	}
	return false
}

// memory is the bytes of a slice of raw elements.
func memory(v reflect.Value) []byte {
	return unsafe.Slice((*byte)(v.UnsafePointer()), v.Len()*int(v.Type().Elem().Size()))
}

// appendValue writes a value of a portable type.
func appendValue(out []byte, v reflect.Value) ([]byte, error) {
	t := v.Type()
	if m := marshals(t); m != byFields {
		p := reflect.New(t)
		p.Elem().Set(v)
		var text []byte
		var err error
		if m == asBinary {
			text, err = p.Interface().(encoding.BinaryMarshaler).MarshalBinary()
		} else {
			text, err = p.Interface().(encoding.TextMarshaler).MarshalText()
		}
		return append(binary.AppendUvarint(out, uint64(len(text))), text...), err
	}
	le := binary.LittleEndian
	switch t.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(out, 1), nil
		}
		return append(out, 0), nil
	case reflect.String:
		return append(binary.AppendUvarint(out, uint64(v.Len())), v.String()...), nil
	case reflect.Float32, reflect.Float64:
		return le.AppendUint64(out, math.Float64bits(v.Float())), nil
	case reflect.Complex64, reflect.Complex128:
		c := v.Complex()
		return le.AppendUint64(le.AppendUint64(out, math.Float64bits(real(c))), math.Float64bits(imag(c))), nil
	case reflect.Struct:
		var err error
		for i := 0; i < v.NumField() && err == nil; i++ {
			out, err = appendValue(out, fieldOf(v, i))
		}
		return out, err
	case reflect.Map:
		if v.IsNil() {
			return append(out, 0), nil
		}
		out = binary.AppendUvarint(out, uint64(v.Len())+1)
		for it := v.MapRange(); it.Next(); {
			var err error
			if out, err = appendValue(out, it.Key()); err != nil {
				return out, err
			}
			if out, err = appendValue(out, it.Value()); err != nil {
				return out, err
			}
		}
		return out, nil
	case reflect.Slice:
		if v.IsNil() {
			return append(out, 0), nil
		}
		out = binary.AppendUvarint(out, uint64(v.Len())+1)
		if raw(t.Elem()) {
			return append(out, memory(v)...), nil
		}
		return appendElements(out, v)
	case reflect.Array:
		return appendElements(out, v)
	}
	if v.CanInt() {
		return le.AppendUint64(out, uint64(v.Int())), nil
	}
	return le.AppendUint64(out, v.Uint()), nil
}

func appendElements(out []byte, v reflect.Value) (_ []byte, err error) {
	for i := 0; i < v.Len() && v.Type().Elem().Size() > 0 && err == nil; i++ {
		out, err = appendValue(out, v.Index(i))
	}
	return out, err
}

// reader reads what appendValue wrote, from bytes that may say anything.
type reader struct{ rest []byte }

func (r *reader) take(n uint64) ([]byte, error) {
	if n > uint64(len(r.rest)) {
		return nil, errDamagedValue
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b, nil
}

func (r *reader) number() (uint64, error) {
	b, err := r.take(8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

func (r *reader) uvarint() (uint64, error) {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		return 0, errDamagedValue
	}
	r.rest = r.rest[size:]
	return n, nil
}

// length reads that of a slice or a map whose elements take at least least
// bytes each: more of them than that allows are not made room for.
func (r *reader) length(least int) (n int, isNil bool, err error) {
	u, err := r.uvarint()
	if err != nil || u == 0 {
		return 0, true, err
	}
	if u-1 > uint64(len(r.rest)/max(least, 1)) && !(least == 0 && u-1 <= math.MaxInt32) {
		return 0, false, errDamagedValue
	}
	return int(u - 1), false, nil
}

// least is how many bytes a value of a type takes at least.
func least(t reflect.Type) int {
	if marshals(t) != byFields {
		return 1
	}
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Slice, reflect.Map:
		return 1
	case reflect.Complex64, reflect.Complex128:
		return 16
	case reflect.Array:
		return t.Len() * least(t.Elem())
	case reflect.Struct:
		n := 0
		for i := range t.NumField() {
			n += least(t.Field(i).Type)
		}
		return n
	}
	return 8
}

// value reads into v, which can be set.
func (r *reader) value(v reflect.Value) error {
	t := v.Type()
	if m := marshals(t); m != byFields {
		n, err := r.uvarint()
		if err != nil {
			return err
		}
		text, err := r.take(n)
		if err != nil {
			return err
		}
		if m == asBinary {
			return v.Addr().Interface().(encoding.BinaryUnmarshaler).UnmarshalBinary(text)
		}
		return v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText(text)
	}
	switch t.Kind() {
	case reflect.Bool:
		b, err := r.take(1)
		if err == nil && b[0] > 1 {
			err = errDamagedValue
		}
		if err == nil {
			v.SetBool(b[0] == 1)
		}
		return err
	case reflect.String:
		n, err := r.uvarint()
		if err != nil {
			return err
		}
		b, err := r.take(n)
		v.SetString(string(b))
		return err
	case reflect.Struct:
		for i := range v.NumField() {
			if err := r.value(fieldOf(v, i)); err != nil {
				return err
			}
		}
		return nil
	case reflect.Map:
		return r.mapping(v)
	case reflect.Slice:
		return r.slice(v)
	case reflect.Array:
		return r.elements(v)
	}
	n, err := r.number()
	if err != nil {
		return err
	}
	switch {
	case v.CanInt():
		v.SetInt(int64(n))
		if v.Int() != int64(n) {
			return errDamagedValue
		}
	case v.CanUint():
		v.SetUint(n)
		if v.Uint() != n {
			return errDamagedValue
		}
	case v.CanFloat():
		v.SetFloat(math.Float64frombits(n))
	default:
		m, err := r.number()
		if err != nil {
			return err
		}
		v.SetComplex(complex(math.Float64frombits(n), math.Float64frombits(m)))
	}
	return nil
}

func (r *reader) mapping(v reflect.Value) error {
	t := v.Type()
	n, isNil, err := r.length(least(t.Key()) + least(t.Elem()))
	if err != nil || isNil {
		v.SetZero()
		return err
	}
	m := reflect.MakeMap(t)
	for range n {
		key, elem := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		if err := r.value(key); err != nil {
			return err
		}
		if err := r.value(elem); err != nil {
			return err
		}
		m.SetMapIndex(key, elem)
		if least(t.Key())+least(t.Elem()) == 0 {
			break // all keys are one
		}
	}
	v.Set(m)
	return nil
}

func (r *reader) slice(v reflect.Value) error {
	t := v.Type()
	if raw(t.Elem()) {
		n, isNil, err := r.length(int(t.Elem().Size()))
		if err != nil || isNil {
			v.SetZero()
			return err
		}
		b, err := r.take(uint64(n) * uint64(t.Elem().Size()))
		if err != nil {
			return err
		}
		v.Set(reflect.MakeSlice(t, n, n))
		copy(memory(v), b)
		return nil
	}
	n, isNil, err := r.length(least(t.Elem()))
	if err != nil || isNil {
		v.SetZero()
		return err
	}
	v.Set(reflect.MakeSlice(t, n, n))
	return r.elements(v)
}

func (r *reader) elements(v reflect.Value) error {
	for i := 0; i < v.Len() && v.Type().Elem().Size() > 0; i++ {
		if err := r.value(v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// bytes is an encoded value as one piece.
func (c encoded) bytes() []byte {
	var out []byte
	for _, part := range []string{c.Type, c.Shape} {
		out = append(binary.AppendUvarint(out, uint64(len(part))), part...)
	}
	return append(out, c.Bytes...)
}

// parseEncoded reads what bytes wrote.
func parseEncoded(data []byte) (c encoded, err error) {
	in := reader{data}
	for _, part := range []*string{&c.Type, &c.Shape} {
		n, err := in.uvarint()
		if err != nil {
			return c, err
		}
		b, err := in.take(n)
		if err != nil {
			return c, err
		}
		*part = string(b)
	}
	c.Bytes = slices.Clone(in.rest)
	return c, nil
}
