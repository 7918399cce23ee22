package instagram_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/instagram"
	"pressroom/internal/network/networktest"
)

// said is the grant at a network that gives one answer to everything.
func said(t *testing.T, status int, header http.Header, body string) network.Grant {
	t.Helper()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name := range header {
			w.Header().Set(name, header.Get(name))
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(front.Close)
	return network.Grant{Server: front.URL, Account: "101", Access: "top-secret", Extra: map[string]string{"page": "301", "user_token": "most-secret"}}
}

const ready = `{"network":"instagram","text":"x","media":[{"id":1,"kind":"image","type":"image/jpeg","size":9,"width":9,"height":9}],` +
	`"container":"18000000000000001","made":"2026-11-21T09:00:00Z"}`

// The network's errors, as they answer a read, the call that publishes, and the renewal of a token.
func TestErrors(t *testing.T) {
	t.Parallel()
	graph := func(inner string) string { return `{"error":{` + inner + `}}` }
	for name, c := range map[string]struct {
		status                   int
		body                     string
		reading, commit, signing network.Class
	}{
		"expired":             {400, graph(`"code":190,"error_subcode":463`), network.AuthDead, network.AuthDead, network.AuthDead},
		"checkpoint":          {400, graph(`"code":190,"error_subcode":459`), network.AuthDead, network.AuthDead, network.AuthDead},
		"session":             {400, graph(`"code":102`), network.AuthDead, network.AuthDead, network.AuthDead},
		"permission":          {403, graph(`"code":10`), network.AuthDead, network.AuthDead, network.AuthDead},
		"another permission":  {403, graph(`"code":200`), network.AuthDead, network.AuthDead, network.AuthDead},
		"restricted":          {400, graph(`"code":25,"error_subcode":2207050`), network.AuthDead, network.AuthDead, network.AuthDead},
		"throttled":           {400, graph(`"code":80002`), network.Rate, network.Rate, network.Rate},
		"throttled elsewhere": {429, `slow down`, network.Rate, network.Rate, network.Rate},
		"policy":              {400, graph(`"code":368`), network.Rate, network.Rate, network.Rate},
		"spam":                {400, graph(`"code":4,"error_subcode":2207051`), network.Rejected, network.Uncertain, network.AuthDead},
		"quota":               {400, graph(`"code":9,"error_subcode":2207042`), network.Quota, network.Quota, network.Quota},
		"temporary":           {500, graph(`"code":2`), network.Transient, network.Uncertain, network.Transient},
		"its own":             {400, graph(`"code":-1,"error_subcode":2207001`), network.Transient, network.Uncertain, network.Transient},
		"its own, unknown":    {400, graph(`"code":-2,"error_subcode":2299999`), network.Transient, network.Uncertain, network.Transient},
		"says so":             {400, graph(`"code":77777,"is_transient":true`), network.Transient, network.Uncertain, network.Transient},
		"not fetched":         {400, graph(`"code":9004,"error_subcode":2207052`), network.Transient, network.Uncertain, network.Transient},
		"container expired":   {400, graph(`"code":24,"error_subcode":2207008`), network.Transient, network.Uncertain, network.Transient},
		"not ready":           {400, graph(`"code":9007,"error_subcode":2207027`), network.Processing, network.Processing, network.Processing},
		"format":              {400, graph(`"code":36001,"error_subcode":2207005`), network.RejectedMedia, network.Uncertain, network.RejectedMedia},
		"caption":             {400, graph(`"code":36004,"error_subcode":2207010`), network.Rejected, network.Uncertain, network.AuthDead},
		"product tag":         {400, graph(`"code":100,"error_subcode":2207035`), network.Rejected, network.Uncertain, network.AuthDead},
		"place":               {400, graph(`"code":100,"message":"INSTAGRAM_PLATFORM_API__INVALID_LOCATION_ID"`), network.Rejected, network.Uncertain, network.AuthDead},
		"unknown":             {400, graph(`"code":77777`), network.Rejected, network.Uncertain, network.AuthDead},
		"no Graph":            {404, `<html>`, network.Transient, network.Uncertain, network.Transient},
		"a redirect":          {302, ``, network.Transient, network.Uncertain, network.Transient},
		"nonsense":            {200, `[`, network.Transient, network.Uncertain, network.Transient},
		"wrong types":         {200, `{"id":5,"permalink":{},"access_token":7}`, network.Transient, network.Uncertain, network.Transient},
		"nothing of use":      {200, `{"permalink":"javascript:alert(1)"}`, "", network.Uncertain, network.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := said(t, c.status, http.Header{"Location": {"http://127.0.0.1:1/"}}, c.body)
			n := instagram.New(instagram.Options{})
			link, err := n.Permalink(t.Context(), g, network.Receipt{ID: "17"})
			if networktest.Class(err) != c.reading || link != "" {
				t.Errorf("reading: %q, %v", link, err)
			}
			_, err = n.Commit(t.Context(), g, network.Draft(ready), nil)
			networktest.WantClass(t, err, c.commit, "")
			for _, kind := range kinds {
				g.Kind = kind
				_, err = n.Refresh(t.Context(), g)
				networktest.WantClass(t, err, c.signing, "")
			}
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
		"not told":       {`17`, nil, 0},
		"policy":         {`368`, nil, 24 * time.Hour},
		"a day's quota":  {`9,"error_subcode":2207042`, nil, 24 * time.Hour},
		"another, never": {`190`, http.Header{"Retry-After": {"2"}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := said(t, http.StatusBadRequest, c.header, `{"error":{"code":`+c.code+`}}`)
			n := instagram.New(instagram.Options{App: network.App{Now: func() time.Time { return start }}})
			_, err := n.Permalink(t.Context(), g, network.Receipt{ID: "17"})
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
	g := said(t, http.StatusBadRequest, nil, `{"error":{"code":190,"message":"Malformed access token top-secret, most-secret and app-secret `+strings.Repeat("x", 1000)+`"}}`)
	opts := instagram.Options{App: network.App{ClientID: "1", ClientSecret: "app-secret"}, Facebook: instagram.Facebook{ClientID: "2", ClientSecret: "app-secret"}}
	opts.TokenHost, opts.Facebook.GraphHost = g.Server, g.Server
	n := instagram.New(opts)
	paged := g
	paged.Kind = "facebook"
	for name, call := range map[string]struct {
		do     func() error
		hidden []string
	}{
		"reading":  {func() error { _, err := n.Permalink(t.Context(), g, network.Receipt{ID: "17"}); return err }, []string{"top-secret"}},
		"renewing": {func() error { _, err := n.Refresh(t.Context(), g); return err }, []string{"top-secret"}},
		"a Page":   {func() error { _, err := n.Refresh(t.Context(), paged); return err }, []string{"most-secret", "app-secret"}},
		"a code":   {func() error { _, err := n.Exchange(t.Context(), network.Authorization{}, "top-secret"); return err }, []string{"top-secret", "app-secret"}},
		"at a Page": {func() error {
			_, err := n.Exchange(t.Context(), network.Authorization{Kind: "facebook"}, "top-secret")
			return err
		}, []string{"top-secret", "app-secret"}},
	} {
		got := networktest.WantClass(t, call.do(), network.AuthDead, "190")
		for _, secret := range call.hidden {
			if strings.Contains(got.Message+got.Error(), secret) || len([]rune(got.Message)) != 500 {
				t.Errorf("%s: %q, %v", name, got.Message, got)
			}
		}
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	front := httptest.NewServer(http.NotFoundHandler())
	front.Close()
	for _, server := range []string{front.URL, "", "ftp://x", "http://user:pass@x", "http://[::1"} {
		g := network.Grant{Server: server, Account: "101", Access: "top-secret"}
		_, err := instagram.New(instagram.Options{}).Commit(t.Context(), g, network.Draft(ready), nil)
		if got := networktest.Class(err); got != network.Transient && got != network.Rejected || strings.Contains(err.Error(), "top-secret") {
			t.Errorf("%q: %v", server, err)
		}
	}
}

func TestEndlessAnswer(t *testing.T) {
	t.Parallel()
	g := said(t, http.StatusOK, nil, `{"id":"`+strings.Repeat("1", 2<<20)+`"}`)
	_, err := instagram.New(instagram.Options{}).Commit(t.Context(), g, network.Draft(ready), nil)
	networktest.WantClass(t, err, network.Uncertain, "")
}
