package threads_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
	"pressroom/internal/network/threads"
)

// scripted is a network that says one thing of containers and another of posts.
func scripted(t *testing.T, container, posts string) network.Grant {
	t.Helper()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := container
		if strings.HasSuffix(r.URL.Path, "/threads") {
			answer = posts
		}
		if strings.HasPrefix(answer, `{"error"`) {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(front.Close)
	return network.Grant{Server: front.URL, Access: "token"}
}

// What is answered to Resolve; the verdict and the class follow from it.
func TestResolve(t *testing.T) {
	t.Parallel()
	const (
		gone  = `{"error":{"code":100,"error_subcode":33}}`
		throt = `{"error":{"code":4}}`
		dead  = `{"error":{"code":190}}`
		none  = `{"data":[]}`
		one   = `{"data":[{"id":"171","text":" x\n","media_type":"TEXT_POST","timestamp":"2026-11-21T09:01:00+0000","permalink":"javascript:x"}]}`
		other = `{"data":[{"id":"171","text":"y","timestamp":"2026-11-21T09:01:00+0000"},{"id":"172","text":"x","media_type":"IMAGE","timestamp":"2026-11-21T09:01:00+0000"},
			{"id":"173","text":"x","timestamp":"2026-11-20T09:01:00+0000"},{"id":"../me","text":"x","timestamp":"2026-11-21T09:01:00+0000"},{"id":"174","text":"x","timestamp":"noon"}]}`
		published = `{"status":"PUBLISHED"}`
	)
	for name, c := range map[string]struct {
		container, posts string
		verdict          network.Verdict
		class            network.Class
		id               string
	}{
		"published":                      {published, one, network.Stands, "", "171"},
		"published, not listed":          {published, other, network.Stands, "", ""},
		"published, lists are throttled": {published, throt, network.Unknown, network.Rate, ""},
		"published, lists are refused":   {published, dead, network.Stands, "", ""},
		"finished":                       {`{"status":"FINISHED"}`, one, network.Absent, "", ""},
		"in progress":                    {`{"status":"IN_PROGRESS"}`, one, network.Unknown, network.Processing, ""},
		"expired":                        {`{"status":"EXPIRED"}`, one, network.Absent, network.Transient, ""},
		"a bad video":                    {`{"status":"ERROR","error_message":"INVALID_DURATION"}`, one, network.Absent, network.RejectedMedia, ""},
		"an unknown failure":             {`{"status":"ERROR","error_message":"UNKNOWN"}`, one, network.Absent, network.Transient, ""},
		"a state that is new":            {`{"status":"RESTING"}`, one, network.Unknown, network.Transient, ""},
		"gone, listed":                   {gone, one, network.Stands, "", "171"},
		"gone, not listed":               {gone, none, network.Unknown, network.Transient, ""},
		"gone, lists are throttled":      {gone, throt, network.Unknown, network.Rate, ""},
		"a dead token":                   {dead, one, network.Unknown, network.AuthDead, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := scripted(t, c.container, c.posts)
			verdict, receipt, err := threads.New(threads.Options{}).Resolve(t.Context(), g, network.Draft(ready), network.Tried{})
			if verdict != c.verdict || networktest.Class(err) != c.class || receipt.ID != c.id || receipt.Permalink != "" {
				t.Errorf("verdict %v, receipt %+v, %v", verdict, receipt, err)
			}
		})
	}
}

// What fails each time is created anew a few times, and then given up for its reason.
func TestPrepareGivesUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		container string
		class     network.Class
		calls     int
	}{
		"expired":           {`{"id":"181","status":"EXPIRED"}`, network.Transient, 4},
		"unknown":           {`{"id":"181","status":"ERROR","error_message":"UNKNOWN"}`, network.Transient, 4},
		"a failed download": {`{"id":"181","status":"ERROR","error_message":"FAILED_DOWNLOADING_VIDEO"}`, network.RejectedMedia, 4},
		"a bad form":        {`{"id":"181","status":"ERROR","error_message":"INVALID_ASPEC_RATIO"}`, network.RejectedMedia, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := scripted(t, c.container, `{"id":"181"}`)
			n := threads.New(threads.Options{})
			d, err := n.Plan(network.Intent{Seed: "s", Content: network.Content{Text: "x"}})
			calls, wait := 0, time.Duration(1)
			for ; err == nil && wait > 0 && calls < 20; calls++ {
				d, wait, err = n.Prepare(t.Context(), g, d, nil)
			}
			if networktest.WantClass(t, err, c.class, ""); calls != c.calls {
				t.Errorf("%d calls", calls)
			}
		})
	}
}

// A redirect would carry the token to wherever it leads.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was followed") }))
	t.Cleanup(elsewhere.Close)
	w := said(t, http.StatusTemporaryRedirect, http.Header{"Location": {elsewhere.URL}}, "")
	_, err := threads.New(threads.Options{}).Commit(t.Context(), network.Grant{Server: w.url, Access: "token"}, network.Draft(ready), nil)
	networktest.WantClass(t, err, network.Uncertain, "")
}

// A network that never answers is not waited for without end.
func TestDeadline(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	front := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(front.Close)
	t.Cleanup(func() { close(release) })
	n := threads.New(threads.Options{App: network.App{HTTP: &http.Client{Timeout: 50 * time.Millisecond}}})
	_, err := n.Commit(t.Context(), network.Grant{Server: front.URL, Access: "token"}, network.Draft(ready), nil)
	networktest.WantClass(t, err, network.Uncertain, "")
}
