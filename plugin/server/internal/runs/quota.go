package runs

// A quota bounds how many there are of something: in all and of each caller. It is
// not safe for concurrent use.
type quota struct {
	most, mostEach int
	total          int
	each           map[Caller]int
}

func newQuota(most, mostEach int) quota {
	return quota{most: most, mostEach: mostEach, each: make(map[Caller]int)}
}

// fits says whether a caller may have one more.
func (q *quota) fits(c Caller) bool { return q.total < q.most && q.each[c] < q.mostEach }

func (q *quota) add(c Caller) {
	q.total++
	q.each[c]++
}

func (q *quota) remove(c Caller) {
	q.total--
	if q.each[c]--; q.each[c] == 0 {
		delete(q.each, c)
	}
}
