package tiktok_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/network/tiktok"
	"pressroom.example/pressroom/internal/testkit/must"
)

// serve starts a server with a response for each path suffix, and returns a grant for that server.
func serve(t *testing.T, answers map[string]string) network.Grant {
	t.Helper()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for end, answer := range answers {
			if strings.HasSuffix(r.URL.Path, end) {
				_, _ = w.Write([]byte(answer))
			}
		}
	}))
	t.Cleanup(front.Close)
	return network.Grant{Server: front.URL, AccessToken: "token", Username: "harbour.coffee",
		Scopes: []string{"video.publish", "video.list"}}
}

func networkAt(now time.Time) *tiktok.Network {
	return tiktok.New(tiktok.Options{App: network.App{Now: func() time.Time { return now },
		ListingDelay: network.Duration(10 * time.Minute)}})
}

// The upload server's responses have only a status. They do not show whether a rejected part is a repeat.
func TestUploadErrors(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]network.ErrorClass{
		201: network.Processing, 206: network.Processing, 302: network.OutcomeUnknown, 400: network.OutcomeUnknown,
		403: network.OutcomeUnknown,
		404: network.OutcomeUnknown, 416: network.OutcomeUnknown, 429: network.RateLimited, 500: network.OutcomeUnknown,
	} {
		s := networktest.NewStub(t, adapter, network.App{}, networktest.StubResponse{Status: status,
			Header: http.Header{"Retry-After": {"7"}}})
		_, err := s.Network.Commit(t.Context(), s.Grant, s.Draft(video), s.Library)
		failed := networktest.WantClass(t, err, want, "")
		if want == network.RateLimited && !failed.RetryAt.Equal(networktest.Start.Add(7*time.Second)) {
			t.Errorf("HTTP %d: not before %v", status, failed.RetryAt)
		}
	}
}

// An upload that always fails is restarted a few times before Prepare returns its error.
func TestPrepareGivesUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status string
		class  network.ErrorClass
		code   string
		builds int
	}{
		"internal failure": {success(`{"status":"FAILED","fail_reason":"internal"}`), network.Transient, "internal", 4},
		"an unknown id":    {failure("invalid_params"), network.Rejected, "invalid_params", 4},
		"part rejected":    {success(`{"status":"PROCESSING_UPLOAD","uploaded_bytes":0}`), network.Rejected, "", 4},
		"invalid file":     {success(`{"status":"FAILED","fail_reason":"file_format_check_failed"}`), network.RejectedMedia, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := networktest.NewLibrary(t)
			upload := httptest.NewServer(http.NotFoundHandler())
			t.Cleanup(upload.Close)
			g := serve(t, map[string]string{
				"/creator_info/query/": success(`{"privacy_level_options":["SELF_ONLY"]}`), "/status/fetch/": c.status,
				"/video/init/": success(`{"publish_id":"v","upload_url":"` + upload.URL + `"}`),
			})
			n := tiktok.New(tiktok.Options{ChunkBytes: 5000})
			d, err := n.Plan(network.Submission{Seed: "s",
				Content: network.Content{Media: []network.Media{l.Video(small)},
					Options: tiktokOptions(network.TikTokOptions{PrivacyLevel: "SELF_ONLY", MusicUsageConfirmed: true})}})
			calls := 0
			for wait := time.Duration(1); err == nil && wait > 0 && calls < 20; calls++ {
				d, wait, err = n.Prepare(t.Context(), g, d, l)
			}
			if networktest.WantClass(t, err, c.class, c.code); calls != 2*c.builds {
				t.Errorf("%d calls", calls)
			}
		})
	}
}

