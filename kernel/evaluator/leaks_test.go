//go:build unix

package evaluator

import "testing"

func TestLeaksNameTheCell(t *testing.T) {
	h := startReal(t, nil)
	h.Shows("d := must(cuda.CurrentDevice())\nfunc make2() *cuda.Buffer { return must(d.Alloc(10, cuda.Int32)) }", "")
	h.Shows("x := 1\n\nb := make2()\nx++", "")
	h.Shows("for _, l := range cuda.Leaks() { fmt.Println(l.Bytes, l.Where) }", "40 In[1], line 3\n")
	h.Shows("b.Free()\nlen(cuda.Leaks())", "[value 0]\n")
	h.Shows("cuda.TraceLeaks(true)\n\ns := must(d.NewStream())\nb, err := s.AllocAsync(7, cuda.Uint8)", "")
	h.Shows("for _, l := range cuda.Leaks() { fmt.Println(l.Bytes, l.Where) }", "7 In[1], line 4\n")
}
