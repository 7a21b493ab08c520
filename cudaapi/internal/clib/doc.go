// Package clib loads C libraries at run time and calls their functions
// without cgo, on Linux.
package clib
