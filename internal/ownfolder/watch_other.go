//go:build !unix

package ownfolder

func watch(string) (end func()) { return func() {} }
