package delivery

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
)

// match pairs each listed post with the candidate that has the same text and the nearest time. If only the beginning or
// a URL differs, or the text is empty, the verdict is Unknown.
func TestMatch(t *testing.T) {
	t.Parallel()
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	due := func(text string, minutes int) *candidate {
		return &candidate{ResumedAccount: ResumedAccount{DueAt: at(minutes)}, text: text, lookedUp: true,
			verdict: network.Absent}
	}
	listed := func(text string, minutes int) network.CollectedPost {
		return network.CollectedPost{ID: text, URL: "https://example.test/" + text, Text: text, PostedAt: at(minutes)}
	}
	for name, c := range map[string]struct {
		candidates []*candidate
		listed     []network.CollectedPost
		want       []network.Verdict
	}{
		"nothing listed": {[]*candidate{due("bread", 0)}, nil, []network.Verdict{network.Absent}},
		"same text": {[]*candidate{due("bread", 0), due("fish", 0)},
			[]network.CollectedPost{listed("fish", 1)}, []network.Verdict{network.Absent, network.Published}},
		"nearest time": {[]*candidate{due("bread", 0), due("bread", 60), due("bread", 120)},
			[]network.CollectedPost{listed("bread", 61)}, []network.Verdict{network.Absent, network.Published, network.Absent}},
		"one listed post per candidate": {[]*candidate{due("bread", 0), due("bread", 60)},
			[]network.CollectedPost{listed("bread", 1), listed("bread", 2)}, []network.Verdict{network.Published, network.Published}},
		"spaces and HTML entities": {[]*candidate{due("Fish &  chips https://example.com/menu", 0)},
			[]network.CollectedPost{listed("Fish &amp; chips https://example.com/menu", 0)},
			[]network.Verdict{network.Published}},
		"shortened URL": {[]*candidate{due("Fish &  chips https://example.com/menu", 0)},
			[]network.CollectedPost{listed("Fish &amp; chips https://sho.rt/1", 0)}, []network.Verdict{network.Unknown}},
		"another URL": {[]*candidate{due("New episode: https://example.com/2", 7*24*60)},
			[]network.CollectedPost{listed("New episode: https://example.com/1", 1)}, []network.Verdict{network.Unknown}},
		"same text, different URLs": {[]*candidate{due("New episode: https://example.com/1", 0),
			due("New episode: https://example.com/2", 2)},
			[]network.CollectedPost{listed("New episode: https://example.com/1", 2)}, []network.Verdict{network.Published,
				network.Absent}},
		"shortened URL, two candidates": {[]*candidate{due("Read https://example.com/1", 0),
			due("Read https://example.com/2", 5)}, []network.CollectedPost{listed("Read https://sho.rt/1", 5)},
			[]network.Verdict{network.Unknown, network.Unknown}},
		"text is only a URL": {[]*candidate{due("https://example.com/1", 0), due("https://example.com/2", 0)},
			[]network.CollectedPost{listed("https://example.com/2", 5)}, []network.Verdict{network.Absent, network.Published}},
		"domain became a URL": {[]*candidate{due("Come to example.com, today", 0)},
			[]network.CollectedPost{listed("Come to http://example.com, today", 1)}, []network.Verdict{network.Published}},
		"domain without spaces around": {[]*candidate{due("詳しくはexample.comへ", 0)},
			[]network.CollectedPost{listed("詳しくはhttp://example.com/へ", 1), listed("詳しくはhttp://example.comへ", 1)},
			[]network.Verdict{network.Published}},
		"shortened domain without spaces around": {[]*candidate{due("詳しくはexample.comへ", 0)},
			[]network.CollectedPost{listed("詳しくはhttps://sho.rt/1 へ", 1)}, []network.Verdict{network.Unknown}},
		"shortened domain with an umlaut": {[]*candidate{due("Come to müller.example today", 0)},
			[]network.CollectedPost{listed("Come to https://sho.rt/1 today", 1)}, []network.Verdict{network.Unknown}},
		"shortened domain": {[]*candidate{due("Come to example.com today", 0)},
			[]network.CollectedPost{listed("Come to https://sho.rt/1 today", 1)}, []network.Verdict{network.Unknown}},
		"truncated within a domain": {[]*candidate{due("Come to example.com today", 0)},
			[]network.CollectedPost{listed("Come to exam…", 1)}, []network.Verdict{network.Unknown}},
		"due before the listed time": {[]*candidate{due("bread", 0), due("bread", 60)},
			[]network.CollectedPost{listed("bread", 50)}, []network.Verdict{network.Published, network.Absent}},
		"published early": {[]*candidate{due("bread", 60)}, []network.CollectedPost{listed("bread", 10)},
			[]network.Verdict{network.Published}},
		"truncated text": {[]*candidate{due("bread and butter", 0)},
			[]network.CollectedPost{listed("bread and…", 0)}, []network.Verdict{network.Unknown}},
		"exact text before prefix": {[]*candidate{due("bread", 0), due("bread and butter", 0)},
			[]network.CollectedPost{listed("bread and butter", 0), listed("bread", 5)}, []network.Verdict{network.Published,
				network.Published}},
		"no text": {[]*candidate{due("", 0)}, []network.CollectedPost{listed("", 0)},
			[]network.Verdict{network.Unknown}},
		"no text, listed post with text": {[]*candidate{due("", 0)}, []network.CollectedPost{listed("bread", 0)},
			[]network.Verdict{network.Absent}},
	} {
		matchPosts(c.candidates, c.listed)
		for i, d := range c.candidates {
			if d.verdict != c.want[i] {
				t.Errorf("%s: verdict of candidate %d is %d, want %d", name, i, d.verdict, c.want[i])
			}
		}
	}
}
