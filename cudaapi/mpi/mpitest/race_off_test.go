//go:build !race

package mpitest_test

const raceDetector = false
