package main

import (
	"regexp"
	"strings"
)

// Idioms are statements as users write them, with holes: «t A» is a type, which A
// stands for from then on («t A int»: one of these kinds), «e A» an expression of
// it, «e int» one of a known type, «q A» one that prints nothing, «c A» a variable,
// constant or call (no composite literal), «n x» a name of its own, «N x» one of the
// whole program, «b» statements, «p A x» a statement that prints x if A can be.
var idioms = []string{
	// Closures and loops.
	"«n fs» := []func() «t A»{}\nfor «n i» := 0; «n i» < 3; «n i»++ {\n«n fs» = append(«n fs», func() «t A» { «n i» += 10; fmt.Println(«n i»); return «q A» })\n«b»\n}\nfor _, f := range «n fs» {\n_ = f()\n}",
	"«n fs» := map[int]func(int) int{}\nfor «n k», «n v» := range []int{«e int», «e int»} {\n«n fs»[«n k»] = func(x int) int { «n v» += x; return «n v» * «n k» }\n}\nfmt.Println(«n fs»[0](1), «n fs»[1](2), «n fs»[0](3))",
	"«n x» := «e int»\n«n inc», «n get» := func(d int) { «n x» += d }, func() int { return «n x» }\n«n inc»(«e int»)\n«b»\n«n inc»(2)\nfmt.Println(«n get»(), «n x»)",
	"var «n f» func(int) int\n«n f» = func(n int) int {\nif n <= 1 {\nreturn 1\n}\nreturn n * «n f»(n-1)\n}\nfmt.Println(«n f»(«e int» & 7))",
	"«n acc» := func() func(«t A num») «t A num» {\nvar t «t A num»\nreturn func(x «t A num») «t A num» { t += x; return t }\n}()\nfor range 3 {\nfmt.Println(«n acc»(«e A»))\n}",
	"for «n i» := range 3 {\ndefer func() { fmt.Println(\"deferred\", «n i») }()\n}",
	"for «n i», «n c» := range \"aé€\" {\nif «n i» == «e int»&3 {\ncontinue\n}\nfmt.Println(«n i», string(«n c»), «n c»)\n}",
	"«n L»:\nfor «n i» := range 3 {\nfor «n j» := range 3 {\nswitch {\ncase «n i» == «e int»&3:\ncontinue «n L»\ncase «n j» == 2:\nbreak «n L»\ncase «e bool»:\nbreak\ndefault:\n«b»\ncontinue\n}\nfmt.Println(«n i», «n j»)\n}\n}",
	"«n L»:\nfor {\nselect {\ncase x := <-full(«e int»):\nfmt.Println(x)\nif x > -100 {\nbreak «n L»\n}\ndefault:\nbreak «n L»\n}\n}",
	"«n i» := 0\n«n L»:\nfor ; ; «n i»++ {\nswitch «n i» {\ncase 0, 1:\n«b»\ncontinue «n L»\ncase 2:\nfallthrough\ncase 3:\nif «n i» == 3 {\nbreak «n L»\n}\ndefault:\nbreak «n L»\n}\n}\nfmt.Println(«n i»)",
	"for «n i», «n j» := 0, 5; «n i» < «n j»; «n i», «n j» = «n i»+1, «n j»-1 {\nif «e bool» {\ncontinue\n}\nfmt.Println(«n i», «n j»)\n}",
	"for «n i» := range count(3) {\nif «n i» == 1 {\ncontinue\n}\n«b»\nif «e bool» {\nbreak\n}\nfmt.Println(«n i»)\n}",
	"for «n a», «n b» := range seq(«e int», «e int») {\nfor «n c» := range count(2) {\nif «n a»+«n c» == 2 {\nbreak\n}\nfmt.Println(«n a», «n b», «n c»)\n}\n}",
	// Maps, arrays and structs.
	"«n m» := map[string]struct {\nn int\nv «t A»\n}{\"a\": {1, «e A»}, \"b\": {n: «e int»}}\n«n e» := «n m»[\"a\"]\n«n e».n += 2\n«n m»[\"a\"] = «n e»\nfor _, k := range slices.Sorted(maps.Keys(«n m»)) {\nfmt.Println(k, «n m»[k].n)\n«p A «n m»[k].v»\n}",
	"«n g» := [3][2]«t A»{1: {«e A», «e A»}}\n«n h» := «n g»\n«n h»[1][0] = «e A»\n«n g»[2] = «n h»[1]\n«p A «n g»[1][0]»\n«p A «n g»[2][0]»\n«p A «n h»[1][0]»\nfmt.Println(len(«n g»), len(«n h»[0]))",
	"type «n P» struct {\nx, y «t A eq»\n}\n«n m» := map[«n P»]int{}\n«n p» := «n P»{«e A», «e A»}\n«n m»[«n p»]++\n«n m»[«n P»{«n p».x, «n p».y}]++\n«n m»[«n P»{}] += 5\nfmt.Println(«n m»[«n p»], «n p» == «n P»{«n p».x, «n p».y}, «n p» != «n P»{})",
	"«n m» := map[string][]«t A»{}\n«n m»[\"k\"] = append(«n m»[\"k\"], «e A»)\n«n m»[\"k\"] = append(«n m»[\"k\"], «e A», «e A»)\nfmt.Println(len(«n m»), len(«n m»[\"k\"]), cap(«n m»[\"x\"]))\n«p A «n m»[\"k\"][2]»",
	"«n m» := map[bool]map[int]«t A»{}\nif «n m»[true] == nil {\n«n m»[true] = map[int]«t A»{«e int»: «e A»}\n}\nfmt.Println(len(«n m»[true]), «n m»[false] == nil, len(«n m»[false]))",
	"«n a» := [...]«t A»{2: «e A», 0: «e A»}\nfor «n i» := range «n a» {\n«p A «n a»[«n i»]»\n}\n«n s» := «n a»[:1:2]\nfmt.Println(len(«n s»), cap(«n s»))",
	"«n p» := &struct {\na []int\nm map[string]int\n}{a: []int{1, 2}, m: map[string]int{}}\n«n p».a[«e int»&1]++\n«n p».m[\"q\"] -= «e int»\n«n p».a = append(«n p».a, len(«n p».m))\nfmt.Println(*«n p»)",
	"«n x», «n y» := []int{«e int», «e int», 3}, make([]int, 5)\n«n n» := copy(«n y»[1:], «n x»)\n«n x»[0], «n x»[1], «n x»[2] = «n x»[2], «n x»[0], «n x»[1]\nclear(«n x»[:1])\nfmt.Println(«n n», «n x», «n y», copy(«n y», «n y»[2:]), «n y», min(len(«n x»), cap(«n y»[:0:4])))",
	"«n x» := []«t A»{«e A»}\n«n y» := append(«n x»[:1:1], «e A»)\n«n y»[0] = «e A»\nfmt.Println(len(«n x»), len(«n y»))\n«p A «n x»[0]»",
	"«n m» := map[string]int{\"a\": «e int», \"b\": 2}\nfor k, v := range «n m» {\nif v == 2 {\ndelete(«n m», k)\n}\n}\n_, «n ok» := «n m»[\"b\"]\nfmt.Println(len(«n m») <= 1, «n ok»)",
	"«n st» := struct{ S }{S{«e int», «e string»}}\n«n st».N++\n«n st».Add(3)\nfmt.Println(«n st», «n st».Get(), «n st».S.Title() == «n st».Title(), «n st» == struct{ S }{«n st».S})",
	// Methods.
	"«n s» := S{«e int», «e string»}\n«n f», «n g», «n h» := «n s».Get, «n s».Add, S.Title\n«n s».N = 40\nfmt.Println(«n f»(), «n g»(2), «n h»(«n s»), (*S).Add(&«n s», «e int»))\nfmt.Println(«n s».N)",
	"var «n i» Shape = Sq{«e int» & 7}\n«n f», «n g» := «n i».Area, Shape.Area\n«n i» = Num(«e int»)\nfmt.Println(«n f»(), «n g»(«n i»), func(s Shape) int { return s.Area() }(«n i»))",
	"«n o» := Outer{S: S{«e int», «e string»}, Deep: &S{N: 4}}\n«n o».Add(1)\n«n o».Deep.Add(«e int»)\n«n o».Deep.Self().N++\n«n f» := «n o».Deep.Get\n«n o».Deep = nil\nfmt.Println(«n o».N, «n f»(), «n o».Title())",
	"for _, «n s» := range []Shape{Sq{«e int» & 7}, Num(«e int»), &Sq{2}} {\nswitch «n v» := «n s».(type) {\ncase Sq:\nfmt.Println(\"sq\", «n v».Side)\ncase fmt.Stringer:\nfmt.Println(\"stringer\", «n v»)\ndefault:\nfmt.Printf(\"%T %v\\n\", «n v», «n v».Area())\n}\n}",
	// Defer, panic and recover.
	"fmt.Println(func() (r int, err error) {\ndefer func() {\nif x := recover(); x != nil {\nerr = fmt.Errorf(\"caught %v\", x)\nr *= 2\n}\n}()\nr = «e int»\n«b»\nif «e bool» {\npanic(\"boom\")\n}\nreturn r + 1, nil\n}())",
	"func() {\ndefer func() { fmt.Println(\"outer\", recover()) }()\ndefer func() {\ndefer func() { fmt.Println(\"inner\", recover()) }()\npanic(«e int»)\n}()\n«b»\npanic(\"first\")\n}()",
	"func() {\ndefer func() { fmt.Println(recover()) }()\ndefer func() { panic(fmt.Sprint(\"again \", recover())) }()\nvar m map[string]int\nm[\"x\"] = «e int»\n}()",
	"func() {\ndefer func() {\nr := recover()\nerr, ok := r.(error)\nfmt.Println(ok, err)\n}()\nvar p *S\nif «e bool» {\np = &S{}\n}\nfmt.Println(p.N / («q int» &^ «q int»))\n}()",
	"func() (x int) {\ndefer func() { x++; fmt.Println(x) }()\ndefer func(y int) { x += y }(x + «e int»)\nx = 5\nreturn «e int»\n}()",
	"func() {\ndefer func() { fmt.Println(recover()) }()\nvar e error\nfmt.Println(e.Error())\n}()",
	"func() {\ndefer func() { fmt.Println(recover()) }()\nvar x any = «e A»\n_ = x.(«t A»)\n_ = x.(interface{ Missing() })\n}()",
	"func() {\ndefer func() { fmt.Println(recover()) }()\nc := make(chan int)\nclose(c)\n«b»\nclose(c)\n}()",
	"func() {\ndefer func() { fmt.Println(recover()) }()\nx := make([]int, 2)\n_ = [3]int(x[:«e int»&1])\n}()",
	"func() {\ndefer func() { fmt.Println(recover()) }()\na, b := any([]int{1}), any([]int{1})\nif «e bool» {\nb = 2\n}\nfmt.Println(a == b)\n}()",
	"func() {\ndefer func() { fmt.Println(recover()) }()\nm := map[any]int{}\nm[«e int»] = 1\nm[func() {}] = 2\n}()",
	"func() {\ndefer func() { fmt.Println(recover()) }()\nn := -1 - «e int»&3\n_ = make([]int, n)\n}()",
	"func() {\ndefer func() { fmt.Println(recover()) }()\nx, n := []int{1, 2, 3}, «e int»&7\nfmt.Println(x[n:2], x[:n], x[n:])\n}()",
	"func() {\ndefer func() { fmt.Println(recover()) }()\npanic(fmt.Errorf(\"wrapped %w\", &MyErr{«e int»}))\n}()",
	"«n err» := func() (err error) {\ndefer func() { err = errors.Join(err, errors.New(\"closed\")) }()\nif «e bool» {\nreturn &MyErr{«e int»}\n}\nreturn nil\n}()\nvar «n me» *MyErr\nfmt.Println(«n err» != nil, errors.As(«n err», &«n me»), strings.Count(«n err».Error(), \"\\n\"))",
	// Goroutines.
	"«n c» := make(chan «t A»)\ngo func() {\ndefer close(«n c»)\nfor range 3 {\n«n c» <- «q A»\n}\n}()\nfor x := range «n c» {\n_ = x\n«p A x»\n}",
	"«n in», «n out» := make(chan int), make(chan int, 4)\nvar «n wg» sync.WaitGroup\nfor range 2 {\n«n wg».Add(1)\ngo func() {\ndefer «n wg».Done()\nfor x := range «n in» {\n«n out» <- x * x\n}\n}()\n}\nfor i := range 4 {\n«n in» <- i + «e int»&3\n}\nclose(«n in»)\n«n wg».Wait()\nclose(«n out»)\n«n t» := 0\nfor x := range «n out» {\n«n t» += x\n}\nfmt.Println(«n t»)",
	"var «n mu» sync.Mutex\nvar «n wg» sync.WaitGroup\n«n t», «n m» := 0, map[int]int{}\nfor i := range 4 {\n«n wg».Go(func() {\n«n mu».Lock()\ndefer «n mu».Unlock()\n«n t» += i\n«n m»[i&1]++\n})\n}\n«n wg».Wait()\nfmt.Println(«n t», «n m»)",
	"«n done», «n data» := make(chan struct{}), make(chan int)\ngo func() {\ndefer close(«n done»)\nfor i := range 3 {\n«n data» <- i\n}\n}()\n«n n» := 0\n«n L»:\nfor {\nselect {\ncase x := <-«n data»:\n«n n» += x\ncase <-«n done»:\nbreak «n L»\n}\n}\nfmt.Println(«n n»)",
	"«n a», «n b» := make(chan int), make(chan int)\ngo func() {\nfor x := range «n a» {\n«n b» <- x + 1\n}\nclose(«n b»)\n}()\ngo func() { «n a» <- «q int»; close(«n a») }()\n«n x», «n ok» := <-«n b»\n_, «n no» := <-«n b»\nfmt.Println(«n x», «n ok», «n no»)",
	"var «n once» sync.Once\nfor range 3 {\n«n once».Do(func() { fmt.Println(\"once\", «e int») })\n}",
	"var «n nc» chan int\nselect {\ncase «n nc» <- «e int»:\nfmt.Println(\"sent\")\ncase x, ok := <-«n nc»:\nfmt.Println(x, ok)\ndefault:\n«b»\nfmt.Println(\"neither\")\n}",
	// Generics.
	"fmt.Println(Map([]int{1, 2, «e int»}, func(x int) string { return strconv.Itoa(x + «e int») }), Reduce([]int{1, 2}, «e int», func(a, x int) int { return a*2 + x }), Filter([]int{1, 2, 3, 4}, func(x int) bool { return x&1 == «e int»&1 }))",
	"«n st» := &Stack[«t A»]{}\n«n st».Push(«e A»).Push(«e A»)\n«n x», «n ok» := «n st».Pop()\n«p A «n x»»\n_ = «n x»\n_, _ = «n st».Pop()\n_, «n no» := «n st».Pop()\nfmt.Println(«n ok», «n no», «n st».Len())",
	"fmt.Println(Kind[«t A»](«e A»), Kind(«e int»), Kind(any(«e string»)), Kind([]«t A»{}), Kind(map[string]«t A»{}))",
	"«n tree» := Tree[«t B ord»]{}\nfor _, x := range []«t B ord»{«e B», «e B», «e B»} {\n«n tree».Insert(x)\n}\nfor x := range «n tree».All() {\nfmt.Println(x)\n}\nfmt.Println(«n tree».Depth())",
	"«n set» := NewSet(«e C», «e C», «e C»)\nfmt.Println(«n set».Has(«e C»), «n set».Has(«q C»), len(«n set») <= 3)",
	"fmt.Println(SumOf[«t D num»](«e D», «e D»), SumOf([]int{«e int»}...), Zero[«t D num»](), Zero[*«t D num»]() == nil)",
	"«n cache» := NewCache[string, «t A»](2)\n«n cache».Put(\"a\", «e A»)\n«n cache».Put(\"b\", «e A»)\n_, «n hit» := «n cache».Get(\"a\")\n«n cache».Put(\"c\", «e A»)\n_, «n miss» := «n cache».Get(\"b\")\nfmt.Println(«n hit», «n miss», «n cache».Keys())",
	"«n opt» := Some(«e A»)\n«n v» := «n opt».Or(«e A»)\n_ = «n v»\n«p A «n v»»\nfmt.Println(«n opt».Ok(), None[«t A»]().Ok())",
	// Constants, shadowing, conversions.
	"const (\n«n A» = iota + 2\n«n B»\n_\n«n C» = 1 << iota\n«n D» float64 = «n C» / 3.0\n«n E» = \"x\"\n«n F»\n)\nfmt.Println(«n A», «n B», «n C», «n D», «n E»+«n F», len(«n F»), «n A»*«e int»)",
	"type «n K» uint8\nconst (\n«n a» «n K» = 1 << iota\n«n b»\n«n c»\n)\n«n x» := «n a» | «n c»\n«n x» &^= «n a»\nfmt.Println(«n x», «n x»&«n c» != 0, ^«n x», «n b»<<1, «n K»(«e int»))",
	"«n x» := «e int»\nif «n x» := «e string»; len(«n x») > 1 {\n«n x» := len(«n x»)\nfmt.Println(«n x»)\n} else if «n x» := «n x» + \"q\"; true {\nfmt.Println(«n x»)\n}\n{\n«n x» := float64(«n x»)\n«n x» /= 3\nfmt.Println(«n x»)\n}\nfmt.Println(«n x»)",
	"«n f» := 3.7 + float64(«e int»&3)\nfmt.Println(int(«n f»), int8(-«n f»), uint8(«n f»), float32(«n f»), int64(«n f»*100), complex(«n f», -«n f»), real(complex(«n f», 1)))",
	"«n b» := []byte(«e string»)\n«n r» := []rune(string(«n b»))\n«n b» = append(«n b», \"né\"...)\nfmt.Println(«n b», «n r», string(«n b»), string(«n r»), len(string(«n r»)), string(rune(65+«e int»&15)))",
	"«n u», «n i» := uint8(«e int»), int8(«e int»)\nfmt.Println(«n u»+200, «n u»<<3, «n u»>>1, «n i»*7, «n i»>>1, -«n i», ^«n u», uint16(«n i»), int16(«n u»)-300, «n i»/3, «n i»%3, «n u»&^12)",
	"«n x» := «e int»\n«n p», «n q» := &«n x», &«n x»\n*«n p» += 2\n*«n q» *= 3\n«n pp» := &«n p»\n**«n pp» -= 1\nfmt.Println(«n x», «n p» == «n q», *«n p»)\n*«n pp» = new(int)\nfmt.Println(*«n p», «n p» == «n q»)",
	"«n s» := fmt.Sprintf(\"%d|%5d|%-5d|%05d|%x|%q|%v|%+v|%T|%t|%8.3f|%s|%c|%U\", «e int», «e int», «e int», «e int», «e string», «e string», S{1, \"a\"}, S{2, \"b\"}, «e A», «e bool», «e float64», «e string», 'x', 'é')\nfmt.Println(strings.ReplaceAll(«n s», \"main.\", \"\") != \"\", len(«n s») > 3)",
	"var «n e» error\n«n e» = &MyErr{«e int»}\nswitch «n v» := «n e».(type) {\ncase nil:\nfmt.Println(\"nil\")\ncase interface{ Timeout() bool }:\nfmt.Println(\"timeout\")\ncase *MyErr:\nfmt.Println(\"mine\", «n v».Code)\n}",
	"«n a», «n b», «n c» := «e int», «e int», «e int»\n«n a», «n b», «n c» = «n c», «n a», «n b»\n«n a», «n b» = «n a»+«n b», «n a»-«n b»\nfmt.Println(«n a», «n b», «n c»)",
	"«n xs» := []int{0, 1, 2}\n«n i» := 1\n«n i», «n xs»[«n i»] = 2, 9\n«n xs»[«n i»-1], «n i» = «n i», 0\nfmt.Println(«n i», «n xs»)",
	"var «n lo», «n hi» = 0, 3\nfor «n lo» < «n hi» {\nif «n mid» := («n lo» + «n hi») / 2; «n mid»*«n mid» < «e int»&7 {\n«n lo» = «n mid» + 1\n} else {\n«n hi» = «n mid»\n}\n}\nfmt.Println(«n lo»)",
	"«n n» := «e int» & 3\nif «n n» == 0 {\ngoto «n A»\n}\n«n n»++\nif «n n» > 2 {\ngoto «n B»\n}\nfmt.Println(\"middle\", «n n»)\n«n A»:\nfmt.Println(\"a\", «n n»)\n«n B»:\nfor «n n» < 5 {\n«n n»++\nif «n n» == 4 {\ngoto «n A»\n}\n}\nfmt.Println(\"b\", «n n»)",
	"switch «n x» := «e int»; {\ncase «n x» > 4 && «e bool»:\n«b»\nfallthrough\ncase «n x» < 0:\nfmt.Println(\"low\")\ncase func() bool { return «n x» == 1 }():\nfmt.Println(\"one\")\ndefault:\n«b»\nif «e bool» {\nbreak\n}\nfmt.Println(\"end\")\ncase «n x» == 3:\nfmt.Println(\"three\")\n}",
	"switch «n v» := any(«e A»).(type) {\ncase int, string:\nfmt.Println(\"basic\", «n v»)\ncase func(int) int, []int, error:\nfmt.Println(\"other\")\ncase nil:\nfmt.Println(\"nil\", «n v»)\ncase fmt.Stringer:\nfmt.Println(«n v».String())\ndefault:\n_ = «n v»\n«b»\n}",
	"fmt.Println(strings.Map(func(r rune) rune {\nif r == 'a' {\nreturn -1\n}\nreturn r + 1\n}, «e string»), strings.FieldsFunc(\"a1b2c\", func(r rune) bool { return r < 'a' }), slices.IndexFunc([]int{1, 2, 3}, func(x int) bool { return x == «e int» }))",
	"«n xs» := []S{}\nfor i := range 70 {\n«n xs» = append(«n xs», S{i * («e int») & 7, strconv.Itoa(i)})\n}\n«n c» := 0\nsort.Slice(«n xs», func(i, j int) bool {\n«n c»++\nreturn «n xs»[i].N < «n xs»[j].N\n})\nfmt.Println(«n xs», «n c»)\nsort.SliceStable(«n xs», func(i, j int) bool { return «n xs»[i].N&3 > «n xs»[j].N&3 })\nfmt.Println(«n xs»)",
	"«n xs» := []S{{3, \"c\"}, {1, \"a\"}, {«e int» & 7, «e string»}}\nslices.SortStableFunc(«n xs», func(a, b S) int { return a.N - b.N })\nfmt.Println(«n xs»)\nfor i := range «n xs» {\n«n xs»[i].N *= 2\n«n xs»[i].Add(i)\n}\nfmt.Println(«n xs», slices.ContainsFunc(«n xs», func(s S) bool { return s.Get() == 2 }))",
	"var «n sb» strings.Builder\nfor i := range 3 {\nfmt.Fprintf(&«n sb», \"%d-\", i*«e int»)\n«n sb».WriteString(«e string»)\n}\nfmt.Println(«n sb».Len() > 0, «n sb».String())",
	"var «n arr» [4]int\nfor i := range «n arr» {\n«n arr»[i] = i * «e int»\n}\n«n pa» := &«n arr»\n«n pa»[1]++\nfor i, v := range «n pa» {\n«n pa»[3] = 0\nfmt.Println(i, v)\n}\nfor i, v := range «n arr» {\n«n arr»[3] = 50\nfmt.Println(i, v)\n}\nfmt.Println(«n arr» == *«n pa», len(«n pa»), «n pa»[1:3])",
}

