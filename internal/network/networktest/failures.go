package networktest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit"
)

const (
	// AccessToken and the constants below are the secrets of a Stub's grant and app.
	AccessToken  = "top-secret"
	refreshToken = "refresh-secret"
	appSecret    = "app-secret"
	authCode     = "code-secret"
)

// StubResponse is a server's response.
type StubResponse struct {
	Status int // 200 by default
	Header http.Header
	Body   string
}

// ServeHTTP sends the same response to every request.
func (r StubResponse) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	for name := range r.Header {
		w.Header().Set(name, r.Header.Get(name))
	}
	w.WriteHeader(max(r.Status, http.StatusOK))
	_, _ = w.Write([]byte(r.Body))
}

// Stub is an adapter connected to a server that sends the responses that a test defines.
type Stub struct {
	URL     string
	Network network.Network
	Grant   network.Grant
	Library *Library
}

// Serve starts a server and returns its address.
func Serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// NewStub returns a stub. By default its HTTP client has no options and its time is Start.
func NewStub(t *testing.T, c Case, app network.App, handler http.Handler) *Stub {
	t.Helper()
	return c.stubAt(t, Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.Before == nil || !c.Before(w, r) {
			handler.ServeHTTP(w, r)
		}
	})), app)
}

func (c Case) stubAt(t *testing.T, url string, app network.App) *Stub {
	app.ClientID, app.ClientSecret = "app", appSecret
	if app.HTTP == nil {
		app.HTTP = &http.Client{Transport: Transport}
	}
	if app.Now == nil {
		app.Now = func() time.Time { return Start }
	}
	if app.ListingDelay == 0 {
		app.ListingDelay = c.App.ListingDelay
	}
	s := &Stub{URL: url, Network: c.New(url, app), Grant: c.Grant, Library: NewLibrary(t)}
	s.Grant.Server, s.Grant.AccessToken, s.Grant.RefreshToken = url, AccessToken, refreshToken
	s.Library.Video(100)
	return s
}

// Draft returns a draft in which {server} is replaced by the stub's address.
func (s *Stub) Draft(d string) network.Draft {
	return network.Draft(strings.ReplaceAll(d, "{server}", s.Grant.Server))
}

// Failure is a response and the class of the error that it causes in each of Case.Calls, or "" for no error. A single
// class applies to all calls.
type Failure struct {
	Status int
	Body   string
	Want   []network.ErrorClass
}

// Skip in Failure.Want means that the call is not made.
const Skip network.ErrorClass = "skip"

// RetryTimeCase is a response with a retry time.
type RetryTimeCase struct {
	Call     int // index in Calls
	Response StubResponse
	At       time.Time // time of the response; by default Start
	Class    network.ErrorClass
	RetryAt  time.Time // zero if unknown
}

// ResolveCase is a response to Resolve, and the expected outcome.
type ResolveCase struct {
	Draft   string
	Handler http.Handler
	Elapsed time.Duration // time since the commit, which is at Start
	Verdict network.Verdict
	Class   network.ErrorClass
	Receipt network.Receipt // an empty permalink is not compared
	Message string          // of the error; not compared if empty
}

// GiveUpCase is a server at which a draft never becomes ready.
type GiveUpCase struct {
	Draft   string
	Handler http.Handler
	Class   network.ErrorClass
	Code    string
	Calls   int // expected number of calls of Prepare
}

