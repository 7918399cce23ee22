package server_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/auth/oidc"
	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/sandbox"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// lines is a log.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), text)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

// await waits until the log contains a text.
func (l *lines) await(t *testing.T, text string) {
	t.Helper()
	for began := time.Now(); !l.has(text); <-time.After(10 * time.Millisecond) {
		if time.Since(began) > 20*time.Second {
			t.Fatalf("the log lacks %q: %s", text, &l.text)
		}
	}
}

// A blocked Bluesky server does not count as a failure of the network. The log names the setting at the start and at
// a call to the server. At the start, it also names unconfigured networks with accounts, unknown teams of directory
// groups, and a hold.
func TestPublishingWarnings(t *testing.T) {
	t.Parallel()
	box, err := sandbox.Open(t.TempDir(), sandbox.Options{})
	must.NoError(t, err)
	defer box.Close()
	front := httptest.NewServer(box.Handler())
	defer front.Close()
	must.NoError(t, box.EnsureBlueskyAccount("shop.test", "shop.test", "open-sesame"))
	key := must.Get(tokencrypt.NewKey())(t)
	cfg := server.Config{
		Database: testkit.SQLite(t), SealingKey: key, Role: server.RoleAPI, Blobs: testkit.Blobs(t), Log: silent(),
		AllowAnyBlueskyServer: true,
	}
	admin := must.Get(server.Open(t.Context(), cfg))(t)
	owner := must.Get(admin.Teams.AddPerson(t.Context(), "Ada", "ada@example.com", ""))(t)
	made := must.Get(admin.Teams.AddTeam(t.Context(),
		team.Team{Name: "Harbour", Timezone: "UTC", Language: "en", Plan: "agency"}, owner.ID))(t)
	account := must.Get(admin.Accounts.Connect(t.Context(), made.ID, "bluesky",
		network.Credentials{Server: front.URL + "/bluesky", Identifier: "shop.test", Password: "open-sesame"}))(t)
	must.Get(admin.Hold.Hold(t.Context(), "a flood"))(t)
	must.NoError(t, admin.Close())
	d := testkit.Open(t, cfg.Database, nil)
	err = d.InTx(t.Context(), "test.elsewhere", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx,
			`INSERT INTO social_accounts (team_id, platform, network_id, username, display_name, connection_state,
		sealed_grant, created_at, updated_at)
			SELECT team_id, 'threads', '1', 'shop', '', connection_state, x'', created_at, updated_at FROM social_accounts`)
		return err
	})
	must.NoError(t, err)

	var log lines
	cfg.AllowAnyBlueskyServer, cfg.Log = false, slog.New(slog.NewTextHandler(&log, nil))
	cfg.Directory = oidc.Options{Issuer: "https://login.example", ClientID: "x", GroupRoles: []oidc.GroupRole{
		{Group: "editors", Team: made.ID, Role: access.Editor}, {Group: "editors", Team: 99, Role: access.Editor},
	}}
	s := runServer(t, cfg)
	log.await(t, "PRESSROOM_BLUESKY_SERVERS")
	log.await(t, "admin resume")
	log.await(t, "networks=[threads]")
	log.await(t, "teams=[99]")
	calls := strings.Count(log.text.String(), "is blocked: ")
	grant := must.Get(s.Accounts.Grant(t.Context(), account.ID))(t)
	n := must.Get(s.Accounts.Network("bluesky"))(t)
	for range 2 {
		_, err = n.Refresh(t.Context(), grant.Grant)
		if e, ok := errors.AsType[*network.Error](err); !ok || e.Class != network.HostBlocked || e.Message != "" {
			t.Errorf("called: %v", err)
		}
	}
	if n := strings.Count(log.text.String(), "is blocked: ") - calls; n != 1 {
		t.Errorf("logged %d times: %s", n, &log.text)
	}

	var allowed lines
	cfg.BlueskyServers, cfg.Log = []string{front.URL + "/bluesky"}, slog.New(slog.NewTextHandler(&allowed, nil))
	s = runServer(t, cfg)
	if n, err = s.Accounts.Network("bluesky"); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Refresh(t.Context(), grant.Grant); err != nil {
		t.Errorf("an allowed server: %v", err)
	}
	allowed.await(t, "admin resume")
	if allowed.has("PRESSROOM_BLUESKY_SERVERS") {
		t.Errorf("warned of an allowed server: %s", &allowed.text)
	}
}

// runServer runs a node until the test ends.
func runServer(t *testing.T, cfg server.Config) *server.Server {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	s := must.Get(server.Open(t.Context(), cfg))(t)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, s.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Forwarded requests from an untrusted peer cause a warning at most once an hour.
func TestUntrustedProxyWarning(t *testing.T) {
	t.Parallel()
	key := must.Get(tokencrypt.NewKey())(t)
	log, clock := &lines{}, testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	s := must.Get(server.Open(t.Context(), server.Config{PublicURL: "https://press.example", Database: testkit.SQLite(t),
		SealingKey: key, Role: server.RoleAPI, Blobs: testkit.Blobs(t),
		TrustedProxies: []string{"10.0.0.0/8"}, Log: slog.New(slog.NewTextHandler(log, nil)), Now: clock.Now}))(t)
	t.Cleanup(func() { _ = s.Close() })
	ask := func(peer, header string) {
		r := httptest.NewRequest(http.MethodGet, "/sign-in", nil)
		r.RemoteAddr = peer
		if header != "" {
			r.Header.Set(header, "for=203.0.113.7")
		}
		s.Handler().ServeHTTP(httptest.NewRecorder(), r)
	}
	ask("10.1.2.3:4000", "X-Forwarded-For")
	ask("192.0.2.1:4000", "")
	if log.has("--trusted-proxies") {
		t.Errorf("an unnecessary warning: %s", &log.text)
	}
	for range 5 {
		ask("[::ffff:192.0.2.1]:4000", "X-Forwarded-For")
		ask("192.0.2.2:4000", "Forwarded")
	}
	if log.count("--trusted-proxies") != 1 || !log.has("peer=192.0.2.1") {
		t.Errorf("not exactly one warning: %s", &log.text)
	}
	clock.Advance(time.Hour)
	if ask("192.0.2.2:4000", "Forwarded"); log.count("--trusted-proxies") != 2 || !log.has("peer=192.0.2.2") {
		t.Errorf("no second warning an hour later: %s", &log.text)
	}
}

// A public URL without TLS causes a warning, unless it is on this machine.
func TestPlainPublicURLWarning(t *testing.T) {
	t.Parallel()
	key := must.Get(tokencrypt.NewKey())(t)
	for public, warned := range map[string]bool{
		"http://press.example.com": true, "http://192.0.2.7:8080": true, "http://localhost.example.com": true,
		"https://press.example.com": false, "http://127.0.0.1:8080": false, "http://localhost:8080": false, "http://[::1]:8080": false,
	} {
		log := &lines{}
		s := must.Get(server.Open(t.Context(),
			server.Config{
				PublicURL: public, Database: testkit.SQLite(t), SealingKey: key, Role: server.RoleAPI,
				Blobs: testkit.Blobs(t), Log: slog.New(slog.NewTextHandler(log, nil)),
			}))(t)
		listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		ctx, stop := context.WithCancel(t.Context())
		stop() // it starts, warns and stops
		must.NoError(t, errors.Join(s.Run(ctx, listener), s.Close()))
		if log.has("INSECURE") != warned {
			t.Errorf("%s: warned is %t: %s", public, !warned, &log.text)
		}
	}
}
