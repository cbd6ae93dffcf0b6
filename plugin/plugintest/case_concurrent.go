package plugintest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/plugin"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// 20 runs at once, each of another table: every one is right, or refused.
func concurrent(t *testing.T, k *kit) {
	s := k.start(t)
	ctx := soon(t)
	const runs = 20
	var wait sync.WaitGroup
	var outcomes [runs]outcome
	for i := range runs {
		wait.Go(func() { outcomes[i] = s.one(ctx, i) })
	}
	wait.Wait()
	var refused []error
	for i, o := range outcomes {
		switch {
		case o.err != nil && protocol.FaultOf(o.err).StatusCode() == codes.ResourceExhausted:
			refused = append(refused, o.err)
		case o.err != nil:
			t.Errorf("20 runs at once must each succeed or be refused with ResourceExhausted; run %d: %v", i, o.err)
		default:
			rightEdges(t, o.table, edgesOf(t, o.records))
		}
	}
	if len(refused) == runs {
		t.Error("of 20 runs at once all were refused; one at least must be accepted")
	}
	t.Logf("%d of %d were refused", len(refused), runs)
	for _, err := range refused {
		refusal{codes: []codes.Code{codes.ResourceExhausted}, reason: protocol.ReasonLimit}.check(t, "a run beyond the limit", err)
	}
}

// An outcome is what came of a run.
type outcome struct {
	table   table
	records []arrow.Record
	err     error
}

// one is a run of its own kind, by put and get or by an exchange.
func (s *service) one(ctx context.Context, i int) outcome {
	o := outcome{table: chain(uint64(100+i), 8+i, 500)}
	j := fields{"solvers": []string{[]string{"bcd", "glad"}[i%2]}, "penalty": 0.1}
	if i%4 < 2 {
		o.records, o.err = s.exchange(ctx, j.command(), batches(o.table.lists(), 50)...)
		return o
	}
	run, err := s.put(ctx, j.command(), batches(o.table.plain(), 50)...)
	if err != nil {
		o.err = err
		return o
	}
	o.records, o.err = s.get(ctx, protocol.Ticket{Run: run.Run})
	return o
}

// What goes beyond the limits of describe is refused, until there is room.
func limits(t *testing.T, k *kit) {
	s := k.start(t)
	d, err := answer[plugin.Description](soon(t), s, protocol.ActionDescribe, nil)
	fatal(t, "the action describe", err)
	beyond := refusal{codes: []codes.Code{codes.ResourceExhausted}, reason: protocol.ReasonLimit}
	table := chain(20, 6, 40)

	if n := d.Limits.ConcurrentRuns; n <= 256 {
		var first uploading
		for i := range n {
			u := s.begin(t, quick(), batches(table.lists(), 20)[:1])
			if i == 0 {
				first = u
			}
		}
		_, err := s.put(soon(t), quick().command(), table.lists())
		beyond.check(t, fmt.Sprintf("a run beside %d, which is limits.concurrent_runs,", n), err)
		first.cancel()
		eventually(t, k.endWithin, "a run whose caller has hung up is still at work", func() bool { return s.state(soon(t), t, first.run).Ended() })
		_, err = s.put(soon(t), quick().command(), table.lists())
		fatal(t, "a run when there is room again", err)
	}
	if n := d.Limits.MessageBytes; n <= 128<<20 {
		big := chain(21, 128, n/1024+1024)
		_, err := s.put(soon(t), quick().command(), big.lists())
		refusal{codes: []codes.Code{codes.ResourceExhausted}}.check(t, fmt.Sprintf("a message of more than limits.message_bytes, %d,", n), err)
	}
	if n := d.Limits.Variables; n <= 100_000 {
		_, err := s.put(soon(t), quick().command(), chain(22, n+1, 2).lists())
		beyond.check(t, fmt.Sprintf("a table of more than limits.variables, %d,", n), err)
	}
	s.lives(t, "refusals")
}
