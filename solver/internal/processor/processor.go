// Package processor measures, for benchmarks, the processor time of what runs beside others on a
// machine: it says what work costs where wall time says who else was at work.
package processor

import "testing"

// Loop is for b.Loop() { f() }, and reports the time that an operation takes of all processors
// as processor-ns/op, where the system tells it.
func Loop(b *testing.B, f func()) {
	b.Helper()
	f() // what is allocated once
	before, ok := spent()
	for b.Loop() {
		f()
	}
	if after, _ := spent(); ok {
		b.ReportMetric(float64(after-before)/float64(b.N), "processor-ns/op")
	}
}
