//go:build !linux

package ranks

func mapped(int) []string { return nil }

func removal([]string) string { return "true" }

func abandon([]string) {}

func endAll(string) {}
