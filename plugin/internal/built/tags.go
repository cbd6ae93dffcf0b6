//go:build !cuda

package built

// tags are those of the build that is tested.
const tags = ""
