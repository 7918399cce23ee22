package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/auth/oauth"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/sandbox"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/fixture"
	"pressroom.example/pressroom/internal/testkit/must"
)

// secretStore collects the secrets of a test.
type secretStore struct {
	sync.Mutex
	secrets map[string]string // kind of each secret
}

func (s *secretStore) keep(what, value string) {
	s.Lock()
	defer s.Unlock()
	if _, known := s.secrets[value]; !known && len(value) >= 8 && value != "sandbox" {
		s.secrets[value] = what
	}
}

// forms returns the encodings in which a secret may occur.
func forms(value string) [][]byte {
	raw := []byte(value)
	out := [][]byte{
		raw, []byte(url.QueryEscape(value)), []byte(base64.StdEncoding.EncodeToString(raw)),
		[]byte(base64.RawURLEncoding.EncodeToString(raw)), []byte(hex.EncodeToString(raw)),
	}
	if quoted, err := json.Marshal(value); err == nil {
		out = append(out, quoted[1:len(quoted)-1])
	}
	return out
}

// find returns the secrets in content with their context, except for the kinds in but.
func (s *secretStore) find(content []byte, but ...string) []string {
	s.Lock()
	defer s.Unlock()
	var out []string
	for value, what := range s.secrets {
		if slices.Contains(but, what) {
			continue
		}
		for _, form := range forms(value) {
			if at := bytes.Index(content, form); at >= 0 {
				out = append(out, fmt.Sprintf("%s: …%.200q", what, content[max(0, at-60):]))
				break
			}
		}
	}
	return out
}

// mustNotBeIn checks that content contains no secrets, except for the kinds in but.
func (s *secretStore) mustNotBeIn(t *testing.T, place string, content []byte, but ...string) {
	t.Helper()
	for _, found := range s.find(content, but...) {
		t.Errorf("%s contains %s", place, found)
	}
}

// A secretStore finds a secret in each encoding.
func TestSecretStoreFindsEncodings(t *testing.T) {
	t.Parallel()
	const value = `a "secret" / of ours`
	s := &secretStore{secrets: map[string]string{}}
	s.keep("a word", value)
	for _, text := range []string{
		`x a "secret" / of ours x`, `a \"secret\" / of ours`, "q=a+%22secret%22+%2F+of+ours",
		"YSAic2VjcmV0IiAvIG9mIG91cnM=", "61202273656372657422202f206f66206f757273",
	} {
		if found := s.find([]byte(text)); len(found) != 1 {
			t.Errorf("%s: %v", text, found)
		}
	}
	if found := s.find([]byte("a secret of ours")); found != nil {
		t.Errorf("found %v", found)
	}
}

var (
	givenToken  = regexp.MustCompile(`"(accessJwt|refreshJwt|access_token|refresh_token|id_token)"\s*:\s*"([^"]+)"`)
	formSecrets = []string{
		"client_secret", "code", "code_verifier", "refresh_token", "access_token", "fb_exchange_token", "appsecret_proof", "password",
	}
)

// watch collects secrets from the traffic between the server and the networks.
func (s *secretStore) watch(h *instance) {
	networks := h.box.Handler()
	tap := func(w http.ResponseWriter, r *http.Request) bool {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return false
		}
		if kind, credential, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(kind, "bearer") ||
			strings.EqualFold(kind, "oauth") {
			s.keep("a network's token", credential)
		}
		sent := r.URL.Query()
		if form, err := url.ParseQuery(string(body)); err == nil && strings.HasPrefix(r.Header.Get("Content-Type"),
			"application/x-www-form-urlencoded") {
			maps.Copy(sent, form)
		}
		for _, name := range formSecrets {
			s.keep("a network's "+name, sent.Get(name))
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		got := httptest.NewRecorder()
		networks.ServeHTTP(got, r)
		for _, found := range givenToken.FindAllStringSubmatch(got.Body.String(), -1) {
			s.keep("a network's "+found[1], found[2])
		}
		maps.Copy(w.Header(), got.Header())
		w.WriteHeader(got.Code)
		_, _ = w.Write(got.Body.Bytes())
		return true
	}
	h.inject.Store(&tap)
}

// journal is a log that goroutines write to.
type journal struct {
	sync.Mutex
	bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.Lock()
	defer j.Unlock()
	return j.Buffer.Write(p)
}

func (j *journal) all() []byte {
	j.Lock()
	defer j.Unlock()
	return bytes.Clone(j.Bytes())
}

const (
	bridgeToken  = "bridge-token-4f1d9c"
	clientSecret = "client-secret-8c2e71"
	passphrase   = "a long passphrase 5531"
)