// idiomHelpers is what idioms share.
const idiomHelpers = `
func Map[T, U any](xs []T, f func(T) U) []U {
	var out []U
	for _, x := range xs {
		out = append(out, f(x))
	}
	return out
}

func Reduce[T, A any](xs []T, a A, f func(A, T) A) A {
	for _, x := range xs {
		a = f(a, x)
	}
	return a
}

func Filter[T any](xs []T, keep func(T) bool) (out []T) {
	for _, x := range xs {
		if keep(x) {
			out = append(out, x)
		}
	}
	return
}

type Stack[T any] struct{ items []T }

func (s *Stack[T]) Push(x T) *Stack[T] { s.items = append(s.items, x); return s }
func (s *Stack[T]) Len() int           { return len(s.items) }
func (s *Stack[T]) Pop() (x T, ok bool) {
	if len(s.items) == 0 {
		return x, false
	}
	x, s.items = s.items[len(s.items)-1], s.items[:len(s.items)-1]
	return x, true
}

func Kind[T any](x T) string {
	switch v := any(x).(type) {
	case nil:
		return "nil"
	case int, int64:
		return fmt.Sprint("int ", v)
	case string:
		return "string " + v
	case []T:
		return "slice of it"
	case map[string]T:
		return "map of it"
	case fmt.Stringer:
		return "stringer " + v.String()
	case error:
		return "error"
	}
	return "other"
}

type Ordered interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64 | ~string
}

type Tree[T Ordered] struct{ root *leaf[T] }

type leaf[T Ordered] struct {
	x           T
	left, right *leaf[T]
}

func (t *Tree[T]) Insert(x T) {
	p := &t.root
	for *p != nil {
		switch {
		case x < (*p).x:
			p = &(*p).left
		case x > (*p).x:
			p = &(*p).right
		default:
			return
		}
	}
	*p = &leaf[T]{x: x}
}

func (l *leaf[T]) walk(yield func(T) bool) bool {
	return l == nil || l.left.walk(yield) && yield(l.x) && l.right.walk(yield)
}

func (l *leaf[T]) depth() int {
	if l == nil {
		return 0
	}
	return 1 + max(l.left.depth(), l.right.depth())
}

func (t Tree[T]) All() func(func(T) bool) { return func(yield func(T) bool) { t.root.walk(yield) } }
func (t Tree[T]) Depth() int              { return t.root.depth() }

type Set[T comparable] map[T]struct{}

func NewSet[T comparable](xs ...T) Set[T] {
	s := make(Set[T])
	for _, x := range xs {
		s[x] = struct{}{}
	}
	return s
}

func (s Set[T]) Has(x T) bool { _, ok := s[x]; return ok }

type Number interface {
	~int | ~int8 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint64 | ~float32 | ~float64
}

func SumOf[T Number](xs ...T) (t T) {
	for _, x := range xs {
		t += x
	}
	return t
}

func Zero[T any]() T { var z T; return z }

type Cache[K comparable, V any] struct {
	room  int
	order []K
	m     map[K]V
}

func NewCache[K comparable, V any](room int) *Cache[K, V] {
	return &Cache[K, V]{room: room, m: map[K]V{}}
}

func (c *Cache[K, V]) touch(k K) {
	c.order = append(slices.DeleteFunc(c.order, func(o K) bool { return o == k }), k)
}

func (c *Cache[K, V]) Get(k K) (V, bool) {
	v, ok := c.m[k]
	if ok {
		c.touch(k)
	}
	return v, ok
}

func (c *Cache[K, V]) Put(k K, v V) {
	c.touch(k)
	c.m[k] = v
	if len(c.order) > c.room {
		delete(c.m, c.order[0])
		c.order = c.order[1:]
	}
}

func (c *Cache[K, V]) Keys() []K { return slices.Clone(c.order) }

type Option[T any] struct{ v *T }

func Some[T any](x T) Option[T]   { return Option[T]{&x} }
func None[T any]() (o Option[T])  { return }
func (o Option[T]) Ok() bool      { return o.v != nil }
func (o Option[T]) Or(other T) T {
	if o.v == nil {
		return other
	}
	return *o.v
}
`

