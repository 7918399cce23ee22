package hashtaganalysis

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"pressroom/internal/domain/report/result"
)

const (
	blockHours   = 4
	blocksPerDay = 24 / blockHours
	blocks       = 2 * blocksPerDay // of the weekdays, then of the weekend
	// minBlockHours is for how many hours of each block posts have to have been counted, leastBase how many in all.
	minBlockHours = 4
	minBasePosts  = 50
	// minTimedPosts is how many top posts of known time it takes.
	minTimedPosts = 30
)

// block is one of the twelve; its days are Monday to Friday, or Saturday and Sunday.
type block int

// blockOf is the block of a time, in its own zone.
func blockOf(day time.Weekday, hour int) block {
	b := block(hour / blockHours)
	if day == time.Saturday || day == time.Sunday {
		b += blocksPerDay
	}
	return b
}

// hours is how many hours a week has of the block.
func (b block) hours() float64 {
	if b < blocksPerDay {
		return 5 * blockHours
	}
	return 2 * blockHours
}

func (b block) days() string {
	if b < blocksPerDay {
		return "weekdays"
	}
	return "weekend"
}

// baseline is how posts spread over the blocks in general: how many were counted in each, in how many hours.
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

// add counts one measurement. Its hours of the week are UTC's: each is brought to the zone as the zone was then.
func (b *baseline) add(s Sample, zone *time.Location) {
	weeks := math.Floor(days(s.At.Sub(s.From)) / 7)
	rest := s.From.Add(time.Duration(weeks) * hoursOfWeek * time.Hour)
	var exposed [hoursOfWeek]float64
	for at := rest; at.Before(s.At); {
		next := at.Truncate(time.Hour).Add(time.Hour)
		if next.After(s.At) {
			next = s.At
		}
		exposed[hourOfWeek(at)] += next.Sub(at).Hours()
		at = next
	}
	sunday := s.At.UTC().Truncate(24*time.Hour).AddDate(0, 0, -int(s.At.UTC().Weekday()))
	for hour := range hoursOfWeek {
		local := sunday.Add(time.Duration(hour) * time.Hour).In(zone)
		in := blockOf(local.Weekday(), local.Hour())
		b.counts[in] += float64(max(0, s.Hours[hour]))
		b.hours[in] += exposed[hour] + weeks
	}
}

// shares is which share of a week's posts each block has, and whether enough was counted to compare by it. Where it was
// not, each block's rate is drawn towards that of all hours, the more the fewer hours of it were counted.
func (b *baseline) shares() ([blocks]float64, bool) {
	var out [blocks]float64
	posts, hours, enough := 0.0, 0.0, true
	for i := range out {
		enough = enough && b.hours[i] >= minBlockHours
		posts += b.counts[i]
		hours += b.hours[i]
	}
	enough = enough && posts >= minBasePosts
	const half = 0.5 // a post, as much as the prior weighs
	drawn := 0.0     // hours at the rate of all that the prior weighs
	if !enough {
		drawn = half * (hours + half) / (posts + half)
	}
	sum := 0.0
	for i := range out {
		out[i] = (b.counts[i] + half) / (b.hours[i] + drawn) * block(i).hours()
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out, enough
}

// candidate is a block with how many times as many top posts come from it as posts in general, as a logarithm.
type candidate struct {
	block    block
	posts    float64 // top posts
	log, err float64
}

// low is the lower bound of the logarithm where all blocks are looked at.
func (c candidate) low() float64 { return c.log - bonferroniZ(blocks)*c.err }

// compareCandidates orders blocks by their lower bound; those with enough top posts for a claim are ahead of the others.
func compareCandidates(a, b candidate) int {
	return cmp.Or(cmp.Compare(min(a.posts, minSupport), min(b.posts, minSupport)), cmp.Compare(a.low(), b.low()))
}

// bestTime returns the block from which most more top posts come than its share of all posts, as far as they tell, and
// whether there was enough to compare. The block stands out if that can be claimed. It returns nil if fewer than leastTimed
// posts have a known time, or no top post has one.
func (s measuredPosts) bestTime(samples []Sample, zone *time.Location) (*result.BestTime, bool) {
	top, byDay, total := s.topByBlock(zone)
	if total == 0 || len(s.times(s.all)) < minTimedPosts {
		return nil, false
	}
	general := newBaseline(samples, zone)
	shares, enough := general.shares()
	enough = enough && total >= minTimedPosts
	var all []candidate
	for i := range shares {
		if top[i] > 0 {
			within := top[i] / total
			err := math.Sqrt((1-within)/top[i] + (1-shares[i])/(general.counts[i]+0.5))
			all = append(all, candidate{block(i), top[i], math.Log(within / shares[i]), err})
		}
	}
	best := slices.MaxFunc(all, compareCandidates)
	ratio, reach := math.Exp(best.log), math.Exp(normal95*best.err)
	out := best.block.best(byDay, int(best.posts), result.Ratio{Value: ratio, Low: ratio / reach, High: ratio * reach})
	out.StandsOut = enough && best.posts >= minSupport && best.low() > 0
	out.Low, out.High = result.ClampInterval(best.low(), 2*best.log-best.low())
	return out, enough
}

// topByBlock counts the top posts of known time by block, and in each block by day.
func (s measuredPosts) topByBlock(zone *time.Location) ([blocks]float64, [blocks][7]int, float64) {
	var top [blocks]float64
	var byDay [blocks][7]int
	total := 0.0
	for _, p := range s.top {
		if _, known := s.age(p); !known {
			continue
		}
		local := p.TakenAt.In(zone)
		in := blockOf(local.Weekday(), local.Hour())
		top[in]++
		byDay[in][local.Weekday()]++
		total++
	}
	return top, byDay, total
}

func (b block) best(byDay [blocks][7]int, posts int, ratio result.Ratio) *result.BestTime {
	day := time.Monday
	for _, d := range []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday, time.Saturday, time.Sunday} {
		if byDay[b][d] > byDay[b][day] {
			day = d
		}
	}
	return &result.BestTime{
		Weekday: strings.ToLower(day.String()), Hour: int(b) % blocksPerDay * blockHours, Hours: blockHours, Days: b.days(), Posts: posts, Ratio: ratio.Round(),
	}
}