// A team uses every kind of secret. Afterwards, no secret may be in the debug log, the database, the files of
// database and library, other callers' responses, the metrics or stack traces.
func TestSecretsDoNotLeak(t *testing.T) {
	t.Parallel()
	log := &journal{}
	metrics := must.Get(testkit.FreeAddr())(t)
	withInstance(t, options{settings: func(c *server.Config) {
		c.Log = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		c.BridgeToken = bridgeToken
		c.Networks.Secret = func(string) string { return clientSecret }
		if strings.HasPrefix(c.Database, "sqlite:") {
			c.MetricsAddr = metrics
		}
	}}, func(t *testing.T, h *instance) {
		s := &secretStore{secrets: map[string]string{}}
		s.watch(h)
		w := h.newEnv(t, options{})
		w.useEverySecret(s)
		for _, what := range []string{
			"a network's accessJwt", "a network's client_secret", "a network's code", "an upload secret", "an access token", "a session",
		} {
			if !slices.Contains(slices.Collect(maps.Values(s.secrets)), what) {
				t.Errorf("%s was not used: %v", what, slices.Sorted(maps.Values(s.secrets)))
			}
		}
		if len(log.all()) < 1000 {
			t.Error("the log is empty")
		}
		s.mustNotBeIn(t, "the log", log.all())
		s.mustNotBeIn(t, "the database", h.dump(t))
		h.eachFile(t, func(path string, content []byte) { s.mustNotBeIn(t, path, content) })
		h.checkOtherTeam(t, s)
		if !h.db.Postgres() {
			s.mustNotBeIn(t, "the figures", []byte(w.loadPage(client.Get("http://"+metrics+"/metrics")).text))
		}
		stacks := make([]byte, 8<<20)
		s.mustNotBeIn(t, "the stacks", stacks[:runtime.Stack(stacks, true)])
	})
}

// useEverySecret uses every kind of secret in the team and collects the secrets.
func (w *env) useEverySecret(s *secretStore) {
	t, ctx := w.t, w.t.Context()
	t.Helper()
	s.keep("the sealing key", w.sealing)
	s.keep("the bridge's token", bridgeToken)
	s.keep("an app password", fixture.AppPassword)
	for _, key := range w.keys {
		s.keep("an API key", key)
	}
	never := apikey.New(apikey.APIKey) // an invalid key may be a mistyped valid one
	s.keep("an API key", never)
	w.rest(never, "get_identity", nil, "").mustBe(t, http.StatusUnauthorized)
	w.rest(full(w), "create_post", map[string]any{"caption": "it is " + never, "account_ids": w.accounts}, "").
		mustBe(t, http.StatusUnprocessableEntity)
	for _, platform := range []string{"threads", "x", "youtube", "pinterest", "tiktok"} {
		w.connectInBrowser(s, platform)
	}
	w.grant(100)
	w.publish(w.draft("to everybody", w.accounts...))
	w.uploadBySecret(s)
	w.signInAndRecover(s)
	w.authorizeAssistant(s)
	got := w.rest(full(w), "download_profile_media",
		map[string]any{"platform": "instagram", "type": "posts", "username": "harbour_cafe", "limit": 1}, "a download")
	got.mustBe(t, http.StatusAccepted)
	w.awaitJob(got.text("data.job_id"))
	id := w.draft("for the client")
	link := must.Get(w.Approvals.Request(ctx, w.owner, id))(t)
	s.keep("an approval link", link[strings.LastIndex(link, "/")+1:])
	w.loadPage(client.Get(link)).mustShow("for the client")
}

func (w *env) connectInBrowser(s *secretStore, platform string) {
	t, ctx := w.t, w.t.Context()
	t.Helper()
	link := w.full("get_connect_link", map[string]any{"platform": platform}).text("data.url")
	token := link[strings.LastIndex(link, "/")+1:]
	s.keep("a connect link", token)
	offer := must.Get(w.Connector.Offer(ctx, w.owner, token))(t)
	consent := must.Get(w.Connector.Begin(ctx, w.owner, token, offer.Methods[0].Kind))(t)
	came := must.Get(sandbox.Allow(ctx, consent, "harbour.coffee"))(t)
	s.keep("a network's code", came.Get("code"))
	end, err := w.Connector.HandleCallback(ctx, w.owner, account.Callback{Platform: platform,
		State: came.Get("state"), Code: came.Get("code")})
	if err == nil && end.Choice != 0 {
		_, err = w.Connector.Choose(ctx, w.owner, end.Choice, 0)
	}
	must.NoError(t, err)
}

// uploadBySecret uploads a file, also with an Idempotency-Key, whose stored record contains the answer.
func (w *env) uploadBySecret(s *secretStore) {
	w.t.Helper()
	for _, key := range []string{"", "an upload"} {
		f := aPNG("secret " + key + ".png")
		got := w.rest(full(w), "create_uploads", uploadArgs(nil, f), key)
		to := got.linkOf(0)
		s.keep("an upload secret", strings.TrimPrefix(to.authorization, "Bearer "))
		w.put(link{to.url, "Bearer " + apikey.New(apikey.Upload)}, f).mustBe(w.t, http.StatusUnauthorized)
		w.put(to, f).mustBe(w.t, http.StatusCreated)
	}
}

