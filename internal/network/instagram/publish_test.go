package instagram_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/instagram"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/testkit/must"
)

// TestParameters checks the parameters that are sent for each post format.
func TestParameters(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	picture, film := f.Library.Image("jpeg", 9, 9), f.Library.Video(100)
	film.Alt = "a film"
	for _, media := range [][]network.Media{{picture}, {film}, {picture, film}} {
		f.MustPrepare(g, "text", media...)
	}
	var sent []map[string]string
	for _, r := range f.Transport.Requests("POST ") {
		if r.Endpoint() != "POST media" {
			continue
		}
		flat := map[string]string{}
		for name, values := range r.Params() {
			flat[name] = values[0]
		}
		delete(flat, "access_token")
		if _, several := flat["children"]; several {
			flat["children"] = "…"
		}
		sent = append(sent, flat)
	}
	image, video := f.Library.URL+"/1", f.Library.URL+"/2"
	want := []map[string]string{
		{"image_url": image, "alt_text": "dots", "caption": "text"},
		{"media_type": "REELS", "video_url": video, "share_to_feed": "true", "caption": "text"},
		{"image_url": image, "alt_text": "dots", "is_carousel_item": "true"},
		{"media_type": "VIDEO", "video_url": video, "is_carousel_item": "true"},
		{"media_type": "CAROUSEL", "children": "…", "caption": "text"},
	}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Error(diff)
	}
}

// Without access to insights, the counts of posts are still read.
func TestCollectWithoutInsights(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	f.Scopes("instagram_business_basic", "instagram_business_content_publish")
	g := f.Grant()
	f.Post(g, "text", f.Media()...)
	if got := f.Collect(g, networktest.Start, 500); len(got.Posts) != 1 || got.Posts[0].Likes == nil ||
		got.Posts[0].Reach != nil || got.Posts[0].Saves != nil {
		t.Errorf("%+v", got)
	}
}

// Any text can be planned, and its length is at most its number of bytes.
func TestAnyText(t *testing.T) {
	t.Parallel()
	n := instagram.New(instagram.Options{})
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		must.Get(n.Plan(network.Submission{Seed: "s", Content: network.Content{Text: text}}))(t)
		for _, p := range n.Check(network.Content{Text: text}) {
			if p.Code == "caption_too_long" && len(text) <= 2200 {
				t.Fatalf("%d bytes are too long", len(text))
			}
		}
	})
}

// If Instagram rejects one post's hashtags, Check still accepts other posts with hashtags.
func TestRejectedHashtagsOfOnePost(t *testing.T) {
	t.Parallel()
	rejection := graph(`"code":100,"message":"The hashtag #x is not allowed"`)
	s := networktest.NewStub(t, adapter, network.App{}, networktest.StubResponse{Status: http.StatusBadRequest,
		Body: rejection})
	draft := network.Draft(`{"network":"instagram","text":"#x #y","media":[{"id":1,"kind":"video","type":"video/mp4",
		"size":100,"duration":4000000000}]}`)
	_, _, err := s.Network.Prepare(t.Context(), s.Grant, draft, s.Library)
	networktest.WantClass(t, err, network.Rejected, "100")
	if found := s.Network.Check(network.Content{Text: "#a #b #c", Media: []network.Media{picture}}); len(found) > 0 {
		t.Errorf("another post: %+v", found)
	}
}

// An account has no picture if the response omits it.
func TestCollectWithoutPicture(t *testing.T) {
	t.Parallel()
	for body, none := range map[string]bool{
		`{"followers_count":1}`:                        true,
		`{"profile_picture_url":"https://cdn.test/1"}`: false,
	} {
		s := networktest.NewStub(t, adapter, network.App{}, networktest.StubResponse{Body: body})
		got, err := s.Network.(network.Collector).Collect(t.Context(), s.Grant, networktest.Start, 10)
		if err != nil || got.NoPicture != none || none && got.Picture != "" {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
}

// TestOptionParameters checks the parameters of a post's options.
func TestOptionParameters(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	film := f.Library.Video(100)
	film.Cover = time.Second
	cover, picture := f.Library.Image("jpeg", 9, 16), f.Library.Image("jpeg", 9, 9)
	placed := []network.InstagramUserTag{{Username: "mira.keller", X: new(0.25), Y: new(1.0)}}
	const people = `["mira.keller","studio.north"]`
	for name, c := range map[string]struct {
		options network.Options
		media   []network.Media
		want    map[string]string
	}{
		"a reel": {reelOptions, []network.Media{film}, map[string]string{
			"share_to_feed": "false", "cover_url": f.Library.URL + "/2", "collaborators": people, "location_id": "123",
			"user_tags": `[{"username":"mira.keller"}]`, "audio_name": "Waves",
			"trial_params": `{"graduation_strategy":"SS_PERFORMANCE"}`,
		}},
		"a reel with a frame as cover": {
			network.Options{}, []network.Media{film}, map[string]string{"share_to_feed": "true"},
		},
		"an image": {with(network.InstagramOptions{UserTags: placed, Collaborators: []string{"mira.keller", "studio.north"}}),
			[]network.Media{picture}, map[string]string{
				"user_tags": `[{"username":"mira.keller","x":0.25,"y":1}]`, "collaborators": people,
			}},
		"an image without places": {with(network.InstagramOptions{UserTags: tag}), []network.Media{picture}, map[string]string{
			"user_tags": `[{"username":"mira.keller","x":0.5,"y":0.5}]`,
		}},
		"several": {with(network.InstagramOptions{UserTags: placed, LocationID: "7", CoverMediaID: cover.ID}),
			[]network.Media{film, picture}, map[string]string{"location_id": "7"}},
		"a story": {with(network.InstagramOptions{Format: network.FormatStory, UserTags: tag, LocationID: "7",
			Collaborators: []string{"mira.keller"}}), []network.Media{picture},
			map[string]string{"user_tags": `[{"username":"mira.keller","x":0.5,"y":0.5}]`}},
	} {
		before := len(f.Posts())
		d, err := f.Prepare(g, must.Get(f.Network().Plan(network.Submission{
			Seed: name, FirstSubmittedAt: networktest.Start, At: networktest.Start,
			Content: network.Content{Text: name, Media: c.media, Options: c.options},
		}))(t))
		must.NoError(t, err)
		f.Publish(g, d)
		if diff := cmp.Diff(c.want, f.Posts()[before].Options); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	var tagged []string
	for _, r := range f.Transport.Requests("POST ") {
		if item := r.Params().Get("user_tags"); r.Params().Has("is_carousel_item") {
			tagged = append(tagged, item)
		}
		if cover := r.Params().Has("cover_url"); cover && r.Params().Has("thumb_offset") {
			t.Error("a cover and a frame were sent")
		}
	}
	if diff := cmp.Diff([]string{"", `[{"username":"mira.keller","x":0.25,"y":1}]`}, tagged); diff != "" {
		t.Error(diff)
	}
}
