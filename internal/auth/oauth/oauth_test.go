package oauth_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/oauth"
	"pressroom/internal/core/access"
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/ratelimit"
	"pressroom/internal/domain/team"
	"pressroom/internal/platform/db"
	"pressroom/internal/testkit"
	"pressroom/internal/testkit/must"
)

const (
	public = "https://press.example"
	back   = "https://app.example/back"
)

// env is the server with a team whose owner lets programs in.
type env struct {
	*oauth.Service

	db       *db.DB
	clock    *testkit.Clock
	teams    *team.Service
	team     team.Team
	owner    team.Person
	document string // what is found wherever a program describes itself; nothing is found while it is empty
	fetched  int
}

// eachEnv runs a test on its own env on each database.
func eachEnv(t *testing.T, run func(t *testing.T, w *env)) {
	t.Helper()
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, address string) {
		t.Parallel()
		run(t, newEnv(t, address))
	})
}

func newEnv(t *testing.T, address string) *env {
	t.Helper()
	w := &env{clock: testkit.NewClock(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))}
	w.db = testkit.Open(t, address, w.clock)
	guesses := must.Get(ratelimit.NewGuesses())(t)
	w.teams = team.New(w.db, guesses, plan.Default())
	w.owner = must.Get(w.teams.AddPerson(t.Context(), "Ada", "ada@harbour.example", ""))(t)
	w.team = must.Get(w.teams.AddTeam(t.Context(),
		team.Team{Name: "Harbour", Timezone: "Europe/Berlin", Language: "en", Plan: "agency"}, w.owner.ID))(t)
	w.Service = oauth.New(oauth.Options{
		DB: w.db, PublicURL: public, Tools: "/mcp", Connections: connections{w.teams},
		Fetch: func(_ context.Context, _ string, most int64, into io.Writer) error {
			w.fetched++
			if w.document == "" || int64(len(w.document)) > most {
				return errors.New("nothing is there")
			}
			_, err := io.WriteString(into, w.document)
			return err
		},
	})
	return w
}

// connections are package team's, as the program joins them.
type connections struct{ teams *team.Service }

func (c connections) Connect(ctx context.Context, tx *db.Tx, n oauth.Connection) (int64, error) {
	return c.teams.Connect(ctx, tx,
		team.NewConnection{
			TeamID: n.Team, PersonID: n.Person, Client: n.Program, ClientID: n.ClientID, Host: n.Host,
			Capabilities: n.Capabilities,
		})
}

func (c connections) Disconnect(ctx context.Context, tx *db.Tx, id int64, reason string) error {
	return c.teams.Disconnect(ctx, tx, id, reason)
}

func (c connections) IsActive(ctx context.Context, q db.Querier, id int64) (bool, error) {
	return c.teams.IsConnectionActive(ctx, q, id)
}

func (c connections) RequiresFactor(ctx context.Context, q db.Querier, id int64) (bool, error) {
	return c.teams.RequiresFactor(ctx, q, id)
}

// request returns the query of an authorization request.
func request(client, verifier string) url.Values {
	return url.Values{
		"response_type": {"code"}, "client_id": {client}, "redirect_uri": {back},
		"code_challenge": {oauth2.S256ChallengeFromVerifier(verifier)}, "code_challenge_method": {"S256"},
		"scope": {"read write"}, "resource": {public + "/mcp"},
	}
}

// connect lets a program in and gives its tokens.
func (w *env) connect(t *testing.T, client string) oauth.Tokens {
	t.Helper()
	verifier := oauth2.GenerateVerifier()
	asked := must.Get(w.ParseRequest(t.Context(), "here", request(client, verifier)))(t)
	to := must.Get(w.Allow(t.Context(), asked,
		oauth.Consent{Team: w.team.ID, Person: w.owner.ID, Capabilities: asked.Capabilities}))(t)
	u := must.Get(url.Parse(to))(t)
	got := must.Get(w.Exchange(t.Context(), client,
		url.Values{
			"grant_type": {"authorization_code"}, "code": {u.Query().Get("code")}, "redirect_uri": {back},
			"code_verifier": {verifier},
		}))(t)
	return got
}

