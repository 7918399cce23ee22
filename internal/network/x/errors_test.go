package x_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
	"pressroom/internal/network/x"
)

// said is a network that gives one answer to everything.
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
	return network.Grant{Server: front.URL, Account: "1", Username: "me", Access: "top-secret", Refresh: "refresh-secret"}
}

// classOf is err's class, "" where it has none.
func classOf(err error) network.Class {
	if said, ok := errors.AsType[*network.Error](err); ok {
		return said.Class
	}
	return ""
}

const ready = `{"x":true,"text":"x","ready":"2026-11-21T09:00:00Z"}`

func TestErrors(t *testing.T) {
	t.Parallel()
	problem := func(kind, detail string) string {
		return `{"type":"https://api.x.com/2/problems/` + kind + `","title":"No","detail":"` + detail + `"}`
	}
	for name, c := range map[string]struct {
		status                   int
		body                     string
		reading, commit, refresh network.Class
	}{
		"unauthorized":      {401, `{"title":"Unauthorized","type":"about:blank","status":401,"detail":"Unauthorized"}`, network.AuthRefresh, network.AuthRefresh, network.Transient},
		"duplicate":         {403, `{"detail":"You are not allowed to create a Tweet with duplicate content."}`, network.Duplicate, network.Duplicate, network.Transient},
		"suspended":         {403, `{"detail":"Your account is suspended."}`, network.AuthDead, network.AuthDead, network.Transient},
		"client forbidden":  {403, problem("client-forbidden", "no"), network.Unapproved, network.Unapproved, network.Transient},
		"wrong way":         {403, problem("unsupported-authentication", "no"), network.Unapproved, network.Unapproved, network.Transient},
		"invalid":           {400, problem("invalid-request", "no"), network.Rejected, network.Rejected, network.Transient},
		"older form":        {400, `{"errors":[{"code":187,"message":"no"}]}`, network.Rejected, network.Rejected, network.Transient},
		"too many":          {429, problem("rate-limit-exceeded", "no"), network.Rate, network.Rate, network.Rate},
		"capped":            {429, problem("usage-capped", "no"), network.Quota, network.Quota, network.Rate},
		"no credit":         {402, `{}`, network.Quota, network.Quota, network.Transient},
		"broken":            {503, `<html>`, network.Transient, network.Uncertain, network.Transient},
		"a redirect":        {302, ``, network.Transient, network.Uncertain, network.Transient},
		"nonsense":          {200, `[`, network.Transient, network.Uncertain, network.Transient},
		"no id":             {201, `{"data":{"id":"../x"}}`, network.Transient, network.Uncertain, network.Transient},
		"errors and no id":  {200, `{"errors":[{"detail":"no"}]}`, network.Uncertain, network.Uncertain, network.Transient},
		"dead refresh":      {400, `{"error":"invalid_request","error_description":"no"}`, network.Rejected, network.Rejected, network.AuthDead},
		"dead grant":        {400, `{"error":"invalid_grant"}`, network.Rejected, network.Rejected, network.AuthDead},
		"our app is no app": {401, `{"error":"invalid_client"}`, network.AuthRefresh, network.AuthRefresh, network.Unapproved},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := said(t, c.status, http.Header{"Location": {"http://127.0.0.1:1/"}}, c.body)
			n := x.New(x.Options{})
			_, _, err := n.Resolve(t.Context(), g, network.Draft(ready), network.Tried{})
			networktest.WantClass(t, err, c.reading, "")
			_, err = n.Commit(t.Context(), g, network.Draft(ready), nil)
			networktest.WantClass(t, err, c.commit, "")
			_, err = n.Refresh(t.Context(), g)
			networktest.WantClass(t, err, c.refresh, "")
		})
	}
}

func TestWhenToRepeat(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body, reset string
		want        time.Duration // 0: it is not told
	}{
		"told":     {`{}`, "1795254600", 10 * time.Minute}, // 09:50
		"too long": {`{}`, "99999999999", 24 * time.Hour},
		"not told": {`{}`, "", 0},
		"past":     {`{}`, "1", 0},
		"capped":   {`{"type":"https://api.x.com/2/problems/usage-capped"}`, "1795254600", 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := time.Unix(1795254600, 0).Add(-10 * time.Minute)
			g := said(t, http.StatusTooManyRequests, http.Header{"X-Rate-Limit-Reset": {c.reset}}, c.body)
			n := x.New(x.Options{App: network.App{Now: func() time.Time { return at }}})
			_, err := n.Commit(t.Context(), g, network.Draft(ready), nil)
			got := networktest.WantClass(t, err, classOf(err), "").After
			if c.want == 0 && !got.IsZero() || c.want != 0 && !got.Equal(at.Add(c.want)) {
				t.Errorf("not before %v", got)
			}
		})
	}
}

