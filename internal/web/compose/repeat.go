package compose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/locale"
)

// repeat is the form's recurrence rule.
type repeat struct {
	Often string   // daily, weekly or monthly; empty for no recurrence
	Every string   // interval in days, weeks or months
	Days  []string // codes of weekdays for weekly recurrence, such as MO
	By    string   // for monthly recurrence: "day" for a weekday such as the second Tuesday; otherwise the date
	Ends  string   // "until" or "count"; otherwise the series does not end
	Until string   // last day, such as 2026-11-29
	Count string   // number of occurrences
}

// option is an option of a select field.
type option struct {
	Value string
	Name  locale.Key
}

// unit is the unit of a recurrence interval. Its option is empty for no recurrence.
type unit struct {
	option

	One         locale.Key // name of one unit; the option has the name of several
	Rule, Rules locale.Key // description of an interval of one unit, and of several
}

// frequencies returns the options for how often a post repeats.
func frequencies() []unit {
	return []unit{
		{option: option{"", "Does not repeat"}},
		{option{"daily", "days|interval"}, "day|interval", "Every day", "Every %s days"},
		{option{"weekly", "weeks|interval"}, "week|interval", "Every week", "Every %s weeks"},
		{option{"monthly", "months|interval"}, "month|interval", "Every month", "Every %s months"},
	}
}

// weekday is a day of the week.
type weekday struct {
	Code string
	Name locale.Key
}

// weekdays lists the days of the week, from Monday, with their codes in recurrence rules.
var weekdays = []weekday{
	{"MO", "Monday"}, {"TU", "Tuesday"}, {"WE", "Wednesday"}, {"TH", "Thursday"}, {"FR", "Friday"}, {"SA", "Saturday"},
	{"SU", "Sunday"},
}

// weekdaysOf returns the weekdays in order, starting with the first day of the week in the language.
func weekdaysOf(l *locale.Language) []weekday {
	first := (int(l.WeekStart()) + 6) % 7
	return slices.Concat(weekdays[first:], weekdays[:first])
}

// shortWeekday returns the short name of the weekday with the given code.
func shortWeekday(l *locale.Language, code string) string {
	i := slices.IndexFunc(weekdays, func(d weekday) bool { return d.Code == code })
	monday := time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC)
	return l.Format(monday.AddDate(0, 0, i), locale.ShortWeekday)
}

// codeOf returns a weekday's code in recurrence rules.
func codeOf(day time.Weekday) string { return weekdays[(int(day)+6)%7].Code }

const maxEvery, maxTimes = 99, 999

// rule returns the RRULE of a series that begins at begin, or "" for no recurrence. begin is in the series' time zone.
func (r repeat) rule(begin time.Time) (string, error) {
	every := number(r.Every)
	if r.Every == "" {
		every = 1
	}
	switch {
	case r.Often == "":
		return "", nil
	case !slices.Contains([]string{"daily", "weekly", "monthly"}, r.Often):
		return "", apierr.Invalid(apierr.NotAllowedValue, "repeat", "Choose how often the post repeats.")
	case every < 1 || every > maxEvery:
		return "", apierr.Invalidf(apierr.OutOfRange, "every", "Enter a whole number from 1 to %d.", maxEvery)
	}
	parts := []string{"FREQ=" + strings.ToUpper(r.Often)}
	if every > 1 {
		parts = append(parts, fmt.Sprintf("INTERVAL=%d", every))
	}
	switch r.Often {
	case "weekly":
		days := []string{}
		for _, day := range weekdays {
			if slices.Contains(r.Days, day.Code) {
				days = append(days, day.Code)
			}
		}
		if len(days) > 0 {
			parts = append(parts, "BYDAY="+strings.Join(days, ","))
		}
	case "monthly":
		parts = append(parts, r.monthDay(begin))
	}
	end, err := r.end()
	if err != nil {
		return "", err
	}
	return strings.Join(append(parts, end...), ";"), nil
}

