package deep

type T struct{ a, B int }

func New(n int) T { return T{n, 1} }
func Get(t T) int { return t.a }
