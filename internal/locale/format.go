package locale

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Layout identifies how a date or time is written by its English layout, in the notation of package time. Each language
// can define its own layout for it.
type Layout string

// The layouts.
const (
	DateTime     Layout = "Mon 2 Jan 2006, 15:04"
	Date         Layout = "Mon 2 Jan 2006"
	Day          Layout = "2 Jan 2006"
	ShortDay     Layout = "2 Jan"
	LongDate     Layout = "Monday 2 January 2006"
	LongDay      Layout = "2 January 2006"
	MailDate     Layout = "January 2, 2006"
	WeekdayDate  Layout = "Monday 2 January"
	ClockOnDay   Layout = "15:04 on Monday 2 January"
	ClockOnDate  Layout = "15:04 on Monday 2 January 2006"
	Month        Layout = "January 2006"
	ShortMonth   Layout = "Jan 2006"
	Weekday      Layout = "Monday"
	ShortWeekday Layout = "Mon"
	Clock        Layout = "15:04"
	ShortTime    Layout = "Mon 2 Jan, 15:04"
	ShortDate    Layout = "Mon 2 Jan"
	ShortName    Layout = "Jan"
	DayNumber    Layout = "2"
)

// Instant is a time that is passed as an argument to a text. It is formatted in the text's language.
type Instant struct {
	time.Time

	Layout Layout
}

// String returns the time in English.
func (i Instant) String() string { return English.Format(i.Time, i.Layout) }

// format defines how a language writes dates and numbers, and on which day its weeks start.
type format struct {
	layouts                   map[Layout]string // only layouts that differ from English
	months, weekdays          []string          // nil for English
	shortMonths               []string
	shortWeekdays             []string
	thousands, decimalPoint   string
	percent                   string
	weekStart                 time.Weekday
	andWord, orWord, byteName string
}

var englishFormat = format{
	thousands: ",", decimalPoint: ".", percent: "%", andWord: " and ", orWord: " or ", byteName: "bytes", weekStart: time.Monday,
}

// americanFormat writes dates and starts weeks as the Unicode CLDR does for en-US.
var americanFormat = format{
	layouts: map[Layout]string{
		DateTime: "Mon, Jan 2, 2006, 3:04 PM", Date: "Mon, Jan 2, 2006", Day: "Jan 2, 2006", ShortDay: "Jan 2",
		LongDate: "Monday, January 2, 2006", LongDay: "January 2, 2006", WeekdayDate: "Monday, January 2",
		ClockOnDay: "3:04 PM on Monday, January 2", ClockOnDate: "3:04 PM on Monday, January 2, 2006", Clock: "3:04 PM",
		ShortTime: "Mon, Jan 2, 3:04 PM", ShortDate: "Mon, Jan 2",
	},
	thousands: ",", decimalPoint: ".", percent: "%", andWord: " and ", orWord: " or ", byteName: "bytes", weekStart: time.Sunday,
}

var germanFormat = format{
	layouts: map[Layout]string{
		DateTime: "Mon, 2. January 2006, 15:04", Date: "Mon, 2. January 2006", Day: "2. Jan 2006", ShortDay: "2. Jan",
		LongDate: "Monday, 2. January 2006", LongDay: "2. January 2006", Month: "January 2006", ShortMonth: "Jan 2006",
		MailDate: "2. January 2006", WeekdayDate: "Monday, 2. January", ClockOnDay: "Monday, 2. January, 15:04 Uhr",
		ClockOnDate: "Monday, 2. January 2006, um 15:04 Uhr", Weekday: "Monday", ShortWeekday: "Mon", Clock: "15:04",
		ShortTime: "Mon, 2. January, 15:04", ShortDate: "Mon, 2. January", ShortName: "Jan", DayNumber: "2.",
	},
	months: []string{"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober",
		"November", "Dezember"},
	shortMonths:   []string{"Jan.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sept.", "Okt.", "Nov.", "Dez."},
	weekdays:      []string{"Sonntag", "Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag"},
	shortWeekdays: []string{"So.", "Mo.", "Di.", "Mi.", "Do.", "Fr.", "Sa."},
	thousands:     ".", decimalPoint: ",", percent: "\u00a0%", andWord: " und ", orWord: " oder ", byteName: "Byte",
	weekStart: time.Monday,
}

// layoutNames matches the words of a layout. Longer words come first, because the first alternative that matches wins.
var layoutNames = regexp.MustCompile(`Monday|Mon|January|Jan`)

// Format formats a time in the language's form of a layout.
func (l *Language) Format(at time.Time, layout Layout) string {
	localLayout := l.Layout(layout)
	if l.conventions.months == nil {
		return at.Format(localLayout)
	}
	var out strings.Builder
	rest := localLayout
	for rest != "" {
		match := layoutNames.FindStringIndex(rest)
		if match == nil {
			break
		}
		out.WriteString(at.Format(rest[:match[0]]))
		switch rest[match[0]:match[1]] {
		case "Monday":
			out.WriteString(l.conventions.weekdays[at.Weekday()])
		case "Mon":
			out.WriteString(l.conventions.shortWeekdays[at.Weekday()])
		case "January":
			out.WriteString(l.conventions.months[at.Month()-1])
		default:
			out.WriteString(l.conventions.shortMonths[at.Month()-1])
		}
		rest = rest[match[1]:]
	}
	return out.String() + at.Format(rest)
}

