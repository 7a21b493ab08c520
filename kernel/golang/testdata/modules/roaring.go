package main

import (
	"fmt"

	"github.com/RoaringBitmap/roaring"
	"github.com/bits-and-blooms/bitset"
	"github.com/bits-and-blooms/bloom/v3"
)

func main() {
	a, b := roaring.BitmapOf(1, 2, 3, 1000), roaring.BitmapOf(3, 4, 1000)
	fmt.Println(roaring.And(a, b), a.GetCardinality())
	var s bitset.BitSet
	s.Set(10).Set(11)
	fmt.Println(s.Count(), s.Test(10), s.String())
	f := bloom.NewWithEstimates(100, 0.01)
	f.AddString("x")
	fmt.Println(f.TestString("x"), f.TestString("y"))
}
