package delivery

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
)

// A listed post is matched with the candidate of the same text and nearest time, each once. Similar beginnings, other
// URLs and posts without text are left to a person.
func TestMatch(t *testing.T) {
	t.Parallel()
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	going := func(text string, minutes int) *candidate {
		return &candidate{ResumedAccount: ResumedAccount{Due: at(minutes)}, text: text, lookedUp: true,
			verdict: network.Absent}
	}
	shown := func(text string, minutes int) network.CollectedPost {
		return network.CollectedPost{ID: text, URL: "https://example.test/" + text, Text: text, PostedAt: at(minutes)}
	}
	for name, c := range map[string]struct {
		going  []*candidate
		listed []network.CollectedPost
		want   []network.Verdict
	}{
		"nothing listed": {[]*candidate{going("bread", 0)}, nil, []network.Verdict{network.Absent}},
		"the text": {[]*candidate{going("bread", 0), going("fish", 0)},
			[]network.CollectedPost{shown("fish", 1)}, []network.Verdict{network.Absent, network.Published}},
		"the nearest": {[]*candidate{going("bread", 0), going("bread", 60), going("bread", 120)},
			[]network.CollectedPost{shown("bread", 61)}, []network.Verdict{network.Absent, network.Published, network.Absent}},
		"each to one": {[]*candidate{going("bread", 0), going("bread", 60)},
			[]network.CollectedPost{shown("bread", 1), shown("bread", 2)}, []network.Verdict{network.Published, network.Published}},
		"spaces": {[]*candidate{going("Fish &  chips https://example.com/menu", 0)},
			[]network.CollectedPost{shown("Fish &amp; chips https://example.com/menu", 0)},
			[]network.Verdict{network.Published}},
		"an address, shortened": {[]*candidate{going("Fish &  chips https://example.com/menu", 0)},
			[]network.CollectedPost{shown("Fish &amp; chips https://sho.rt/1", 0)}, []network.Verdict{network.Unknown}},
		"another address": {[]*candidate{going("New episode: https://example.com/2", 7*24*60)},
			[]network.CollectedPost{shown("New episode: https://example.com/1", 1)}, []network.Verdict{network.Unknown}},
		"its own address": {[]*candidate{going("New episode: https://example.com/1", 0),
			going("New episode: https://example.com/2", 2)},
			[]network.CollectedPost{shown("New episode: https://example.com/1", 2)}, []network.Verdict{network.Published,
				network.Absent}},
		"one of two": {[]*candidate{going("Read https://example.com/1", 0),
			going("Read https://example.com/2", 5)}, []network.CollectedPost{shown("Read https://sho.rt/1", 5)},
			[]network.Verdict{network.Unknown, network.Unknown}},
		"only an address": {[]*candidate{going("https://example.com/1", 0), going("https://example.com/2", 0)},
			[]network.CollectedPost{shown("https://example.com/2", 5)}, []network.Verdict{network.Absent, network.Published}},
		"a domain, linked": {[]*candidate{going("Come to example.com, today", 0)},
			[]network.CollectedPost{shown("Come to http://example.com, today", 1)}, []network.Verdict{network.Published}},
		"a domain in a word": {[]*candidate{going("詳しくはexample.comへ", 0)},
			[]network.CollectedPost{shown("詳しくはhttp://example.com/へ", 1), shown("詳しくはhttp://example.comへ", 1)},
			[]network.Verdict{network.Published}},
		"one, shortened": {[]*candidate{going("詳しくはexample.comへ", 0)},
			[]network.CollectedPost{shown("詳しくはhttps://sho.rt/1 へ", 1)}, []network.Verdict{network.Unknown}},
		"an umlaut's domain": {[]*candidate{going("Come to müller.example today", 0)},
			[]network.CollectedPost{shown("Come to https://sho.rt/1 today", 1)}, []network.Verdict{network.Unknown}},
		"a domain, shortened": {[]*candidate{going("Come to example.com today", 0)},
			[]network.CollectedPost{shown("Come to https://sho.rt/1 today", 1)}, []network.Verdict{network.Unknown}},
		"cut in a domain": {[]*candidate{going("Come to example.com today", 0)},
			[]network.CollectedPost{shown("Come to exam…", 1)}, []network.Verdict{network.Unknown}},
		"the overdue": {[]*candidate{going("bread", 0), going("bread", 60)},
			[]network.CollectedPost{shown("bread", 50)}, []network.Verdict{network.Published, network.Absent}},
		"ahead of its time": {[]*candidate{going("bread", 60)}, []network.CollectedPost{shown("bread", 10)},
			[]network.Verdict{network.Published}},
		"a beginning": {[]*candidate{going("bread and butter", 0)},
			[]network.CollectedPost{shown("bread and…", 0)}, []network.Verdict{network.Unknown}},
		"the text goes first": {[]*candidate{going("bread", 0), going("bread and butter", 0)},
			[]network.CollectedPost{shown("bread and butter", 0), shown("bread", 5)}, []network.Verdict{network.Published,
				network.Published}},
		"no words": {[]*candidate{going("", 0)}, []network.CollectedPost{shown("", 0)},
			[]network.Verdict{network.Unknown}},
		"no words, other words": {[]*candidate{going("", 0)}, []network.CollectedPost{shown("bread", 0)},
			[]network.Verdict{network.Absent}},
	} {
		match(c.going, c.listed)
		for i, d := range c.going {
			if d.verdict != c.want[i] {
				t.Errorf("%s: the post %d is %d, want %d", name, i, d.verdict, c.want[i])
			}
		}
	}
}
