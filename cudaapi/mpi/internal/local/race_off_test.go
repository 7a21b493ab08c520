//go:build !race

package local

// starts is how many jobs TestJobsLeaveNothingBehind starts.
const starts = 100