func (w *env) registered(t *testing.T) oauth.Client {
	t.Helper()
	c := must.Get(w.Register(t.Context(), "here", oauth.Registration{Name: "Helper", Redirects: []string{back}}))(t)
	return c
}

func (w *env) count(t *testing.T, from string) int {
	t.Helper()
	var n int
	must.NoError(t, w.db.QueryRow(t.Context(), "SELECT COUNT(*) FROM "+from).Scan(&n))
	return n
}

// The database holds no secret that is worth anything.
func TestOnlyHashesAreKept(t *testing.T) {
	eachEnv(t, func(t *testing.T, w *env) {
		got := w.connect(t, w.registered(t).ID)
		for _, kept := range []string{"code_hash FROM oauth_grants", "hash FROM oauth_tokens", "hash FROM api_keys"} {
			var hash []byte
			must.NoError(t, w.db.QueryRow(t.Context(), "SELECT "+kept).Scan(&hash))
			if len(hash) != 32 || strings.Contains(got.Access+got.Refresh, string(hash)) {
				t.Errorf("%s: %x", kept, hash)
			}
		}
		id, ends, found, err := w.Connection(t.Context(), got.Access)
		must.NoError(t, err)
		if !found || !ends.Equal(w.clock.Now().Add(time.Hour)) {
			t.Errorf("the token is of %d, until %s, %v", id, ends, found)
		}
		for _, token := range []string{"", got.Refresh, got.Access + "x", "prk_" + got.Access[4:]} {
			if _, _, found, err := w.Connection(t.Context(), token); found || err != nil {
				t.Errorf("%q is a token: %v", token, err)
			}
		}
	})
}

// A program that describes itself is known by its document, which is fetched anew after a while.
func TestDescribedPrograms(t *testing.T) {
	eachEnv(t, func(t *testing.T, w *env) {
		const id = "https://app.example/client.json"
		if _, err := w.ParseRequest(t.Context(), "here",
			request(id, oauth2.GenerateVerifier())); apierr.Of(err).Code != apierr.ValidationFailed {
			t.Errorf("without a document: %v", err)
		}
		w.document = fmt.Sprintf(`{"client_id":%q,"client_name":"Helper","redirect_uris":[%q]}`, id, back)
		for range 3 {
			w.connect(t, id)
		}
		if w.fetched != 2 {
			t.Errorf("fetched %d times", w.fetched)
		}
		w.clock.Advance(2 * time.Hour)
		w.document = strings.Replace(w.document, back, "https://app.example/elsewhere", 1)
		if _, err := w.ParseRequest(t.Context(), "here", request(id, oauth2.GenerateVerifier())); err == nil ||
			w.fetched != 3 {
			t.Errorf("an address that it no longer has is accepted (fetched %d times): %v", w.fetched, err)
		}
		w.document = strings.Repeat(" ", 17<<10) + w.document
		w.clock.Advance(2 * time.Hour)
		if _, err := w.Client(t.Context(), "here", id); apierr.Of(err).Code != apierr.ValidationFailed {
			t.Errorf("a document that is too long: %v", err)
		}
	})
}

// Who makes us fetch or keep too much waits; what is known is still answered.
func TestRegisteringTooMuch(t *testing.T) {
	eachEnv(t, func(t *testing.T, w *env) {
		known := w.registered(t)
		w.RegistrationDelay = func(from string) time.Duration {
			return map[string]time.Duration{"there": time.Minute}[from]
		}
		for name, try := range map[string]func() error{
			"registering": func() error {
				_, err := w.Register(t.Context(), "there", oauth.Registration{Redirects: []string{back}})
				return err
			},
			"fetching": func() error {
				_, err := w.Client(t.Context(), "there", "https://app.example/client.json")
				return err
			},
		} {
			if err := try(); apierr.Of(err).Code != apierr.RateLimited || apierr.Of(err).RetryAfter != time.Minute {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := w.Client(t.Context(), "there", known.ID); err != nil || w.fetched != 0 {
			t.Errorf("what is known: %v, fetched %d times", err, w.fetched)
		}
	})
}

// refresh exchanges a refresh token, and says what was refused of it.
func (w *env) refresh(t *testing.T, client, token string, more ...string) (oauth.Tokens, string) {
	t.Helper()
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}}
	for pair := range slices.Chunk(more, 2) {
		form.Set(pair[0], pair[1])
	}
	got, err := w.Exchange(t.Context(), client, form)
	if refused, is := errors.AsType[*oauth.Error](err); is {
		return got, refused.Code
	}
	must.NoError(t, err)
	return got, ""
}

