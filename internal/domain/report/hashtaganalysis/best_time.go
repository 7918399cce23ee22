package hashtaganalysis

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/report/result"
)

const (
	blockHours   = 4
	blocksPerDay = 24 / blockHours
	blocks       = 2 * blocksPerDay // on weekdays, then on the weekend
	// minBlockHours is the minimum number of observed hours in each block. minBasePosts is the minimum number of posts
	// in total.
	minBlockHours = 4
	minBasePosts  = 50
	// minTimedPosts is the minimum number of top posts with a time.
	minTimedPosts = 30
)

// block is one of twelve blocks of four hours, on Monday to Friday or on the weekend.
type block int

// blockOf returns the block of a local time.
func blockOf(day time.Weekday, hour int) block {
	b := block(hour / blockHours)
	if day == time.Saturday || day == time.Sunday {
		b += blocksPerDay
	}
	return b
}

// hours returns the number of hours per week in the block.
func (b block) hours() float64 {
	if b < blocksPerDay {
		return 5 * blockHours
	}
	return 2 * blockHours
}

// days returns the API's name for the days that the block is on.
func (b block) days() string {
	if b < blocksPerDay {
		return "weekdays"
	}
	return "weekend"
}

// baseline is the distribution of all posts over the blocks. It holds the number of counted posts and the number of
// observed hours in each block.
type baseline struct{ counts, hours [blocks]float64 }

func newBaseline(samples []Sample, zone *time.Location) baseline {
	var out baseline
	for _, s := range nonOverlapping(samples) {
		if len(s.Hours) == hoursOfWeek {
			out.add(s, zone)
		}
	}
	return out
}

// add adds a sample. It converts the sample's hours of the week from UTC to the time zone, using the zone's offset in
// the sample's week.
func (b *baseline) add(s Sample, zone *time.Location) {
	weeks := math.Floor(days(s.At.Sub(s.From)) / 7)
	remainderStart := s.From.Add(time.Duration(weeks) * hoursOfWeek * time.Hour)
	var hoursCovered [hoursOfWeek]float64
	for at := remainderStart; at.Before(s.At); {
		next := at.Truncate(time.Hour).Add(time.Hour)
		if next.After(s.At) {
			next = s.At
		}
		hoursCovered[hourOfWeek(at)] += next.Sub(at).Hours()
		at = next
	}
	sunday := s.At.UTC().Truncate(24*time.Hour).AddDate(0, 0, -int(s.At.UTC().Weekday()))
	for hour := range hoursOfWeek {
		local := sunday.Add(time.Duration(hour) * time.Hour).In(zone)
		index := blockOf(local.Weekday(), local.Hour())
		b.counts[index] += float64(max(0, s.Hours[hour]))
		b.hours[index] += hoursCovered[hour] + weeks
	}
}

// shares returns the share of a week's posts in each block, and whether there is enough data for a comparison. If there
// is too little data, shares shrinks the rate of each block toward the overall rate. The fewer hours were observed, the
// more it shrinks the rate.
func (b *baseline) shares() ([blocks]float64, bool) {
	var out [blocks]float64
	posts, hours, ok := 0.0, 0.0, true
	for i := range out {
		ok = ok && b.hours[i] >= minBlockHours
		posts += b.counts[i]
		hours += b.hours[i]
	}
	ok = ok && posts >= minBasePosts
	const half = 0.5  // prior weight in posts
	priorHours := 0.0 // prior weight in hours at the overall rate
	if !ok {
		priorHours = half * (hours + half) / (posts + half)
	}
	sum := 0.0
	for i := range out {
		out[i] = (b.counts[i] + half) / (b.hours[i] + priorHours) * block(i).hours()
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out, ok
}

// candidate is a block with the log ratio of its share of top posts to its share of all posts.
type candidate struct {
	block       block
	posts       float64 // top posts
	log, stdErr float64 // stdErr is the standard error of log
}

// low returns the lower confidence bound of log with a Bonferroni correction for all blocks.
func (c candidate) low() float64 { return c.log - bonferroniZ(blocks)*c.stdErr }

// isOverrepresented reports whether the block has at least its share of the top posts. At least one block always does.
func (c candidate) isOverrepresented() bool { return c.log >= 0 }

// compareCandidates orders blocks from worst to best. Blocks below their share of top posts come first. Within each
// group, blocks are ordered by their number of top posts and then by lower bound. All numbers of at least minSupport
// count as equal.
func compareCandidates(a, b candidate) int {
	if a.isOverrepresented() != b.isOverrepresented() {
		if b.isOverrepresented() {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(min(a.posts, minSupport), min(b.posts, minSupport)), cmp.Compare(a.low(), b.low()))
}

// bestTime returns the block with the best ratio of top posts to all posts, and whether there is enough data for a
// comparison. The block stands out if the ratio is significant. bestTime returns nil if fewer than minTimedPosts posts
// have a time, or if no top post has a time.
func (m measuredPosts) bestTime(samples []Sample, zone *time.Location) (*result.FindingBestTime, bool) {
	top, byDay, total := m.topByBlock(zone)
	if total == 0 || len(m.times(m.posts)) < minTimedPosts {
		return nil, false
	}
	base := newBaseline(samples, zone)
	shares, ok := base.shares()
	ok = ok && total >= minTimedPosts
	var candidates []candidate
	for i := range shares {
		if top[i] > 0 {
			topShare := top[i] / total
			err := math.Sqrt((1-topShare)/top[i] + (1-shares[i])/(base.counts[i]+0.5))
			candidates = append(candidates, candidate{block(i), top[i], math.Log(topShare / shares[i]), err})
		}
	}
	best := slices.MaxFunc(candidates, compareCandidates)
	ratio, margin := math.Exp(best.log), math.Exp(normal95*best.stdErr)
	out := best.block.toBestTime(byDay, int(best.posts),
		result.FindingRatio{Value: ratio, Low: ratio / margin, High: ratio * margin})
	out.StandsOut = ok && best.posts >= minSupport && best.low() > 0
	out.Low, out.High = result.ClampInterval(best.low(), 2*best.log-best.low())
	return out, ok
}

// topByBlock counts the top posts with a time by block, and by weekday within each block.
func (m measuredPosts) topByBlock(zone *time.Location) ([blocks]float64, [blocks][7]int, float64) {
	var top [blocks]float64
	var byDay [blocks][7]int
	total := 0.0
	for _, p := range m.top {
		if _, known := m.age(p); !known {
			continue
		}
		local := p.TakenAt.In(zone)
		index := blockOf(local.Weekday(), local.Hour())
		top[index]++
		byDay[index][local.Weekday()]++
		total++
	}
	return top, byDay, total
}

// toBestTime returns the block as the best time, with the weekday that has most of its top posts.
func (b block) toBestTime(byDay [blocks][7]int, posts int, ratio result.FindingRatio) *result.FindingBestTime {
	day := time.Monday
	for _, d := range []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday,
		time.Saturday, time.Sunday} {
		if byDay[b][d] > byDay[b][day] {
			day = d
		}
	}
	return &result.FindingBestTime{
		Weekday: strings.ToLower(day.String()), Hour: int(b) % blocksPerDay * blockHours, Hours: blockHours,
		Days: b.days(), Posts: posts, Ratio: ratio.Round(),
	}
}
