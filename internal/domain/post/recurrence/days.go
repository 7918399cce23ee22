package recurrence

import (
	"iter"
	"strconv"
	"strings"
	"time"
)

// days holds the parts of a rule that select days.
type days struct {
	frequency string // DAILY, WEEKLY or MONTHLY
	interval  int    // selects every interval-th day, week or month
	weekdays  []weekday
	monthDays []int // negative days count from the end of the month
	count     int   // maximum number of occurrences; 0 means no limit
}

// weekday is a value of BYDAY.
type weekday struct {
	day     time.Weekday
	ordinal int // 2 is the second one of the month, -1 is the last one, and 0 is every one
}

var weekdayCodes = map[string]time.Weekday{"SU": time.Sunday, "MO": time.Monday, "TU": time.Tuesday,
	"WE": time.Wednesday, "TH": time.Thursday, "FR": time.Friday, "SA": time.Saturday}

// newDays returns the days of a rule from its parts, which must be valid. A rule without BYDAY and BYMONTHDAY takes the
// weekday or the day of the month from its start (RFC 5545, section 3.3.10).
func newDays(parts map[string]string, start time.Time) days {
	d := days{frequency: parts["FREQ"], interval: max(1, number(parts["INTERVAL"])), count: number(parts["COUNT"])}
	for code := range split(parts["BYDAY"]) {
		ordinal := number(code[:len(code)-2])
		d.weekdays = append(d.weekdays, weekday{weekdayCodes[code[len(code)-2:]], ordinal})
	}
	for day := range split(parts["BYMONTHDAY"]) {
		d.monthDays = append(d.monthDays, number(day))
	}
	switch {
	case len(d.weekdays) > 0 || len(d.monthDays) > 0:
	case d.frequency == "WEEKLY":
		d.weekdays = []weekday{{day: start.Weekday()}}
	case d.frequency == "MONTHLY":
		d.monthDays = []int{start.Day()}
	}
	return d
}

// split returns the values of a list, which may be empty.
func split(list string) iter.Seq[string] {
	if list == "" {
		return func(func(string) bool) {}
	}
	return strings.SplitSeq(list, ",")
}

// number returns the number in a part of a rule, or 0 if the part is absent. The part must be valid.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// after iterates over the occurrences from a start, in order. Times are wall-clock times, represented in UTC.
func (d days) after(start time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		n, empty := 0, 0
		for first := d.firstDay(start); first.Year() <= 9999 && empty < d.cycle(); first = d.move(first, d.interval) {
			next := d.move(first, 1)
			empty++
			for day := first; day.Before(next); day = day.AddDate(0, 0, 1) {
				if day.Before(start) || !d.include(day) {
					continue
				}
				if n++; !yield(day) || n == d.count {
					return
				}
				empty = 0
			}
		}
	}
}

// cycle returns the number of periods after which the rule repeats. The calendar repeats after 400 years, which have
// 146,097 days or 20,871 weeks. A rule that selects no day in these periods never selects a day.
func (d days) cycle() int {
	if d.frequency == "MONTHLY" {
		return 400 * 12
	}
	return 146_097
}

// firstDay returns the first day of the period (day, week or month) that contains start. Weeks begin on Monday.
func (d days) firstDay(start time.Time) time.Time {
	switch d.frequency {
	case "WEEKLY":
		return start.AddDate(0, 0, -(int(start.Weekday())+6)%7)
	case "MONTHLY":
		return start.AddDate(0, 0, 1-start.Day())
	}
	return start
}

// move returns the first day of the period that is n periods later.
func (d days) move(first time.Time, n int) time.Time {
	switch d.frequency {
	case "WEEKLY":
		return first.AddDate(0, 0, 7*n)
	case "MONTHLY":
		return first.AddDate(0, n, 0)
	}
	return first.AddDate(0, 0, n)
}

// include reports whether the rule selects a day within a selected period.
func (d days) include(day time.Time) bool {
	last := day.AddDate(0, 1, -day.Day()).Day()
	return d.includeWeekday(day, last) && d.includeMonthDay(day.Day(), last)
}

// includeWeekday reports whether BYDAY selects a day. last is the number of days in its month.
func (d days) includeWeekday(day time.Time, last int) bool {
	fromStart, fromEnd := (day.Day()+6)/7, -(last-day.Day()+7)/7
	for _, w := range d.weekdays {
		if w.day == day.Weekday() && (w.ordinal == 0 || w.ordinal == fromStart || w.ordinal == fromEnd) {
			return true
		}
	}
	return len(d.weekdays) == 0
}

// includeMonthDay reports whether BYMONTHDAY selects a day of a month. last is the number of days in the month.
func (d days) includeMonthDay(day, last int) bool {
	for _, m := range d.monthDays {
		if m == day || m == day-last-1 {
			return true
		}
	}
	return len(d.monthDays) == 0
}