// However often one token is exchanged while its answer may be lost, one line of tokens goes on from it: anybody who
// continues with another one ends the connection, as one of the two has stolen it.
func TestOneLineOfTokens(t *testing.T) {
	eachEnv(t, func(t *testing.T, w *env) {
		for name, uses := range map[string]func(lost, first string) string{
			"a pair beside the one that went on": func(lost, _ string) string { return lost },
			"the token that both came from":      func(_, first string) string { return first },
		} {
			t.Run(name, func(t *testing.T) {
				client := w.registered(t).ID
				first := w.connect(t, client)
				lost, _ := w.refresh(t, client, first.Refresh)
				w.clock.Advance(20 * time.Second)
				kept, _ := w.refresh(t, client, first.Refresh)
				next, refused := w.refresh(t, client, kept.Refresh)
				if refused != "" {
					t.Fatalf("whose first answer was lost does not go on: %s", refused)
				}
				if again, refused := w.refresh(t, client, kept.Refresh); refused != "" ||
					again.Refresh == next.Refresh {
					t.Fatalf("whose second answer was lost too does not go on: %s", refused)
				}
				if got, refused := w.refresh(t, client,
					uses(lost.Refresh, first.Refresh)); refused != oauth.InvalidGrant || got.Refresh != "" {
					t.Errorf("exchanged: %s", refused)
				}
				if _, refused := w.refresh(t, client, next.Refresh); refused != oauth.InvalidGrant {
					t.Errorf("the connection goes on: %q", refused)
				}
				if _, _, found, err := w.Connection(t.Context(), next.Access); found || err != nil {
					t.Errorf("its access token is good: %v", err)
				}
			})
		}
	})
}

// A program that loses answers now and then goes on for months.
func TestLostAnswersHurtNobody(t *testing.T) {
	eachEnv(t, func(t *testing.T, w *env) {
		client := w.registered(t).ID
		now := w.connect(t, client)
		for i := range 12 {
			for range i % 3 {
				w.refresh(t, client, now.Refresh)
			}
			var refused string
			if now, refused = w.refresh(t, client, now.Refresh); refused != "" {
				t.Fatalf("turn %d: %s", i, refused)
			}
			w.clock.Advance(time.Duration(i%2) * 10 * 24 * time.Hour)
		}
		if _, _, found, err := w.Connection(t.Context(), now.Access); err != nil || found {
			t.Errorf("ten days later the access token is good: %v", err)
		}
	})
}

// Tokens are for all that was granted, and nothing else is promised.
func TestScopeOfTheNextTokens(t *testing.T) {
	eachEnv(t, func(t *testing.T, w *env) {
		client := w.registered(t).ID
		now := w.connect(t, client)
		for scope, want := range map[string]string{
			"read": oauth.InvalidScope, "write offline_access": oauth.InvalidScope,
			"read write publish": oauth.InvalidScope, "email": oauth.InvalidScope,
		} {
			if _, refused := w.refresh(t, client, now.Refresh, "scope", scope); refused != want {
				t.Errorf("%s: %q", scope, refused)
			}
		}
		for _, scope := range []string{"write read", "read write offline_access", ""} {
			got, refused := w.refresh(t, client, now.Refresh, "scope", scope)
			if refused != "" || got.Scope != "read write" {
				t.Errorf("%s: %q, %q", scope, refused, got.Scope)
			}
			now = got
		}
	})
}

// Nobody is given more than what was asked for, anybody who asks.
func TestAllowsNoMoreThanAsked(t *testing.T) {
	eachEnv(t, func(t *testing.T, w *env) {
		asked := must.Get(w.ParseRequest(t.Context(), "here", request(w.registered(t).ID, oauth2.GenerateVerifier())))(t)
		for _, more := range [][]access.Capability{nil, {access.Read, access.Publish}, {access.Spend}} {
			if to, err := w.Allow(t.Context(), asked,
				oauth.Consent{Team: w.team.ID, Person: w.owner.ID, Capabilities: more}); err == nil {
				t.Errorf("%v: %s", more, to)
			}
		}
		twice := request(asked.Client.ID, oauth2.GenerateVerifier())
		twice.Add("scope", "read")
		var turned *oauth.RedirectError
		if _, err := w.ParseRequest(t.Context(), "here", twice); !errors.As(err, &turned) ||
			turned.Why.Code != oauth.InvalidRequest {
			t.Errorf("a scope twice: %v", err)
		}
	})
}

