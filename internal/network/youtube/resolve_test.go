package youtube_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
	"pressroom/internal/network/youtube"
)

const week = 7 * 24 * time.Hour

// A session that has run out is begun anew, where nothing was committed.
func TestSessionRunsOut(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t), newLibrary()
	g := w.connect("harbour.coffee")
	d := w.prepared(g, "late", l)
	w.clock.Advance(week)
	g, err := w.network().Refresh(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	tried := w.clock.Now()
	_, err = w.network().Commit(t.Context(), g, d, l)
	networktest.WantClass(t, err, network.Uncertain, "upload_session_gone")
	verdict, _, err := w.network().Resolve(t.Context(), g, d, network.Tried{First: tried, Last: tried})
	if said := networktest.WantClass(t, err, network.Processing, "upload_session_gone"); verdict != network.Unknown || !said.After.Equal(tried.Add(time.Minute)) {
		t.Errorf("verdict %v, not before %v", verdict, said.After)
	}
	w.clock.Advance(time.Minute)
	verdict, _, err = w.network().Resolve(t.Context(), g, d, network.Tried{First: tried, Last: tried})
	if networktest.WantClass(t, err, network.Transient, "upload_session_gone"); verdict != network.Absent {
		t.Errorf("verdict %v", verdict)
	}
	if d, err = w.prepare(g, d, l); err != nil {
		t.Fatal(err)
	}
	w.commit(g, d, l)
	w.wantHeld(1)
}

// A video whose session has run out is found among the channel's uploads, unless it could be another.
func TestLookBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after int // posts of the same text, before this one and after
		verdict       network.Verdict
		class         network.Class
	}{
		"alone":      {0, 0, network.Stands, ""},
		"an old one": {1, 0, network.Stands, ""},
		"a twin":     {0, 1, network.Unknown, network.Uncertain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t), newLibrary()
			g := w.connect("harbour.coffee")
			for range c.before {
				w.commit(g, w.prepared(g, "same\ntext", l), l)
				w.clock.Advance(10 * time.Minute)
			}
			d := w.prepared(g, "same\ntext", l)
			tried := w.clock.Now()
			first := w.commit(g, d, l)
			first.Alike = true // there is no session any more that would tell it by itself
			for range c.after {
				w.commit(g, w.prepared(g, "same\ntext", l), l)
			}
			w.commit(g, w.prepared(g, "another", l), l)
			w.clock.Advance(week)
			g, err := w.network().Refresh(t.Context(), g)
			if err != nil {
				t.Fatal(err)
			}
			verdict, receipt, err := w.network().Resolve(t.Context(), g, d, network.Tried{First: tried, Last: tried})
			if verdict != c.verdict || networktest.Class(err) != c.class || verdict == network.Stands && receipt != first {
				t.Errorf("verdict %v, receipt %+v, %v", verdict, receipt, err)
			}
			w.wantHeld(c.before + c.after + 2)
		})
	}
}

// asked is a network that says one thing of a session, and lists these uploads.
func asked(t *testing.T, status int, header, session, list string) string {
	t.Helper()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPut:
			if header != "" {
				w.Header().Set("Range", header)
			}
			w.WriteHeader(status)
			_, _ = fmt.Fprint(w, session)
		case strings.HasSuffix(r.URL.Path, "/channels"):
			_, _ = fmt.Fprint(w, `{"items":[{"contentDetails":{"relatedPlaylists":{"uploads":"UU1a"}}}]}`)
		case strings.HasPrefix(list, `{"error"`):
			w.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprint(w, list)
		default:
			_, _ = fmt.Fprint(w, list)
		}
	}))
	t.Cleanup(front.Close)
	return front.URL
}

