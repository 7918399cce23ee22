package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/auth/oidc"
	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/disk"
	"pressroom.example/pressroom/internal/platform/failpoint"
	"pressroom.example/pressroom/internal/server"
)

const (
	defaultWorkers   = 16
	databaseTimeout  = 30 * time.Second // when the machine boots, the database may start after the program
	sealingKeySuffix = ".sealing-key"   // suffix of the file next to an SQLite database
	lockSuffix       = ".lock"
	mediaSuffix      = ".media" // suffix of the folder next to an SQLite database
	certsSuffix      = ".certificates"
)

// storeFlags are the flags of every command that opens the database.
type storeFlags struct {
	Database     string `help:"Database: sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME." default:"sqlite:pressroom.db" env:"PRESSROOM_DATABASE"`
	SealingKey   string `help:"Keys for stored secrets, separated by commas. The first one encrypts." env:"PRESSROOM_SEALING_KEY"`
	Blobs        string `help:"Where media files are stored: file:FOLDER or s3://BUCKET/PREFIX." env:"PRESSROOM_BLOBS"`
	TrustReplica bool   `help:"Keep publishing after a failover to a synchronous PostgreSQL replica." env:"PRESSROOM_TRUST_REPLICA"`
	Plans        string `aliases:"terms" help:"JSON file of plans, prices and limits." type:"path" env:"PRESSROOM_PLANS,PRESSROOM_TERMS"`
}

