//go:build race

package attack

// underRace says that the race detector watches this process, which only attacks: the
// binary is another.
const underRace = true
