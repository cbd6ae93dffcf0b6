package dense

import (
	"context"
	"sync"
	"sync/atomic"
)

// Each calls f for 0 ≤ i < n from at most workers goroutines (0: Cores()), and
// passes the number of the goroutine, from 0. After an error no further f begins.
// When all that have begun are done, it returns the error of ctx if that has
// ended, else the error of the smallest i that has one. When f panics, Each
// panics with a *Panic.
func Each(ctx context.Context, n, workers int, f func(worker, i int) error) error {
	if workers <= 0 {
		workers = Cores()
	}
	workers = min(workers, n)
	errs, panics := make([]error, n), make([]*Panic, workers)
	var next atomic.Int64
	var failed atomic.Bool
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			panics[w] = Catch(func() {
				for {
					i := int(next.Add(1)) - 1
					if i >= n || failed.Load() || ctx.Err() != nil {
						return
					}
					if errs[i] = f(w, i); errs[i] != nil {
						failed.Store(true)
					}
				}
			})
		})
	}
	group.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
