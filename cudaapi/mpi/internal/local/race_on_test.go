//go:build race

package local

// Processes under the race detector take long to start.
const starts = 10
