package archtest

import (
	"slices"
	"testing"
)

// TestCheckerFails checks invented modules with at most one violation.
func TestCheckerFails(t *testing.T) {
	t.Parallel()
	layers := map[string][]string{"low": {"internal/low"}, "high": {"internal/high", "internal/other"}}
	rules := []rule{
		{from: names("low"), to: names("ours"), reason: "it is low"},
		{from: names("high"), to: names("high"), reason: "they are separate"},
		{from: names("ours"), notFrom: names("internal/low"), to: names("example.com/queue"), reason: "only low queues"},
		{from: names("high"), to: names("net/http"), inTests: true, reason: "no HTTP"},
	}
	valid := []dependency{
		{from: "internal/high", to: "internal/low", file: "a.go"},
		{from: "internal/low", to: "example.com/queue/v2", file: "b.go"},
		{from: "internal/high", to: "net/http", file: "c.go", constants: true},
		{from: "internal/low", to: "internal/high", file: "d_test.go", test: true},
	}
	allowed := exception{"internal/high", "internal/other", "they are friends"}
	for name, c := range map[string]struct {
		packages   []string
		more       []dependency
		exceptions []exception
		want       []string
	}{
		"no violation": {},
		"forbidden import": {
			more: []dependency{{from: "internal/low", to: "internal/high", file: "x.go"}},
			want: []string{"x.go imports internal/high: it is low"},
		},
		"import inside a layer": {
			more: []dependency{{from: "internal/high", to: "internal/other", file: "x.go"}},
			want: []string{"x.go imports internal/other: they are separate"},
		},
		"package of a forbidden module": {
			more: []dependency{{from: "internal/high", to: "example.com/queue/sub", file: "x.go"}},
			want: []string{"x.go imports example.com/queue/sub: only low queues"},
		},
		"another module": {more: []dependency{{from: "internal/high", to: "example.com/queues", file: "x.go"}}},
		"not only constants": {
			more: []dependency{{from: "internal/high", to: "net/http", file: "x.go"}}, want: []string{"x.go imports net/http: no HTTP"},
		},
		"rule for tests": {
			more: []dependency{{from: "internal/high", to: "net/http", file: "x_test.go", test: true}},
			want: []string{"x_test.go imports net/http: no HTTP"},
		},
		"exception": {
			more: []dependency{{from: "internal/high", to: "internal/other", file: "x.go"}}, exceptions: []exception{allowed},
		},
		"unused exception": {
			exceptions: []exception{allowed},
			want:       []string{"the exception internal/high -> internal/other is unused: remove it"},
		},
		"exception without a reason": {more: []dependency{{from: "internal/high", to: "internal/other", file: "x.go"}},
			exceptions: []exception{{"internal/high", "internal/other", ""}},
			want: []string{
				"the exception internal/high -> internal/other is unused: remove it",
				"x.go imports internal/other: they are separate",
			}},
		"package without a layer": {packages: []string{"internal/new"}, want: []string{"internal/new is in no layer: add it to layers"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := graph{
				packages: map[string]bool{"internal/low": true, "internal/high": true, "internal/other": true},
				imports:  slices.Concat(valid, c.more),
			}
			for _, p := range c.packages {
				g.packages[p] = true
			}
			if got := check(g, layers, rules, c.exceptions); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestCheckerFindsStaleNames checks that names in rules must exist.
func TestCheckerFindsStaleNames(t *testing.T) {
	t.Parallel()
	g := graph{packages: map[string]bool{"internal/low": true}}
	layers := map[string][]string{"low": {"internal/low"}, "high": {"internal/low", "internal/gone"}}
	rules := []rule{{from: names("low"), to: names("internal/away", "example.com/left", "ours")}}
	want := []string{
		"a rule names example.com/left, which does not exist",
		"a rule names internal/away, which does not exist",
		"internal/low is in two layers, high and low",
		"the layer high has internal/gone, which does not exist",
		"the rule against [low] -> [internal/away example.com/left ours] has no reason",
	}
	if got := check(g, layers, rules, nil); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
