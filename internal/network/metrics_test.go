package network_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
)

func TestNewest(t *testing.T) {
	t.Parallel()
	at := func(minute int) time.Time { return time.Date(2026, 11, 21, 9, minute, 0, 0, time.UTC) }
	posts := func(minutes ...int) []network.CollectedPost {
		var out []network.CollectedPost
		for _, minute := range minutes {
			out = append(out, network.CollectedPost{ID: string(rune('a' + minute)), PostedAt: at(minute)})
		}
		return out
	}
	for name, c := range map[string]struct {
		given []network.CollectedPost
		since time.Time
		most  int
		want  []network.CollectedPost
	}{
		"in order":       {posts(3, 2, 1), at(0), 9, posts(3, 2, 1)},
		"out of order":   {posts(1, 3, 2), at(0), 9, posts(3, 2, 1)},
		"twice":          {posts(3, 2, 2, 1, 3), at(0), 9, posts(3, 2, 1)},
		"the moment":     {posts(3, 2, 1), at(2), 9, posts(3, 2)},
		"at most":        {posts(1, 2, 3), at(0), 2, posts(3, 2)},
		"none":           {posts(1), at(0), 0, nil},
		"negative limit": {posts(1), at(0), -1, nil},
		"nothing":        {nil, time.Time{}, 9, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := network.Newest(c.given, c.since, c.most); len(got) != len(c.want) || !cmp.Equal(got, c.want) && len(got) > 0 {
				t.Error(cmp.Diff(c.want, got))
			}
		})
	}
}

func TestNonNegativeAndSum(t *testing.T) {
	t.Parallel()
	one, two, unknown := new(int64(1)), new(int64(2)), new(int64(-1))
	if network.NonNegative(nil) != nil || network.NonNegative(unknown) != nil || *network.NonNegative(one) != 1 ||
		*network.NonNegative(new(int64)) != 0 {
		t.Error("a known metric is changed, or an unknown one is known")
	}
	for name, c := range map[string]struct {
		given []*int64
		want  *int64
	}{
		"nothing": {nil, nil}, "unknown": {[]*int64{nil, unknown}, nil}, "one": {[]*int64{nil, one}, one},
		"both": {[]*int64{one, two}, new(int64(3))},
	} {
		if diff := cmp.Diff(c.want, network.Sum(c.given...)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if *one != 1 {
		t.Error("Sum changed a summand")
	}
}

func TestIsWithheld(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err      error
		withheld bool
		listing  network.ErrorClass // class of the same error when listing posts
	}{
		"nothing":          {nil, false, ""},
		"another error":    {errors.New("x"), false, ""},
		"without status":   {network.PermanentError(errors.New("x")), false, network.Rejected},
		"rejected":         {&network.Error{Class: network.Rejected, Status: 400}, true, network.Rejected},
		"app not approved": {&network.Error{Class: network.AppNotApproved, Status: 403}, true, network.AppNotApproved},
		"forbidden":        {&network.Error{Class: network.ReconnectRequired, Status: 403}, true, network.AppNotApproved},
		"revoked token":    {&network.Error{Class: network.ReconnectRequired, Status: 401}, false, network.ReconnectRequired},
		"expired token":    {&network.Error{Class: network.RefreshRequired, Status: 401}, false, network.RefreshRequired},
		"too often":        {&network.Error{Class: network.RateLimited, Status: 429}, false, network.RateLimited},
		"a failure":        {&network.Error{Class: network.Transient, Status: 500}, false, network.Transient},
	} {
		listing := network.DowngradeForbidden(c.err)
		netErr, _ := errors.AsType[*network.Error](listing)
		if network.IsWithheld(c.err) != c.withheld || (listing == nil) != (c.err == nil) ||
			netErr != nil && netErr.Class != c.listing {
			t.Errorf("%s: withheld %v, listing %v", name, network.IsWithheld(c.err), listing)
		}
	}
}

func TestSupportedMetrics(t *testing.T) {
	t.Parallel()
	rejected, rate := &network.Error{Class: network.Rejected, Status: 400}, &network.Error{Class: network.RateLimited,
		Status: 429}
	forbidden := &network.Error{Class: network.ReconnectRequired, Status: 403}
	for name, c := range map[string]struct {
		bad   string // rejected in every request
		other map[string]error
		want  []string
		err   error
		calls int
	}{
		"all":                       {"", nil, []string{"a", "b", "c"}, nil, 1},
		"one metric removed":        {"b", nil, []string{"a", "c"}, nil, 4},
		"one metric forbidden":      {"b", map[string]error{"c": forbidden}, []string{"a"}, nil, 4},
		"rate limit during retries": {"a", map[string]error{"b": rate}, nil, rate, 3},
		"all metrics forbidden":     {"", map[string]error{"abc": forbidden}, []string{"a", "b", "c"}, forbidden, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			got, err := network.SupportedMetrics([]string{"a", "b", "c"}, func(names []string) error {
				calls++
				joined := ""
				for _, name := range names {
					joined += name
				}
				if slices.Contains(names, c.bad) {
					return rejected
				}
				return c.other[joined]
			})
			if !slices.Equal(got, c.want) || !errors.Is(err, c.err) || calls != c.calls {
				t.Errorf("%q in %d calls, %v", got, calls, err)
			}
		})
	}
}