var hole = regexp.MustCompile(`«([^«»]*(?:«[^«»]*»[^«»]*)*)»`)

// idiom writes one, with its holes filled.
func (g *generator) idiom(s *scope, text string) { g.line("{\n%s\n}", g.filler(s)(text)) }

// filler returns what fills the holes of texts that share names and types.
func (g *generator) filler(s *scope) func(text string) string {
	names, types := make(map[string]string), make(map[string]*typ)
	in := s.inner() // in which nothing returns or leaves a loop: it may be that of a literal
	in.ret, in.named, in.labels, in.loop = nil, nil, nil, false
	var fill func(text string) string
	known := func(name string) *typ {
		if t := types[name]; t != nil {
			return t
		}
		for _, t := range g.basic {
			if t.name == name {
				return t
			}
		}
		t := oneAmong(g, g.basic[:11]) // an A that no t came before
		if name == "C" {
			t = oneAmong(g, g.basic)
		}
		types[name] = t
		return t
	}
	fill = func(text string) string {
		return hole.ReplaceAllStringFunc(text, func(h string) string {
			word, rest, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(h, "«"), "»"), " ")
			switch word {
			case "n", "N":
				if names[rest] == "" {
					if names[rest] = g.fresh(rest + "_"); word == "N" {
						names[rest] = g.prefix + names[rest]
					}
				}
				return names[rest]
			case "t":
				name, kinds, _ := strings.Cut(rest, " ")
				if types[name] == nil {
					types[name] = g.kindOf(kinds)
				}
				return types[name].name
			case "e", "c", "q":
				from := *s
				from.quiet = s.quiet || word == "q"
				t := known(rest)
				return g.inHeader(func() string { return g.expr(&from, t, 1) })
			case "p":
				name, what, _ := strings.Cut(rest, " ")
				if t := known(name); printed(t, false) {
					return "fmt.Println(\"value\", " + fill(what) + ")"
				}
				return "_ = " + fill(what)
			}
			outer := g.b
			g.b = strings.Builder{}
			g.block(in.inner(), 1)
			text := g.b.String()
			g.b = outer
			return strings.TrimSuffix(text, "\n")
		})
	}
	return fill
}

// kindOf is a type: a number, one with an order, one that == takes, or any.
func (g *generator) kindOf(kinds string) *typ {
	for {
		t := g.typ(1)
		switch kinds {
		case "num":
			t = oneAmong(g, g.basic[:13])
		case "ord":
			if t = oneAmong(g, g.basic); t.kind == boolean {
				continue
			}
		case "eq":
			if !equatable(t) {
				continue
			}
		}
		return t
	}
}