// The last part includes the remainder of the file.
func TestParts(t *testing.T) {
	t.Parallel()
	for size, want := range map[int][2]int64{ // number of parts and their size
		4_999_999: {1, 4_999_999}, 9_999_999: {1, 9_999_999}, 10_000_000: {2, 5_000_000}, 14_999_999: {2, 5_000_000},
	} {
		f := networktest.New(t, adapter, 0)
		g := f.Grant()
		d := f.MustPrepare(g, "", f.Library.Video(size))
		var kept struct{ Upload struct{ Parts, Chunk int64 } }
		must.NoError(t, json.Unmarshal(d, &kept))
		if diff := cmp.Diff(want, [2]int64{kept.Upload.Parts, kept.Upload.Chunk}); diff != "" {
			t.Errorf("%d bytes:\n%s", size, diff)
		}
		f.Publish(g, d)
		f.WantPosts(1)
	}
}

// Photos never count as absent if the account's posts cannot be listed or the operator has not set ListingDelay.
func TestPhotosRemainUnknown(t *testing.T) {
	t.Parallel()
	g := serve(t, map[string]string{"/video/list/": success(`{"videos":[]}`)})
	withoutScope := g
	withoutScope.Scopes = []string{"video.publish"}
	for name, c := range map[string]struct {
		network *tiktok.Network
		grant   network.Grant
		draft   string
	}{
		"without the scope": {networkAt(networktest.Start.Add(time.Hour)), withoutScope, photos},
		"not public": {networkAt(networktest.Start.Add(time.Hour)), g, strings.Replace(photos,
			"PUBLIC_TO_EVERYONE", "SELF_ONLY", 1)},
		"by default": {tiktok.New(tiktok.Options{}), g, photos},
	} {
		verdict, _, err := c.network.Resolve(t.Context(), c.grant, network.Draft(c.draft),
			network.CommitHistory{First: networktest.Start, Last: networktest.Start})
		if verdict != network.Unknown || networktest.Class(err) != network.OutcomeUnknown {
			t.Errorf("%s: verdict %v, %v", name, verdict, err)
		}
	}
}

// An expired upload is restarted only when parts can no longer arrive.
func TestUploadRestartsAfterGrace(t *testing.T) {
	t.Parallel()
	g := serve(t, map[string]string{"/status/fetch/": success(`{"status":"PROCESSING_UPLOAD","uploaded_bytes":99}`)})
	now := networktest.Start.Add(2 * time.Hour)
	for ago, want := range map[time.Duration]network.Verdict{30 * time.Second: network.Unknown, 2 * time.Minute: network.Absent} {
		d := network.Draft(strings.ReplaceAll(video, "{server}", g.Server))
		tried := network.CommitHistory{First: networktest.Start, Last: now.Add(-ago)}
		verdict, _, err := networkAt(now).Resolve(t.Context(), g, d, tried)
		if verdict != want || err == nil {
			t.Errorf("%v after the last call: verdict %v, %v", ago, verdict, err)
		}
	}
}

