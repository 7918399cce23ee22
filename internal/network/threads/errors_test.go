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

// said is a network that gives one answer to everything.
func said(t *testing.T, status int, header http.Header, body string) *world {
	t.Helper()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name := range header {
			w.Header().Set(name, header.Get(name))
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(front.Close)
	return &world{t: t, url: front.URL}
}

const ready = `{"network":"threads","text":"x","container":"18000000000000001","made":"2026-11-21T09:00:00Z"}`

func TestErrors(t *testing.T) {
	t.Parallel()
	graph := func(inner string) string { return `{"error":{` + inner + `}}` }
	for name, c := range map[string]struct {
		status          int
		body            string
		reading, commit network.Class
	}{
		"expired":             {400, graph(`"code":190,"error_subcode":463`), network.AuthDead, network.AuthDead},
		"permission":          {403, graph(`"code":200`), network.AuthDead, network.AuthDead},
		"throttled":           {400, graph(`"code":32`), network.Rate, network.Rate},
		"throttled elsewhere": {429, `slow down`, network.Rate, network.Rate},
		"spam":                {400, graph(`"code":4,"error_subcode":2207051`), network.Rejected, network.Uncertain},
		"quota":               {400, graph(`"code":9,"error_subcode":2207042`), network.Quota, network.Quota},
		"temporary":           {500, graph(`"code":2`), network.Transient, network.Uncertain},
		"says so":             {400, graph(`"code":77777,"is_transient":true`), network.Transient, network.Uncertain},
		"restricted":          {400, graph(`"code":25,"error_subcode":2207050`), network.AuthDead, network.AuthDead},
		"format":              {400, graph(`"code":36001,"error_subcode":2207005`), network.RejectedMedia, network.Uncertain},
		"unknown":             {400, graph(`"code":77777`), network.Rejected, network.Uncertain},
		"no Graph":            {404, `<html>`, network.Transient, network.Uncertain},
		"a redirect":          {302, ``, network.Transient, network.Uncertain},
		"not ready":           {400, graph(`"code":9007,"error_subcode":2207027`), network.Processing, network.Processing},
		"nonsense":            {200, `[`, network.Transient, network.Uncertain},
		"wrong types":         {200, `{"id":5,"permalink":{}}`, network.Transient, network.Uncertain},
		"no id":               {200, `{"permalink":"javascript:alert(1)"}`, "", network.Uncertain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := said(t, c.status, http.Header{"Location": {"http://127.0.0.1:1/"}}, c.body)
			n := threads.New(threads.Options{})
			g := network.Grant{Server: w.url, Access: "token"}
			link, err := n.Permalink(t.Context(), g, network.Receipt{ID: "17"})
			if c.reading == "" && err == nil && link == "" {
				err = &network.Error{}
			}
			networktest.WantClass(t, err, c.reading, "")
			_, err = n.Commit(t.Context(), g, network.Draft(ready), nil)
			networktest.WantClass(t, err, c.commit, "")
		})
	}
}

func TestWhenToRepeat(t *testing.T) {
	t.Parallel()
	const usage = "X-Business-Use-Case-Usage"
	for name, c := range map[string]struct {
		code   string
		header http.Header
		want   time.Duration // 0: it is not told
	}{
		"minutes":        {`4`, http.Header{usage: {`{"1":[{"call_count":100,"estimated_time_to_regain_access":7},{"estimated_time_to_regain_access":3}]}`}}, 7 * time.Minute},
		"seconds":        {`4`, http.Header{usage: {`{"1":[{"estimated_time_to_regain_access":1}]}`}, "Retry-After": {"2"}}, 2 * time.Second},
		"too long":       {`613`, http.Header{usage: {`{"1":[{"estimated_time_to_regain_access":99999999999}]}`}}, 24 * time.Hour},
		"not told":       {`17`, nil, 0},
		"nonsense":       {`17`, http.Header{usage: {`[[["`}, "Retry-After": {"-1"}}, 0},
		"below zero":     {`17`, http.Header{usage: {`{"1":[{"estimated_time_to_regain_access":-5}]}`}}, 0},
		"policy":         {`368`, nil, 24 * time.Hour},
		"a day's quota":  {`9,"error_subcode":2207042`, nil, 24 * time.Hour},
		"another, never": {`190`, http.Header{"Retry-After": {"2"}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := said(t, http.StatusBadRequest, c.header, `{"error":{"code":`+c.code+`}}`)
			n := threads.New(threads.Options{App: network.App{Now: func() time.Time { return start }}})
			_, err := n.Permalink(t.Context(), network.Grant{Server: w.url}, network.Receipt{ID: "17"})
			got := networktest.WantClass(t, err, networktest.Class(err), "").After
			if c.want == 0 && !got.IsZero() || c.want != 0 && !got.Equal(start.Add(c.want)) {
				t.Errorf("not before %v", got)
			}
		})
	}
}

// What the network quotes of what it was sent in confidence is not kept.
func TestNothingSecretIsQuoted(t *testing.T) {
	t.Parallel()
	w := said(t, http.StatusBadRequest, nil, `{"error":{"code":190,"message":"Malformed access token top-secret and `+strings.Repeat("x", 1000)+`"}}`)
	_, err := threads.New(threads.Options{}).Permalink(t.Context(), network.Grant{Server: w.url, Access: "top-secret"}, network.Receipt{ID: "17"})
	got := networktest.WantClass(t, err, network.AuthDead, "190")
	if strings.Contains(got.Message+got.Error(), "top-secret") || len([]rune(got.Message)) != 500 {
		t.Errorf("%q, %v", got.Message, got)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	front := httptest.NewServer(http.NotFoundHandler())
	front.Close()
	for _, server := range []string{front.URL, "", "ftp://x", "http://user:pass@x", "http://[::1"} {
		_, err := threads.New(threads.Options{}).Commit(t.Context(), network.Grant{Server: server, Access: "top-secret"}, network.Draft(ready), nil)
		if got := networktest.Class(err); got != network.Transient && got != network.Rejected || strings.Contains(err.Error(), "top-secret") {
			t.Errorf("%q: %v", server, err)
		}
	}
}

func TestEndlessAnswer(t *testing.T) {
	t.Parallel()
	w := said(t, http.StatusOK, nil, `{"id":"`+strings.Repeat("1", 2<<20)+`"}`)
	_, err := threads.New(threads.Options{}).Commit(t.Context(), network.Grant{Server: w.url}, network.Draft(ready), nil)
	networktest.WantClass(t, err, network.Uncertain, "")
}
