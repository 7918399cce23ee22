package youtube_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/network/youtube"
	"pressroom.example/pressroom/internal/sandbox"
	"pressroom.example/pressroom/internal/testkit/must"
)

const (
	insertItem   = "POST /youtube/youtube/v3/playlistItems"
	setThumbnail = "POST /youtube/upload/youtube/v3/thumbnails/set"
	forceSSL     = "https://www.googleapis.com/auth/youtube.force-ssl"
)

// withPlaylists is the adapter of an installation that offers playlists.
func withPlaylists() networktest.Case {
	c := adapter
	c.New = func(base string, app network.App) network.Network {
		return youtube.New(youtube.Options{
			App: app, AuthorizeHost: base, TokenHost: base, APIHost: base, WebURL: base + "/web", ChunkBytes: chunk,
			Playlists: true,
		})
	}
	return c
}

// finishing is a published video whose steps are tested.
type finishing struct {
	*networktest.Fixture

	t     *testing.T
	grant network.Grant
	draft network.Draft
	video string
	calls network.Finisher
}

// publish publishes a video with options on an account.
func publish(t *testing.T, account string, choose func(*networktest.Library, network.Grant) network.YouTubeOptions) finishing {
	t.Helper()
	f := networktest.New(t, withPlaylists(), 0)
	g := f.Connect("", account)
	o := choose(f.Library, g)
	d := must.Get(f.Network().Plan(network.Submission{Seed: "post-1:1", FirstSubmittedAt: f.Clock.Now(),
		At: f.Clock.Now(), Content: network.Content{
			Text: "x", Media: []network.Media{f.Library.Video(chunk)}, Options: network.Options{YouTube: &o},
		}}))(t)
	d = must.Get(f.Prepare(g, d))(t)
	receipt := f.Publish(g, d)
	calls, ok := f.Network().(network.Finisher)
	if !ok {
		t.Fatal("the adapter has no steps")
	}
	return finishing{f, t, g, d, receipt.ID, calls}
}

// finish performs all steps and returns the error codes of failed steps.
func (f finishing) finish() map[string]string {
	failed := map[string]string{}
	for _, step := range f.calls.FinishSteps(f.draft) {
		if err := f.calls.Finish(f.t.Context(), f.grant, f.draft, f.video, step, f.Library); err != nil {
			rejected, _ := errors.AsType[*network.Error](err)
			failed[step] = rejected.Code
		}
	}
	return failed
}

// read returns a list of the API as text.
func (f finishing) read(path string) string {
	f.t.Helper()
	request := must.Get(http.NewRequestWithContext(f.t.Context(), http.MethodGet, f.URL+"/youtube/v3/"+path, http.NoBody))(f.t)
	request.Header.Set("Authorization", "Bearer "+f.grant.AccessToken)
	answer := must.Get(http.DefaultClient.Do(request))(f.t)
	defer answer.Body.Close()
	var body struct {
		Items []json.RawMessage `json:"items"`
	}
	must.NoError(f.t, json.NewDecoder(answer.Body).Decode(&body))
	return string(must.Get(json.Marshal(body.Items))(f.t))
}

func both(l *networktest.Library, g network.Grant) network.YouTubeOptions {
	return network.YouTubeOptions{
		PlaylistID: sandbox.YouTubePlaylist(g.Username), ThumbnailMediaID: l.Image("png", 640, 360).ID,
	}
}

// After a video is published, Finish sets its thumbnail and adds it to its playlist. Repeated steps add nothing and
// upload no second video.
func TestFinish(t *testing.T) {
	t.Parallel()
	f := publish(t, networktest.Account, both)
	for range 3 {
		if failed := f.finish(); len(failed) != 0 {
			t.Fatalf("failed: %v", failed)
		}
	}
	items := f.read("playlistItems?part=snippet&playlistId=" + sandbox.YouTubePlaylist(networktest.Account))
	if strings.Count(items, `"videoId":"`+f.video+`"`) != 1 {
		t.Errorf("the playlist has %s", items)
	}
	if video := f.read("videos?part=snippet&id=" + f.video); !strings.Contains(video, `"default":{"height":90`) {
		t.Errorf("no thumbnail: %s", video)
	}
	if n := f.Transport.Count(insertItem); n != 1 {
		t.Errorf("%d insertions", n)
	}
	sent := f.Transport.Requests(setThumbnail)[0]
	if sent.Header.Get("Content-Type") != "image/png" || sent.URL.Query().Get("videoId") != f.video {
		t.Errorf("%v, %v", sent.Header, sent.URL)
	}
	f.WantPosts(1)
}

// If the response to an insertion is lost, the next attempt finds the video in the playlist.
func TestFinishLostAnswer(t *testing.T) {
	t.Parallel()
	f := publish(t, networktest.Account, func(*networktest.Library, network.Grant) network.YouTubeOptions {
		return network.YouTubeOptions{PlaylistID: sandbox.YouTubePlaylist(networktest.Account)}
	})
	lossy, ok := f.Through(lostAnswer{f.Transport, insertItem}).(network.Finisher)
	if !ok {
		t.Fatal("the adapter has no steps")
	}
	err := lossy.Finish(t.Context(), f.grant, f.draft, f.video, "playlist", f.Library)
	networktest.WantClass(t, err, network.Transient, "")
	if failed := f.finish(); len(failed) != 0 {
		t.Errorf("failed: %v", failed)
	}
	if n := f.Transport.Count(insertItem); n != 1 {
		t.Errorf("%d insertions", n)
	}
}

