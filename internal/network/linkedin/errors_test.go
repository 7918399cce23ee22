package linkedin_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/linkedin"
	"pressroom/internal/network/networktest"
)

// said is a network that gives one answer to everything.
func said(t *testing.T, status int, header http.Header, body string) *world {
	t.Helper()
	return &world{t: t, url: serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for name := range header {
			w.Header().Set(name, header.Get(name))
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})}
}

const (
	ready    = `{"linkedin":true,"text":"x","planned":"2026-11-21T09:30:00Z","ready":true}`
	uploaded = `{"linkedin":true,"text":"x","media":[{"kind":"image"}],"assets":["urn:li:image:1"],"arrived":"2026-11-21T09:30:00Z"}`
)

// What is answered to a question about an image, and to a commit.
func TestErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status          int
		body            string
		reading, commit network.Class
	}{
		"expired":           {401, `{"status":401,"serviceErrorCode":65602,"code":"EXPIRED_ACCESS_TOKEN"}`, network.AuthRefresh, network.AuthRefresh},
		"permission":        {403, `{"status":403,"serviceErrorCode":100,"code":"ACCESS_DENIED"}`, "", network.AuthDead},
		"a wrong member":    {403, `{"status":403,"message":"Unpermitted fields present in REQUEST_BODY"}`, "", network.Unapproved},
		"version":           {426, `{"status":426,"code":"NONEXISTENT_VERSION"}`, network.Unapproved, network.Unapproved},
		"throttled":         {429, `slow down`, network.Rate, network.Rate},
		"duplicate":         {422, `{"status":422,"errorDetails":{"inputErrors":[{"code":"DUPLICATE_POST"}]}}`, network.Duplicate, network.Duplicate},
		"duplicate, before": {422, `{"status":422,"code":"DUPLICATE_POST"}`, network.Duplicate, network.Duplicate},
		"content":           {422, `{"status":422,"message":"no"}`, network.Rejected, network.Rejected},
		"argument":          {400, `{"status":400,"code":"ILLEGAL_ARGUMENT"}`, network.Rejected, network.Rejected},
		"conflict":          {409, `{"status":409}`, network.Transient, network.Uncertain},
		"temporary":         {500, `{"status":500}`, network.Transient, network.Uncertain},
		"on the way":        {400, `<html>`, network.Transient, network.Uncertain},
		"a redirect":        {302, ``, network.Transient, network.Uncertain},
		"nonsense":          {200, `[`, network.Transient, network.Uncertain},
		"a status unknown":  {200, `{"status":"RESTING"}`, network.Transient, network.Uncertain},
		"no id":             {201, `{"status":"AVAILABLE"}`, "", network.Uncertain},
		"failed":            {200, `{"status":"PROCESSING_FAILED","processingFailureReason":"no"}`, network.RejectedMedia, network.Uncertain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := said(t, c.status, http.Header{"Location": {"http://127.0.0.1:1/"}}, c.body)
			n := linkedin.New(linkedin.Options{})
			g := network.Grant{Server: w.url, Access: "token", Refresh: "refresh"}
			if _, _, err := n.Prepare(t.Context(), g, network.Draft(uploaded), nil); networktest.Class(err) != c.reading {
				t.Errorf("reading: %v", err)
			}
			_, err := n.Commit(t.Context(), g, network.Draft(ready), nil)
			networktest.WantClass(t, err, c.commit, "")
		})
	}
}

func TestWhenToRepeat(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		header http.Header
		want   time.Time
	}{
		"told":     {http.Header{"Retry-After": {"2"}}, start.Add(2 * time.Second)},
		"not told": {nil, time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)},
		"nonsense": {http.Header{"Retry-After": {"-1"}}, time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := said(t, http.StatusTooManyRequests, c.header, `{"status":429}`)
			n := linkedin.New(linkedin.Options{App: network.App{Now: func() time.Time { return start }}})
			_, err := n.Commit(t.Context(), network.Grant{Server: w.url}, network.Draft(ready), nil)
			if got := networktest.WantClass(t, err, network.Rate, "").After; !got.Equal(c.want) {
				t.Errorf("not before %v", got)
			}
		})
	}
}