type serveCmd struct {
	storeFlags
	tlsFlags

	Addr              string        `help:"Address to listen on." default:"127.0.0.1:8080" env:"PRESSROOM_ADDR"`
	PublicURL         string        `help:"Public URL, used in links. Default: http://ADDR." env:"PRESSROOM_PUBLIC_URL"`
	Role              string        `help:"Role of this node: all, api or worker." enum:"all,api,worker" default:"all" env:"PRESSROOM_ROLE"`
	Redis             string        `help:"Redis or Valkey for rate limits across nodes: redis://HOST:6379/0." env:"PRESSROOM_REDIS"`
	TrustedProxies    []string      `help:"IP ranges of trusted proxies." default:"127.0.0.0/8,::1/128" env:"PRESSROOM_TRUSTED_PROXIES"`
	NotificationAllow []string      `aliases:"notice-allow" help:"Private hosts and IP ranges that notifications may be sent to." env:"PRESSROOM_NOTIFICATION_ALLOW,PRESSROOM_NOTICE_ALLOW"`
	ImportAllow       []string      `help:"Private hosts and IP ranges from which files may be imported." env:"PRESSROOM_IMPORT_ALLOW"`
	Bridge            string        `help:"URL of a bridge, which provides public metrics (docs/bridge.md)." env:"PRESSROOM_BRIDGE"`
	BridgeToken       string        `hidden:"" env:"PRESSROOM_BRIDGE_TOKEN"`
	Sources           string        `help:"JSON file of providers of public metrics (docs/sources.md)." type:"path" env:"PRESSROOM_SOURCES"`
	BlueskyServers    []string      `help:"Bluesky servers, besides bsky.social, that people may use." env:"PRESSROOM_BLUESKY_SERVERS"`
	Networks          string        `help:"JSON file of network settings (docs/networks.md)." type:"path" env:"PRESSROOM_NETWORKS"`
	OIDCIssuer        string        `name:"oidc-issuer" help:"URL of the OpenID Connect provider." env:"PRESSROOM_OIDC_ISSUER"`
	OIDCClientID      string        `name:"oidc-client-id" help:"Client ID at the OpenID Connect provider." env:"PRESSROOM_OIDC_CLIENT_ID"`
	OIDCSecret        string        `name:"oidc-client-secret" hidden:"" env:"PRESSROOM_OIDC_CLIENT_SECRET"`
	OIDCScopes        []string      `name:"oidc-scopes" help:"Scopes besides openid, email and profile." env:"PRESSROOM_OIDC_SCOPES"`
	OIDCGroups        string        `name:"oidc-groups-claim" help:"Claim with groups." default:"groups" env:"PRESSROOM_OIDC_GROUPS_CLAIM"`
	OIDCRoles         []string      `name:"oidc-group-roles" help:"Roles of groups in teams: GROUP=TEAM:ROLE;..." sep:";" env:"PRESSROOM_OIDC_GROUP_ROLES"`
	SMTP              string        `name:"smtp" help:"Mail server: smtp:// or smtps://USER@HOST:PORT." env:"PRESSROOM_SMTP"`
	MailFrom          string        `name:"mail-from" help:"Sender address of email messages." env:"PRESSROOM_MAIL_FROM"`
	OIDCOnly          bool          `name:"oidc-only" help:"Allow signing in only with OpenID Connect." env:"PRESSROOM_OIDC_ONLY"`
	Contact           string        `name:"security-contact" help:"Email address or URL for security.txt." env:"PRESSROOM_SECURITY_CONTACT"`
	SecondFactor      string        `name:"require-second-factor" help:"Who must use a second factor: nobody, operators or everyone." enum:"nobody,operators,everyone" default:"nobody" env:"PRESSROOM_REQUIRE_SECOND_FACTOR"`
	Scratch           string        `help:"Folder for temporary files during uploads to S3." type:"path" env:"PRESSROOM_SCRATCH"`
	DiskReserve       string        `help:"Free disk space to keep, such as 2GiB; 0 for none." default:"auto" env:"PRESSROOM_DISK_RESERVE"`
	MaxCalls          int           `name:"max-concurrent-calls" aliases:"at-once" help:"Maximum concurrent calls; 0 for 128 per CPU." default:"0" env:"PRESSROOM_MAX_CONCURRENT_CALLS,PRESSROOM_AT_ONCE"`
	MetricsAddr       string        `help:"Address of /metrics; empty to disable." default:"127.0.0.1:9464" env:"PRESSROOM_METRICS_ADDR"`
	Workers           int           `help:"Maximum concurrent deliveries." default:"16" env:"PRESSROOM_WORKERS"`
	PerNetwork        int           `help:"Maximum per network; 0 for half of --workers." default:"0" env:"PRESSROOM_PER_NETWORK"`
	ShutdownDelay     time.Duration `help:"Time from the first 503 of /readyz to the stop." default:"0s" env:"PRESSROOM_SHUTDOWN_DELAY"`
	Lease             time.Duration `help:"Time until another node takes over a dead node's work." default:"10s" env:"PRESSROOM_LEASE"`
}

// Run serves until ctx is canceled.
func (c serveCmd) Run(ctx context.Context, log *slog.Logger) error {
	cfg, err := c.config(log)
	if err != nil {
		return err
	}
	listener, err := listen(c.Addr)
	if err != nil {
		return err
	}
	if cfg.PublicURL == "" {
		cfg.PublicURL = c.scheme() + "://" + listener.Addr().String()
		if addr, ok := listener.Addr().(*net.TCPAddr); ok && addr.IP.IsUnspecified() {
			log.Warn("links will not work on other machines: set --public-url to the URL of the service", "public_url",
				cfg.PublicURL)
		}
	}
	unlock, err := lockFile(cfg.Database)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer unlock()
	s, err := server.Open(ctx, cfg)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	if err := s.Teams.CheckPlans(ctx); err != nil {
		return errors.Join(err, s.Close(), listener.Close())
	}
	log.Info("serving", "addr", listener.Addr().String(), "public_url", cfg.PublicURL, "role", c.Role, "metrics",
		c.MetricsAddr)
	return errors.Join(s.Run(ctx, listener), s.Close())
}

