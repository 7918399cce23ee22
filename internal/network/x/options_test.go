package x_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/network/x"
	"pressroom.example/pressroom/internal/testkit/must"
)

func withOptions(text string, o network.XOptions) network.Content {
	return network.Content{Text: text, Options: network.Options{X: &o}}
}

func draftOf(t *testing.T, f *networktest.Fixture, g network.Grant, seed string, c network.Content) network.Draft {
	t.Helper()
	intent := network.Submission{Seed: seed, FirstSubmittedAt: networktest.Start, At: networktest.Start, Content: c}
	d, _, err := f.Network().Prepare(t.Context(), g, must.Get(f.Network().Plan(intent))(t), f.Library)
	must.NoError(t, err)
	return d
}

// A quote is sent, and found again although X adds a link to the text.
func TestQuote(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	n := f.Network()
	first := must.Get(n.Commit(t.Context(), g, draftOf(t, f, g, "a", network.Content{Text: "first"}), f.Library))(t)
	for i, address := range []string{first.ID, "https://x.com/harbour.coffee/status/" + first.ID + "?s=20"} {
		text := "quoting https://example.com/a " + strings.Repeat("!", i)
		d := draftOf(t, f, g, text, withOptions(text, network.XOptions{QuoteTweetID: address, ReplySettings: "verified", MadeWithAI: true}))
		receipt := must.Get(n.Commit(t.Context(), g, d, f.Library))(t)
		sent := f.Transport.Requests("POST ")
		var body map[string]any
		must.NoError(t, json.Unmarshal(sent[len(sent)-1].Body, &body))
		want := map[string]any{"text": text, "quote_tweet_id": first.ID, "reply_settings": "verified", "made_with_ai": true}
		if diff := cmp.Diff(want, body); diff != "" {
			t.Error(diff)
		}
		f.Clock.Advance(2 * time.Minute)
		verdict, found, err := n.Resolve(t.Context(), g, d, network.CommitHistory{OtherPosts: []string{first.ID}})
		if err != nil || verdict != network.Published || found.ID != receipt.ID {
			t.Errorf("%s: %v, %+v, %v", address, verdict, found, err)
		}
	}
	d := draftOf(t, f, g, "b", withOptions("missing", network.XOptions{QuoteTweetID: "1"}))
	_, err := n.Commit(t.Context(), g, d, f.Library)
	if rejected := networktest.WantClass(t, err, network.Rejected, ""); rejected.Status != 403 {
		t.Errorf("%+v", rejected)
	}
}

func TestDraftOfInvalidQuote(t *testing.T) {
	t.Parallel()
	d := network.Draft(`{"x":true,"text":"x","ready":"2026-11-21T09:30:00Z","options":{"quote_tweet_id":"../me"}}`)
	if _, err := x.New(x.Options{}).Commit(t.Context(), network.Grant{}, d, nil); err == nil {
		t.Error("the draft is accepted")
	}
}

func TestCheckOptions(t *testing.T) {
	t.Parallel()
	image := []network.Media{{Kind: network.Image, Type: "image/png"}}
	poll := &network.XOptionsPoll{Options: []string{"Yes", "No"}, DurationMinutes: 60}
	for name, c := range map[string]struct {
		media []network.Media
		o     network.XOptions
		want  []string
	}{
		"none":  {},
		"all":   {media: image, o: network.XOptions{ReplySettings: "verified", MadeWithAI: true, PaidPartnership: true}},
		"quote": {o: network.XOptions{QuoteTweetID: "https://twitter.com/a/status/12"}},
		"another address": {
			o:    network.XOptions{QuoteTweetID: "https://example.com/a/status/12"},
			want: []string{"option_not_supported"},
		},
		"quote and image": {
			media: image, o: network.XOptions{QuoteTweetID: "12"},
			want: []string{"option_not_supported"},
		},
		"poll":           {o: network.XOptions{Poll: poll}},
		"poll and image": {media: image, o: network.XOptions{Poll: poll}, want: []string{"option_not_supported"}},
		"poll and quote": {
			o:    network.XOptions{Poll: poll, QuoteTweetID: "12"},
			want: []string{"option_not_supported"},
		},
		"one choice": {
			o:    network.XOptions{Poll: &network.XOptionsPoll{Options: []string{"a"}, DurationMinutes: 5}},
			want: []string{"option_missing"},
		},
		"long choice": {
			o:    network.XOptions{Poll: &network.XOptionsPoll{Options: []string{"a", strings.Repeat("b", 26)}, DurationMinutes: 5}},
			want: []string{"option_not_supported"},
		},
		"blank choice": {
			o:    network.XOptions{Poll: &network.XOptionsPoll{Options: []string{"a", " "}, DurationMinutes: 5}},
			want: []string{"option_not_supported"},
		},
		"poll for too long": {
			o:    network.XOptions{Poll: &network.XOptionsPoll{Options: []string{"a", "b"}, DurationMinutes: 10081}},
			want: []string{"option_not_supported"},
		},
	} {
		content := withOptions("text", c.o)
		content.Media = c.media
		var got []string
		for _, p := range x.New(x.Options{}).Check(content) {
			if got = append(got, p.Code); !p.Blocking || p.Message == "" {
				t.Errorf("%s: %+v", name, p)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestAltTextOfVideo(t *testing.T) {
	t.Parallel()
	networktest.WantVideoAltText(t, adapter)
}