func testFailures(t *testing.T, c Case) {
	for i, call := range c.Calls {
		t.Run(fmt.Sprintf("%s %d", call.Name, i), func(t *testing.T) {
			t.Parallel()
			runEach(t, unreadableResponses, func(t *testing.T, response StubResponse) {
				s := NewStub(t, c, network.App{}, response)
				_ = WantClass(t, call.Do(t.Context(), s), call.failureClass(), "")
			})
			for name, test := range map[string]func(*testing.T, Case, Call){
				"redirect": checkNoRedirects, "deadline": checkDeadline, "truncated": checkTruncation,
				"unreachable": checkUnreachableServer,
				"cancelled":   checkCanceledCall, "secrets": checkSecrets,
			} {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(t, c, call)
				})
			}
		})
	}
	subtests(t, c, map[string]func(*testing.T, Case){
		"Errors": func(t *testing.T, c Case) {
			runEach(t, c.Errors, func(t *testing.T, f Failure) { checkFailure(t, c, f) })
		},
		"Repeats": func(t *testing.T, c Case) {
			runEach(t, c.RetryTimes, func(t *testing.T, r RetryTimeCase) { checkRetryTime(t, c, r) })
		},
		"Looks": func(t *testing.T, c Case) {
			runEach(t, c.Resolves, func(t *testing.T, l ResolveCase) { resolveOnce(t, c, l) })
		},
		"GivesUp": func(t *testing.T, c Case) {
			runEach(t, c.GiveUps, func(t *testing.T, g GiveUpCase) { giveUp(t, c, g) })
		},
		"SlowLooks": func(t *testing.T, c Case) {
			for draft, nothing := range c.EmptyLists {
				resolveSlowly(t, c, draft, nothing)
			}
		},
	})
}

// unreadableResponses has responses of networks and proxies that an adapter cannot use.
var unreadableResponses = map[string]StubResponse{
	"nonsense":       {Body: `[`},
	"a server":       {Status: http.StatusInternalServerError, Body: `<html>`},
	"a gateway":      {Status: http.StatusBadGateway, Body: `<html>`},
	"an outage":      {Status: http.StatusServiceUnavailable},
	"without an end": {Body: `{"id":"` + strings.Repeat("1", 1<<20) + `"}`},
}

// checkNoRedirects checks that redirects are not followed, because a redirect would send the token to another server.
func checkNoRedirects(t *testing.T, c Case, call Call) {
	elsewhere := Serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the redirect was followed")
	}))
	for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		s := NewStub(t, c, network.App{}, StubResponse{Status: status, Header: http.Header{"Location": {elsewhere}}})
		_ = WantClass(t, call.Do(t.Context(), s), call.failureClass(), "")
	}
}

func checkDeadline(t *testing.T, c Case, call Call) {
	release := make(chan struct{})
	s := NewStub(t, c, network.App{HTTP: &http.Client{Timeout: 100 * time.Millisecond}},
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			<-release
		}))
	t.Cleanup(func() { close(release) })
	_ = WantClass(t, call.Do(t.Context(), s), call.failureClass(), "")
}

// checkTruncation closes the connection in the middle of the response.
func checkTruncation(t *testing.T, c Case, call Call) {
	s := NewStub(t, c, network.App{}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte(`{"id":"1"`))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	_ = WantClass(t, call.Do(t.Context(), s), call.failureClass(), "")
}

// checkUnreachableServer calls a server that is down, and servers with an invalid URL.
func checkUnreachableServer(t *testing.T, c Case, call Call) {
	front := httptest.NewServer(http.NotFoundHandler())
	front.Close()
	for _, server := range []string{front.URL, "", "ftp://x", "http://user:pass@x", "http://[::1"} {
		s := c.stubAt(t, front.URL, network.App{})
		s.Grant.Server = server
		err := call.Do(t.Context(), s)
		if class := Class(err); class != network.Transient && (class != network.Rejected || server == front.URL) ||
			strings.Contains(err.Error(), AccessToken) {
			t.Errorf("%q: %v", server, err)
		}
	}
}

func checkCanceledCall(t *testing.T, c Case, call Call) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = WantClass(t, call.Do(ctx, NewStub(t, c, network.App{}, StubResponse{Body: "{}"})), network.Transient, "")
}

// checkSecrets checks that an error does not contain the call's secrets, and that its message is shortened to 500
// characters.
func checkSecrets(t *testing.T, c Case, call Call) {
	message := strings.Join(call.Secrets, " ") + " " + strings.Repeat("x", 1000)
	err := call.Do(t.Context(), NewStub(t, c, network.App{}, c.Quote(message)))
	netErr := WantClass(t, err, Class(err), "")
	for _, secret := range call.Secrets {
		if strings.Contains(netErr.Message+netErr.Error(), secret) {
			t.Errorf("%q, %v", netErr.Message, netErr)
		}
	}
	if length := len([]rune(netErr.Message)); length != 500 {
		t.Errorf("%d characters are kept", length)
	}
}

