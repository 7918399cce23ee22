package youtube_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// statusServer completes every upload. The response to the upload has a video with the status insert. Later responses
// have the statuses in listed one after the other, and then repeat the last one. An empty status means that the video
// is not listed.
func statusServer(insert string, listed ...string) http.HandlerFunc {
	item := func(status string) string { return `{"id":"video1","status":{` + status + `}}` }
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPut:
			_, _ = fmt.Fprint(w, item(insert))
		case listed[0] == "":
			_, _ = fmt.Fprint(w, `{"items":[]}`)
		default:
			_, _ = fmt.Fprint(w, `{"items":[`+item(listed[0])+`]}`)
		}
		if r.Method == http.MethodGet && len(listed) > 1 {
			listed = listed[1:]
		}
	}
}

// A video with an ID counts as published only if it is processed and has the planned audience.
func TestVideoStatus(t *testing.T) {
	t.Parallel()
	const uploaded, processed, public = `"uploadStatus":"uploaded",`, `"uploadStatus":"processed",`, `"privacyStatus":"public"`
	const private, rejected = `"privacyStatus":"private"`, `"uploadStatus":"rejected","rejectionReason":`
	type outcome struct {
		verdict network.Verdict
		class   network.ErrorClass
		code    string
	}
	published := outcome{verdict: network.Published}
	absent := func(class network.ErrorClass, code string) outcome { return outcome{network.Absent, class, code} }
	for name, c := range map[string]struct {
		insert string
		listed []string // empty if the video's outcome is known from the response to the upload
		want   outcome
	}{
		"processed immediately":     {processed + public, nil, published},
		"processed later":           {uploaded + public, []string{uploaded + public, processed + public}, published},
		"listed later":              {uploaded + public, []string{"", processed + public}, published},
		"made unlisted by a person": {uploaded + public, []string{processed + `"privacyStatus":"unlisted"`}, published},
		"no status":                 {`"license":"youtube"`, []string{processed + public}, published},
		"locked private":            {uploaded + private, nil, absent(network.AppNotApproved, "privacyStatus")},
		"locked later":              {uploaded + public, []string{processed + private}, absent(network.AppNotApproved, "privacyStatus")},
		"a duplicate":               {rejected + `"duplicate",` + private, nil, absent(network.Duplicate, "duplicate")},
		"a duplicate, later":        {uploaded + public, []string{rejected + `"duplicate"`}, absent(network.Duplicate, "duplicate")},
		"too long":                  {uploaded + public, []string{rejected + `"length"`}, absent(network.RejectedMedia, "length")},
		"copyright":                 {uploaded + public, []string{rejected + `"copyright"`}, absent(network.Rejected, "copyright")},
		"suspended": {rejected + `"uploaderAccountSuspended"`, nil, absent(network.ReconnectRequired,
			"uploaderAccountSuspended")},
		"a codec": {uploaded + public, []string{`"uploadStatus":"failed","failureReason":"codec"`},
			absent(network.RejectedMedia, "codec")},
		"deleted": {uploaded + public, []string{`"uploadStatus":"deleted"`}, absent(network.Rejected, "deleted")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := testkit.NewClock(networktest.Start)
			s := networktest.NewStub(t, adapter, network.App{Now: clock.Now}, statusServer(c.insert, c.listed...))
			receipt, err := s.Network.Commit(t.Context(), s.Grant, s.Draft(queriedDraft), s.Library)
			got := outcome{network.Published, networktest.Class(err), ""}
			if err != nil {
				got.verdict = network.Absent
			}
			for got.class == network.Processing && len(c.listed) > 0 {
				failed := networktest.WantClass(t, err, network.Processing, "")
				clock.Advance(failed.RetryAt.Sub(clock.Now()))
				got.verdict, receipt, err = s.Network.Resolve(t.Context(), s.Grant, failed.Draft, network.CommitHistory{})
				got.class = networktest.Class(err)
			}
			if failed, ok := errors.AsType[*network.Error](err); ok {
				if got.code = failed.Code; !strings.Contains(failed.Message, failed.Code) {
					t.Errorf("message %q", failed.Message)
				}
			}
			if got != c.want || c.want == published && receipt.ID != "video1" {
				t.Errorf("got %+v, %+v, want %+v", got, receipt, c.want)
			}
		})
	}
}

