package analysis

import (
	"cmp"
	"math"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/domain/report/result"
)

const (
	minGrowthSpan  = 0.5 // days; growth over a shorter time is noise
	minRobustSteps = 10  // minimum number of steps between snapshots to detect outliers
	daysPerMonth   = 30.0
	secondsPerDay  = 24 * 60 * 60
)

// growth estimates the followers gained per day, or returns nil if the snapshots cover less than minGrowthSpan. The
// number of followers is modeled as a random walk with drift, so the mean and variance of a change are proportional to
// the elapsed time. Dividing each change by the root of its time makes the variances equal.
func growth(snapshots []Snapshot, at time.Time) *result.FindingGrowth {
	shots := validSnapshots(snapshots, at)
	if len(shots) < 2 {
		return nil
	}
	last := shots[len(shots)-1]
	span := days(last.At.Sub(shots[0].At))
	if span < minGrowthSpan {
		return nil
	}
	perDay := fitGrowth(shots)
	out := &result.FindingGrowth{Snapshots: len(shots), Days: result.Round4(span), FollowersPerDay: &perDay}
	if size := float64(*last.Followers); size > 0 {
		out.PercentPerMonth = new(scaleEstimate(perDay, 100*daysPerMonth/size))
	}
	return out
}

// validSnapshots returns the snapshots with known followers that are not later than at, oldest first and at most one
// per time.
func validSnapshots(snapshots []Snapshot, at time.Time) []Snapshot {
	var shots []Snapshot
	for _, shot := range snapshots {
		if valid(shot.Followers) != nil && !shot.At.IsZero() && (at.IsZero() || !shot.At.After(at)) {
			shots = append(shots, shot)
		}
	}
	slices.SortFunc(shots, func(a, b Snapshot) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(*a.Followers,
			*b.Followers))
	})
	return slices.CompactFunc(shots, func(a, b Snapshot) bool { return a.At.Equal(b.At) })
}

// fitGrowth estimates the followers gained per day. With too few snapshots, the estimate has no interval.
func fitGrowth(shots []Snapshot) result.FindingEstimate {
	model := linearModel{columns: 1}
	totalGained, totalDays := 0.0, 0.0
	for i := range shots[1:] {
		elapsedDays, change := days(shots[i+1].At.Sub(shots[i].At)), float64(*shots[i+1].Followers)-float64(
			*shots[i].Followers)
		totalGained, totalDays = totalGained+change, totalDays+elapsedDays
		model.rows = append(model.rows, []entry{{0, math.Sqrt(elapsedDays)}})
		model.y = append(model.y, change/math.Sqrt(elapsedDays))
	}
	fit, ok := model.solve(len(model.y) >= minRobustSteps)
	if !ok {
		return result.FindingEstimate{Value: result.Round4(totalGained / totalDays)}
	}
	perDay, _ := fit.contrast([]float64{1})
	halfWidth := fit.quantile * perDay.stdErr
	return result.FindingEstimate{Value: result.Round4(perDay.log), Low: new(result.Round4(perDay.log - halfWidth)),
		High: new(result.Round4(perDay.log + halfWidth))}
}

func scaleEstimate(e result.FindingEstimate, factor float64) result.FindingEstimate {
	out := result.FindingEstimate{Value: result.Round4(e.Value * factor)}
	if e.Low != nil {
		out.Low, out.High = new(result.Round4(*e.Low*factor)), new(result.Round4(*e.High*factor))
	}
	return out
}

func days(d time.Duration) float64 { return d.Seconds() / secondsPerDay }
