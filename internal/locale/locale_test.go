package locale_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/testkit/must"
)

func TestFormat(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 27, 14, 30, 0, 0, time.UTC)
	weekly := []time.Time{at.AddDate(0, 0, 14), at.AddDate(0, 0, 21), at.AddDate(0, 0, 28), at.AddDate(0, 0, 35)}
	var missing *int64
	en, de := locale.English, locale.German
	for _, c := range [][3]string{
		{"date and time", en.Format(at, locale.DateTime), "Fri 27 Nov 2026, 14:30"},
		{"German date and time", de.Format(at, locale.DateTime), "Fr., 27. November 2026, 14:30"},
		{"German day", de.Format(at, locale.Day), "27. Nov. 2026"},
		{"German weekday", de.Format(at, locale.LongDate), "Freitag, 27. November 2026"},
		{"American date and time", locale.American.Format(at, locale.DateTime), "Fri, Nov 27, 2026, 2:30 PM"},
		{"American time", locale.American.Format(at, locale.Clock), "2:30 PM"},
		{"American hour", locale.American.FormatHour(at.Truncate(time.Hour)), "2 PM"},
		{"part of an American hour", locale.American.FormatHour(at), "2:30 PM"},
		{"English hour", locale.English.FormatHour(at.Truncate(time.Hour)), "14:00"},
		{"days", en.FormatDayRange(at, at.AddDate(0, 0, 2)), "27 – 29 November 2026"},
		{"German days", de.FormatDayRange(at, at.AddDate(0, 0, 2)), "27. – 29. November 2026"},
		{"American days", locale.American.FormatDayRange(at, at.AddDate(0, 0, 2)), "November 27 – 29, 2026"},
		{"day list", en.DayList(weekly), "11, 18, 25 Dec · 1 Jan"},
		{"American day list", locale.American.DayList(weekly), "Dec 11, 18, 25 · Jan 1"},
		{"German day list", de.DayList(weekly), "11., 18., 25. Dez. · 1. Jan."},
		{"one day", en.DayList(weekly[:1]), "11 Dec"},
		{"German layout", de.Layout(locale.ShortTime), "Mon, 2. January, 15:04"},
		{"layout", en.Layout(locale.ShortTime), string(locale.ShortTime)},
		{"American month", locale.American.Format(at, locale.Month), "November 2026"},
		{"count", en.Count(1234567), "1,234,567"}, {"German count", de.Count(-1234567), "−1.234.567"},
		{"rounded", en.Count(1.5), "2"}, {"missing", de.Count(missing), "–"},
		{"decimal", de.Decimal(1234.5, 1), "1234,5"}, {"percent", en.Percent(0.123), "12.3%"},
		{"German percent", de.Percent(0.123), "12,3\u00a0%"},
		{"size", en.Bytes(1536), "1.5 KB"}, {"German size", de.Bytes(1536), "1,5 KB"}, {"German bytes", de.Bytes(12), "12 Byte"},
		{"list", en.And([]string{"a", "b", "c"}), "a, b and c"}, {"German list", de.Or([]string{"a", "b"}), "a oder b"},
	} {
		if c[1] != c[2] {
			t.Errorf("%s: %q, want %q", c[0], c[1], c[2])
		}
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	en, de := locale.English, locale.German
	one, many := locale.Key("%d code is left."), locale.Key("%d codes are left.")
	for _, c := range [][2]string{
		{en.T("Keep|setting"), "Keep"}, {de.T("Keep|setting"), "Behalten"}, {de.T("No such text"), "No such text"},
		{en.T("100%"), "100%"}, {en.N(1, one, many), "1 code is left."}, {en.N(0, one, many), "0 codes are left."},
		{en.N(1001, one, many), "1,001 codes are left."}, {de.N(1, one, many), "Noch 1 Code ist übrig."},
		{de.N(1001, one, many), "Noch 1.001 Codes sind übrig."},
		{string(en.H("Join <bdi>%s</bdi>", "<b>")), "Join <bdi>&lt;b&gt;</bdi>"},
		{string(de.H("Join <bdi>%s</bdi>", "<b>")), "<bdi>&lt;b&gt;</bdi> beitreten"},
	} {
		if c[0] != c[1] {
			t.Errorf("%q, want %q", c[0], c[1])
		}
	}
}

// German texts address people formally.
func TestGermanAddress(t *testing.T) {
	informal := regexp.MustCompile(`\b(?i:du|dich|dir|dein(?:e[mnrs]?)?)\b|(?:^|, |\. )(?i:gib|wähle|lass|prüfe|verbinde|öffne)\b`)
	files := must.Get(filepath.Glob("de/*.json"))(t)
	if len(files) < 10 {
		t.Fatalf("found %d files", len(files))
	}
	for _, file := range files {
		var texts map[string]any
		must.NoError(t, json.Unmarshal(must.Get(os.ReadFile(file))(t), &texts))
		for key, text := range texts {
			if found := informal.FindString(fmt.Sprint(text)); found != "" {
				t.Errorf("%s: %q has %q", file, key, found)
			}
		}
	}
}

// Dates in American format require a browser that prefers en-US.
func TestMatchRegion(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]*locale.Language{
		"": locale.English, "en": locale.English, "en-GB,en;q=0.9": locale.English, "en-AU": locale.English,
		"en-US,en;q=0.9": locale.American, "en;q=0.8,en-US": locale.American, "de-AT,en-US;q=0.5": locale.German, "fr": locale.English,
	} {
		if got := locale.Match(header); got != want {
			t.Errorf("%q: %s, want %s", header, got.Tag, want.Tag)
		}
	}
}