// lockFile locks an SQLite file, which only one node can serve.
func lockFile(database string) (func(), error) {
	path, isSQLite := strings.CutPrefix(database, "sqlite:")
	if !isSQLite {
		return func() {}, nil
	}
	lock, err := server.Lock(path+lockSuffix,
		"another pressroom process serves this SQLite file; stop it, or use PostgreSQL for several nodes")
	if err != nil {
		return nil, fmt.Errorf("locking the SQLite file: %w", err)
	}
	return func() { _ = lock.Close() }, nil // the lock ends with the process anyway
}

func (c serveCmd) config(log *slog.Logger) (server.Config, error) {
	cfg, err := c.storeFlags.config(log)
	if err != nil {
		return cfg, err
	}
	if err := c.check(); err != nil {
		return cfg, err
	}
	if cfg.DiskReserve, err = disk.ParseSize(c.DiskReserve); err != nil {
		return cfg, fmt.Errorf("PRESSROOM_DISK_RESERVE (--disk-reserve): %w", err)
	}
	cfg.WaitForDatabase = databaseTimeout
	cfg.PerNetwork, cfg.MaxCalls, cfg.ShutdownDelay, cfg.Now = c.PerNetwork, c.MaxCalls, c.ShutdownDelay, failpoint.Clock
	cfg.TrustedProxies, cfg.BlueskyServers, cfg.AllowAnyBlueskyServer = c.TrustedProxies, c.BlueskyServers, false
	if cfg.Networks, err = networkSettings(c.Networks); err != nil {
		return cfg, err
	}
	if c.Sources != "" {
		if cfg.Sources, err = server.ReadSources(c.Sources); err != nil {
			return cfg, err
		}
	}
	if cfg.SecurityContact, err = contactURI(c.Contact); err != nil {
		return cfg, err
	}
	cfg.SecondFactor = c.SecondFactor
	cfg.Mail = notification.Server{URL: c.SMTP, From: c.MailFrom}
	cfg.Directory = oidc.Options{
		Issuer: c.OIDCIssuer, ClientID: c.OIDCClientID, ClientSecret: c.OIDCSecret, Exclusive: c.OIDCOnly, Scopes: c.OIDCScopes,
		GroupsClaim: c.OIDCGroups,
	}
	if cfg.Directory.GroupRoles, err = oidc.ParseGroupRoles(c.OIDCRoles); err != nil {
		return cfg, fmt.Errorf("--oidc-group-roles: %w", err)
	}
	cfg.NotificationAllow = c.NotificationAllow
	cfg.Redis, cfg.ImportAllow, cfg.BridgeURL, cfg.BridgeToken, cfg.Scratch = c.Redis, c.ImportAllow, c.Bridge,
		c.BridgeToken, c.Scratch
	if err := c.apply(&cfg, c); err != nil {
		return cfg, err
	}
	cfg.BesideServer = false
	cfg.Role, cfg.Workers, cfg.Lease, cfg.MetricsAddr = server.Role(c.Role), c.Workers, c.Lease, c.MetricsAddr
	return cfg, nil
}

// check returns an error for values out of range.
func (c serveCmd) check() error {
	switch {
	case c.PublicURL != "" && !isAddress(c.PublicURL):
		return errPublicURL
	case c.Lease < time.Second || c.Workers < 1 || c.PerNetwork < 0:
		return errors.New("PRESSROOM_LEASE (--lease) must be at least 1s, PRESSROOM_WORKERS (--workers) at least 1, " +
			"and PRESSROOM_PER_NETWORK (--per-network) at least 0")
	case c.ShutdownDelay < 0 || c.ShutdownDelay > server.MaxShutdownDelay:
		return errors.New("PRESSROOM_SHUTDOWN_DELAY (--shutdown-delay) must be between 0s and 30s")
	case c.MaxCalls < 0:
		return errors.New("PRESSROOM_MAX_CONCURRENT_CALLS (--max-concurrent-calls) must be at least 1, or 0 for 128 per CPU")
	}
	return nil
}

