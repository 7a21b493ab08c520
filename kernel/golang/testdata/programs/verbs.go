package main

import "fmt"

type Int int

func (i Int) String() string { return fmt.Sprintf("Int=%d", int(i)) }

type P struct{ X, Y int }

func main() {
	x, p := Int(2), P{1, 2}
	fmt.Printf("%T %[1]v|%[1]T %v\n", x, p)
	fmt.Printf("%[1]T %[1]v %[1]d\n", x)
	fmt.Printf("%v (%[1]T) %v (%[2]T)\n", x, p)
	fmt.Printf("%T %T %v %v\n", x, p, x, p)
	fmt.Printf("%8T|%-10T|%v\n", x, p, x)
	fmt.Printf("%T %d%% %[1]v\n", p, 5)
	fmt.Printf("%#[1]v %+[1]v %[1]T\n", p)
	fmt.Println(fmt.Sprintf("%[1]p", &p) == fmt.Sprintf("%p", &p), fmt.Sprintf("%[1]T %[1]p", &p) != "")
	fmt.Println(fmt.Errorf("%[1]T: %[1]v", x))
}

type Quiet struct{ n int }

func (q *Quiet) String() string { return "quiet" }

type Loud struct{ n int }

func (l *Loud) String() string { return fmt.Sprint(l.n) }

// Nil pointers print what their methods say, if these do not panic.
func init() {
	var q *Quiet
	var l *Loud
	fmt.Printf("%v %s %q %d %v %s %q\n", q, q, q, q, l, l, l)
	fmt.Println(q, l, []*Quiet{nil} != nil, []fmt.Stringer{q, l})
}
