//go:build !unix

package processor

func spent() (int64, bool) { return 0, false }
