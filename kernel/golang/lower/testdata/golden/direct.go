package main

import dev "gocuda/kernel/golang/lower_test"

// cell
func main() {
	t := &dev.Tally{}
	t.Add(1)
	n, err := t.Half()
	for i := range 3 {
		if err := t.Add(i); err != nil {
			panic(err)
		}
		t.Wait()
		n, err = t.Half()
	}
	for range 2 {
		t.Add(n)
	}
	_ = err
}
