package posts

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/locale"
)

func TestRuleWords(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		"FREQ=DAILY":                              "Every day",
		"FREQ=WEEKLY;BYDAY=MO,WE,FR":              "Every week on Monday, Wednesday and Friday",
		"FREQ=WEEKLY;INTERVAL=2;BYDAY=SU;COUNT=1": "Every 2 weeks on Sunday, once",
		"FREQ=MONTHLY;BYMONTHDAY=1,-1;COUNT=12":   "Every month on the 1st and last day, 12 times",
		"FREQ=MONTHLY;BYMONTHDAY=2,13,23,-3":      "Every month on the 2nd, 13th, 23rd and 3rd-to-last day",
		"FREQ=MONTHLY;BYDAY=-1FR,+2TU":            "Every month on the last Friday and the second Tuesday",
		"FREQ=DAILY;UNTIL=20270301T090000Z":       "Every day, until 1 March 2027",
		"something else":                          "something else",
	} {
		if got := ruleWords(locale.English, rule); got != want {
			t.Errorf("%s: %q, want %q", rule, got, want)
		}
	}
}

func TestRuleWordsInGerman(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		"FREQ=WEEKLY;BYDAY=MO,WE,FR":              "Jede Woche am Montag, Mittwoch und Freitag",
		"FREQ=WEEKLY;INTERVAL=2;BYDAY=SU;COUNT=1": "Alle 2 Wochen am Sonntag, einmal",
		"FREQ=MONTHLY;BYMONTHDAY=1,-1;COUNT=12":   "Jeden Monat am 1. und letzten Tag, 12-mal",
		"FREQ=MONTHLY;BYMONTHDAY=15,-3":           "Jeden Monat am 15. und 3.-letzten Tag",
		"FREQ=MONTHLY;BYDAY=-1FR,+2TU":            "Jeden Monat am letzten Freitag und zweiten Dienstag",
		"FREQ=DAILY;UNTIL=20270301T090000Z":       "Jeden Tag, bis 1. März 2027",
	} {
		if got := ruleWords(locale.German, rule); got != want {
			t.Errorf("%s: %q, want %q", rule, got, want)
		}
	}
}

func TestWebAddress(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://bsky.app/profile/a/post/b": "https://bsky.app/profile/a/post/b", "http://localhost:1/x": "http://localhost:1/x",
		"javascript:alert(1)": "", "/posts": "", "//evil.example": "", "https://": "", "": "",
	} {
		if got := webAddress(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestNear(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	for wait, want := range map[time.Duration]string{
		-time.Minute: "in a moment", 0: "in a moment", time.Second: "in 1 second",
		19_600 * time.Millisecond: "in 20 seconds", 119 * time.Second: "in 119 seconds", 2 * time.Minute: "",
	} {
		if got := countdown(locale.English, now, now.Add(wait)); got != want {
			t.Errorf("%s: %q, want %q", wait, got, want)
		}
	}
}
