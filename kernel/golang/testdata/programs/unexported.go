package main

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"reflect"
)

type order interface{ Uint16([]byte) uint16 }

type S struct{ O binary.ByteOrder }

func main() {
	x := binary.LittleEndian
	fmt.Println(x.Uint16([]byte{1, 2}), x)
	y := x
	fmt.Println(y.String(), x == y)
	b := http.NoBody
	n, err := b.Read(nil)
	fmt.Println(n, err)
	var r io.Reader = b
	fmt.Println(r == http.NoBody, reflect.TypeOf(b))
	var o order = binary.BigEndian
	fmt.Println(o.Uint16([]byte{1, 2}))
	s := S{binary.LittleEndian}
	fmt.Println(s.O.Uint16([]byte{1, 2}))
	l := []any{binary.LittleEndian, http.NoBody}
	fmt.Printf("%T %T\n", l[0], l[1])
	ctx := context.Background()
	fmt.Println(ctx)
	e := base64.StdEncoding
	fmt.Println(e.EncodeToString([]byte("x")))
	arr := []struct{ n int }{{1}}
	_ = arr
	z := []interface{ String() string }{x}
	fmt.Println(z[0].String())
	f := x.Uint32
	fmt.Println(f([]byte{1, 0, 0, 0}))
	xs := map[string]int{}
	_ = xs
	p := &x
	fmt.Println(p.Uint16([]byte{3, 0}))
	v := binary.LittleEndian.AppendUint16(nil, 5)
	fmt.Println(v)
}