// What the network quotes of what it was sent in confidence is not kept.
func TestNothingSecretIsQuoted(t *testing.T) {
	t.Parallel()
	body := `{"detail":"top-secret refresh-secret app-secret ` + strings.Repeat("x", 1000) + `","error":"invalid_request"}`
	g := said(t, http.StatusBadRequest, nil, body)
	n := x.New(x.Options{App: network.App{ClientSecret: "app-secret"}})
	_, err := n.Commit(t.Context(), g, network.Draft(ready), nil)
	if got := networktest.WantClass(t, err, network.Rejected, ""); strings.Contains(got.Message+got.Error(), "top-secret") || len([]rune(got.Message)) != 500 {
		t.Errorf("%q, %v", got.Message, got)
	}
	_, err = n.Refresh(t.Context(), g)
	if got := networktest.WantClass(t, err, network.AuthDead, ""); strings.Contains(got.Message, "refresh-secret") || strings.Contains(got.Message, "app-secret") {
		t.Errorf("%q", got.Message)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	front := httptest.NewServer(http.NotFoundHandler())
	front.Close()
	_, err := x.New(x.Options{}).Commit(t.Context(), network.Grant{Server: front.URL, Access: "top-secret"}, network.Draft(ready), nil)
	networktest.WantClass(t, err, network.Transient, "")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = x.New(x.Options{}).Commit(cancelled, said(t, 200, nil, "{}"), network.Draft(ready), nil)
	networktest.WantClass(t, err, network.Transient, "")
}

// What is listed, and what follows from it.
func TestResolve(t *testing.T) {
	t.Parallel()
	const (
		post  = `{"id":"5","text":"see https://t.co/a &amp; b","created_at":"2026-11-21T09:00:30.000Z","entities":{"urls":[{"url":"https://t.co/a","expanded_url":"http://example.org/"}]}}`
		again = `{"id":"6","text":" see example.org &amp;  b","created_at":"2026-11-21T09:01:30.000Z"}`
		older = `{"id":"4","text":"see example.org &amp; b","created_at":"2026-11-21T08:59:30.000Z"}`
		long  = `{"id":"7","text":"see…","created_at":"2026-11-21T09:00:30Z","note_post":{"text":"see example.org & b"}}`
		other = `{"id":"8","text":"see example.com & b","created_at":"2026-11-21T09:00:30Z"},
			{"id":"9","text":"see example.org & b","created_at":"2026-11-21T09:00:30Z","attachments":{"media_keys":["3_1"]}},
			{"id":"10","text":"see example.org & b","created_at":"2026-11-21T08:58:59Z"},{"id":"../x","text":"see example.org & b","created_at":"2026-11-21T09:00:30Z"}`
	)
	for name, c := range map[string]struct {
		posts, next string
		verdict     network.Verdict
		class       network.Class
		id          string
	}{
		"nothing":          {``, "", network.Absent, "", ""},
		"other posts":      {other, "", network.Absent, "", ""},
		"it":               {other + "," + post, "", network.Stands, "", "5"},
		"a long text":      {long, "", network.Stands, "", "7"},
		"twice":            {post + "," + again, "", network.Unknown, network.Uncertain, ""},
		"an older one too": {post + "," + older, "", network.Stands, "", "5"},
		"clocks differ":    {older, "", network.Stands, "", "4"},
		"not all is told":  {other, "more", network.Unknown, network.Uncertain, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := said(t, http.StatusOK, nil, `{"data":[`+c.posts+`],"meta":{"next_token":"`+c.next+`"}}`)
			d := network.Draft(`{"x":true,"text":"see http://example.org & b","ready":"2026-11-21T09:00:00Z"}`)
			verdict, receipt, err := x.New(x.Options{}).Resolve(t.Context(), g, d, network.Tried{})
			if verdict != c.verdict || classOf(err) != c.class || receipt.ID != c.id {
				t.Errorf("verdict %v, receipt %+v, %v", verdict, receipt, err)
			}
		})
	}
}

// Uploads that the network forgets, or fails at, are made anew a few times.
func TestPrepareGivesUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		class  network.Class
	}{
		"forgotten": {404, `{"type":"https://api.x.com/2/problems/resource-not-found"}`, network.Transient},
		"failed":    {200, `{"data":{"processing_info":{"state":"failed"}}}`, network.RejectedMedia},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := said(t, c.status, nil, c.body)
			uploaded := `"uploads":[{"id":"5","made":"2026-11-21T09:00:00Z"}]`
			_, wait, err := x.New(x.Options{}).Prepare(t.Context(), g, network.Draft(`{"x":true,"media":[{"id":1,"kind":"video","type":"video/mp4"}],`+uploaded+`}`), nil)
			if err != nil || wait == 0 {
				t.Errorf("wait %v, %v", wait, err)
			}
			_, _, err = x.New(x.Options{}).Prepare(t.Context(), g, network.Draft(`{"x":true,"builds":3,"media":[{"id":1,"kind":"video","type":"video/mp4"}],`+uploaded+`}`), nil)
			networktest.WantClass(t, err, c.class, "")
		})
	}
}

// A look tells what was there when it was asked for, however late its answer is read.
func TestALookIsAsOldAsItsQuestion(t *testing.T) {
	t.Parallel()
	g := said(t, http.StatusOK, nil, `{"data":[]}`)
	networktest.StandsStill(t, func(app network.App, tried network.Tried) (network.Verdict, network.Receipt, error) {
		return x.New(x.Options{App: app}).Resolve(t.Context(), g, network.Draft(ready), tried)
	})
}
