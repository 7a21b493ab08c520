//go:build !race

package hazardtest

const raceDetector = false
