package facebook_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/facebook"
	"pressroom/internal/network/networktest"
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

const (
	readyText  = `{"facebook":true,"text":"x","made":"2026-11-21T09:00:00Z"}`
	readyVideo = `{"facebook":true,"text":"x","media":[{"kind":"video"}],"video":"15001","session":"16001","made":"2026-11-21T09:00:00Z"}`
)

// What is answered to a call that shows nothing, to one that shows a post, and to one that ends an upload, where a
// refusal is believed only of a video that says the same.
func TestErrors(t *testing.T) {
	t.Parallel()
	graph := func(inner string) string { return `{"error":{` + inner + `}}` }
	const (
		dead, rate, quota     = network.AuthDead, network.Rate, network.Quota
		transient, uncertain  = network.Transient, network.Uncertain
		rejected, rejectedMed = network.Rejected, network.RejectedMedia
	)
	for name, c := range map[string]struct {
		status                int
		body                  string
		reading, post, finish network.Class
	}{
		"expired":             {400, graph(`"code":190,"error_subcode":463`), dead, dead, dead},
		"no session":          {400, graph(`"code":102`), dead, dead, dead},
		"permission":          {403, graph(`"code":200`), dead, dead, dead},
		"permission missing":  {400, graph(`"code":10`), dead, dead, dead},
		"identity":            {400, graph(`"code":100,"error_subcode":1404078`), dead, dead, dead},
		"identity too":        {400, graph(`"code":4854002`), dead, dead, dead},
		"throttled":           {400, graph(`"code":32`), rate, rate, rate},
		"too fast":            {400, graph(`"code":1390008`), rate, rate, rate},
		"policy":              {400, graph(`"code":368`), rate, rate, rate},
		"throttled elsewhere": {429, `slow down`, rate, rate, rate},
		"quota":               {400, graph(`"code":9,"error_subcode":2207042`), quota, quota, quota},
		"content":             {400, graph(`"code":100,"error_subcode":1346003`), rejected, rejected, uncertain},
		"content too":         {400, graph(`"code":1404102`), rejected, rejected, uncertain},
		"link":                {400, graph(`"code":1609005`), rejected, rejected, uncertain},
		"link too":            {400, graph(`"code":100,"error_subcode":1609008`), rejected, rejected, uncertain},
		"photo":               {400, graph(`"code":100,"error_subcode":1366046`), rejectedMed, rejectedMed, uncertain},
		"the same again":      {400, graph(`"code":506`), network.Duplicate, network.Duplicate, uncertain},
		"posted photos":       {400, graph(`"code":100,"error_subcode":1366051`), network.Duplicate, network.Duplicate, uncertain},
		"temporary":           {500, graph(`"code":2`), transient, uncertain, uncertain},
		"service":             {400, graph(`"code":1363047`), transient, uncertain, uncertain},
		"service too":         {400, graph(`"code":100,"error_subcode":1609010`), transient, uncertain, uncertain},
		"says so":             {400, graph(`"code":77777,"is_transient":true`), transient, uncertain, uncertain},
		"unknown":             {400, graph(`"code":77777`), rejected, rejected, uncertain},
		"no Graph":            {404, `<html>`, transient, uncertain, uncertain},
		"a redirect":          {302, ``, transient, uncertain, uncertain},
		"nonsense":            {200, `[`, transient, uncertain, uncertain},
		"wrong types":         {200, `{"id":5,"permalink_url":{},"success":"yes"}`, transient, uncertain, uncertain},
		"no id":               {200, `{"permalink_url":"javascript:alert(1)"}`, "", uncertain, uncertain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := said(t, c.status, http.Header{"Location": {"http://127.0.0.1:1/"}}, c.body)
			n := facebook.New(facebook.Options{VideoHost: w.url})
			g := network.Grant{Server: w.url, Account: "10001", Access: "token"}
			link, err := n.Permalink(t.Context(), g, network.Receipt{ID: "17"})
			if c.reading == "" && err == nil && link == "" {
				err = &network.Error{}
			}
			networktest.WantClass(t, err, c.reading, "")
			_, err = n.Commit(t.Context(), g, network.Draft(readyText), nil)
			networktest.WantClass(t, err, c.post, "")
			_, err = n.Commit(t.Context(), g, network.Draft(readyVideo), nil)
			networktest.WantClass(t, err, c.finish, "")
		})
	}
}

