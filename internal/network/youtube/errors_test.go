package youtube_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
	"pressroom/internal/network/youtube"
)

// scripted is a network that answers as a function says.
func scripted(t *testing.T, answer func(*http.Request) (int, string)) string {
	t.Helper()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, body := answer(r)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(front.Close)
	return front.URL
}

// said is a network that gives one answer to everything but to the question how far an upload is.
func said(t *testing.T, status int, header http.Header, body string) string {
	t.Helper()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("Content-Range"), "bytes */") {
			w.WriteHeader(http.StatusPermanentRedirect)
			return
		}
		for name := range header {
			w.Header().Set(name, header.Get(name))
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(front.Close)
	return front.URL
}

// ready is a Draft whose session is one of a stub.
func ready(url string, l *library) network.Draft {
	film := l.film(100)
	d, _ := json.Marshal(map[string]any{
		"youtube": true, "title": "x", "description": "x", "privacy": "public", "media": []network.Media{film}, "session": url + "/upload?upload_id=1",
		"type": "video/mp4", "total": 100, "began": start, "sessions": 1,
	})
	return d
}

func TestErrors(t *testing.T) {
	t.Parallel()
	google := func(reason string) string {
		return `{"error":{"code":1,"message":"m","errors":[{"domain":"d","reason":"` + reason + `"}],"status":"S"}}`
	}
	for name, c := range map[string]struct {
		status        int
		body          string
		begin, commit network.Class
	}{
		"quota":              {403, google("quotaExceeded"), network.Quota, network.Quota},
		"the day's":          {403, google("dailyLimitExceeded"), network.Quota, network.Quota},
		"uploads":            {400, google("uploadLimitExceeded"), network.Quota, network.Quota},
		"rate":               {403, google("rateLimitExceeded"), network.Rate, network.Rate},
		"the user's rate":    {403, google("userRateLimitExceeded"), network.Rate, network.Rate},
		"throttled":          {429, `slow down`, network.Rate, network.Rate},
		"token":              {401, google("authError"), network.AuthRefresh, network.AuthRefresh},
		"token, elsewhere":   {401, `{"error":{"code":401,"status":"UNAUTHENTICATED"}}`, network.AuthRefresh, network.AuthRefresh},
		"no channel":         {401, google("youtubeSignupRequired"), network.AuthDead, network.AuthDead},
		"suspended":          {403, google("authenticatedUserAccountSuspended"), network.AuthDead, network.AuthDead},
		"closed":             {403, google("authenticatedUserAccountClosed"), network.AuthDead, network.AuthDead},
		"scope":              {403, google("insufficientPermissions"), network.AuthDead, network.AuthDead},
		"not enabled":        {403, google("accessNotConfigured"), network.Unapproved, network.Unapproved},
		"title":              {400, google("invalidTitle"), network.Rejected, network.Rejected},
		"description":        {400, google("invalidDescription"), network.Rejected, network.Rejected},
		"unknown":            {400, google("somethingNew"), network.Rejected, network.Rejected},
		"no file":            {400, google("mediaBodyRequired"), network.RejectedMedia, network.RejectedMedia},
		"backend":            {503, google("backendError"), network.Transient, network.Uncertain},
		"an outage":          {502, `<html>`, network.Transient, network.Uncertain},
		"no API":             {400, `<html>`, network.Transient, network.Uncertain},
		"a redirect":         {302, ``, network.Transient, network.Uncertain},
		"nonsense":           {200, `[`, network.Transient, network.Uncertain},
		"wrong types":        {200, `{"id":5}`, network.Transient, network.Uncertain},
		"no id":              {200, `{"id":"../x"}`, network.Transient, network.Uncertain},
		"gone":               {404, `Not Found`, network.Transient, network.Uncertain},
		"gone, Google's way": {410, google("gone"), network.Rejected, network.Uncertain},
		"not all":            {308, ``, network.Transient, network.Uncertain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, l := said(t, c.status, http.Header{"Location": {"http://127.0.0.1:1/"}}, c.body), newLibrary()
			n, g := youtube.New(youtube.Options{}), network.Grant{Server: url, Access: "token"}
			d, err := n.Plan(network.Intent{Content: network.Content{Text: "x", Media: []network.Media{l.film(100)}}})
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = n.Prepare(t.Context(), g, d, l)
			networktest.WantClass(t, err, c.begin, "")
			_, err = n.Commit(t.Context(), g, ready(url, l), l)
			networktest.WantClass(t, err, c.commit, "")
		})
	}
}

