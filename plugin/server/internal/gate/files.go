package gate

// Room is the largest number of connections that leaves this process files for
// everything else: a quarter of those that it may open, and 128 at least. It is 0
// where there is no bound to be known.
func Room() int { return room(openFiles()) }

func room(files uint64) int {
	const (
		least   = 128
		unbound = 1 << 30
	)
	switch {
	case files == 0 || files > unbound:
		return 0
	case files <= 2*least:
		return max(1, int(files)/2)
	}
	return int(files - max(files/4, least))
}
