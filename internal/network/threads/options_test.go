package threads_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/network/threads"
	"pressroom.example/pressroom/internal/testkit/must"
)

// The options are sent with the container, and the network stores them.
func TestOptions(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	n := f.Network()
	draft := func(seed string, o network.ThreadsOptions, media ...network.Media) (network.Draft, error) {
		c := network.Content{Text: seed, Media: media, Options: network.Options{Threads: &o}}
		planned := must.Get(n.Plan(network.Submission{Seed: seed, FirstSubmittedAt: networktest.Start,
			At: networktest.Start, Content: c}))(t)
		d, _, err := n.Prepare(t.Context(), g, planned, f.Library)
		return d, err
	}
	publish := func(seed string, o network.ThreadsOptions, media ...network.Media) network.Receipt {
		return must.Get(n.Commit(t.Context(), g, must.Get(draft(seed, o, media...))(t), f.Library))(t)
	}
	first := publish("first", network.ThreadsOptions{LinkAttachment: "https://example.com/a", TopicTag: "Coffee", IsSpoilerMedia: true})
	publish("quote", network.ThreadsOptions{QuotePostID: first.ID, ReplyControl: "mentioned_only", IsSpoilerMedia: true},
		f.Library.Image("png", 9, 9))
	publish("poll", network.ThreadsOptions{PollAttachment: &network.ThreadsOptionsPollAttachment{OptionA: "a", OptionB: "b", OptionC: "c"}})
	var got []url.Values
	for _, r := range f.Transport.Requests("POST ") {
		params := r.Params()
		for name := range params {
			if slices.Contains([]string{"access_token", "alt_text", "image_url", "media_type", "text", "creation_id"}, name) {
				params.Del(name)
			}
		}
		if len(params) > 0 && strings.HasSuffix(r.URL.Path, "/threads") {
			got = append(got, params)
		}
	}
	want := []url.Values{
		{"link_attachment": {"https://example.com/a"}, "topic_tag": {"Coffee"}},
		{"quote_post_id": {first.ID}, "reply_control": {"mentioned_only"}, "is_spoiler_media": {"true"}},
		{"poll_attachment": {`{"option_a":"a","option_b":"b","option_c":"c"}`}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	_, err := draft("missing", network.ThreadsOptions{QuotePostID: "1"})
	networktest.WantClass(t, err, network.Rejected, "100/33")
}

func TestCheckOptions(t *testing.T) {
	t.Parallel()
	image := []network.Media{{Kind: network.Image, Type: "image/png"}}
	poll := &network.ThreadsOptionsPollAttachment{OptionA: "a", OptionB: "b"}
	for name, c := range map[string]struct {
		media []network.Media
		o     network.ThreadsOptions
		want  []string
	}{
		"none": {},
		"all": {
			o:    network.ThreadsOptions{ReplyControl: "everyone", TopicTag: "Coffee & tea", LinkAttachment: "https://a.test"},
			want: []string{"!option_not_supported"},
		},
		"link and image": {
			media: image, o: network.ThreadsOptions{LinkAttachment: "https://a.test"},
			want: []string{"!option_not_supported"},
		},
		"another scheme": {
			o:    network.ThreadsOptions{LinkAttachment: "ftp://a.test"},
			want: []string{"!option_not_supported"},
		},
		"address": {
			o:    network.ThreadsOptions{QuotePostID: "https://threads.net/@a/post/b"},
			want: []string{"!option_not_supported"},
		},
		"spoiler":         {media: image, o: network.ThreadsOptions{IsSpoilerMedia: true}},
		"spoiler of text": {o: network.ThreadsOptions{IsSpoilerMedia: true}, want: []string{"option_not_supported"}},
		"poll":            {o: network.ThreadsOptions{PollAttachment: poll}},
		"poll and link": {
			o:    network.ThreadsOptions{PollAttachment: poll, LinkAttachment: "https://a.test"},
			want: []string{"!option_not_supported"},
		},
		"poll and image": {
			media: image, o: network.ThreadsOptions{PollAttachment: poll},
			want: []string{"!option_not_supported"},
		},
		"one choice": {
			o:    network.ThreadsOptions{PollAttachment: &network.ThreadsOptionsPollAttachment{OptionA: "a"}},
			want: []string{"!option_missing"},
		},
		"a gap": {
			o:    network.ThreadsOptions{PollAttachment: &network.ThreadsOptionsPollAttachment{OptionA: "a", OptionB: "b", OptionD: "d"}},
			want: []string{"!option_missing"},
		},
		"long choice": {
			o: network.ThreadsOptions{
				PollAttachment: &network.ThreadsOptionsPollAttachment{OptionA: "a", OptionB: strings.Repeat("b", 26)},
			},
			want: []string{"!option_not_supported"},
		},
	} {
		var got []string
		for _, p := range threads.New(threads.Options{}).Check(network.Content{
			Text: "text", Media: c.media, Options: network.Options{Threads: &c.o},
		}) {
			code := p.Code
			if p.Blocking {
				code = "!" + code
			}
			got = append(got, code)
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