func TestWhenToRepeat(t *testing.T) {
	t.Parallel()
	summer := time.Date(2026, 7, 1, 6, 59, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		now            time.Time
		reason, header string
		want           time.Time // zero: it is not told
	}{
		"a quota":                {start, "quotaExceeded", "", time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)},
		"a quota in summer":      {summer, "quotaExceeded", "", time.Date(2026, 7, 1, 7, 0, 0, 0, time.UTC)},
		"a quota after midnight": {summer.Add(time.Minute), "dailyLimitExceeded", "", time.Date(2026, 7, 2, 7, 0, 0, 0, time.UTC)},
		"as the clocks change":   {time.Date(2026, 11, 1, 9, 30, 0, 0, time.UTC), "quotaExceeded", "", time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC)},
		"uploads":                {start, "uploadLimitExceeded", "", start.Add(24 * time.Hour)},
		"a rate":                 {start, "rateLimitExceeded", "2", start.Add(2 * time.Second)},
		"a rate, too long":       {start, "rateLimitExceeded", "9999999", start.Add(24 * time.Hour)},
		"a rate, not told":       {start, "rateLimitExceeded", "", time.Time{}},
		"another, never":         {start, "invalidTitle", "2", time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, l := said(t, http.StatusForbidden, http.Header{"Retry-After": {c.header}}, `{"error":{"errors":[{"reason":"`+c.reason+`"}]}}`), newLibrary()
			n := youtube.New(youtube.Options{App: network.App{Now: func() time.Time { return c.now }}})
			_, err := n.Commit(t.Context(), network.Grant{Server: url}, ready(url, l), l)
			if got := networktest.WantClass(t, err, networktest.Class(err), c.reason).After; !got.Equal(c.want) {
				t.Errorf("not before %v", got)
			}
		})
	}
}

// What the network quotes of what it was sent in confidence is not kept.
func TestNothingSecretIsQuoted(t *testing.T) {
	t.Parallel()
	l := newLibrary()
	url := said(t, http.StatusUnauthorized, nil, `{"error":{"message":"Bad token top-secret `+strings.Repeat("x", 1000)+`"}}`)
	_, err := youtube.New(youtube.Options{}).Commit(t.Context(), network.Grant{Server: url, Access: "top-secret"}, ready(url, l), l)
	got := networktest.WantClass(t, err, network.AuthRefresh, "")
	if strings.Contains(got.Message+got.Error(), "top-secret") || len([]rune(got.Message)) != 500 {
		t.Errorf("%q, %v", got.Message, got)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	front := httptest.NewServer(http.NotFoundHandler())
	front.Close()
	for _, server := range []string{front.URL, "", "ftp://x", "http://user:pass@x", "http://[::1"} {
		l := newLibrary()
		_, err := youtube.New(youtube.Options{}).Commit(t.Context(), network.Grant{Server: server, Access: "top-secret"}, ready(server, l), l)
		if got := networktest.Class(err); got != network.Transient && got != network.Rejected || strings.Contains(err.Error(), "top-secret") {
			t.Errorf("%q: %v", server, err)
		}
	}
}

// An address that leads elsewhere would carry the token there.
func TestSessionElsewhere(t *testing.T) {
	t.Parallel()
	l := newLibrary()
	url := said(t, http.StatusOK, http.Header{"Location": {"https://elsewhere.test/upload?upload_id=1"}}, "")
	d, err := youtube.New(youtube.Options{}).Plan(network.Intent{Content: network.Content{Media: []network.Media{l.film(100)}}})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = youtube.New(youtube.Options{}).Prepare(t.Context(), network.Grant{Server: url}, d, l)
	networktest.WantClass(t, err, network.Transient, "")
}

// A redirect would carry the token to wherever it leads, the more so as the protocol answers with one's status.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was followed") }))
	t.Cleanup(elsewhere.Close)
	for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		l := newLibrary()
		url := said(t, status, http.Header{"Location": {elsewhere.URL}}, "")
		_, err := youtube.New(youtube.Options{}).Commit(t.Context(), network.Grant{Server: url, Access: "token"}, ready(url, l), l)
		networktest.WantClass(t, err, network.Uncertain, "")
	}
}

func TestEndlessAnswer(t *testing.T) {
	t.Parallel()
	l := newLibrary()
	url := said(t, http.StatusOK, nil, `{"id":"`+strings.Repeat("1", 2<<20)+`"}`)
	_, err := youtube.New(youtube.Options{}).Commit(t.Context(), network.Grant{Server: url}, ready(url, l), l)
	networktest.WantClass(t, err, network.Uncertain, "")
}

// A network that never answers is not waited for without end.
func TestDeadline(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	url := scripted(t, func(r *http.Request) (int, string) {
		if !strings.HasPrefix(r.Header.Get("Content-Range"), "bytes */") {
			<-release
		}
		return http.StatusPermanentRedirect, ""
	})
	t.Cleanup(func() { close(release) })
	l := newLibrary()
	n := youtube.New(youtube.Options{App: network.App{HTTP: &http.Client{Timeout: 200 * time.Millisecond}}})
	_, err := n.Commit(t.Context(), network.Grant{Server: url, Access: "token"}, ready(url, l), l)
	networktest.WantClass(t, err, network.Uncertain, "")
}