// The draft follows the account's settings, and a prepared draft does not change.
func TestDraftKeepsSettings(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Connect("", "mira.keller")
	d := f.PrepareUsual(g, "kept")
	var kept struct {
		Privacy string
		Choices network.TikTokOptions
		Links   []string
	}
	if err := json.Unmarshal(d, &kept); err != nil || kept.Privacy != "PUBLIC_TO_EVERYONE" ||
		kept.Choices.AllowDuet || len(kept.Links) != 1 {
		t.Errorf("%s, %v", d, err)
	}
	f.Clock.Advance(3 * time.Hour)
	if _, err := f.Prepare(f.Renew(g), d); err != nil || len(f.Library.LinkExpiries()) != 2 {
		t.Errorf("%d links after hours, %v", len(f.Library.LinkExpiries()), err)
	}
	if asked := f.Transport.Count("creator_info/query/"); asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

// Links to photos expire after half of ListingDelay, or after some hours if ListingDelay is not set.
func TestPhotoLinksExpire(t *testing.T) {
	t.Parallel()
	for listingDelay, life := range map[time.Duration]time.Duration{0: 4 * time.Hour, 10 * time.Minute: 5 * time.Minute} {
		l := networktest.NewLibrary(t)
		g := network.Grant{
			Server: networktest.Serve(t,
				networktest.StubResponse{Body: success(`{"publish_id":"p_pub_url~1","status":"PROCESSING_DOWNLOAD"}`)}),
		}
		n := tiktok.New(tiktok.Options{App: network.App{Now: func() time.Time {
			return networktest.Start
		}, ListingDelay: network.Duration(listingDelay)}})
		d, _, err := n.Prepare(t.Context(), g, network.Draft(`{"tiktok":true,"media":[{"id":1,"kind":"image"}],"privacy":"SELF_ONLY"}`), l)
		must.NoError(t, err)
		_, err = n.Commit(t.Context(), g, d, l)
		networktest.WantClass(t, err, network.Processing, "")
		if until := l.LinkExpiries(); !until[len(until)-1].Equal(networktest.Start.Add(life)) {
			t.Errorf("listing delay %v: links expire at %v", listingDelay, until)
		}
	}
}

// A post gets its permalink when it becomes public.
func TestPermalinkAfterReview(t *testing.T) {
	t.Parallel()
	for form, media := range map[string]func(*networktest.Library) []network.Media{"video": smallFilm, "photo": image} {
		f := networktest.New(t, adapter, time.Minute)
		g := f.Grant()
		d := f.MustPrepare(g, form, media(f.Library)...)
		_, err := f.Commit(g, d)
		if failed := networktest.WantClass(t, err, network.Processing, ""); failed.Draft != nil {
			d = failed.Draft
		}
		verdict, r, err := f.Decide(g, d)
		if verdict != network.Published || err != nil || !strings.HasPrefix(r.ID, "publish:") || r.Permalink != "" {
			t.Fatalf("verdict %v, receipt %+v, %v", verdict, r, err)
		}
		if link, err := f.Network().Permalink(t.Context(), g, r); err != nil || link != "" {
			t.Errorf("permalink %q at once, %v", link, err)
		}
		f.Clock.Advance(2 * time.Minute)
		if link := f.WantPermalink(g, r); !strings.Contains(link, "/"+form+"/") {
			t.Errorf("permalink %q", link)
		}
	}
}

// A lost response for a post in review does not create a second post.
func TestLostResponseInReview(t *testing.T) {
	t.Parallel()
	for _, media := range []func(*networktest.Library) []network.Media{smallFilm, image} {
		f := networktest.New(t, adapter, time.Minute)
		g := f.Grant()
		d := f.MustPrepare(g, " lost\n words", media(f.Library)...)
		f.Transport.LoseResponse(isPublishing)
		_, err := f.Commit(g, d)
		networktest.WantClass(t, err, network.OutcomeUnknown, "")
		f.Transport.LoseResponse(nil)
		f.WantPublished(g, d)
	}
}

// A post does not fail if its status cannot be read after the last part.
func TestStatusLostAtCommit(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	d := f.MustPrepare(g, "sent", smallFilm(f.Library)...)
	f.Transport.LoseResponseTo("status/fetch/")
	_, err := f.Commit(g, d)
	networktest.WantClass(t, err, network.Processing, "")
	f.Transport.LoseResponse(nil)
	f.WantPublished(g, d)
}

// Errors do not quote the URLs of photos.
func TestLinksNotQuoted(t *testing.T) {
	t.Parallel()
	body := `{"error":{"code":"invalid_params","message":"https://files.test/1 is not yours"}}`
	n := tiktok.New(tiktok.Options{App: network.App{Now: func() time.Time { return networktest.Start }}})
	_, err := n.Commit(t.Context(),
		network.Grant{Server: networktest.Serve(t, networktest.StubResponse{Status: http.StatusBadRequest, Body: body})},
		network.Draft(photos), nil)
	failed := networktest.WantClass(t, err, network.Rejected, "invalid_params")
	if strings.Contains(failed.Message+failed.Error(), "files.test") {
		t.Errorf("%q, %v", failed.Message, failed)
	}
}

// A video in several parts is published once, whichever request or response is lost and whichever draft is repeated.
func TestLostRequestsOfVideoParts(t *testing.T) {
	t.Parallel()
	p := networktest.Content{Media: largeFilm, UploadStart: "/video/init/"}
	networktest.LoseEachRequest(t, adapter, p)
	networktest.PrepareFromEachDraft(t, adapter, p)
}
