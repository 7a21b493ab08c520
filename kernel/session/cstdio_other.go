//go:build !linux && !darwin

package session

func unbufferC() {}
func flushC()    {}
