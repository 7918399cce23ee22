package youtube_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/network/youtube"
	"pressroom.example/pressroom/internal/testkit/must"
)

// The insert request has the planned title, description and tags.
func TestInsert(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	f.MustPrepare(f.Grant(), "Opening day\n#harbour #coffee", f.Library.Video(chunk))
	begun := f.Transport.Requests("POST " + upload)[0]
	var got any
	_ = json.Unmarshal(begun.Body, &got)
	want := map[string]any{
		"snippet": map[string]any{
			"title": "Opening day", "description": "Opening day\n#harbour #coffee", "tags": []any{"harbour", "coffee"},
		},
		"status": map[string]any{"privacyStatus": "public"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if begun.Header.Get("X-Upload-Content-Length") != strconv.Itoa(chunk) ||
		begun.Header.Get("X-Upload-Content-Type") != "video/mp4" || begun.URL.Query().Get("part") != "snippet,status" {
		t.Errorf("%v, %v", begun.Header, begun.URL)
	}
}

// Each part is sent once, and the session's progress is queried before an upload resumes.
func TestParts(t *testing.T) {
	t.Parallel()
	for size, c := range map[int]struct{ requests int }{1000: {2}, chunk: {2}, chunk + 1: {4}, 3 * chunk: {5}, 3*chunk + 5: {6}} {
		f := networktest.New(t, adapter, 0)
		f.Library.Seekable = size%2 == 1
		film := []network.Media{f.Library.Video(size)}
		f.Post(f.Grant(), "x", film...)
		f.WantShown("x", film)
		if requests := f.Transport.Count("PUT " + upload); requests != c.requests {
			t.Errorf("%d bytes: %d requests to the session", size, requests)
		}
	}
}

// A post needs a video even if the operator's rules do not require media.
func TestVideoRequiredWithoutRules(t *testing.T) {
	t.Parallel()
	n := youtube.New(youtube.Options{App: network.App{Rules: &network.Rules{}}})
	d, err := n.Plan(network.Submission{Content: network.Content{Text: "x"}})
	must.NoError(t, err)
	_, _, err = n.Prepare(t.Context(), network.Grant{}, d, networktest.NewLibrary(t))
	networktest.WantClass(t, err, network.RejectedMedia, "")
}

// A file that has changed since the start of the upload is not sent.
func TestChangedFile(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	film := f.Library.Video(3 * chunk)
	d := f.MustPrepare(g, "x", film)
	f.Library.Replace(film, f.Library.Bytes(film)[:2*chunk])
	_, err := f.Commit(g, d)
	networktest.WantClass(t, err, network.Rejected, "")
	f.WantPosts(0)
}

// A session URL of another host is rejected, because the token would be sent to that host.
func TestSessionURLOfAnotherHost(t *testing.T) {
	t.Parallel()
	s := networktest.NewStub(t, adapter, network.App{},
		networktest.StubResponse{Header: http.Header{"Location": {"https://elsewhere.test/upload?upload_id=1"}}})
	_, _, err := s.Network.Prepare(t.Context(), s.Grant, network.Draft(plannedDraft), s.Library)
	networktest.WantClass(t, err, network.Transient, "")
}

// After its session has expired, a video is found among the channel's uploads unless several match.
func TestFindUpload(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after int // posts with the same text before and after this one
		verdict       network.Verdict
		class         network.ErrorClass
	}{
		"no others":           {0, 0, network.Published, ""},
		"only an older match": {1, 0, network.Published, ""},
		"a twin":              {0, 1, network.Unknown, network.OutcomeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := networktest.New(t, adapter, 0)
			g := f.Grant()
			for range c.before {
				f.Publish(g, f.PrepareUsual(g, "same\ntext"))
				f.Clock.Advance(10 * time.Minute)
			}
			d := f.PrepareUsual(g, "same\ntext")
			tried := f.RecentHistory()
			first := f.Publish(g, d)
			first.MatchedByContent = true // without the session, the video is matched by content
			for range c.after {
				f.Publish(g, f.PrepareUsual(g, "same\ntext"))
			}
			f.Publish(g, f.PrepareUsual(g, "another"))
			f.Clock.Advance(week)
			verdict, receipt, err := f.Network().Resolve(t.Context(), f.Renew(g), d, tried)
			if verdict != c.verdict || networktest.Class(err) != c.class || verdict == network.Published && receipt != first {
				t.Errorf("verdict %v, receipt %+v, %v", verdict, receipt, err)
			}
			f.WantPosts(c.before + c.after + 2)
		})
	}
}

// A refresh token remains valid while it is used.
func TestUsedRefreshToken(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	for range 3 {
		f.Clock.Advance(179 * 24 * time.Hour)
		f.Renew(g)
	}
}

// partialStore returns a server that stores at most limit bytes of each part.
func partialStore(limit int64) http.HandlerFunc {
	have := int64(0)
	return func(w http.ResponseWriter, r *http.Request) {
		have += min(r.ContentLength, limit)
		if have > 0 {
			w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", have-1))
		}
		w.WriteHeader(http.StatusPermanentRedirect)
	}
}

// If YouTube stores only some of the bytes sent, the remaining bytes are sent again. If it stores none, Prepare fails.
func TestPartialStore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		most     int64
		seekable bool
		want     []network.ErrorClass // of consecutive calls
	}{
		"half":               {chunk / 2, true, []network.ErrorClass{""}},
		"half, not seekable": {chunk / 2, false, []network.ErrorClass{network.Transient, ""}},
		"nothing":            {0, true, []network.ErrorClass{network.Transient, network.Transient}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := networktest.NewStub(t, adapter, network.App{}, partialStore(c.most))
			s.Library.Seekable = c.seekable
			s.Library.Replace(network.Media{ID: 1}, make([]byte, 2*chunk))
			d := s.Draft(strings.NewReplacer(`"total":100`, fmt.Sprintf(`"total":%d`, 2*chunk), "/upload?",
				"/looked-at?").Replace(readyDraft))
			for i, want := range c.want {
				if _, _, err := s.Network.Prepare(t.Context(), s.Grant, d, s.Library); networktest.Class(err) != want {
					t.Errorf("call %d: %v", i, err)
				}
			}
		})
	}
}
