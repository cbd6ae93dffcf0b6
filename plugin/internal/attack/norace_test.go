//go:build !race

package attack

const underRace = false
