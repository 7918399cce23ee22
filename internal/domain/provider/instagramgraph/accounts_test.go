package instagramgraph

import (
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/testkit/must"
)

// After an account error, another account is used and the first is paused.
func TestPausedAccounts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		header http.Header
		rest   time.Duration
	}{
		"the app's calls":    {http.StatusBadRequest, errorText(4, 0), nil, defaultPause},
		"the person's calls": {http.StatusBadRequest, errorText(17, 2446079), nil, defaultPause},
		"the page's calls":   {http.StatusBadRequest, errorText(32, 0), nil, defaultPause},
		"call limit":         {http.StatusBadRequest, errorText(613, 0), nil, defaultPause},
		"the business's calls": {http.StatusBadRequest, errorText(80002, 0),
			http.Header{"X-Business-Use-Case-Usage": {
				`{"1":[{"type":"instagram","call_count":100,"estimated_time_to_regain_access":42}]}`}},
			42 * time.Minute},
		"policy block": {http.StatusBadRequest, errorText(368, 0), nil, policyPause},
		"a plain 429":  {http.StatusTooManyRequests, `slow down`, nil, defaultPause},
		"with a wait":  {http.StatusTooManyRequests, ``, http.Header{"Retry-After": {"7"}}, 7 * time.Second},
		"for years": {http.StatusTooManyRequests, ``, http.Header{"Retry-After": {"400000000"}},
			24 * time.Hour},
		"expired token":      {http.StatusUnauthorized, errorText(190, 463), nil, invalidTokenPause},
		"expired session":    {http.StatusBadRequest, errorText(102, 0), nil, invalidTokenPause},
		"another's id":       {http.StatusBadRequest, errorText(100, 33), nil, 0},
		"missing permission": {http.StatusBadRequest, errorText(10, 0), nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGraph(t)
			g.people["natgeo"] = person(nil)
			g.reject = func(account string, _ *http.Request) (int, string) {
				if account == "17841400" {
					return c.status, c.body
				}
				return 0, ""
			}
			log, text := journal()
			s := g.source(2, func(o *Options) { o.Log = log })
			server := http.DefaultTransport
			s.http.Transport = headers{server, c.header, "17841400"}
			for range 2 {
				must.Get(s.Profile(t.Context(), profileQuery(1)))(t)
			}
			if got := s.accounts.untilNextAvailable(began, false); got != c.rest {
				t.Errorf("paused for %s, want %s", got, c.rest)
			}
			if lost := strings.Count(text.String(), "17841400"); lost > 1 ||
				(lost == 1) != (c.rest == invalidTokenPause) || strings.Contains(text.String(), token) {
				t.Errorf("the log: %s", text)
			}
		})
	}
}

// headers adds headers to the responses for an account.
type headers struct {
	http.RoundTripper

	header  http.Header
	account string
}

func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := h.RoundTripper.RoundTrip(r)
	if err == nil && strings.HasSuffix(r.URL.Query().Get("access_token"), h.account) {
		maps.Copy(response.Header, h.header)
	}
	return response, err
}

// If no account is available, the error has the delay. Each rejected token is logged once.
func TestNoAccount(t *testing.T) {
	t.Parallel()
	g := newGraph(t)
	g.people["natgeo"] = person(nil)
	broken := true
	g.reject = func(account string, _ *http.Request) (int, string) {
		switch {
		case !broken:
			return 0, ""
		case account == "17841400":
			return http.StatusBadRequest, errorText(4, 0)
		}
		return http.StatusBadRequest, errorText(190, 460)
	}
	log, text := journal()
	s := g.source(3, func(o *Options) { o.Log = log })
	ask := func() error {
		_, err := s.Profile(t.Context(), profileQuery(1))
		return err
	}
	checkUnavailable(t, ask(), defaultPause)
	calls := len(g.requests)
	checkUnavailable(t, ask(), defaultPause)
	if calls != 3 || len(g.requests) != calls {
		t.Errorf("requests were sent through paused accounts: %v", g.requests)
	}
	g.clock.Advance(invalidTokenPause)
	checkUnavailable(t, ask(), defaultPause)
	if got := strings.Count(text.String(), "level=ERROR"); got != 2 {
		t.Errorf("%d log entries for two rejected tokens: %s", got, text)
	}
	g.clock.Advance(invalidTokenPause)
	broken = false
	for range 3 {
		must.NoError(t, ask())
	}
	broken = true
	checkUnavailable(t, ask(), defaultPause)
	if got := strings.Count(text.String(), "level=ERROR"); got != 4 {
		t.Errorf("%d log entries for tokens rejected twice: %s", got, text)
	}
}

