//go:build !race && linux && (amd64 || arm64)

package libmpi

const raceDetector = false
