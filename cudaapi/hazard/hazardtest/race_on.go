//go:build race

package hazardtest

const raceDetector = true