func TestWhenToRepeat(t *testing.T) {
	t.Parallel()
	usage := http.Header{"X-Business-Use-Case-Usage": {`{"1":[{"call_count":100,"estimated_time_to_regain_access":7}]}`}}
	for name, c := range map[string]struct {
		code   string
		header http.Header
		want   time.Duration // 0: it is not told
	}{
		"minutes":  {`1390008`, usage, 7 * time.Minute},
		"seconds":  {`32`, http.Header{"Retry-After": {"2"}}, 2 * time.Second},
		"not told": {`1390008`, nil, 0},
		"policy":   {`368`, nil, 24 * time.Hour},
		"never":    {`190`, usage, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := said(t, http.StatusBadRequest, c.header, `{"error":{"code":`+c.code+`}}`)
			n := facebook.New(facebook.Options{App: network.App{Now: func() time.Time { return start }}})
			_, err := n.Commit(t.Context(), network.Grant{Server: w.url}, network.Draft(readyText), nil)
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
	w := said(t, http.StatusBadRequest, nil, `{"error":{"code":190,"message":"Malformed access token top-secret of app-secret"}}`)
	n := facebook.New(facebook.Options{App: network.App{ClientSecret: "app-secret"}, VideoHost: w.url, GraphHost: w.url})
	g, l := network.Grant{Server: w.url, Account: "10001", Access: "top-secret", Refresh: "top-secret"}, newLibrary(t)
	calls := map[string]func() error{
		"exchange": func() error {
			_, err := n.Exchange(t.Context(), network.Authorization{}, "top-secret")
			return err
		},
		"refresh": func() error { _, err := n.Refresh(t.Context(), g); return err },
		"commit":  func() error { _, err := n.Commit(t.Context(), g, network.Draft(readyVideo), nil); return err },
		"upload": func() error {
			d, err := n.Plan(network.Intent{Content: network.Content{Media: film(t, l)}})
			if err != nil {
				return err
			}
			_, _, err = n.Prepare(t.Context(), g, d, l)
			return err
		},
	}
	for name, call := range calls {
		if got := networktest.WantClass(t, call(), network.AuthDead, "190"); strings.Contains(got.Message+got.Error(), "top-secret") {
			t.Errorf("%s: %q, %v", name, got.Message, got)
		}
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	front := httptest.NewServer(http.NotFoundHandler())
	front.Close()
	for _, server := range []string{front.URL, "", "ftp://x", "http://user:pass@x", "http://[::1"} {
		_, err := facebook.New(facebook.Options{}).Commit(t.Context(), network.Grant{Server: server, Access: "top-secret"}, network.Draft(readyText), nil)
		if got := networktest.Class(err); got != network.Transient && got != network.Rejected || strings.Contains(err.Error(), "top-secret") {
			t.Errorf("%q: %v", server, err)
		}
	}
}

func TestEndlessAnswer(t *testing.T) {
	t.Parallel()
	w := said(t, http.StatusOK, nil, `{"id":"`+strings.Repeat("1", 2<<20)+`"}`)
	_, err := facebook.New(facebook.Options{}).Commit(t.Context(), network.Grant{Server: w.url}, network.Draft(readyText), nil)
	networktest.WantClass(t, err, network.Uncertain, "")
}

// A redirect would carry the token to wherever it leads.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was followed") }))
	t.Cleanup(elsewhere.Close)
	w := said(t, http.StatusTemporaryRedirect, http.Header{"Location": {elsewhere.URL}}, "")
	_, err := facebook.New(facebook.Options{}).Commit(t.Context(), network.Grant{Server: w.url, Access: "token"}, network.Draft(readyText), nil)
	networktest.WantClass(t, err, network.Uncertain, "")
}
