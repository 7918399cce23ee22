package archtest

import (
	"slices"
	"testing"
)

// The checker is no use if it cannot fail: each case is a made-up module with one thing wrong, or nothing.
func TestCheckerFails(t *testing.T) {
	t.Parallel()
	rooms := map[string][]string{"low": {"internal/low"}, "high": {"internal/high", "internal/other"}}
	rules := []rule{
		{who: names("low"), what: names("ours"), why: "it is low"},
		{who: names("high"), what: names("high"), why: "they are apart"},
		{who: names("ours"), notWho: names("internal/low"), what: names("example.com/queue"), why: "low alone queues"},
		{who: names("high"), what: names("net/http"), inTests: true, why: "no HTTP"},
	}
	sound := []arrow{
		{from: "internal/high", to: "internal/low", file: "a.go"},
		{from: "internal/low", to: "example.com/queue/v2", file: "b.go"},
		{from: "internal/high", to: "net/http", file: "c.go", words: true},
		{from: "internal/low", to: "internal/high", file: "d_test.go", test: true},
	}
	excepted := exception{"internal/high", "internal/other", "they are friends"}
	for name, c := range map[string]struct {
		packages   []string
		more       []arrow
		exceptions []exception
		want       []string
	}{
		"nothing wrong": {},
		"a forbidden import": {
			more: []arrow{{from: "internal/low", to: "internal/high", file: "x.go"}},
			want: []string{"x.go imports internal/high: it is low"},
		},
		"inside a room": {
			more: []arrow{{from: "internal/high", to: "internal/other", file: "x.go"}},
			want: []string{"x.go imports internal/other: they are apart"},
		},
		"a module's package": {
			more: []arrow{{from: "internal/high", to: "example.com/queue/sub", file: "x.go"}},
			want: []string{"x.go imports example.com/queue/sub: low alone queues"},
		},
		"another module": {more: []arrow{{from: "internal/high", to: "example.com/queues", file: "x.go"}}},
		"more than words": {
			more: []arrow{{from: "internal/high", to: "net/http", file: "x.go"}}, want: []string{"x.go imports net/http: no HTTP"},
		},
		"in a test as well": {
			more: []arrow{{from: "internal/high", to: "net/http", file: "x_test.go", test: true}},
			want: []string{"x_test.go imports net/http: no HTTP"},
		},
		"excepted": {
			more: []arrow{{from: "internal/high", to: "internal/other", file: "x.go"}}, exceptions: []exception{excepted},
		},
		"an unused exception": {
			exceptions: []exception{excepted},
			want:       []string{"the exception internal/high -> internal/other is not used any more: take it away"},
		},
		"no reason": {more: []arrow{{from: "internal/high", to: "internal/other", file: "x.go"}},
			exceptions: []exception{{"internal/high", "internal/other", ""}},
			want: []string{
				"the exception internal/high -> internal/other is not used any more: take it away",
				"x.go imports internal/other: they are apart",
			}},
		"a new package": {packages: []string{"internal/new"}, want: []string{"internal/new is in no room: say in rooms where it belongs"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := graph{
				packages: map[string]bool{"internal/low": true, "internal/high": true, "internal/other": true},
				arrows:   slices.Concat(sound, c.more),
			}
			for _, p := range c.packages {
				g.packages[p] = true
			}
			if got := check(g, rooms, rules, c.exceptions); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// Rules that name what is gone forbid nothing, so they are complaints too.
func TestCheckerFindsStaleNames(t *testing.T) {
	t.Parallel()
	g := graph{packages: map[string]bool{"internal/low": true}}
	rooms := map[string][]string{"low": {"internal/low"}, "high": {"internal/low", "internal/gone"}}
	rules := []rule{{who: names("low"), what: names("internal/away", "example.com/left", "ours")}}
	want := []string{
		"a rule names example.com/left, which does not exist any more",
		"a rule names internal/away, which does not exist any more",
		"internal/low is in two rooms, high and low",
		"the room high names internal/gone, which does not exist any more",
		"the rule against [low] -> [internal/away example.com/left ours] has no reason",
	}
	if got := check(g, rooms, rules, nil); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
