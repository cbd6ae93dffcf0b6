//go:build !unix

package arrowio

// noWaiting is not needed where opening never waits.
const noWaiting = 0

func isDevice(error) bool { return false }
