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

// Available is what a process that runs one job may take where it is given no limit: Default,
// or what is free now where that is less. Memory that the machine or the cgroup holds for
// files counts as free; least is always left. It is 0 where nothing is known.
func Available() int64 {
	const least = Process + 512<<20
	limit := Default()
	if free := available(); free > 0 && limit > 0 {
		limit = min(limit, max(free, least))
	}
	return limit
}