// signInAndRecover signs people in with an invitation, a password and a recovery link.
func (w *env) signInAndRecover(s *secretStore) {
	t, ctx := w.t, w.t.Context()
	t.Helper()
	s.keep("a password", passphrase)
	_, invitation, err := w.Teams.Invite(ctx, w.owner, w.team, "dora@harbour.example", access.Editor)
	must.NoError(t, err)
	s.keep("an invitation", invitation)
	w.loadPage(client.Get(w.root + "/invitation/" + invitation)).mustShow("dora@harbour.example")
	email := fmt.Sprintf("eve%d@harbour.example", w.people.Add(1))
	eve := must.Get(w.Teams.AddPerson(ctx, "Eve", email, passphrase))(t)
	must.NoError(t, w.Teams.SetMember(ctx, w.team, eve.ID, access.Editor))
	jar := must.Get(cookiejar.New(nil))(t)
	browser := &http.Client{Jar: jar, Timeout: time.Minute}
	w.loadPage(browser.PostForm(w.root+"/sign-in", url.Values{"email": {email}, "password": {passphrase + "x"}}))
	w.loadPage(browser.PostForm(w.root+"/sign-in", url.Values{"email": {email}, "password": {passphrase}})).mustShow("Harbour Coffee")
	at := must.Get(url.Parse(w.root))(t)
	for _, cookie := range jar.Cookies(at) {
		s.keep("a session", cookie.Value)
	}
	recovery := must.Get(w.Teams.Recover(ctx, email))(t)
	s.keep("a recovery link", recovery.Token)
	w.loadPage(browser.Get(w.root + "/recovery/" + recovery.Token)).mustShow("assword")
}

// authorizeAssistant authorizes an assistant, which then uses its tokens.
func (w *env) authorizeAssistant(s *secretStore) {
	t, ctx := w.t, w.t.Context()
	t.Helper()
	const back = "http://127.0.0.1/back"
	program := must.Get(w.OAuth.Register(ctx, "test", oauth.Registration{Name: "Harbour helper", Redirects: []string{back}}))(t)
	verifier := oauth2.GenerateVerifier()
	s.keep("a code verifier", verifier)
	asked := must.Get(w.OAuth.ParseRequest(ctx, "test",
		url.Values{
			"client_id": {program.ID}, "redirect_uri": {back}, "response_type": {"code"}, "scope": {"read write"},
			"code_challenge": {oauth2.S256ChallengeFromVerifier(verifier)}, "code_challenge_method": {"S256"},
		}))(t)
	to := must.Get(w.OAuth.Allow(ctx, asked,
		oauth.Consent{Team: w.team, Person: w.owner, Capabilities: []access.Capability{access.Read, access.Write}}))(t)
	came := must.Get(url.Parse(to))(t)
	code := came.Query().Get("code")
	s.keep("an authorisation code", code)
	form := url.Values{
		"client_id": {program.ID}, "grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {back},
		"code_verifier": {verifier},
	}
	for range 3 {
		resp := must.Get(client.PostForm(w.root+"/oauth/token", form))(t)
		var got struct {
			Access  string `json:"access_token"`
			Refresh string `json:"refresh_token"`
		}
		must.NoError(t, json.NewDecoder(resp.Body).Decode(&got))
		resp.Body.Close()
		s.keep("an access token", got.Access)
		s.keep("a refresh token", got.Refresh)
		if got.Access == "" {
			t.Fatalf("no token: %d", resp.StatusCode)
		}
		w.tool(got.Access, "list_posts", map[string]any{}, "").mustBe(t, http.StatusOK)
		form = url.Values{"client_id": {program.ID}, "grant_type": {"refresh_token"}, "refresh_token": {got.Refresh}}
	}
}

// checkOtherTeam calls every operation with another team's key and checks that the responses contain no secret.
func (h *instance) checkOtherTeam(t *testing.T, s *secretStore) {
	t.Helper()
	other := h.newEnv(t, options{accounts: 1})
	for _, key := range other.keys {
		s.Lock()
		delete(s.secrets, key)
		s.Unlock()
	}
	for _, op := range h.Registry().All() {
		if op.Reads() {
			s.mustNotBeIn(t, op.Tool, other.rest(full(other), op.Tool, other.sample(op), "").raw, "a network's token", "an app password")
		}
	}
	for _, path := range []string{"/", "/readyz", "/livez", "/sign-in", "/docs", "/api/v1/openapi.json", "/nowhere"} {
		s.mustNotBeIn(t, path, []byte(other.loadPage(client.Get(other.root+path)).text))
	}
}
