package ratelimit

import (
	"sync/atomic"
	"testing"

	"pressroom.example/pressroom/internal/testkit"
)

// BenchmarkTakeFreeCall measures counting a call with leases of full size.
func BenchmarkTakeFreeCall(b *testing.B) {
	for name, teams := range map[string]int{"one team": 1, "a hundred teams": 100} {
		b.Run(name, func(b *testing.B) {
			d := testkit.Open(b, testkit.SQLite(b), nil)
			c := NewFreeCalls(d)
			ids := make([]int64, teams)
			for i := range ids {
				ids[i] = addCallTeam(b, d, "Europe/Berlin")
			}
			var next atomic.Int64
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				actor := callActor(ids[int(next.Add(1))%teams], 1<<40, "Europe/Berlin")
				for pb.Next() {
					if take(b, c, actor) == nil {
						b.Fatal("rejected")
					}
				}
			})
		})
	}
}

// BenchmarkDayOfFreeCalls measures counting a whole allowance, down to the smallest leases.
func BenchmarkDayOfFreeCalls(b *testing.B) {
	for name, limit := range map[string]int64{"1,000": 1000, "100,000": 100_000} {
		b.Run(name, func(b *testing.B) {
			d := testkit.Open(b, testkit.SQLite(b), nil)
			for b.Loop() {
				actor := callActor(addCallTeam(b, d, "Europe/Berlin"), limit, "Europe/Berlin")
				if n := drain(b, NewFreeCalls(d), actor); n != limit {
					b.Fatalf("%d calls were allowed", n)
				}
			}
			b.ReportMetric(float64(limit)*float64(b.N)/b.Elapsed().Seconds(), "calls/s")
		})
	}
}
