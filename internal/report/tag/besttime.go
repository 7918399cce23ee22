package tag

import (
	"math"
	"strings"
	"time"

	"pressroom/internal/report/finding"
)

const (
	blockHours   = 4
	blocksPerDay = 24 / blockHours
	blocks       = 2 * blocksPerDay // of the weekdays, then of the weekend
	// leastExposed is for how many hours of each block posts have to have been counted, leastBase how many in all.
	leastExposed = 4
	leastBase    = 50
	// leastTimed is how many top posts of known time it takes.
	leastTimed = 30
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

// base is how posts spread over the blocks in general: how many were counted in each, in how many hours.
type base struct{ counts, hours [blocks]float64 }

func baseOf(samples []Sample, zone *time.Location) base {
	var out base
	for _, s := range apart(samples) {
		if len(s.Hours) == hoursOfWeek {
			out.add(s, zone)
		}
	}
	return out
}

// add counts one measurement. Its hours of the week are UTC's: each is brought to the zone as the zone was then.
func (b *base) add(s Sample, zone *time.Location) {
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

// shares is which share of a week's posts each block has. It is false where too little was counted.
func (b *base) shares() ([blocks]float64, bool) {
	var out [blocks]float64
	posts, sum := 0.0, 0.0
	for i := range out {
		if b.hours[i] < leastExposed {
			return out, false
		}
		posts += b.counts[i]
		out[i] = (b.counts[i] + 0.5) / b.hours[i] * block(i).hours()
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out, posts >= leastBase
}

// bestTime is the block from which most more top posts come than its share of all posts, where it can be claimed that
// they do; nil otherwise. compared tells whether there was enough to compare.
func (s shown) bestTime(samples []Sample, zone *time.Location) (best *finding.BestTime, compared bool) { //nolint:nonamedreturns // of two results the names say which
	general := baseOf(samples, zone)
	shares, ok := general.shares()
	top, byDay, total := s.timed(zone)
	if !ok || total < leastTimed {
		return nil, false
	}
	z, least := strict(blocks), 1.0
	for i := range shares {
		if top[i] < support {
			continue
		}
		within := top[i] / total
		ratio := within / shares[i]
		err := math.Sqrt((1-within)/top[i] + (1-shares[i])/(general.counts[i]+0.5))
		if low := ratio * math.Exp(-z*err); low > least {
			least = low
			reach := math.Exp(normal95 * err)
			best = block(i).best(byDay, int(top[i]), finding.Ratio{Value: ratio, Low: ratio / reach, High: ratio * reach})
		}
	}
	return best, true
}

// timed counts the top posts of known time by block, and in each block by day.
func (s shown) timed(zone *time.Location) ([blocks]float64, [blocks][7]int, float64) {
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

func (b block) best(byDay [blocks][7]int, posts int, ratio finding.Ratio) *finding.BestTime {
	day := time.Monday
	for _, d := range []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday, time.Saturday, time.Sunday} {
		if byDay[b][d] > byDay[b][day] {
			day = d
		}
	}
	return &finding.BestTime{
		Weekday: strings.ToLower(day.String()), Hour: int(b) % blocksPerDay * blockHours, Hours: blockHours, Days: b.days(), Posts: posts, Ratio: ratio.Rounded(),
	}
}