var errPublicURL = errors.New("PRESSROOM_PUBLIC_URL (--public-url) must be an absolute URL such as " +
	"https://press.example.com")

// isAddress reports whether text is an absolute HTTP or HTTPS URL.
func isAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// networkSettings reads the network settings. It reads secrets only from the environment, so that they do not appear in
// process lists or repositories.
func networkSettings(path string) (server.NetworkSettings, error) {
	out := server.NetworkSettings{Secret: func(name string) string {
		return os.Getenv("PRESSROOM_" + name + "_CLIENT_SECRET")
	}}
	if path == "" {
		return out, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return out, fmt.Errorf("reading the network settings: %w", err)
	}
	if err := json.Unmarshal(raw, &out.ByPlatform); err != nil {
		return out, fmt.Errorf("reading the network settings in %s: %w", path, err)
	}
	return out, nil
}

func (f storeFlags) config(log *slog.Logger) (server.Config, error) {
	if err := db.CheckURL(f.Database); err != nil {
		return server.Config{}, err
	}
	plans, err := f.readPlans()
	if err != nil {
		return server.Config{}, err
	}
	key, err := f.sealingKey(log)
	if err != nil {
		return server.Config{}, err
	}
	blobs, err := f.blobs()
	return server.Config{
		Version: version, Database: f.Database, Blobs: blobs, SealingKey: key, TrustReplica: f.TrustReplica,
		BesideServer: true, Catalog: &plans, Role: server.RoleAPI, Workers: 1, Log: log, AllowAnyBlueskyServer: true,
	}, err
}

// blobs returns the URL of the file store. With SQLite, the default is a folder next to the database.
func (f storeFlags) blobs() (string, error) {
	path, isSQLite := strings.CutPrefix(f.Database, "sqlite:")
	switch {
	case f.Blobs != "":
		return f.Blobs, nil
	case isSQLite:
		return "file:" + path + mediaSuffix, nil
	case !strings.HasPrefix(f.Database, "postgres"):
		return "", nil // opening the database returns a more helpful error
	}
	return "",
		errors.New("with PostgreSQL, set PRESSROOM_BLOBS (--blobs) to the same store on every node: file:FOLDER on a " +
			"shared disk, or s3://BUCKET")
}

// readPlans returns the plans, prices and limits from the --plans file, or the built-in ones if there is no file.
func (f storeFlags) readPlans() (plan.Catalog, error) {
	if f.Plans == "" {
		return plan.Default(), nil
	}
	return plan.ReadCatalog(f.Plans)
}

// sealingKey returns the sealing keys. With SQLite, the default is the content of a file next to the database. For a
// new database, sealingKey creates this file.
func (f storeFlags) sealingKey(log *slog.Logger) (string, error) {
	if f.SealingKey != "" {
		return f.SealingKey, nil
	}
	path, isSQLite := strings.CutPrefix(f.Database, "sqlite:")
	if !isSQLite {
		return "",
			errors.New("with PostgreSQL, set PRESSROOM_SEALING_KEY (--sealing-key) to the same key on every node; to " +
				"create a key, run: pressroom admin sealing-key")
	}
	path += sealingKeySuffix
	raw, err := os.ReadFile(path)
	if err == nil {
		return strings.TrimSpace(string(raw)), nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("reading the sealing key: %w", err)
	}
	if _, err := os.Stat(strings.TrimSuffix(path, sealingKeySuffix)); err == nil {
		return "",
			fmt.Errorf("the sealing key of this database, %s, is missing; restore the file or set "+
				"PRESSROOM_SEALING_KEY (--sealing-key)", path)
	}
	key, err := tokencrypt.NewKey()
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(path, []byte(key+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("saving the new sealing key: %w", err)
	}
	log.Warn("created a sealing key; keep a copy of it, separate from your backups: connected accounts cannot be used without it",
		"file", path)
	return key, nil
}
