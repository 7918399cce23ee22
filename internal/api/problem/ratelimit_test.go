package problem_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/api/problem"
	"pressroom.example/pressroom/internal/core/pipeline"
)

func TestSetRateLimits(t *testing.T) {
	t.Parallel()
	first := pipeline.Rate{Scope: "credential", Quota: 30, Window: 15 * time.Second, Remaining: 29, Reset: 500 * time.Millisecond}
	for name, tt := range map[string]struct {
		rates         []pipeline.Rate
		policy, limit string
	}{
		"none": {},
		"the first call": {
			[]pipeline.Rate{first},
			`"credential";q=30;w=15`, `"credential";r=29;t=1`,
		},
		"two limits": {
			[]pipeline.Rate{
				first, {Scope: "connection", Quota: 20, Window: 20 * time.Second, Remaining: 3, Reset: 16_001 * time.Millisecond},
			},
			`"credential";q=30;w=15, "connection";q=20;w=20`, `"credential";r=29;t=1, "connection";r=3;t=17`,
		},
		"refused": {
			[]pipeline.Rate{
				{
					Scope: "provider", Quota: 10, Window: 30 * time.Second, Reset: 30 * time.Second,
					Limited: true, RetryAfter: 2001 * time.Millisecond,
				},
			},
			`"provider";q=10;w=30`, `"provider";r=0;t=3`,
		},
		"full quota, window below a second": {
			[]pipeline.Rate{{Scope: "credential", Quota: 60_000_000, Window: time.Nanosecond, Remaining: 60_000_000}},
			`"credential";q=60000000;w=1`, `"credential";r=60000000;t=0`,
		},
		"no window": {
			[]pipeline.Rate{{Scope: "credential"}},
			`"credential";q=0;w=1`, `"credential";r=0;t=0`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := http.Header{}
			problem.SetRateLimits(h, tt.rates)
			if got := h.Get("RateLimit-Policy"); got != tt.policy {
				t.Errorf("RateLimit-Policy: %s, want %s", got, tt.policy)
			}
			if got := h.Get("RateLimit"); got != tt.limit {
				t.Errorf("RateLimit: %s, want %s", got, tt.limit)
			}
			if len(h) != min(2*len(tt.rates), 2) {
				t.Errorf("fields: %v", h)
			}
		})
	}
}

// The fields, parsed by RFC 9651, hold the rates.
func TestSetRateLimitsWritesStructuredFields(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rates := rapid.SliceOfN(rapid.Custom(rate), 1, 3).Draw(t, "rates")
		h := http.Header{}
		problem.SetRateLimits(h, rates)
		policies, limits := list(t, h.Get("RateLimit-Policy")), list(t, h.Get("RateLimit"))
		if len(policies) != len(rates) || len(limits) != len(rates) {
			t.Fatalf("%v", h)
		}
		for i, r := range rates {
			until := r.Reset
			if r.Limited {
				until = r.RetryAfter
			}
			policies[i].check(t, r.Scope, "q", r.Quota, "w", r.Window)
			limits[i].check(t, r.Scope, "r", r.Remaining, "t", until)
		}
	})
}

func BenchmarkSetRateLimits(b *testing.B) {
	rates := []pipeline.Rate{
		{Scope: "credential", Quota: 30, Window: 15 * time.Second, Remaining: 29, Reset: 500 * time.Millisecond},
		{Scope: "connection", Quota: 20, Window: 20 * time.Second, Remaining: 3, Reset: 16_001 * time.Millisecond},
	}
	h := http.Header{}
	b.ReportAllocs()
	for b.Loop() {
		problem.SetRateLimits(h, rates)
	}
}

func rate(t *rapid.T) pipeline.Rate {
	duration := func(name string) time.Duration {
		return time.Duration(rapid.Int64Range(1, int64(1000*time.Hour)).Draw(t, name))
	}
	return pipeline.Rate{
		Scope: rapid.SampledFrom([]pipeline.Scope{pipeline.PerCredential, pipeline.PerConnection, pipeline.PerProvider}).Draw(t, "scope"),
		Quota: rapid.IntRange(1, 1e9).Draw(t, "quota"), Remaining: rapid.IntRange(0, 1e9).Draw(t, "remaining"),
		Window: duration("window"), Reset: duration("reset"), RetryAfter: duration("retry"), Limited: rapid.Bool().Draw(t, "limited"),
	}
}

// item is a member of a list: a string with integer parameters.
type item struct {
	name       string
	parameters map[string]int64
}

// check compares an item with a rate. Its time is in seconds, rounded up.
func (i item) check(t *rapid.T, scope pipeline.Scope, count string, n int, length string, d time.Duration) {
	if i.name != string(scope) || len(i.parameters) != 2 || i.parameters[count] != int64(n) {
		t.Fatalf("%+v, want %s with %s=%d", i, scope, count, n)
	}
	if got := time.Duration(i.parameters[length]) * time.Second; got < d || got >= d+time.Second {
		t.Fatalf("%+v, want %s=%v", i, length, d)
	}
}

// list parses a structured field list (RFC 9651, 4.2.1) of strings with integer parameters.
func list(t *rapid.T, text string) []item {
	var items []item
	for {
		quoted, ok := strings.CutPrefix(text, `"`)
		name, rest, closed := strings.Cut(quoted, `"`)
		if !ok || !closed || strings.ContainsAny(name, `\`) {
			t.Fatalf("no string at %q", text)
		}
		i := item{name, map[string]int64{}}
		for strings.HasPrefix(rest, ";") {
			var key string
			key, rest, ok = strings.Cut(strings.TrimLeft(rest[1:], " "), "=")
			digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
			value, err := strconv.ParseInt(rest[:digits], 10, 64)
			if !ok || key == "" || strings.Trim(key, "abcdefghijklmnopqrstuvwxyz") != "" || err != nil || digits > 15 {
				t.Fatalf("no parameter at %q", rest)
			}
			i.parameters[key], rest = value, rest[digits:]
		}
		items = append(items, i)
		if rest == "" {
			return items
		}
		if text, ok = strings.CutPrefix(strings.TrimLeft(rest, " \t"), ","); !ok {
			t.Fatalf("no comma at %q", rest)
		}
		text = strings.TrimLeft(text, " \t")
	}
}
