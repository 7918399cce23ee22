package facebook_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Check reports options that have no effect, and blocks only a post that would be wrong without them.
func TestCheckOptions(t *testing.T) {
	t.Parallel()
	picture := []network.Media{{Kind: network.Image, Type: "image/jpeg", Size: 9, Width: 1080, Height: 1920}}
	clip := network.Media{
		Kind: network.Video, Type: "video/mp4", Size: 9, Width: 1080, Height: 1920, Duration: time.Minute,
	}
	wide, long, small := clip, clip, clip
	wide.Width, wide.Height = 1920, 1080
	long.Duration += time.Second
	small.Width, small.Height = 360, 640
	networktest.RunChecks(t, adapter, map[string]networktest.CheckCase{
		"a story":            networktest.NewCheckCase("", picture).With(story),
		"a story's text":     networktest.NewCheckCase("words", picture, "caption_not_sent").With(story),
		"a video story":      networktest.NewCheckCase("", []network.Media{clip}).With(story),
		"a wide video story": networktest.NewCheckCase("", []network.Media{wide}, "media_aspect").With(story),
		"a long video story": networktest.NewCheckCase("", []network.Media{long}, "!media_too_long").With(story),
		"a small video story": networktest.NewCheckCase("", []network.Media{small}, "!media_aspect").
			With(story),
		"a story's options": networktest.NewCheckCase("", picture, "option_not_supported", "option_not_supported",
			"option_not_supported").
			With(with(network.FacebookOptions{Format: "story", Link: "https://a.test", Place: "1", Title: "Waves"})),
		"a reel": networktest.NewCheckCase("", []network.Media{clip}).With(with(network.FacebookOptions{
			Format: "reel", Title: "Waves", Place: "1",
		})),
		"a wide reel": networktest.NewCheckCase("", []network.Media{wide}, "!option_not_supported").
			With(with(network.FacebookOptions{Format: "reel"})),
		"a title": networktest.NewCheckCase("", []network.Media{wide}).With(with(network.FacebookOptions{Title: "Waves"})),
		"a video's place": networktest.NewCheckCase("", []network.Media{wide}, "option_not_supported").
			With(with(network.FacebookOptions{Place: "1"})),
		"a link": networktest.NewCheckCase("words", nil).With(with(network.FacebookOptions{Link: "https://a.test", Place: "1"})),
		"a link and media": networktest.NewCheckCase("", picture, "option_not_supported").
			With(with(network.FacebookOptions{Link: "https://a.test"})),
	})
}

// TestOptionParameters checks what the sandbox received of the options.
func TestOptionParameters(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	for name, c := range map[string]struct {
		options network.FacebookOptions
		media   []network.Media
		want    map[string]string
		title   string // of the post
	}{
		"see https://a.test/": {network.FacebookOptions{Link: "https://b.test/", Place: "123", Title: "x"}, nil,
			map[string]string{"link": "https://b.test/", "place": "123"}, "Post"},
		"an image": {network.FacebookOptions{Link: "https://b.test/", Place: "123"}, image(f.Library),
			map[string]string{"place": "123"}, "Post"},
		"a video": {network.FacebookOptions{Title: "Waves", Place: "123"}, film(f.Library),
			map[string]string{"title": "Waves"}, "Post"},
		"a video with the post's title": {network.FacebookOptions{}, film(f.Library), map[string]string{"title": "Post"}, "Post"},
		"a reel": {network.FacebookOptions{Title: "Waves", Place: "123"}, reel(f.Library),
			map[string]string{"title": "Waves", "place": "123"}, ""},
		"a reel with the post's title": {network.FacebookOptions{}, reel(f.Library), map[string]string{"title": "Post"}, "Post"},
		"a story": {
			network.FacebookOptions{Format: "story", Title: "Waves", Place: "123"}, reel(f.Library), nil, "Post",
		},
	} {
		before := len(f.Posts())
		d, err := f.Prepare(g, must.Get(f.Network().Plan(network.Submission{
			Seed: name, FirstSubmittedAt: networktest.Start, At: networktest.Start,
			Content: network.Content{Text: name, Title: c.title, Media: c.media, Options: with(c.options)},
		}))(t))
		must.NoError(t, err)
		f.Publish(g, d)
		if diff := cmp.Diff(c.want, f.Posts()[before].Options); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

const readyStory = `{"facebook":true,"text":"","format":"story","media":[{"id":1,"kind":"image"}],"photos":["18001"],` +
	`"made":"2026-11-21T09:00:00Z"}`

// A photo that was already published as a story was published by an earlier commit, even if the list lacks it.
func TestPhotoStoryAgain(t *testing.T) {
	t.Parallel()
	s := networktest.NewStub(t, adapter, network.App{}, networktest.StubResponse{
		Status: http.StatusBadRequest, Body: graph(`"code":100,"error_subcode":1366051`),
	})
	_, err := s.Network.Commit(t.Context(), s.Grant, s.Draft(readyStory), s.Library)
	failed := networktest.WantClass(t, err, network.OutcomeUnknown, "100/1366051")
	unlisted := networktest.NewStub(t, adapter, network.App{}, networktest.StubResponse{Status: http.StatusOK,
		Body: `{"data":[]}`})
	verdict, receipt, err := unlisted.Network.Resolve(t.Context(), unlisted.Grant, failed.Draft, network.CommitHistory{})
	if verdict != network.Published || receipt != (network.Receipt{}) || err != nil {
		t.Errorf("verdict %v, receipt %+v, %v", verdict, receipt, err)
	}
}

// Stories are found by the ID of the photo.
func TestResolvePhotoStory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stories string
		later   time.Duration
		verdict network.Verdict
		class   network.ErrorClass
		id      string
	}{
		"listed": {`{"data":[{"post_id":"16001","media_id":"18000","creation_time":"1795253400"},` +
			`{"post_id":"16002","media_id":"18001","creation_time":"1795253400","url":"https://facebook.test/stories/2"}]}`,
			0, network.Published, "", "16002"},
		"another photo": {`{"data":[{"post_id":"16001","media_id":"18000"}]}`, time.Hour, network.Absent, "", ""},
		"too early":     {`{"data":[]}`, 0, network.Unknown, network.Processing, ""},
		"not a post ID": {`{"data":[{"post_id":"../me","media_id":"18001"}]}`, time.Hour, network.Absent, "", ""},
		"rejected":      {graph(`"code":190`), time.Hour, network.Unknown, network.ReconnectRequired, ""},
	} {
		answer := networktest.StubResponse{Body: c.stories}
		if strings.Contains(c.stories, "error") {
			answer.Status = http.StatusBadRequest
		}
		app := network.App{
			ListingDelay: network.Duration(time.Minute),
			Now:          func() time.Time { return networktest.Start.Add(c.later) },
		}
		s := networktest.NewStub(t, adapter, app, answer)
		verdict, receipt, err := s.Network.Resolve(t.Context(), s.Grant, s.Draft(readyStory),
			network.CommitHistory{First: networktest.Start, Last: networktest.Start})
		if verdict != c.verdict || networktest.Class(err) != c.class || receipt.ID != c.id {
			t.Errorf("%s: verdict %v, receipt %+v, %v", name, verdict, receipt, err)
		}
		if c.id != "" && (receipt.Permalink != "https://facebook.test/stories/2" || receipt.At.IsZero()) {
			t.Errorf("%s: receipt %+v", name, receipt)
		}
	}
}