// monthDay returns the part of a monthly rule that selects the same day of the month as begin. It selects the day by
// date or, if By is "day", by weekday. A series skips months that do not have the day.
func (r repeat) monthDay(begin time.Time) string {
	if r.By != "day" {
		return fmt.Sprintf("BYMONTHDAY=%d", begin.Day())
	}
	if last := begin.AddDate(0, 0, 7).Month() != begin.Month(); last {
		return "BYDAY=-1" + codeOf(begin.Weekday())
	}
	return fmt.Sprintf("BYDAY=%d%s", (begin.Day()-1)/7+1, codeOf(begin.Weekday()))
}

func (r repeat) end() ([]string, error) {
	switch r.Ends {
	case "until":
		day, err := time.Parse(dateOnly, r.Until)
		if err != nil {
			return nil, apierr.Invalid(apierr.Malformed, "until", "Choose the last day.").Wrap(err)
		}
		return []string{"UNTIL=" + day.Format("20060102")}, nil
	case "count":
		times := number(r.Count)
		if times < 1 || times > maxTimes {
			return nil, apierr.Invalidf(apierr.OutOfRange, "count", "Enter the number of posts, from 1 to %d.", maxTimes)
		}
		return []string{fmt.Sprintf("COUNT=%d", times)}, nil
	}
	return nil, nil
}

// zoneOf returns the time zone of a template's series.
func zoneOf(template post.Record) (*time.Location, error) {
	zone, err := time.LoadLocation(template.Series.Timezone)
	if err != nil {
		return nil, fmt.Errorf("reading the time zone of a series: %w", err)
	}
	return zone, nil
}

// ruleFor returns the form's rule for an existing series. It returns an error if the form has no recurrence, because
// the form cannot end a series.
func ruleFor(s formData, template post.Record) (string, error) {
	zone, err := zoneOf(template)
	if err != nil {
		return "", err
	}
	rule, err := s.Repeat.rule(template.ScheduledAt.In(zone))
	if err == nil && rule == "" {
		err = apierr.Invalid(apierr.MissingArgument, "repeat",
			"Choose how often the post repeats. To end the series, use “End the series” on its page.")
	}
	return rule, err
}

// repeatOf converts a rule to the form's fields. It is the inverse of rule. It ignores parts of a rule that have no
// field in the form.
func repeatOf(rule string) repeat {
	r := repeat{Every: "1"}
	for part := range strings.SplitSeq(rule, ";") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "FREQ":
			r.Often = strings.ToLower(value)
		case "INTERVAL":
			r.Every = value
		case "BYDAY":
			if r.Often == "monthly" {
				r.By = "day"
			} else {
				r.Days = strings.Split(value, ",")
			}
		case "COUNT":
			r.Ends, r.Count = "count", value
		case "UNTIL":
			if day, err := time.Parse("20060102", value[:min(8, len(value))]); err == nil {
				r.Ends, r.Until = "until", day.Format(dateOnly)
			}
		}
	}
	return r
}

// monthLabels returns the labels for monthly recurrence by date and by weekday. The series begins at begin.
func monthLabels(l *locale.Language, begin time.Time) (string, string) {
	date := l.T(onDay[ordinal(begin.Day())], begin.Day())
	day := weekdays[(int(begin.Weekday())+6)%7].Name
	if begin.AddDate(0, 0, 7).Month() != begin.Month() {
		return date, l.T("On the last %s of the month", day)
	}
	return date, l.T(onWeekday[(begin.Day()-1)/7], day)
}

var (
	// onDay maps the suffixes of ordinal numbers to labels for a day of the month.
	onDay = map[string]locale.Key{
		"st": "On the %dst of the month", "nd": "On the %dnd of the month", "rd": "On the %drd of the month",
		"th": "On the %dth of the month",
	}
	// onWeekday has the labels for the first to fourth occurrence of a weekday in a month.
	onWeekday = []locale.Key{
		"On the first %s of the month", "On the second %s of the month", "On the third %s of the month",
		"On the fourth %s of the month",
	}
)

func ordinal(n int) string {
	if n >= 11 && n <= 13 {
		return "th"
	}
	switch n % 10 {
	case 1:
		return "st"
	case 2:
		return "nd"
	case 3:
		return "rd"
	}
	return "th"
}
