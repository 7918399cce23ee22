package delivery

import (
	"testing"
	"time"

	"pressroom/internal/network"
)

// What an account shows is given to the post of its text whose time is nearest, each to one; what only begins alike is for
// a person to decide, and so is what has no words.
func TestMatch(t *testing.T) {
	t.Parallel()
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	going := func(text string, minutes int) *doubt {
		return &doubt{Reckoned: Reckoned{Due: at(minutes)}, text: text, asked: true, verdict: network.Absent}
	}
	shown := func(text string, minutes int) network.Figures {
		return network.Figures{ID: text, URL: "https://example.test/" + text, Text: text, PostedAt: at(minutes)}
	}
	for name, c := range map[string]struct {
		going  []*doubt
		listed []network.Figures
		want   []network.Verdict
	}{
		"nothing listed":        {[]*doubt{going("bread", 0)}, nil, []network.Verdict{network.Absent}},
		"the text":              {[]*doubt{going("bread", 0), going("fish", 0)}, []network.Figures{shown("fish", 1)}, []network.Verdict{network.Absent, network.Stands}},
		"the nearest":           {[]*doubt{going("bread", 0), going("bread", 60), going("bread", 120)}, []network.Figures{shown("bread", 61)}, []network.Verdict{network.Absent, network.Stands, network.Absent}},
		"each to one":           {[]*doubt{going("bread", 0), going("bread", 60)}, []network.Figures{shown("bread", 1), shown("bread", 2)}, []network.Verdict{network.Stands, network.Stands}},
		"spaces and addresses":  {[]*doubt{going("Fish &  chips https://example.com/menu", 0)}, []network.Figures{shown("Fish &amp; chips https://sho.rt/1", 0)}, []network.Verdict{network.Stands}},
		"a beginning":           {[]*doubt{going("bread and butter", 0)}, []network.Figures{shown("bread and…", 0)}, []network.Verdict{network.Unknown}},
		"the text goes first":   {[]*doubt{going("bread", 0), going("bread and butter", 0)}, []network.Figures{shown("bread and butter", 0), shown("bread", 5)}, []network.Verdict{network.Stands, network.Stands}},
		"no words":              {[]*doubt{going("", 0)}, []network.Figures{shown("", 0)}, []network.Verdict{network.Unknown}},
		"no words, other words": {[]*doubt{going("", 0)}, []network.Figures{shown("bread", 0)}, []network.Verdict{network.Absent}},
	} {
		match(c.going, c.listed)
		for i, d := range c.going {
			if d.verdict != c.want[i] {
				t.Errorf("%s: the post %d is %d, want %d", name, i, d.verdict, c.want[i])
			}
		}
	}
}