// lostAnswer sends requests and drops the responses to one call.
type lostAnswer struct {
	http.RoundTripper

	call string
}

func (l lostAnswer) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := l.RoundTripper.RoundTrip(r)
	if err == nil && r.Method+" "+r.URL.Path == l.call {
		_ = answer.Body.Close()
		return nil, errors.New("connection reset")
	}
	return answer, err
}

// A rejection of a step has the network's code, and advice for people.
func TestFinishRejections(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		account string
		choose  func(*networktest.Library, network.Grant) network.YouTubeOptions
		want    map[string]string
		advice  string
	}{
		"a channel that is not verified": {
			"studio.north", both, map[string]string{"thumbnail": "forbidden"}, "Verify the channel at youtube.com/verify",
		},
		"an unknown playlist": {
			networktest.Account, func(*networktest.Library, network.Grant) network.YouTubeOptions {
				return network.YouTubeOptions{PlaylistID: "PLnone"}
			}, map[string]string{"playlist": "playlistNotFound"}, "The channel has no such playlist",
		},
		"a deleted image": {
			networktest.Account, func(l *networktest.Library, _ network.Grant) network.YouTubeOptions {
				return network.YouTubeOptions{ThumbnailMediaID: l.Remove(l.Image("png", 64, 36), true).ID}
			}, map[string]string{"thumbnail": "missing"}, "Set the thumbnail in YouTube Studio",
		},
		"no image": {
			networktest.Account, func(l *networktest.Library, _ network.Grant) network.YouTubeOptions {
				return network.YouTubeOptions{ThumbnailMediaID: l.Fake(network.Image, "image/png", "text").ID}
			}, map[string]string{"thumbnail": "invalidImage"}, "Set the thumbnail in YouTube Studio",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := publish(t, c.account, c.choose)
			if diff := cmp.Diff(c.want, f.finish()); diff != "" {
				t.Error(diff)
			}
			for step, code := range c.want {
				if advice := network.FinishAdvice("youtube", step, code); !strings.Contains(advice, c.advice) {
					t.Errorf("advice %q", advice)
				}
			}
		})
	}
}

// Playlists need a permission that is requested only if the operator offers playlists. Without the permission, YouTube
// rejects the call. Without the operator's setting, Check warns that the choice has no effect.
func TestPlaylistPermission(t *testing.T) {
	t.Parallel()
	f := publish(t, networktest.Account, both)
	if !slices.Contains(f.grant.Scopes, forceSSL) {
		t.Errorf("scopes %v", f.grant.Scopes)
	}
	f.grant = networktest.New(t, adapter, 0).Grant()
	if slices.Contains(f.grant.Scopes, forceSSL) {
		t.Errorf("scopes without playlists: %v", f.grant.Scopes)
	}
	plain := networktest.New(t, adapter, 0)
	chosen := network.Content{Media: []network.Media{plain.Library.Video(chunk)}, Options: network.Options{
		YouTube: &network.YouTubeOptions{PlaylistID: "PL1", ThumbnailMediaID: 1},
	}}
	if got := plain.Network().Check(chosen); len(got) != 1 || got[0].Code != "option_not_supported" || got[0].Blocking {
		t.Errorf("%+v", got)
	}
	if got := f.Network().Check(chosen); len(got) != 0 {
		t.Errorf("with playlists: %+v", got)
	}
	narrow := networktest.New(t, withPlaylists(), 0)
	narrow.Scopes(scopes...)
	g := narrow.Grant()
	calls, _ := narrow.Network().(network.Finisher)
	err := calls.Finish(t.Context(), g, f.draft, f.video, "playlist", narrow.Library)
	networktest.WantClass(t, err, network.ReconnectRequired, "insufficientPermissions")
	advice := network.FinishAdvice("youtube", "playlist", "insufficientPermissions")
	if !strings.HasPrefix(advice, "Connect the account again") {
		t.Errorf("advice %q", advice)
	}
}

// PostID reads the ID of a video from its URL, or else from the draft.
func TestPostID(t *testing.T) {
	t.Parallel()
	n, _ := adapter.New("https://network.test", network.App{}).(network.Finisher)
	uploaded := network.Draft(`{"youtube":true,"video":"abcdefghijk"}`)
	for address, want := range map[string]string{
		"https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=5":       "dQw4w9WgXcQ",
		"https://youtu.be/dQw4w9WgXcQ":                          "dQw4w9WgXcQ",
		"https://youtube.com/shorts/dQw4w9WgXcQ?feature=share":  "dQw4w9WgXcQ",
		"https://studio.youtube.com/video/dQw4w9WgXcQ/edit":     "dQw4w9WgXcQ",
		"https://www.youtube.com/@harbour":                      "",
		"https://www.youtube.com/watch?v=../x":                  "",
		"https://www.youtube.com/playlist?list=PLabcdefghijklm": "",
		"%": "",
		"":  "abcdefghijk",
	} {
		if got := n.PostID(uploaded, address); got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
	if got := n.PostID(nil, ""); got != "" {
		t.Errorf("without a draft: %q", got)
	}
	planned := network.Draft(`{"youtube":true,"choices":{"thumbnail_media_id":4}}`)
	if steps := n.FinishSteps(planned); !slices.Equal(steps, []string{"thumbnail"}) {
		t.Errorf("steps of a planned draft: %v", steps)
	}
}
