package memory

// share is the part of the machine's memory that Default takes, in hundredths.
const share = 80

// Default is the limit of a process that is given none: 80 % of Machine in whole MiB,
// 0 where that is not known.
func Default() int64 {
	const mib = 1 << 20
	return Machine() / 100 * share / mib * mib
}

// Machine is the memory that this process can have, in bytes: that of the machine
// or the smallest limit of its cgroup and those above it. It is 0 on systems that
// do not tell.
func Machine() int64 { return machine() }