// An account near its limits is paused before Meta rejects requests.
func TestUsageNearLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		header, value string
		rest          time.Duration
	}{
		"little": {"X-App-Usage", `{"call_count":74,"total_time":1,"total_cputime":0}`, 0},
		"calls":  {"X-App-Usage", `{"call_count":75,"total_time":1,"total_cputime":0}`, defaultPause},
		"time":   {"X-App-Usage", `{"call_count":1,"total_time":75.5,"total_cputime":0}`, defaultPause},
		"the business": {"X-Business-Use-Case-Usage",
			`{"1":[{"type":"pages"}],"2":[{"call_count":3},{"total_cputime":99,"estimated_time_to_regain_access":3}]}`,
			3 * time.Minute},
		"for years": {"X-Business-Use-Case-Usage",
			`{"1":[{"total_cputime":99,"estimated_time_to_regain_access":1e300}]}`, 24 * time.Hour},
		"nonsense": {"X-App-Usage", `natgeo`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGraph(t)
			g.people["natgeo"] = person(nil)
			g.usage.Set(c.header, c.value)
			s := g.source(1, nil)
			must.Get(s.Profile(t.Context(), profileQuery(1)))(t)
			if got := s.accounts.untilNextAvailable(began, false); got != c.rest {
				t.Errorf("paused for %s, want %s", got, c.rest)
			}
		})
	}
}

// Accounts are used in rotation.
func TestAccountsRotate(t *testing.T) {
	t.Parallel()
	g := newGraph(t)
	g.people["natgeo"] = person(nil)
	s := g.source(3, nil)
	for range 6 {
		must.Get(s.Profile(t.Context(), profileQuery(1)))(t)
	}
	count := map[string]int{}
	for _, asked := range g.requests {
		count[asked]++
	}
	if len(count) != 3 || count["17841401 17841401"] != 2 {
		t.Errorf("%v", count)
	}
}

func TestInvalidOptions(t *testing.T) {
	t.Parallel()
	good := Options{Accounts: []Account{{ID: "1", Token: "x"}}, FetchPublic: rejectFetch}
	must.Get(New(good))(t)
	for name, change := range map[string]func(*Options){
		"no account":         func(o *Options) { o.Accounts = nil },
		"name instead of ID": func(o *Options) { o.Accounts = []Account{{ID: "natgeo", Token: "x"}} },
		"no token":           func(o *Options) { o.Accounts = []Account{{ID: "1"}} },
		"duplicate account":  func(o *Options) { o.Accounts = []Account{{ID: "1", Token: "x"}, {ID: "1", Token: "y"}} },
		"no shelf":           func(o *Options) { o.Hashtags = true },
		"no fetcher":         func(o *Options) { o.FetchPublic = nil },
		"no address":         func(o *Options) { o.URL = "graph.facebook.com" },
		"invalid version":    func(o *Options) { o.Version = "25" },
		"too much":           func(o *Options) { o.Usage = 101 },
	} {
		opts := good
		change(&opts)
		if _, err := New(opts); err == nil {
			t.Errorf("%s: invalid options were accepted", name)
		}
	}
}

func TestStoreErrors(t *testing.T) {
	t.Parallel()
	g := newGraph(t)
	g.reject = func(string, *http.Request) (int, string) { panic(http.ErrAbortHandler) }
	_, err := g.source(1, nil).Profile(t.Context(), profileQuery(1))
	checkUnavailable(t, err, 0)
	if errors.Is(err, provider.ErrNotFound) {
		t.Error(err)
	}
}