func checkFailure(t *testing.T, c Case, failure Failure) {
	s := NewStub(t, c, network.App{}, StubResponse{Status: failure.Status, Body: failure.Body})
	want := failure.Want
	if len(want) == 1 {
		want = slices.Repeat(want, len(c.Calls))
	}
	for i, class := range want {
		if class == Skip {
			continue
		}
		if err := c.Calls[i].Do(t.Context(), s); Class(err) != class || err != nil && class == "" {
			t.Errorf("%s: %v, want %q", c.Calls[i].Name, err, class)
		}
	}
}

func checkRetryTime(t *testing.T, c Case, r RetryTimeCase) {
	if r.At.IsZero() {
		r.At = Start
	}
	s := NewStub(t, c, network.App{Now: func() time.Time { return r.At }}, r.Response)
	if netErr := WantClass(t, c.Calls[r.Call].Do(t.Context(), s), r.Class, ""); !netErr.RetryAt.Equal(r.RetryAt) {
		t.Errorf("not before %v, want %v", netErr.RetryAt, r.RetryAt)
	}
}

func resolveOnce(t *testing.T, c Case, l ResolveCase) {
	s := NewStub(t, c, network.App{Now: func() time.Time { return Start.Add(l.Elapsed) }}, l.Handler)
	verdict, receipt, err := s.Network.Resolve(t.Context(), s.Grant, s.Draft(l.Draft),
		network.CommitHistory{First: Start, Last: Start})
	if verdict != l.Verdict || Class(err) != l.Class || receipt.ID != l.Receipt.ID ||
		l.Receipt.Permalink != "" && receipt.Permalink != strings.ReplaceAll(l.Receipt.Permalink, "{server}", s.URL) {
		t.Errorf("verdict %v, receipt %+v, %v", verdict, receipt, err)
	}
	if l.Message != "" && WantClass(t, err, l.Class, "").Message != l.Message {
		t.Errorf("%v", err)
	}
	if strings.HasPrefix(receipt.Permalink, "javascript") {
		t.Errorf("permalink %q", receipt.Permalink)
	}
}

// clockTransport advances the clock by an hour with each response.
type clockTransport struct{ clock *testkit.Clock }

func (t clockTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := Transport.RoundTrip(r)
	t.clock.Advance(time.Hour)
	return response, err //nolint:wrapcheck // returned unchanged
}

// resolveSlowly resolves a draft soon after its commit. By the time of the response, a missing post would count as
// absent. The verdict is still Unknown, because the request was sent too early.
func resolveSlowly(t *testing.T, c Case, draft string, emptyList http.Handler) {
	t.Helper()
	clock := testkit.NewClock(Start)
	history := network.CommitHistory{First: clock.Now(), Last: clock.Now()}
	clock.Advance(30 * time.Second)
	s := NewStub(t, c,
		network.App{Now: clock.Now, ListingDelay: network.Duration(time.Minute),
			HTTP: &http.Client{Transport: clockTransport{clock}}},
		emptyList)
	if verdict, _, err := s.Network.Resolve(t.Context(), s.Grant, s.Draft(draft), history); verdict != network.Unknown ||
		Class(err) != network.Processing {
		t.Errorf("verdict %v, %v", verdict, err)
	}
}

// giveUp prepares a draft until Prepare returns an error.
func giveUp(t *testing.T, c Case, g GiveUpCase) {
	s := NewStub(t, c, network.App{}, g.Handler)
	d, calls := s.Draft(g.Draft), 0
	var err error
	for ; err == nil && calls < 20; calls++ {
		d, _, err = s.Network.Prepare(t.Context(), s.Grant, d, s.Library)
	}
	_ = WantClass(t, err, g.Class, g.Code)
	if calls != g.Calls {
		t.Errorf("%d calls", calls)
	}
}

// NewFailure returns a Failure.
func NewFailure(status int, body string, want ...network.ErrorClass) Failure {
	return Failure{Status: status, Body: body, Want: want}
}
