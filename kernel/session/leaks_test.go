//go:build unix

package session

import "testing"

func TestLeaksNameTheCell(t *testing.T) {
	h := startReal(t, nil)
	h.shows("d := must(cuda.CurrentDevice())\nfunc make2() *cuda.Buffer { return must(d.Alloc(10, cuda.Int32)) }", "")
	h.shows("x := 1\n\nb := make2()\nx++", "")
	h.shows("for _, l := range cuda.Leaks() { fmt.Println(l.Bytes, l.Where) }", "40 In[1], line 3\n")
	h.shows("b.Free()\nlen(cuda.Leaks())", "[value 0]\n")
	h.shows("cuda.TraceLeaks(true)\n\ns := must(d.NewStream())\nb, err := s.AllocAsync(7, cuda.Uint8)", "")
	h.shows("for _, l := range cuda.Leaks() { fmt.Println(l.Bytes, l.Where) }", "7 In[1], line 4\n")
}
