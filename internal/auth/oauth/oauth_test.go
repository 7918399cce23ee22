package oauth_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/oauth"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/ratelimit"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

const (
	public = "https://press.example"
	back   = "https://app.example/back"
)

// env is the server with a team whose owner authorizes clients.
type env struct {
	*oauth.Service

	db       *db.DB
	clock    *testkit.Clock
	teams    *team.Service
	team     team.Team
	owner    team.Person
	document string // the metadata document of every client; empty for none
	fetched  int
}

// eachEnv runs a test with a new env on each database.
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
	guesses := must.Get(ratelimit.NewGuessLimiter())(t)
	w.teams = team.New(w.db, guesses, plan.Default())
	w.owner = must.Get(w.teams.AddPerson(t.Context(), "Ada", "ada@harbour.example", ""))(t)
	w.team = must.Get(w.teams.AddTeam(t.Context(),
		team.Team{Name: "Harbour", Timezone: "Europe/Berlin", Language: "en", Plan: "agency"}, w.owner.ID))(t)
	w.Service = oauth.New(oauth.Options{
		DB: w.db, PublicURL: public, Tools: "/mcp", API: "/api/v1", Connections: connections{w.teams},
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

// connections adapts package team as the server does.
type connections struct{ teams *team.Service }

func (c connections) Connect(ctx context.Context, tx *db.Tx, n oauth.Connection) (int64, error) {
	return c.teams.Connect(ctx, tx,
		team.NewConnection{
			TeamID: n.Team, PersonID: n.Person, Client: n.ClientName, ClientID: n.ClientID, Host: n.Host,
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

// connect authorizes a client and returns its tokens.
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

func (w *env) register(t *testing.T) oauth.Client {
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

// The database contains no usable secret.
func TestOnlyHashesStored(t *testing.T) {
	eachEnv(t, func(t *testing.T, w *env) {
		got := w.connect(t, w.register(t).ID)
		for _, kept := range []string{"code_hash FROM oauth_grants", "hash FROM oauth_tokens", "hash FROM api_keys"} {
			var hash []byte
			must.NoError(t, w.db.QueryRow(t.Context(), "SELECT "+kept).Scan(&hash))
			if len(hash) != 32 || strings.Contains(got.Access+got.Refresh, string(hash)) {
				t.Errorf("%s: %x", kept, hash)
			}
		}
		id, ends, found, err := w.Connection(t.Context(), w.ToolsResource(), got.Access)
		must.NoError(t, err)
		if !found || !ends.Equal(w.clock.Now().Add(time.Hour)) {
			t.Errorf("the token is of %d, until %s, %v", id, ends, found)
		}
		for _, token := range []string{"", got.Refresh, got.Access + "x", "prk_" + got.Access[4:]} {
			if _, _, found, err := w.Connection(t.Context(), w.ToolsResource(), token); found || err != nil {
				t.Errorf("%q is a token: %v", token, err)
			}
		}
	})
}

// A metadata document identifies a client and is fetched again after a while.
func TestMetadataDocuments(t *testing.T) {
	eachEnv(t, func(t *testing.T, w *env) {
		const id = "https://app.example/client.json"
		if _, err := w.ParseRequest(t.Context(), "here",
			request(id, oauth2.GenerateVerifier())); apierr.FromError(err).Code != apierr.ValidationFailed {
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
		if _, err := w.Client(t.Context(), "here", id); apierr.FromError(err).Code != apierr.ValidationFailed {
			t.Errorf("a document that is too long: %v", err)
		}
	})
}

// A grant never exceeds the request or the person's role.
func TestGrantWithinRequest(t *testing.T) {
	eachEnv(t, func(t *testing.T, w *env) {
		asked := must.Get(w.ParseRequest(t.Context(), "here", request(w.register(t).ID, oauth2.GenerateVerifier())))(t)
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
			turned.Err.Code != oauth.InvalidRequest {
			t.Errorf("a scope twice: %v", err)
		}
	})
}

// A client that is removed while the consent page is open gets no grant.
func TestClientRemovedDuringConsent(t *testing.T) {
	eachEnv(t, func(t *testing.T, w *env) {
		asked := must.Get(w.ParseRequest(t.Context(), "here", request(w.register(t).ID, oauth2.GenerateVerifier())))(t)
		w.clock.Advance(25 * time.Hour)
		must.Get(w.Sweep(t.Context()))(t)
		to, err := w.Allow(t.Context(), asked,
			oauth.Consent{Team: w.team.ID, Person: w.owner.ID, Capabilities: asked.Capabilities})
		if !apierr.Is(err, apierr.NotFound) || to != "" || w.count(t, "oauth_grants") != 0 {
			t.Errorf("%q, %v", to, err)
		}
	})
}

// The sweep deletes expired data and connections that were not renewed, and keeps data in use.
func TestSweep(t *testing.T) {
	eachEnv(t, func(t *testing.T, w *env) {
		ctx := t.Context()
		used, unused := w.register(t), w.register(t)
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
			t.Errorf("%d grants and %d tokens in use are left", grants, tokens)
		}
		w.register(t)
		w.clock.Advance(24*time.Hour - time.Second)
		if sweep(); w.count(t, "oauth_clients") != 3 {
			t.Error("a client is deleted within a day")
		}
		w.clock.Advance(time.Second)
		if sweep(); w.count(t, "oauth_clients") != 2 {
			t.Error("a client without a grant is not deleted after a day")
		}
		w.clock.Advance(24 * 24 * time.Hour)
		next := must.Get(w.Exchange(ctx, used.ID,
			url.Values{"grant_type": {"refresh_token"}, "refresh_token": {got.Refresh}}))(t)
		sweep()
		if clients, tokens := w.count(t, "oauth_clients"), w.count(t, "oauth_tokens"); clients != 2 || tokens != 3 {
			t.Errorf("%d clients and %d tokens are left", clients, tokens)
		}
		w.clock.Advance(31 * 24 * time.Hour)
		sweep()
		if grants, tokens := w.count(t, "oauth_grants"), w.count(t, "oauth_tokens"); grants != 0 || tokens != 0 ||
			w.count(t, "api_keys WHERE kind = 'assistant' AND revoked_at = 0") != 0 {
			t.Errorf("%d ended grants and %d tokens are left", grants, tokens)
		}
		var rejected *oauth.Error
		if _, err := w.Exchange(ctx, used.ID,
			url.Values{"grant_type": {"refresh_token"}, "refresh_token": {next.Refresh}}); !errors.As(err, &rejected) ||
			rejected.Code != oauth.InvalidGrant {
			t.Errorf("a deleted client: %v", err)
		}
		w.clock.Advance(366 * 24 * time.Hour)
		sweep()
		if n := w.count(t, "oauth_clients"); n != 0 {
			t.Errorf("%d clients are left", n)
		}
	})
}
