package analysis

import (
	"strings"
	"time"

	"pressroom/internal/report/finding"
)

// cautious is how many posts a weekday is taken to have had, besides its own, that were as good as any: so that one
// lucky post does not choose the day.
const cautious = 5

// bestTime is the claimed block whose ratio stands up best; nil where none can be claimed.
func (e *effects) bestTime() *finding.BestTime {
	best := -1
	for b, block := range e.blocks {
		if block.claimed && (best < 0 || *block.ratio.Shrunk > *e.blocks[best].ratio.Shrunk) {
			best = b
		}
	}
	if best < 0 {
		return nil
	}
	block := e.blocks[best]
	return &finding.BestTime{
		Weekday: e.weekday(best), Hour: firstHour(best), Hours: blockHours, Days: daysOf(best), Posts: block.posts, Ratio: *block.ratio,
	}
}

// weekday is the day among a block's days whose posts were further above what was to be expected than the others'.
func (e *effects) weekday(block int) string {
	var sums, counts [7]float64
	for i, p := range e.compared {
		if e.block[i] == block {
			day := p.TakenAt.In(e.all.zone).Weekday()
			sums[day] += e.solved.bent[i]
			counts[day]++
		}
	}
	days := []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday}
	if block >= halfBlocks {
		days = []time.Weekday{time.Saturday, time.Sunday}
	}
	value := func(day time.Weekday) float64 { return sums[day] / (counts[day] + cautious) }
	best := days[0]
	for _, day := range days[1:] {
		// What differs by rounding alone does not choose.
		if counts[day] > 0 && (counts[best] == 0 || value(day) > value(best)+1e-9) {
			best = day
		}
	}
	return strings.ToLower(best.String())
}

func firstHour(block int) int { return block % halfBlocks * blockHours }

func daysOf(block int) string {
	if block >= halfBlocks {
		return "weekend"
	}
	return "weekdays"
}

// timesSection lists the blocks; nil where no posts can be compared.
func (e *effects) timesSection() *finding.Times {
	if len(e.compared) == 0 {
		return nil
	}
	out := &finding.Times{Posts: len(e.compared), Blocks: []finding.Block{}}
	for b, block := range e.blocks {
		out.Blocks = append(out.Blocks, finding.Block{Days: daysOf(b), Hour: firstHour(b), Hours: blockHours, Posts: block.posts, Ratio: block.ratio})
	}
	return out
}
