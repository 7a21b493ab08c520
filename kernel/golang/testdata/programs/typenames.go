package main

// The names of types with arguments, as package reflect writes them.

import "fmt"

type Pair[A, B any] struct {
	A A
	B B
}
type Set[T comparable] map[T]struct{}
type byteish byte

func main() {
	fmt.Printf("%T\n", Pair[rune, byte]{})
	fmt.Printf("%T\n", Pair[Pair[any, any], []byte]{})
	fmt.Printf("%T\n", map[string]Pair[map[rune]any, func(rune, any) (byte, any)]{})
	fmt.Printf("%T\n", Pair[struct {
		Any  any `json:"any,byte"`
		Rune rune
		Byte []any "rune"
	}, interface{ Any(rune) byte }]{})
	fmt.Printf("%T %T\n", Pair[byteish, *rune]{}, Set[[2]byte]{})
	fmt.Printf("%T\n", Pair[Pair[byte, Pair[rune, any]], chan<- any]{})
	fmt.Printf("%T\n", Pair[interface{}, any]{})
	fmt.Printf("%v %T\n", Pair[rune, byte]{1, 2} == Pair[int32, uint8]{1, 2}, any(Pair[int32, uint8]{}).(Pair[rune, byte]))
}
