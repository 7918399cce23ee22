package pinterest_test

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
	"pressroom/internal/network/pinterest"
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
	return network.Grant{Server: front.URL, Access: "top-secret", Refresh: "refresh-secret", Extra: map[string]string{"board": "1"}}
}

// ready is a pin of a video, which needs no library.
const ready = `{"pinterest":true,"text":"x","video":"5","media":[{"id":1,"kind":"video"}],"ready":"2026-11-21T09:00:00Z"}`

func TestErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status                   int
		body                     string
		reading, commit, refresh network.Class
	}{
		"unauthorized":     {401, `{"code":2,"message":"Authentication failed."}`, network.AuthRefresh, network.AuthRefresh, network.AuthDead},
		"wrong secret":     {401, `{"code":2,"message":"The client is unknown."}`, network.AuthRefresh, network.AuthRefresh, network.Unapproved},
		"not ours":         {403, `{"code":29,"message":"You are not permitted to access that resource."}`, network.AuthDead, network.AuthDead, network.AuthDead},
		"trial":            {403, `{"code":29,"message":"Apps with Trial access may not create Pins."}`, network.Unapproved, network.Unapproved, network.AuthDead},
		"no board":         {404, `{"code":40,"message":"Board not found."}`, network.Rejected, network.Rejected, network.Transient},
		"invalid":          {400, `{"code":1,"message":"no"}`, network.Rejected, network.Rejected, network.AuthDead},
		"unreachable file": {400, `{"code":1,"message":"Unable to reach the URL. Please check."}`, network.Transient, network.Transient, network.AuthDead},
		"too many":         {429, `{"code":8,"message":"no"}`, network.Rate, network.Rate, network.Rate},
		"conflict":         {409, `{"code":5}`, network.Transient, network.Uncertain, network.Transient},
		"broken":           {503, `<html>`, network.Transient, network.Uncertain, network.Transient},
		"a redirect":       {302, ``, network.Transient, network.Uncertain, network.Transient},
		"nonsense":         {200, `[`, network.Transient, network.Uncertain, network.Transient},
		"wrong id":         {201, `{"id":"../x","items":{}}`, network.Transient, network.Uncertain, network.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := said(t, c.status, http.Header{"Location": {"http://127.0.0.1:1/"}}, c.body)
			n := pinterest.New(pinterest.Options{})
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
		header http.Header
		want   time.Duration // 0: it is not told
	}{
		"seconds":     {http.Header{"X-Ratelimit-Reset": {"7"}}, 7 * time.Second},
		"a Unix time": {http.Header{"X-Ratelimit-Reset": {"1795254600"}}, 10 * time.Minute},
		"usual":       {http.Header{"X-Ratelimit-Reset": {"7"}, "Retry-After": {"3"}}, 3 * time.Second},
		"too long":    {http.Header{"X-Ratelimit-Reset": {"99999999999"}}, 24 * time.Hour},
		"not told":    {nil, 0},
		"nonsense":    {http.Header{"X-Ratelimit-Reset": {"-1"}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := time.Unix(1795254600, 0).Add(-10 * time.Minute)
			n := pinterest.New(pinterest.Options{App: network.App{Now: func() time.Time { return at }}})
			_, err := n.Commit(t.Context(), said(t, http.StatusTooManyRequests, c.header, `{"code":8}`), network.Draft(ready), nil)
			got := networktest.WantClass(t, err, network.Rate, "8").After
			if c.want == 0 && !got.IsZero() || c.want != 0 && !got.Equal(at.Add(c.want)) {
				t.Errorf("not before %v", got)
			}
		})
	}
}

