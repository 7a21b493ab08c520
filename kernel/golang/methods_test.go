package golang

import "testing"

// Methods of types of earlier cells whose signatures have the cell's own types.
var methodsOfEarlierTypes = []scenario{
	{"the results of a method are the cell's own types", []string{
		"type job struct{}", "",
		"type share struct{ N int }\nfunc (j job) collect(k int) share { return share{k} }", "",
		"func throw() (list []share) { list = append(list, job{}.collect(1)); return }\nthrow()", "=> []share{{N: 1}}",
		"var s share = job{}.collect(2)\ns", "=> share{N: 2}",
	}},
	{"used in the same cell", []string{
		"type job struct{ n int }", "",
		"type share struct{ N int }\nfunc (j *job) add(list []*share, m map[share]int) (map[string]share, error) { j.n++; m[*list[0]]++; return map[string]share{\"a\": *list[0]}, nil }\nvar j job\nm := map[share]int{}\ngot, err := j.add([]*share{{4}}, m)\nvar first share = got[\"a\"]\nfirst, err, m, j", "=> share{N: 4}, nil, map[share]int{{N: 4}: 1}, job{n: 1}",
		"type shares []share\nfunc (j job) all(n int) (out shares) { for i := range n { out = append(out, share{i}) }; return }\nfunc (s shares) sum() (n int) { for _, x := range s { n += x.N }; return }\nj.all(4).sum()", "=> 6",
	}},
	{"the cell's type has the earlier one in it", []string{
		"type job struct{ n int }\nvar j = job{3}", "",
		"type wrap struct{ job; name string }\ntype ptr struct{ *job }\nfunc (j job) named(s string) wrap { return wrap{j, s} }\nfunc (j *job) in() ptr { j.n++; return ptr{j} }\nv := j.named(\"x\").named(\"y\")\nv.in().n", "=> 4",
		"w := j.named(\"z\")\nw.in().in()\nw.n, w.named(\"v\").name, j.n", "=> 5, \"v\", 3",
	}},
	{"an interface of the cell that the method makes true", []string{
		"type job struct{}", "",
		"type share struct{ N int }\ntype source interface{ collect() share }\nfunc (job) collect() share { return share{7} }\nvar s source = job{}\nfunc from[S source](s S) share { return s.collect() }\nfrom(job{}), s.collect()", "=> share{N: 7}, share{N: 7}",
		"_, ok := any(job{}).(source)\nok", "=> true",
	}},
	{"generic types", []string{
		"type box[T any] struct{ v T }", "",
		"type pair[A, B any] struct{ a A; b B }\nfunc (b box[T]) with(s string) pair[T, string] { return pair[T, string]{b.v, s} }\nfunc (b *box[T]) set(p pair[T, string]) { b.v = p.a }\nb := box[int]{3}\nb.set(pair[int, string]{4, \"\"})\nvar p pair[int, string] = b.with(\"s\")\np", "=> pair[int,string]{a: 4, b: \"s\"}",
		"func twice(b box[float64]) []pair[float64, string] { return []pair[float64, string]{b.with(\"1\"), b.with(\"2\")} }\ntwice(box[float64]{0.5})", "=> []pair[float64,string]{{a: 0.5, b: \"1\"}, {a: 0.5, b: \"2\"}}",
	}},
	{"values from before have it, and the type is not declared again", []string{
		"type job struct{}\ntype share struct{ N int }\nvar j job\nkept := []share{{1}}", "",
		"type share struct{ N int }\nfunc (job) collect(k int) share { return share{k} }", "",
		"kept = append(kept, j.collect(2))\nkept", "=> []share{{N: 1}, {N: 2}}",
		"type share struct{ N int }\nfunc (job) collect(k int) share { return share{10 * k} }", "",
		"kept = append(kept, j.collect(3))\nkept", "=> []share{{N: 1}, {N: 2}, {N: 30}}",
	}},
	{"mistakes are the cell's", []string{
		"type job struct{}", "",
		"type share struct{ N int }\nfunc (j job) collect(k int) share { return missing }\nvar n int = job{}.collect(1)", "CompileError: In[2]:2:44: undefined: missing (and 1 more)",
		"type share struct{ N int }\nfunc (j job) collect(k int) other { return share{} }", "CompileError: In[3]:2:29: undefined: other",
		"job{}.collect(1)", "CompileError: In[4]:1:7: job{}.collect undefined (type job has no field or method collect)",
		"type share struct{ N int }\ntype list [len(words)]int\nvar words [3]string\nfunc (j job) collect(l list) share { return share{len(l)} }\njob{}.collect(list{})", "=> share{N: 3}",
	}},
	{"a type of a method's signature is declared again", []string{
		"type job struct{}\nvar old job", "",
		"type share struct{ N int }\nfunc (j job) collect(k int) share { return share{k} }\nfunc use() int { return job{}.collect(1).N }\nfunc whole() share { return job{}.collect(5) }", "",
		"type share struct{ N, M int }\nfunc (j job) collect(k int) share { return share{k, k + 1} }\njob{}.collect(1), use(), whole()", "old still has the old job: run its cell again\n=> share{N: 1, M: 2}, 1, share{N: 5, M: 6}",
		"old.collect(3)", "=> share{N: 3}",
	}},
	{"a method gets another signature, alone", []string{
		"type job struct{ n int }\nfunc (j job) name() string { return strconv.Itoa(j.n) }", "",
		"func (j job) size() int { return j.n }\nfunc use(j job) int { return j.size() + 1 }\nfunc show(j job) string { return fmt.Sprint(j.size(), \" \", j.name()) }", "",
		"func (j job) size() string { return \"size\" }\nshow(job{4})", "use still uses the old job: In[2]:2:30: invalid operation: j.size() + 1 (mismatched types string and untyped int)\n=> \"size 4\"",
		"func (j job) size() string { return \"again\" }\nshow(job{4})", "=> \"again 4\"",
	}},
	{"a method gets another signature, with its type", []string{
		"type job struct{ n int }\nfunc (j job) size() int { return j.n }\nfunc (j job) more() int { return j.size() + 1 }\nvar v job", "",
		"type job struct{ n int }\nfunc (j job) size() string { return \"size\" }\njob{}.size(), v.size()", "v still has the old job: run its cell again\n=> \"size\", 0",
		"func (s *Stack[T]) Push(x T) { s.items = append(s.items, x) }\ntype Stack[T any] struct{ items []T }\ns := Stack[int]{}\ns.Push(3)", "",
		"func (s *Stack[T]) Push(x ...T) { s.items = append(s.items, x...) }\ntype Stack[T any] struct{ items []T }\nt := Stack[int]{}\nt.Push(3, 4)\nt", "s still has the old Stack: run its cell again\n=> Stack[int]{items: []int{3, 4}}",
	}},
	{"methods before their type, run again", []string{
		"func (t T) M() int { return t.x + 1 }\ntype T struct{ x int }\nvar v T\nv.M()", "=> 1",
		"func (t T) M() int { return t.x + 2 }\ntype T struct{ x int }\nv.M()", "=> 2",
	}},
}

func TestMethodsOfEarlierTypes(t *testing.T) {
	for _, sc := range methodsOfEarlierTypes {
		t.Run(sc.name, sc.test)
	}
}