// Registrations need no sign-in, so they are bounded: in bytes each, and in number while nobody lets them in. The
// oldest go first, and those that are used never.
func TestRegistrationsAreBounded(t *testing.T) {
	eachEnv(t, func(t *testing.T, w *env) {
		ctx := t.Context()
		long := func(bytes int) oauth.Registration {
			half := "https://app.example/" + strings.Repeat("x", bytes/2-len("https://app.example/"))
			return oauth.Registration{Redirects: []string{half, half}}
		}
		must.Get(w.Register(ctx, "here", long(2000)))(t)
		var refused *oauth.Error
		if _, err := w.Register(ctx, "here", long(2002)); !errors.As(err, &refused) ||
			refused.Code != oauth.InvalidRedirect {
			t.Errorf("2,002 bytes of redirect URIs: %v", err)
		}
		used := w.registered(t)
		w.connect(t, used.ID)
		w.clock.Advance(time.Second)
		oldest := w.registered(t)
		w.clock.Advance(time.Second)
		w.flood(t, "", 9_999)
		w.clock.Advance(time.Second)
		newest := w.registered(t)
		if n := w.count(t, "oauth_clients WHERE used_at = 0"); n != 10_000 {
			t.Errorf("%d unused registrations are kept", n)
		}
		for _, kept := range []string{used.ID, oldest.ID, newest.ID} {
			if _, err := w.Client(ctx, "here", kept); err != nil {
				t.Errorf("%s: %v", kept, err)
			}
		}
		if _, err := w.Client(ctx, "here", "flood-1"); !apierr.Is(err, apierr.NotFound) ||
			!strings.Contains(err.Error(), "Start again from the app you came from.") {
			t.Errorf("the oldest of the network that has the most: %v", err)
		}
	})
}

// flood adds unused registrations from a network; the empty one for those from before networks were noted.
func (w *env) flood(t *testing.T, network string, n int) {
	t.Helper()
	must.NoError(t, w.db.InTx(t.Context(), "test.flood", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx,
			`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < CAST(? AS BIGINT))
			INSERT INTO oauth_clients (client_id, name, redirects, created_at, network) SELECT 'flood-' || CAST(? AS
		TEXT) || i, 'Flood', '[]', CAST(? AS BIGINT) + i, CAST(? AS TEXT) FROM n`,
			n, network, db.Micros(tx.Now()), network)
		return err
	}))
}

// A network that registers programs without end pushes out its own registrations and nobody else's, however many
// addresses it sends from.
func TestNetworkEvictsItsOwnRegistrations(t *testing.T) {
	t.Parallel()
	for network, address := range map[string]string{
		"2001:db8:1::/48": "2001:db8:1:%x::/64", "198.51.100.0/24": "198.51.100.%d",
	} {
		t.Run(network, func(t *testing.T) {
			eachEnv(t, func(t *testing.T, w *env) {
				ctx := t.Context()
				register := func(from string) oauth.Client {
					t.Helper()
					w.clock.Advance(time.Millisecond)
					c := must.Get(w.Register(ctx, from, oauth.Registration{Name: "Helper", Redirects: []string{back}}))(t)
					return c
				}
				victim := register("203.0.113.7")
				w.clock.Advance(time.Second)
				w.flood(t, "", 8_990)
				first := register(fmt.Sprintf(address, 250))
				w.flood(t, network, 990)
				w.clock.Advance(time.Second)
				for i := range 20 {
					register(fmt.Sprintf(address, i))
				}
				if n := w.count(t, "oauth_clients WHERE network = '"+network+"'"); n != 1_000 {
					t.Errorf("%d registrations of the network", n)
				}
				if _, err := w.Client(ctx, "here", victim.ID); err != nil {
					t.Errorf("somebody else's registration: %v", err)
				}
				if _, err := w.Client(ctx, "here", first.ID); !apierr.Is(err, apierr.NotFound) {
					t.Errorf("the oldest of its own: %v", err)
				}
				for range 20 { // more than there is room for in all
					register("192.0.2.1")
				}
				if _, err := w.Client(ctx, "here", victim.ID); err != nil || w.count(t, "oauth_clients") != 10_000 {
					t.Errorf("%d registrations; somebody else's: %v", w.count(t, "oauth_clients"), err)
				}
			})
		})
	}
}

