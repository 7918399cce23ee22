package youtube_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/network/youtube"
)

// No report is requested without its scope.
func TestCollectWithoutReports(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	f.Post(g, "a film", f.Media()...)
	g.Scopes = g.Scopes[:2]
	collected := f.Collect(g, networktest.Start, 10)
	if len(collected.Posts) != 1 || collected.Posts[0].Shares != nil || collected.Posts[0].Views == nil ||
		f.Transport.Count(reportCall) != 0 {
		t.Errorf("%+v", collected)
	}
}

// Collect omits hidden counts, and videos that only the owner can see.
func TestCollectHidden(t *testing.T) {
	t.Parallel()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		video := `{"id":%q,"snippet":{"publishedAt":"2026-11-21T09:30:00Z","title":"t"},` +
			`"status":{"privacyStatus":%q,"uploadStatus":%q},"statistics":{"viewCount":"7"}}`
		item := `{"snippet":{"publishedAt":"2026-11-21T09:30:00Z","resourceId":{"videoId":%q}}}`
		switch {
		case strings.HasSuffix(r.URL.Path, "/channels"):
			_, _ = fmt.Fprint(w,
				`{"items":[{"contentDetails":{"relatedPlaylists":{"uploads":"UU1a"}},`+
					`"statistics":{"subscriberCount":"0","hiddenSubscriberCount":true}}]}`)
		case strings.HasSuffix(r.URL.Path, "/playlistItems"):
			_, _ = fmt.Fprintf(w, `{"items":[`+item+`,`+item+`,`+item+`]}`, "aaaaaaaaaaa", "bbbbbbbbbbb", "ccccccccccc")
		default:
			_, _ = fmt.Fprintf(w, `{"items":[`+video+`,`+video+`,`+video+`]}`, "aaaaaaaaaaa", "unlisted", "processed",
				"bbbbbbbbbbb", "private", "processed", "ccccccccccc", "public", "rejected")
		}
	}))
	t.Cleanup(front.Close)
	g := network.Grant{Server: front.URL, Account: "UC1a"}
	collected, err := youtube.New(youtube.Options{}).Collect(t.Context(), g, networktest.Start, 10)
	want := network.Collection{Posts: []network.CollectedPost{{
		ID: "aaaaaaaaaaa", URL: "https://www.youtube.com/watch?v=aaaaaaaaaaa", Text: "t", Format: network.FormatVideo,
		PostedAt: networktest.Start, Views: new(int64(7)),
	}}}
	if diff := cmp.Diff(want, collected); diff != "" || err != nil {
		t.Errorf("%v%s", err, diff)
	}
}

// Reports are read from the host of the Analytics API.
func TestCollectReportsFromAnalyticsHost(t *testing.T) {
	t.Parallel()
	checks := make(chan string, 10)
	n := youtube.New(youtube.Options{App: network.App{HTTP: &http.Client{Transport: transport(func(r *http.Request) string {
		checks <- r.URL.Scheme + "://" + r.URL.Host + r.URL.Path
		switch {
		case strings.HasSuffix(r.URL.Path, "/channels"):
			return `{"items":[{"contentDetails":{"relatedPlaylists":{"uploads":"UU1a"}}}]}`
		case strings.HasSuffix(r.URL.Path, "/playlistItems"):
			return `{"items":[{"snippet":{"publishedAt":"2026-11-21T09:30:00Z","resourceId":{"videoId":"aaaaaaaaaaa"}}}]}`
		case strings.HasSuffix(r.URL.Path, "/videos"):
			return `{"items":[{"id":"aaaaaaaaaaa","snippet":{"publishedAt":"2026-11-21T09:30:00Z"}}]}`
		}
		return `{"rows":[["aaaaaaaaaaa",3]]}`
	})}}})
	g := network.Grant{
		Server: "https://www.googleapis.com", Account: "UC1a", Scopes: []string{"https://www.googleapis.com/auth/yt-analytics.readonly"},
	}
	collected, err := n.Collect(t.Context(), g, networktest.Start, 10)
	if err != nil || len(collected.Posts) != 1 || *collected.Posts[0].Shares != 3 {
		t.Errorf("%+v, %v", collected, err)
	}
	close(checks)
	var last string
	for last = range checks {
	}
	if last != "https://youtubeanalytics.googleapis.com/v2/reports" {
		t.Errorf("the report was requested from %s", last)
	}
}

// transport is an http.RoundTripper that returns the function's result as the body of each response.
type transport func(*http.Request) string

func (answer transport) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer(r))), Request: r,
	}, nil
}

// Private videos are not among the posts with metrics, but can be listed separately.
func TestListHidden(t *testing.T) {
	t.Parallel()
	const when = `"publishedAt":"2026-11-21T09:30:00Z"`
	n := youtube.New(youtube.Options{App: network.App{HTTP: &http.Client{Transport: transport(func(r *http.Request) string {
		switch {
		case strings.HasSuffix(r.URL.Path, "/channels"):
			return `{"items":[{"contentDetails":{"relatedPlaylists":{"uploads":"UU1a"}}}]}`
		case strings.HasSuffix(r.URL.Path, "/playlistItems"):
			return `{"items":[{"snippet":{` + when + `,"resourceId":{"videoId":"aaaaaaaaaaa"}}},
				{"snippet":{` + when + `,"resourceId":{"videoId":"bbbbbbbbbbb"}}}]}`
		}
		return `{"items":[{"id":"aaaaaaaaaaa","snippet":{` + when + `},"status":{"privacyStatus":"public"}},
			{"id":"bbbbbbbbbbb","snippet":{` + when + `,"title":"Locked"},"status":{"privacyStatus":"private"}}]}`
	})}}})
	g := network.Grant{Server: "https://www.googleapis.com", Account: "UC1a"}
	hidden, err := n.ListHidden(t.Context(), g, networktest.Start, 10)
	if err != nil || len(hidden) != 1 || hidden[0].ID != "bbbbbbbbbbb" || hidden[0].Text != "Locked" || hidden[0].URL == "" {
		t.Errorf("%+v, %v", hidden, err)
	}
	listed, err := n.Collect(t.Context(), g, networktest.Start, 10)
	if err != nil || len(listed.Posts) != 1 || listed.Posts[0].ID != "aaaaaaaaaaa" {
		t.Errorf("%+v, %v", listed.Posts, err)
	}
}

// Private videos are not listed, so a missing video may exist.
func TestPrivateVideos(t *testing.T) {
	t.Parallel()
	var n any = youtube.New(youtube.Options{})
	if _, isPartial := n.(network.PartialLister); !isPartial {
		t.Error("Network is not a PartialLister")
	}
}
