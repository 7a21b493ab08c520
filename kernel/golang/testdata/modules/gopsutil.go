package main

import (
	"fmt"
	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/mem"
	"github.com/shirou/gopsutil/v4/process"
	"os"
)

func main() {
	m, err := mem.VirtualMemory()
	fmt.Println(err, m.Total > 1<<20)
	n, err := cpu.Counts(true)
	fmt.Println(err, n > 0)
	p, err := process.NewProcess(int32(os.Getpid()))
	fmt.Println(err, p.Pid == int32(os.Getpid()))
	name, err := p.Name()
	fmt.Println(name != "", err)
}
