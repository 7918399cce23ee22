package analysis

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"pressroom.example/pressroom/internal/domain/report/result"
)

// pseudoPosts is the number of average posts added to each weekday, so that a single post cannot determine the result.
const pseudoPosts = 5

// bestTime returns the block with the best estimate, and whether the estimate is significant. It returns nil if fewer
// than minCompared posts have a time or no post can be compared.
func (e *effects) bestTime() *result.FindingBestTime {
	if e.profile.countDated() < minCompared || len(e.comparedPosts) == 0 {
		return nil
	}
	if len(e.times) > 0 {
		if best := slices.MaxFunc(e.times, e.compareBlockRank); best.log > 0 {
			return e.comparedBestTime(best)
		}
	}
	return e.guessedBestTime()
}

// compareBlockRank orders blocks by how likely they are to be the best: significant blocks rank highest, then blocks
// with a higher shrunk ratio. If the heterogeneity is 0, all shrunk ratios are 1. In that case, it orders blocks by the
// limit of their shrunk ratios for small heterogeneity, which is the log ratio divided by its variance.
func (e *effects) compareBlockRank(a, b levelEffect) int {
	significance := func(le levelEffect) int {
		if e.blocks[le.index].isSignificant {
			return 1
		}
		return 0
	}
	shrunk := func(le levelEffect) float64 { return *e.blocks[le.index].ratio.Shrunk }
	limit := func(le levelEffect) float64 { return result.Round4(le.log / (le.stdErr * le.stdErr)) }
	return cmp.Or(cmp.Compare(significance(a), significance(b)), cmp.Compare(shrunk(a), shrunk(b)),
		cmp.Compare(limit(a), limit(b)))
}

// comparedBestTime returns the best of the compared blocks. Its interval has a Bonferroni correction for the selection
// of a block, so its coverage is at least 95%.
func (e *effects) comparedBestTime(best levelEffect) *result.FindingBestTime {
	block := e.blocks[best.index]
	out := e.newBestTime(best.index, e.fit.winsorized)
	out.StandsOut, out.Ratio = block.isSignificant, *block.ratio
	student := distuv.StudentsT{Sigma: 1, Nu: e.fit.degreesOfFreedom}
	halfWidth := student.Quantile(1-0.025/float64(len(e.times))) * best.stdErr
	out.Low, out.High = result.ClampInterval(best.log-halfWidth, best.log+halfWidth)
	return out
}

// guessedBestTime returns the block with the highest mean log engagement. It is used if no block could be compared, or
// if none is better than the others. The ratio of the returned block is unknown.
func (e *effects) guessedBestTime() *result.FindingBestTime {
	logEngagement := make([]float64, len(e.comparedPosts))
	mean := 0.0
	for i, p := range e.comparedPosts {
		logEngagement[i] = math.Log(p.engagement + 0.5)
		mean += logEngagement[i] / float64(len(e.comparedPosts))
	}
	var sums [blocks]float64
	for i := range logEngagement {
		logEngagement[i] -= mean
		sums[e.blockByPost[i]] += logEngagement[i]
	}
	bestBlock, bestValue := -1, 0.0
	for b, block := range e.blocks {
		if block.posts == 0 || block.ratio != nil && e.countWithoutRatio() > 0 {
			continue
		}
		// Rounding errors must not affect the choice.
		value := sums[b] / float64(block.posts+pseudoPosts)
		if bestBlock < 0 || value > bestValue+1e-9 || value > bestValue-1e-9 && block.posts > e.blocks[bestBlock].posts {
			bestBlock, bestValue = b, value
		}
	}
	out := e.newBestTime(bestBlock, logEngagement)
	out.Low, out.High = result.ClampInterval(math.Inf(-1), math.Inf(1))
	out.Ratio = result.FindingRatio{Value: 1, Low: out.Low, High: out.High, Shrunk: new(1.0)}
	return out
}

// countWithoutRatio returns the number of blocks with posts but without a ratio.
func (e *effects) countWithoutRatio() int {
	n := 0
	for _, block := range e.blocks {
		if block.posts > 0 && block.ratio == nil {
			n++
		}
	}
	return n
}

// newBestTime returns a block as the best time. residuals holds the log engagement of each post minus its expected
// value.
func (e *effects) newBestTime(block int, residuals []float64) *result.FindingBestTime {
	return &result.FindingBestTime{
		Weekday: e.bestWeekday(block, residuals), Hour: firstHour(block), Hours: blockHours, Days: blockDays(block),
		Posts: e.blocks[block].posts,
	}
}

// bestWeekday returns the day of a block with the highest mean residual.
func (e *effects) bestWeekday(block int, residuals []float64) string {
	var sums, counts [7]float64
	for i, p := range e.comparedPosts {
		if e.blockByPost[i] == block {
			day := p.TakenAt.In(e.profile.zone).Weekday()
			sums[day] += residuals[i]
			counts[day]++
		}
	}
	days := []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday}
	if block >= halfBlocks {
		days = []time.Weekday{time.Saturday, time.Sunday}
	}
	value := func(day time.Weekday) float64 { return sums[day] / (counts[day] + pseudoPosts) }
	bestDay := days[0]
	for _, day := range days[1:] {
		// Rounding errors must not affect the choice.
		if counts[day] > 0 && (counts[bestDay] == 0 || value(day) > value(bestDay)+1e-9) {
			bestDay = day
		}
	}
	return strings.ToLower(bestDay.String())
}

func firstHour(block int) int { return block % halfBlocks * blockHours }

func blockDays(block int) string {
	if block >= halfBlocks {
		return "weekend"
	}
	return "weekdays"
}

// timesSection returns the blocks with their ratios, or nil if no posts can be compared.
func (e *effects) timesSection() *result.FindingTimes {
	if len(e.comparedPosts) == 0 {
		return nil
	}
	out := &result.FindingTimes{Posts: len(e.comparedPosts), Blocks: []result.FindingBlock{}}
	for b, block := range e.blocks {
		out.Blocks = append(out.Blocks, result.FindingBlock{Days: blockDays(b), Hour: firstHour(b), Hours: blockHours,
			Posts: block.posts, Ratio: block.ratio})
	}
	return out
}
