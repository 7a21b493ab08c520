package main

const execDetails = `
The exit status is that of the program: 2 after a panic, 1 if it does not
compile.`

func runExec(c *call) error { return usageError{"x"} }
