package facebook_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
)

// Vertical videos in the format of reels are published as reels. Other vertical videos have a warning.
func TestReelFormat(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		width, height int
		duration      time.Duration
		reel, warned  bool
	}{
		"reel":       {1080, 1920, time.Minute, true, false},
		"smallest":   {540, 960, 3 * time.Second, true, false},
		"odd pixels": {608, 1080, 90 * time.Second, true, false},
		"small":      {360, 640, time.Minute, false, true},
		"4:5":        {1080, 1350, time.Minute, false, true},
		"too long":   {1080, 1920, 91 * time.Second, false, true},
		"too short":  {1080, 1920, 2 * time.Second, false, true},
		"square":     {1080, 1080, time.Minute, false, false},
		"landscape":  {1920, 1080, time.Minute, false, false},
		"unknown":    {0, 0, time.Minute, false, false},
	} {
		n := adapter.New("https://network.test", network.App{})
		media := []network.Media{{
			ID: 1, Kind: network.Video, Type: "video/mp4", Size: 100, Width: c.width, Height: c.height, Duration: c.duration,
		}}
		d, err := n.Plan(network.Submission{Content: network.Content{Media: media}})
		if err != nil || strings.Contains(string(d), `"reel":true`) != c.reel {
			t.Errorf("%s: draft %s, %v", name, d, err)
		}
		found := n.Check(network.Content{Media: media})
		if warned := slices.ContainsFunc(found, func(p network.Problem) bool {
			return p.Code == "media_aspect" && !p.Blocking
		}); warned != c.warned || len(found) > 1 {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

func TestReelParameters(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	f.Publish(g, f.MustPrepare(g, "A reel", reel(f.Library)...))
	var sent []string
	for _, r := range f.Transport.Requests("/video_reels") {
		p := r.Params()
		sent = append(sent, p.Get("upload_phase")+" "+p.Get("video_id")+" "+p.Get("video_state")+" "+p.Get("description"))
	}
	if id := f.Posts()[0].ID; !slices.Equal(sent, []string{"start   ", "finish " + id + " PUBLISHED A reel"}) {
		t.Error(sent)
	}
	upload := f.Transport.Requests("/video-upload/")[0]
	if upload.Header.Get("Authorization") != "OAuth "+g.AccessToken || upload.Header.Get("Offset") != "0" ||
		upload.Header.Get("file_size") != "2600024" {
		t.Errorf("%v", upload.Header)
	}
}

// The token and the file are only sent to the host for uploads.
func TestReelUploadHost(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"another host": `{"video_id":"15001","upload_url":"https://elsewhere.test/video-upload/v25.0/15001"}`,
		"no URL":       `{"video_id":"15001"}`,
		"no ID":        `{"upload_url":"{server}/upload/video-upload/v25.0/15001"}`,
		"no success":   `{"video_id":"15001","upload_url":"{server}/upload/video-upload/v25.0/15001"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var server string
			s := networktest.NewStub(t, adapter, network.App{}, answering(func(r *http.Request) string {
				if strings.Contains(r.URL.Path, "/video-upload/") {
					return `{"success":false}`
				}
				return strings.ReplaceAll(body, "{server}", server)
			}))
			server = s.URL
			_, _, err := s.Network.Prepare(t.Context(), s.Grant, network.Draft(plannedReel), s.Library)
			networktest.WantClass(t, err, network.Transient, "")
		})
	}
}

// If Facebook rejects the last call, the reel counts as rejected unless it may be published.
func TestReelRejected(t *testing.T) {
	t.Parallel()
	for status, class := range map[string]network.ErrorClass{
		`"video_status":"upload_complete"`:                                           network.Rejected,
		`"video_status":"ready","publishing_phase":{"status":"not_started"}`:         network.Rejected,
		`"video_status":"ready","publishing_phase":{"status":"complete"}`:            network.OutcomeUnknown,
		`"video_status":"processing","publishing_phase":{"status":"not_started"}`:    network.OutcomeUnknown,
		`"video_status":"processing","processing_phase":{"status":"in_progress"}`:    network.OutcomeUnknown,
		`"video_status":"ready","publishing_phase":{"status":"in_progress"}`:         network.OutcomeUnknown,
		`"video_status":"uploading","uploading_phase":{"status":"in_progress"}`:      network.Rejected,
		`"video_status":"error","processing_phase":{"error":{"message":"too dark"}}`: network.OutcomeUnknown,
	} {
		s := networktest.NewStub(t, adapter, network.App{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				_, _ = fmt.Fprintf(w, `{"status":{%s}}`, status)
				return
			}
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprint(w, graph(`"code":1346003`))
		}))
		_, err := s.Network.Commit(t.Context(), s.Grant, network.Draft(readyReel), s.Library)
		networktest.WantClass(t, err, class, "1346003")
	}
}

// A reel may remain unpublished for some minutes after the end of its upload. It does not count as absent if Facebook
// may have accepted the last call.
func TestReelStatus(t *testing.T) {
	t.Parallel()
	now := networktest.Start
	s := networktest.NewStub(t, adapter, network.App{Now: func() time.Time { return now }}, answering(
		func(r *http.Request) string {
			if r.Method == http.MethodGet {
				return `{"status":{"video_status":"ready","publishing_phase":{"status":"not_started"}}}`
			}
			if r.FormValue("description") == "refused" {
				return graph(`"code":100`)
			}
			return `{"success":true}`
		}))
	_, err := s.Network.Commit(t.Context(), s.Grant, network.Draft(readyReel), s.Library)
	accepted := networktest.WantClass(t, err, network.Processing, "processing").Draft
	tried := network.CommitHistory{First: networktest.Start, Last: networktest.Start}
	lost := network.CommitHistory{First: tried.First, Last: tried.Last, Undecided: true}
	for name, c := range map[string]struct {
		draft   network.Draft
		history network.CommitHistory
		after   time.Duration
		verdict network.Verdict
		class   network.ErrorClass
	}{
		"accepted":                       {accepted, tried, time.Hour, network.Unknown, network.Processing},
		"accepted, older draft repeated": {network.Draft(readyReel), tried, time.Hour, network.Unknown, network.Processing},
		"lost, then accepted":            {accepted, lost, time.Hour, network.Unknown, network.Processing},
		"response lost minutes ago":      {network.Draft(readyReel), lost, 14 * time.Minute, network.Unknown, network.Processing},
		"lost":                           {network.Draft(readyReel), lost, 15 * time.Minute, network.Absent, ""},
		"never committed":                {network.Draft(readyReel), network.CommitHistory{}, time.Hour, network.Absent, ""},
	} {
		now = networktest.Start.Add(c.after)
		verdict, _, err := s.Network.Resolve(t.Context(), s.Grant, c.draft, c.history)
		if verdict != c.verdict || networktest.Class(err) != c.class {
			t.Errorf("%s: verdict %v, %v", name, verdict, err)
		}
	}
	rejected := strings.Replace(string(accepted), `"text":"x"`, `"text":"refused"`, 1)
	_, err = s.Network.Commit(t.Context(), s.Grant, network.Draft(rejected), s.Library)
	networktest.WantClass(t, err, network.OutcomeUnknown, "100")
}