// What the network quotes of what it was sent in confidence is not kept.
func TestNothingSecretIsQuoted(t *testing.T) {
	t.Parallel()
	g := said(t, http.StatusBadRequest, nil, `{"code":1,"message":"top-secret refresh-secret app-secret https://files.test/?signed `+strings.Repeat("x", 1000)+`"}`)
	n := pinterest.New(pinterest.Options{App: network.App{ClientSecret: "app-secret"}})
	_, err := n.Commit(t.Context(), g, network.Draft(ready), nil)
	if got := networktest.WantClass(t, err, network.Rejected, "1"); strings.Contains(got.Message+got.Error(), "top-secret") || len([]rune(got.Message)) != 500 {
		t.Errorf("%q, %v", got.Message, got)
	}
	_, err = n.Refresh(t.Context(), g)
	if got := networktest.WantClass(t, err, network.AuthDead, "1"); strings.Contains(got.Message, "refresh-secret") || strings.Contains(got.Message, "app-secret") {
		t.Errorf("%q", got.Message)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	front := httptest.NewServer(http.NotFoundHandler())
	front.Close()
	g := said(t, http.StatusOK, nil, "{}")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := pinterest.New(pinterest.Options{}).Commit(cancelled, g, network.Draft(ready), nil)
	networktest.WantClass(t, err, network.Transient, "")
	g.Server = front.URL
	_, err = pinterest.New(pinterest.Options{}).Commit(t.Context(), g, network.Draft(ready), nil)
	networktest.WantClass(t, err, network.Transient, "")
}

// What is listed, and what follows from it.
func TestResolve(t *testing.T) {
	t.Parallel()
	pin := func(id, at, description string) string {
		return `{"id":"` + id + `","created_at":"` + at + `","description":"` + description + `","media":{"media_type":"video"}}`
	}
	it := pin("5", "2026-11-21T09:00:30", " x ")
	long := pin("1", "2026-11-21T08:00:00Z", "x")
	other := strings.Join([]string{
		pin("6", "2026-11-21T09:00:30", "y"), pin("7", "2026-11-21T08:58:59", "x"), pin("../x", "2026-11-21T09:00:30", "x"), pin("8", "noon", "x"),
		`{"id":"9","created_at":"2026-11-21T09:00:30","description":"x","media":{"media_type":"image"}}`,
	}, ",")
	for name, c := range map[string]struct {
		pins, bookmark string
		verdict        network.Verdict
		class          network.Class
		id             string
	}{
		"nothing":           {``, "null", network.Absent, "", ""},
		"other pins":        {other, "null", network.Absent, "", ""},
		"it":                {other + "," + it, "null", network.Stands, "", "5"},
		"media untold":      {`{"id":"5","created_at":"2026-11-21T09:00:30","title":null,"description":"x"}`, "null", network.Stands, "", "5"},
		"clocks differ":     {pin("4", "2026-11-21T08:59:30+00:00", "x"), "null", network.Stands, "", "4"},
		"twice":             {it + "," + it, "null", network.Unknown, network.Uncertain, ""},
		"an older one too":  {pin("4", "2026-11-21T08:59:30", "x") + "," + it, "null", network.Stands, "", "5"},
		"two older ones":    {pin("4", "2026-11-21T08:59:30", "x") + "," + pin("3", "2026-11-21T08:59:30", "x"), "null", network.Absent, "", ""},
		"newest first":      {it + "," + long, `"more"`, network.Stands, "", "5"},
		"in no known order": {long + "," + pin("6", "2026-11-21T09:00:30", "y"), `"more"`, network.Unknown, network.Uncertain, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := said(t, http.StatusOK, nil, `{"items":[`+c.pins+`],"bookmark":`+c.bookmark+`}`)
			verdict, receipt, err := pinterest.New(pinterest.Options{}).Resolve(t.Context(), g, network.Draft(ready), network.Tried{})
			class := network.Class("")
			if said, ok := errors.AsType[*network.Error](err); ok {
				class = said.Class
			}
			if verdict != c.verdict || class != c.class || receipt.ID != c.id {
				t.Errorf("verdict %v, receipt %+v, %v", verdict, receipt, err)
			}
		})
	}
}

// A video that the network forgets, or fails at, is uploaded anew a few times.
func TestPrepareGivesUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		class  network.Class
	}{
		"forgotten": {404, `{"code":50}`, network.Transient},
		"failed":    {200, `{"status":"failed"}`, network.RejectedMedia},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := said(t, c.status, nil, c.body)
			_, wait, err := pinterest.New(pinterest.Options{}).Prepare(t.Context(), g, network.Draft(ready), nil)
			if err != nil || wait == 0 {
				t.Errorf("wait %v, %v", wait, err)
			}
			_, _, err = pinterest.New(pinterest.Options{}).Prepare(t.Context(), g, network.Draft(strings.Replace(ready, "{", `{"builds":3,`, 1)), nil)
			networktest.WantClass(t, err, c.class, "")
		})
	}
}

// Where the network says that a video goes is followed on the web alone.
func TestUploadAddress(t *testing.T) {
	t.Parallel()
	l := newLibrary(t)
	l.mp4()
	for _, address := range []string{"", "file:///etc/passwd", "ftp://a.test/", "no address"} {
		g := said(t, http.StatusCreated, nil, `{"media_id":"5","upload_url":"`+address+`"}`)
		d := network.Draft(`{"pinterest":true,"media":[{"id":1,"kind":"video","type":"video/mp4"}]}`)
		_, _, err := pinterest.New(pinterest.Options{}).Prepare(t.Context(), g, d, l)
		networktest.WantClass(t, err, network.Transient, "")
	}
}

// A look tells what was there when it was asked for, however late its answer is read.
func TestALookIsAsOldAsItsQuestion(t *testing.T) {
	t.Parallel()
	g := said(t, http.StatusOK, nil, `{"items":[],"bookmark":null}`)
	networktest.StandsStill(t, func(app network.App, tried network.Tried) (network.Verdict, network.Receipt, error) {
		return pinterest.New(pinterest.Options{App: app}).Resolve(t.Context(), g, network.Draft(ready), tried)
	})
}
