//go:build linux && (amd64 || arm64) && !race

package emulator

const underRaceDetector = false
