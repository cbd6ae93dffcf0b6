package dense

import (
	"sync/atomic"
	"testing"
	"time"
)

// Every piece of every call is done once before the call returns, whether helpers are awake,
// asleep or not there.
func TestTeam(t *testing.T) {
	for _, n := range []int{1, 2, 4} {
		team := NewTeam(WithThreads(Gonum{}, n), 8)
		var done [9]atomic.Int32
		for call := range 2000 {
			pieces := call % len(done)
			team.Share(pieces, func(i int) { done[i].Add(1) })
			for i := range done {
				want := int32(0)
				if i < pieces {
					want = 1
				}
				if got := done[i].Swap(0); got != want {
					t.Fatalf("%d threads, call %d: piece %d of %d was done %d times", n, call, i, pieces, got)
				}
			}
			if call%500 == 499 {
				time.Sleep(3 * time.Millisecond) // helpers go to sleep
			}
		}
		team.Close()
	}
}

// A panic of any piece is one of the caller, and the team goes on.
func TestTeamPanics(t *testing.T) {
	team := NewTeam(WithThreads(Gonum{}, 2), 8)
	defer team.Close()
	for range 50 {
		caught := Catch(func() {
			team.Share(8, func(i int) {
				if i == 5 {
					panic("five")
				}
			})
		})
		if caught == nil {
			t.Fatal("no panic")
		}
	}
	var sum atomic.Int64
	team.Share(8, func(i int) { sum.Add(int64(i)) })
	if sum.Load() != 28 {
		t.Errorf("after panics the pieces sum up to %d", sum.Load())
	}
}

func BenchmarkTeam(b *testing.B) {
	work := func(int) {
		for t := time.Now(); time.Since(t) < 10*time.Microsecond; {
		}
	}
	e := WithThreads(Gonum{}, 2)
	b.Run("Team", func(b *testing.B) {
		team := NewTeam(e, 8)
		defer team.Close()
		for b.Loop() {
			team.Share(8, work)
		}
	})
	b.Run("Share", func(b *testing.B) {
		for b.Loop() {
			Share(e, 8, work)
		}
	})
}
