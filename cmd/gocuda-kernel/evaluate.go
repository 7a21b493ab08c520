package main

func runEvaluate(c *call) error { return usageError{"x"} }