// What the network quotes of what it was sent in confidence is not kept.
func TestNothingSecretIsQuoted(t *testing.T) {
	t.Parallel()
	w := said(t, http.StatusUnauthorized, nil, `{"status":401,"code":"INVALID_ACCESS_TOKEN","message":"Invalid top-secret and `+strings.Repeat("x", 1000)+`"}`)
	_, err := linkedin.New(linkedin.Options{}).Commit(t.Context(), network.Grant{Server: w.url, Access: "top-secret"}, network.Draft(ready), nil)
	got := networktest.WantClass(t, err, network.AuthDead, "INVALID_ACCESS_TOKEN")
	if strings.Contains(got.Message+got.Error(), "top-secret") || len([]rune(got.Message)) != 500 {
		t.Errorf("%q, %v", got.Message, got)
	}
}

// Parts that are not the whole file, and addresses that are none, are not sent to.
func TestBadTickets(t *testing.T) {
	t.Parallel()
	video := func(parts string) string {
		return `{"value":{"video":"urn:li:video:1","uploadInstructions":[` + parts + `]}}`
	}
	l := newLibrary()
	film, drawn := l.mp4(4), l.image(t, "png", 9, 9) // 28 bytes
	for body, m := range map[string]network.Media{
		`{}`:                                   film,
		video(``):                              film,
		video(`{"firstByte":0,"lastByte":26}`): film,
		video(`{"firstByte":0,"lastByte":28}`): film,
		video(`{"firstByte":1,"lastByte":27}`): film,
		video(`{"firstByte":0,"lastByte":9},{"firstByte":9,"lastByte":27}`):             film,
		video(`{"firstByte":0,"lastByte":-1},{"firstByte":0,"lastByte":27}`):            film,
		`{"value":{"image":"../me","uploadUrl":"http://127.0.0.1:1/"}}`:                 drawn,
		`{"value":{"image":"urn:li:image:1","uploadUrl":"ftp://127.0.0.1/"}}`:           drawn,
		`{"value":{"image":"urn:li:video:1","uploadUrl":"http://127.0.0.1:1/"}}`:        drawn,
		`{"value":{"image":"urn:li:image:1","uploadUrl":"http://127.0.0.1:1/refused"}}`: drawn,
	} {
		w := said(t, http.StatusOK, nil, body)
		n := linkedin.New(linkedin.Options{})
		d, err := n.Plan(network.Intent{Seed: "s", Content: network.Content{Media: []network.Media{m}}})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = n.Prepare(t.Context(), network.Grant{Server: w.url}, d, l)
		if got := networktest.Class(err); got != network.Transient && got != network.Rejected {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	front := httptest.NewServer(http.NotFoundHandler())
	front.Close()
	for _, server := range []string{front.URL, "", "ftp://x", "http://user:pass@x", "http://[::1"} {
		_, err := linkedin.New(linkedin.Options{}).Commit(t.Context(), network.Grant{Server: server, Access: "top-secret"}, network.Draft(ready), nil)
		if got := networktest.Class(err); got != network.Transient && got != network.Rejected || strings.Contains(err.Error(), "top-secret") {
			t.Errorf("%q: %v", server, err)
		}
	}
}

// serve is the address of a server that answers so.
func serve(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	front := httptest.NewServer(answer)
	t.Cleanup(front.Close)
	return front.URL
}

// A token is not sent in the clear because an answer asks for it.
func TestUploadsStayEncrypted(t *testing.T) {
	t.Parallel()
	front := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"value":{"image":"urn:li:image:1","uploadUrl":"` + serve(t, func(http.ResponseWriter, *http.Request) { t.Error("it was sent") }) + `"}}`))
	}))
	t.Cleanup(front.Close)
	l := newLibrary()
	n := linkedin.New(linkedin.Options{App: network.App{HTTP: front.Client()}})
	d, err := n.Plan(network.Intent{Seed: "s", Content: network.Content{Media: []network.Media{l.image(t, "png", 9, 9)}}})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = n.Prepare(t.Context(), network.Grant{Server: front.URL, Access: "token"}, d, l)
	networktest.WantClass(t, err, network.Transient, "")
}
