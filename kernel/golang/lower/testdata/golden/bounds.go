package main

func grid(rows [][]float64, n int) (t float64) {
	for i := range rows {
		for j := 0; j < n; j++ {
			t += rows[i][j]
		}
	}
	return t
}

func pick(list []int, s string, i int) (int, byte, []int, string) {
	return list[i], s[i], list[i : i+1], s[i:]
}

func both(list []int, i, j int) bool {
	return i < len(list) && list[i] > 0 || list[j] == 0
}

func main() {
	list := make([]int, 3)
	for i := range list {
		list[i] = i
	}
	for i := 0; i < len(list); i++ {
		list[i] *= 2
	}
	array := [4]int{}
	array[3] = list[2]
	p := &array
	p[list[0]]++
	grid(nil, 0)
	pick(list, "abc", 1)
	both(list[1:], 0, len(list)-2)
	_ = list[0:1:2]
}