// The interval between checks of a video grows, so that a long video does not use up the daily quota. After a lost
// response, the interval is based on the time of the first commit.
func TestStatusInterval(t *testing.T) {
	t.Parallel()
	const uploaded = `"uploadStatus":"uploaded","privacyStatus":"public"`
	for name, lost := range map[string]bool{"answered": false, "lost answer": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := testkit.NewClock(networktest.Start)
			s := networktest.NewStub(t, adapter, network.App{Now: clock.Now}, statusServer(uploaded, uploaded))
			_, err := s.Network.Commit(t.Context(), s.Grant, s.Draft(queriedDraft), s.Library)
			checks := 0
			for clock.Now().Sub(networktest.Start) < time.Hour {
				failed := networktest.WantClass(t, err, network.Processing, "uploaded")
				clock.Advance(failed.RetryAt.Sub(clock.Now()))
				d, history := failed.Draft, network.CommitHistory{}
				if lost {
					d, history = s.Draft(queriedDraft), network.CommitHistory{First: networktest.Start}
				}
				_, _, err = s.Network.Resolve(t.Context(), s.Grant, d, history)
				checks++
			}
			if checks > 80 {
				t.Errorf("%d checks in an hour", checks)
			}
		})
	}
}

// The status of a restarted upload belongs to its own video, not to the video of the earlier session.
func TestStatusOfRestartedUpload(t *testing.T) {
	t.Parallel()
	puts := 0
	s := networktest.NewStub(t, adapter, network.App{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			w.Header().Set("Location", "http://"+r.Host+"/new?upload_id=2")
		case r.Method == http.MethodPut && puts == 0:
			puts++
			w.WriteHeader(http.StatusNotFound)
		case r.Method == http.MethodPut:
			_, _ = fmt.Fprint(w, `{"id":"video2","status":{"uploadStatus":"uploaded","privacyStatus":"public"}}`)
		default:
			_, _ = fmt.Fprintf(w, `{"items":[{"id":%q,"status":{"uploadStatus":"processed","privacyStatus":"public"}}]}`,
				r.FormValue("id"))
		}
	}))
	const before = `"youtube":true,"video":"video1","uploaded":"2026-11-20T09:00:00Z"`
	old := strings.Replace(queriedDraft, `"youtube":true`, before, 1)
	d, _, err := s.Network.Prepare(t.Context(), s.Grant, s.Draft(old), s.Library)
	must.NoError(t, err)
	_, err = s.Network.Commit(t.Context(), s.Grant, d, s.Library)
	failed := networktest.WantClass(t, err, network.Processing, "uploaded")
	_, receipt, err := s.Network.Resolve(t.Context(), s.Grant, failed.Draft, network.CommitHistory{})
	if err != nil || receipt.ID != "video2" {
		t.Errorf("receipt %+v, %v", receipt, err)
	}
}

// The request sends a post's choices with the names of YouTube's API. A private video counts as published if it was
// planned as private.
func TestChoices(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g, no := f.Grant(), false
	d, err := f.Network().Plan(network.Submission{Seed: "s", Content: network.Content{
		Text: "x", Media: []network.Media{f.Library.Video(100)}, Options: network.Options{YouTube: &network.YouTubeOptions{
			Title: " Opening  hours ", PrivacyStatus: "private", SelfDeclaredMadeForKids: &no, ContainsSyntheticMedia: true,
			CategoryID: "27",
		}},
	}})
	must.NoError(t, err)
	d, err = f.Prepare(g, d)
	must.NoError(t, err)
	if receipt := f.Publish(g, d); receipt.ID == "" {
		t.Error("no id")
	}
	body := string(f.Transport.Requests("POST " + upload)[0].Body)
	for _, part := range []string{
		`"title":"Opening hours"`, `"description":"x"`, `"privacyStatus":"private"`,
		`"selfDeclaredMadeForKids":false`, `"containsSyntheticMedia":true`, `"categoryId":"27"`,
	} {
		if !strings.Contains(body, part) {
			t.Errorf("%s lacks %s", body, part)
		}
	}
}

// Videos fail if the sandbox keeps them private or rejects them after the upload.
func TestSandboxStatus(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]network.ErrorClass{
		"[sandbox:unapproved]": network.AppNotApproved, "[sandbox:drop]": network.Duplicate,
		"[sandbox:drop@tiktok]": "",
	} {
		for _, ready := range []time.Duration{0, time.Minute} {
			f := networktest.New(t, adapter, ready)
			g := f.Grant()
			d := f.PrepareUsual(g, text)
			_, err := f.Commit(g, d)
			if networktest.Class(err) == network.Processing {
				_, _, err = f.Decide(g, d)
			}
			if networktest.Class(err) != want {
				t.Errorf("%s after %v: %v, want %q", text, ready, err, want)
			}
		}
	}
}