// An application that was removed while a person looked at the consent page is let in by nobody.
func TestRemovedWhileAsked(t *testing.T) {
	eachEnv(t, func(t *testing.T, w *env) {
		asked := must.Get(w.ParseRequest(t.Context(), "here", request(w.registered(t).ID, oauth2.GenerateVerifier())))(t)
		w.clock.Advance(25 * time.Hour)
		must.Get(w.Sweep(t.Context()))(t)
		to, err := w.Allow(t.Context(), asked,
			oauth.Consent{Team: w.team.ID, Person: w.owner.ID, Capabilities: asked.Capabilities})
		if !apierr.Is(err, apierr.NotFound) || to != "" || w.count(t, "oauth_grants") != 0 {
			t.Errorf("%q, %v", to, err)
		}
	})
}

// What has ended is forgotten, with the connections that nobody renewed; what is in use stays.
func TestSweep(t *testing.T) {
	eachEnv(t, func(t *testing.T, w *env) {
		ctx := t.Context()
		used, unused := w.registered(t), w.registered(t)
		sweep := func() {
			t.Helper()
			must.Get(w.Sweep(ctx))(t)
		}
		got := w.connect(t, used.ID)
		asked := must.Get(w.ParseRequest(ctx, "here", request(unused.ID, oauth2.GenerateVerifier())))(t)
		must.Get(w.Allow(ctx, asked,
			oauth.Consent{Team: w.team.ID, Person: w.owner.ID, Capabilities: asked.Capabilities}))(t)
		w.clock.Advance(2 * time.Minute)
		sweep()
		if grants, tokens := w.count(t, "oauth_grants"), w.count(t, "oauth_tokens"); grants != 1 || tokens != 2 {
			t.Errorf("%d grants and %d tokens are left of what is used", grants, tokens)
		}
		w.registered(t)
		w.clock.Advance(24*time.Hour - time.Second)
		if sweep(); w.count(t, "oauth_clients") != 3 {
			t.Error("a program is forgotten within a day")
		}
		w.clock.Advance(time.Second)
		if sweep(); w.count(t, "oauth_clients") != 2 {
			t.Error("a program that nobody let in is not forgotten after a day")
		}
		w.clock.Advance(24 * 24 * time.Hour)
		next := must.Get(w.Exchange(ctx, used.ID,
			url.Values{"grant_type": {"refresh_token"}, "refresh_token": {got.Refresh}}))(t)
		sweep()
		if clients, tokens := w.count(t, "oauth_clients"), w.count(t, "oauth_tokens"); clients != 2 || tokens != 3 {
			t.Errorf("%d programs and %d tokens are left", clients, tokens)
		}
		w.clock.Advance(31 * 24 * time.Hour)
		sweep()
		if grants, tokens := w.count(t, "oauth_grants"), w.count(t, "oauth_tokens"); grants != 0 || tokens != 0 ||
			w.count(t, "api_keys WHERE kind = 'assistant' AND revoked_at = 0") != 0 {
			t.Errorf("%d grants and %d tokens are left of what has ended", grants, tokens)
		}
		var refused *oauth.Error
		if _, err := w.Exchange(ctx, used.ID,
			url.Values{"grant_type": {"refresh_token"}, "refresh_token": {next.Refresh}}); !errors.As(err, &refused) ||
			refused.Code != oauth.InvalidGrant {
			t.Errorf("what is forgotten: %v", err)
		}
		w.clock.Advance(366 * 24 * time.Hour)
		sweep()
		if n := w.count(t, "oauth_clients"); n != 0 {
			t.Errorf("%d programs are left", n)
		}
	})
}