// What is answered to Resolve; the verdict and the class follow from it.
func TestResolve(t *testing.T) {
	t.Parallel()
	item := func(id, text, at string) string {
		return `{"snippet":{"publishedAt":"` + at + `","title":"x","description":"` + text + `","resourceId":{"videoId":"` + id + `"}}}`
	}
	list := func(next string, items ...string) string {
		return `{"nextPageToken":"` + next + `","items":[` + strings.Join(items, ",") + `]}`
	}
	const now, old = "2026-11-21T09:31:00Z", "2026-11-20T09:31:00Z"
	mine := list("", item("video1", " x\\r\\n", now))
	for name, c := range map[string]struct {
		status                int
		header, session, list string
		verdict               network.Verdict
		class                 network.Class
		id                    string
	}{
		"complete":               {200, "", `{"id":"video1"}`, "", network.Stands, "", "video1"},
		"created":                {201, "", `{"id":"video1"}`, "", network.Stands, "", "video1"},
		"complete, no id":        {200, "", `{}`, mine, network.Unknown, network.Transient, ""},
		"nothing yet":            {308, "", "", mine, network.Absent, "", ""},
		"a part":                 {308, "bytes=0-49", "", mine, network.Absent, "", ""},
		"all, but no video":      {308, "bytes=0-99", "", mine, network.Unknown, network.Processing, ""},
		"more than all":          {308, "bytes=0-100", "", mine, network.Unknown, network.Transient, ""},
		"an odd range":           {308, "bytes=5-49", "", mine, network.Unknown, network.Transient, ""},
		"an outage":              {503, "", "", mine, network.Unknown, network.Transient, ""},
		"throttled":              {429, "", "", mine, network.Unknown, network.Rate, ""},
		"a dead token":           {401, "", "", mine, network.Unknown, network.AuthRefresh, ""},
		"gone, listed":           {404, "", "", mine, network.Stands, "", "video1"},
		"gone for good":          {410, "", "", mine, network.Stands, "", "video1"},
		"gone, other videos":     {404, "", "", list("", item("video2", "y", now), item("video3", "x", old), item("../x", "x", now)), network.Absent, network.Transient, ""},
		"gone, no videos":        {404, "", "", list(""), network.Absent, network.Transient, ""},
		"gone, no list yet":      {404, "", "", `{"error":{"errors":[{"reason":"playlistNotFound"}]}}`, network.Absent, network.Transient, ""},
		"gone, refused":          {404, "", "", `{"error":{"errors":[{"reason":"quotaExceeded"}]}}`, network.Unknown, network.Quota, ""},
		"gone, twice":            {404, "", "", list("", item("video1", "x", now), item("video2", "x", now)), network.Unknown, network.Uncertain, ""},
		"gone, too many to read": {404, "", "", list("more", item("video2", "y", now)), network.Unknown, network.Uncertain, ""},
		"gone, more of old ones": {404, "", "", list("more", item("video2", "y", now), item("video3", "y", old)), network.Absent, network.Transient, ""},
		"gone, no time":          {404, "", "", list("", item("video1", "x", "noon")), network.Unknown, network.Transient, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := asked(t, c.status, c.header, c.session, c.list)
			n := youtube.New(youtube.Options{App: network.App{Now: func() time.Time { return start.Add(time.Hour) }}, WebURL: "https://video.test/"})
			verdict, receipt, err := n.Resolve(t.Context(), network.Grant{Server: url, Account: "UC1a"}, ready(url, newLibrary()), network.Tried{First: start, Last: start})
			if verdict != c.verdict || networktest.Class(err) != c.class || receipt.ID != c.id || c.id != "" && receipt.Permalink != "https://video.test/watch?v="+c.id {
				t.Errorf("verdict %v, receipt %+v, %v", verdict, receipt, err)
			}
		})
	}
}

// A network that forgets every session is given up after some.
func TestPrepareGivesUp(t *testing.T) {
	t.Parallel()
	begun := 0
	var url string
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		begun++
		w.Header().Set("Location", url+"/upload?upload_id=1")
	}))
	t.Cleanup(front.Close)
	url = front.URL
	l := newLibrary()
	n := youtube.New(youtube.Options{ChunkBytes: chunk})
	d, err := n.Plan(network.Intent{Content: network.Content{Media: []network.Media{l.film(2 * chunk)}}})
	for calls := 0; err == nil && calls < 20; calls++ {
		d, _, err = n.Prepare(t.Context(), network.Grant{Server: url}, d, l)
	}
	if networktest.WantClass(t, err, network.Transient, ""); begun != 4 {
		t.Errorf("%d sessions", begun)
	}
}

// forgetful is a network that keeps only so many bytes of each part.
func forgetful(t *testing.T, most int64) string {
	t.Helper()
	have := int64(0)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		have += min(r.ContentLength, most)
		if have > 0 {
			w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", have-1))
		}
		w.WriteHeader(http.StatusPermanentRedirect)
	}))
	t.Cleanup(front.Close)
	return front.URL
}

// A network that kept less than it was sent is sent the rest, and one that keeps nothing is not sent it for ever.
func TestForgetful(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		most     int64
		seekable bool
		want     []network.Class // of calls in a row
	}{
		"half":                               {chunk / 2, true, []network.Class{""}},
		"half, of what cannot be read again": {chunk / 2, false, []network.Class{network.Transient, ""}},
		"nothing":                            {0, true, []network.Class{network.Transient, network.Transient}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, l := forgetful(t, c.most), newLibrary()
			l.seekable = c.seekable
			d := []byte(strings.Replace(string(ready(url, l)), `"total":100`, fmt.Sprintf(`"total":%d`, 2*chunk), 1))
			l.files[1] = make([]byte, 2*chunk)
			for i, want := range c.want {
				_, _, err := youtube.New(youtube.Options{ChunkBytes: chunk}).Prepare(t.Context(), network.Grant{Server: url}, d, l)
				if networktest.Class(err) != want {
					t.Errorf("call %d: %v", i, err)
				}
			}
		})
	}
}

// A look tells what was there when it was asked for, however late its answer is read.
func TestALookIsAsOldAsItsQuestion(t *testing.T) {
	t.Parallel()
	url := asked(t, http.StatusNotFound, "", "", `{"items":[]}`)
	networktest.StandsStill(t, func(app network.App, tried network.Tried) (network.Verdict, network.Receipt, error) {
		return youtube.New(youtube.Options{App: app}).Resolve(t.Context(), network.Grant{Server: url, Account: "UC1a"}, ready(url, newLibrary()), tried)
	})
}
