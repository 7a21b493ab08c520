package main

func each(n int) func(func(int, string) bool) {
	return func(yield func(int, string) bool) {
		for i := range n {
			if !yield(i, "x") {
				return
			}
		}
	}
}

func search(n int) (at int, err error) {
	defer func() { at++ }()
outer:
	for i, s := range each(n) {
		for j := range each(i) {
			switch {
			case j == 2:
				continue outer
			case j == 3:
				break outer
			case s == "y":
				return j, nil
			case j == 4:
				goto end
			}
		}
	}
end:
	return
}

func main() {
	c := make(chan int)
	search(3)
	switch {
	case true:
	loop:
		for {
			select {
			case <-c:
				break loop
			default:
				continue loop
			}
		}
	}
}