// FormatHour formats the time when an hour starts, such as 09:00 or 9 AM.
func (l *Language) FormatHour(at time.Time) string {
	if l == American && at.Minute() == 0 {
		return at.Format("3 PM")
	}
	return l.Format(at, Clock)
}

// WeekStart returns the day on which weeks start.
func (l *Language) WeekStart() time.Weekday { return l.conventions.weekStart }

// StartOfWeek returns the first day of the week that contains a day.
func (l *Language) StartOfWeek(day time.Time) time.Time {
	return day.AddDate(0, 0, -(int(day.Weekday()-l.WeekStart())+7)%7)
}

// FormatDayRange formats a range of days within one month, such as 23 – 29 November 2026.
func (l *Language) FormatDayRange(from, to time.Time) string {
	if l == American {
		return l.Format(from, "January 2") + " – " + l.Format(to, "2, 2006")
	}
	return l.Format(from, DayNumber) + " – " + l.Format(to, LongDay)
}

// DayList formats a list of days. It writes each month only once, as in 5, 12, 19 Dec · 2 Jan.
func (l *Language) DayList(days []time.Time) string {
	var out strings.Builder
	for i, day := range days {
		isFirstOfMonth := i == 0 || day.Month() != days[i-1].Month() || day.Year() != days[i-1].Year()
		isLastOfMonth := i == len(days)-1 || day.Month() != days[i+1].Month() || day.Year() != days[i+1].Year()
		switch {
		case isFirstOfMonth && i > 0:
			out.WriteString(" · ")
		case i > 0:
			out.WriteString(", ")
		}
		layout := DayNumber
		if l == American && isFirstOfMonth || l != American && isLastOfMonth {
			layout = ShortDay
		}
		out.WriteString(l.Format(day, layout))
	}
	return out.String()
}

// Layout returns the language's own layout for a date, in the notation of package time.
func (l *Language) Layout(layout Layout) string {
	if own, ok := l.conventions.layouts[layout]; ok {
		return own
	}
	return string(layout)
}

// Count formats a number as an integer with thousands separators, or as a dash if it is a nil pointer. It formats
// values that are not numbers with fmt.Sprint.
func (l *Language) Count(value any) string {
	n, ok := roundToInt64(value)
	if !ok {
		if isNumber(value) {
			return "–"
		}
		return fmt.Sprint(value)
	}
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "−", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + l.conventions.thousands + digits[i:]
	}
	return sign + digits
}

// Decimal formats a number with a fixed number of decimals, such as 2.5.
func (l *Language) Decimal(n float64, decimals int) string {
	return l.LocalizeDecimal(strconv.FormatFloat(n, 'f', decimals, 64))
}

// LocalizeDecimal replaces a number's decimal point with the language's decimal separator. The number must not contain
// thousands separators.
func (l *Language) LocalizeDecimal(number string) string {
	return strings.Replace(number, ".", l.conventions.decimalPoint, 1)
}

// Percent formats a fraction as a percentage with one decimal: 0.123 as 12.3%.
func (l *Language) Percent(fraction float64) string {
	return l.Decimal(fraction*100, 1) + l.conventions.percent
}

// Bytes formats a size in decimal units, as most systems do.
func (l *Language) Bytes(n int64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "KB"}} {
		amount := float64(n) / unit.size
		switch {
		case amount >= 9.95:
			return fmt.Sprintf("%.0f %s", amount, unit.name)
		case amount >= .9995:
			return l.LocalizeDecimal(strings.TrimSuffix(fmt.Sprintf("%.1f", amount), ".0")) + " " + unit.name
		}
	}
	return fmt.Sprintf("%d %s", n, l.conventions.byteName)
}

// And joins words with commas and "and": a, b and c.
func (l *Language) And(words []string) string { return join(words, l.conventions.andWord) }

// Or joins words with commas and "or": a, b or c.
func (l *Language) Or(words []string) string { return join(words, l.conventions.orWord) }

func join(words []string, conjunction string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + conjunction + words[len(words)-1]
}

// indexedNumberVerb matches the verb for a number with an argument index, such as %[1]d.
var indexedNumberVerb = regexp.MustCompile(`%(\[\d+\])d`)

// isNumber reports whether a value has one of the number types that pages show.
func isNumber(value any) bool {
	switch value.(type) {
	case int, int64, *int64, float64, *float64:
		return true
	}
	return false
}

// roundToInt64 returns a number rounded to an integer. It returns false for nil pointers and for values that are not
// numbers.
func roundToInt64(value any) (int64, bool) {
	switch v := value.(type) {
	case int:
		return int64(v), true
	case int64:
		return v, true
	case *int64:
		if v != nil {
			return *v, true
		}
	case float64:
		return int64(v + 0.5), true
	case *float64:
		if v != nil {
			return int64(*v + 0.5), true
		}
	case fmt.Stringer, nil:
	default:
		if number := reflect.ValueOf(value); number.CanInt() {
			return number.Int(), true
		}
	}
	return 0, false
}
