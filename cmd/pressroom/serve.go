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

	"pressroom/internal/auth/oidc"
	"pressroom/internal/auth/tokencrypt"
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/notification"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/disk"
	"pressroom/internal/platform/failpoint"
	"pressroom/internal/server"
)

const (
	defaultWorkers = 16
	databaseWithin = 30 * time.Second // a machine that starts brings the database up at the same time
	sealingKeyEnd  = ".sealing-key"   // of the file beside an SQLite database
	lockEnd        = ".lock"
	mediaEnd       = ".media" // of the folder beside it
	certsEnd       = ".certificates"
)

// storeFlags are what every command on a real database needs.
type storeFlags struct {
	Database     string `help:"Database: sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME." default:"sqlite:pressroom.db" env:"PRESSROOM_DATABASE"`
	SealingKey   string `help:"Key that networks' tokens are sealed with; make one with: pressroom admin sealing-key. The first of several seals, those after a comma open what they sealed before. With SQLite it is made beside the file where none is given." env:"PRESSROOM_SEALING_KEY"`
	Blobs        string `help:"Where the media library's files lie: file:FOLDER, or s3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION with the credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. With SQLite a folder beside the file where none is given." env:"PRESSROOM_BLOBS"`
	TrustReplica bool   `help:"Go on by itself where a replica of PostgreSQL takes over: it is synchronous, so that no commit can be lost. Without it a failover is held until pressroom admin resume." env:"PRESSROOM_TRUST_REPLICA"`
	Terms        string `help:"JSON file with plans, prices and limits in place of the shipped ones; pressroom admin terms prints those." type:"path" env:"PRESSROOM_TERMS"`
}

type serveCmd struct {
	storeFlags
	tlsFlags

	Addr           string        `help:"Address to listen at." default:"127.0.0.1:8080" env:"PRESSROOM_ADDR"`
	PublicURL      string        `help:"Address by which clients reach the service; every link begins with it. http://ADDR where empty." env:"PRESSROOM_PUBLIC_URL"`
	Role           string        `help:"What this node does: all, api (requests alone) or worker (background work, and requests sent to it)." enum:"all,api,worker" default:"all" env:"PRESSROOM_ROLE"`
	Redis          string        `help:"Redis or Valkey where all nodes count request rates together: redis://HOST:6379/0. Each node counts for itself where empty, or while it does not answer." env:"PRESSROOM_REDIS"`
	TrustedProxies []string      `help:"Networks of the proxies before it, whose X-Forwarded-For is believed." default:"127.0.0.0/8,::1/128" env:"PRESSROOM_TRUSTED_PROXIES"`
	ImportAllow    []string      `help:"Hosts and networks from which files are imported although they are private, such as media.corp.example or 10.1.0.0/16." env:"PRESSROOM_IMPORT_ALLOW"`
	Bridge         string        `help:"Address of a vendor of profiles' media that speaks the contract of docs/bridge.md; its token goes in PRESSROOM_BRIDGE_TOKEN." env:"PRESSROOM_BRIDGE"`
	BridgeToken    string        `hidden:"" env:"PRESSROOM_BRIDGE_TOKEN"`
	Sources        string        `help:"JSON file with the official sources of public figures (docs/sources.md)." type:"path" env:"PRESSROOM_SOURCES"`
	BlueskyServers []string      `help:"Addresses of Bluesky servers, beside https://bsky.social, whose accounts people may connect in the app." env:"PRESSROOM_BLUESKY_SERVERS"`
	Networks       string        `help:"JSON file with your apps at the networks and what else differs from today's values (docs/networks.md); their secrets go in PRESSROOM_THREADS_CLIENT_SECRET and the like. pressroom sandbox --settings prints one for the sandbox networks." type:"path" env:"PRESSROOM_NETWORKS"`
	OIDCIssuer     string        `name:"oidc-issuer" help:"Address of your directory, an OpenID Connect provider by which people may sign in; the client's secret goes in PRESSROOM_OIDC_CLIENT_SECRET." env:"PRESSROOM_OIDC_ISSUER"`
	OIDCClientID   string        `name:"oidc-client-id" help:"What this service is called there." env:"PRESSROOM_OIDC_CLIENT_ID"`
	OIDCSecret     string        `name:"oidc-client-secret" hidden:"" env:"PRESSROOM_OIDC_CLIENT_SECRET"`
	SMTP           string        `name:"smtp" help:"Mail server by which people are told of what happened: smtp://USER@HOST:PORT with STARTTLS, or smtps://; with a password the whole address goes in PRESSROOM_SMTP." env:"PRESSROOM_SMTP"`
	MailFrom       string        `name:"mail-from" help:"The sender's address of mails." env:"PRESSROOM_MAIL_FROM"`
	OIDCOnly       bool          `name:"oidc-only" help:"Let people sign in by the directory alone: no passwords, no passkeys." env:"PRESSROOM_OIDC_ONLY"`
	Contact        string        `name:"security-contact" help:"Where people report vulnerabilities, told at /.well-known/security.txt: an e-mail address, or an address that begins with mailto: or https:." env:"PRESSROOM_SECURITY_CONTACT"`
	SecondFactor   string        `name:"require-second-factor" help:"Who has to sign in with a second factor: nobody, operators (for the operator pages) or everyone. Owners can require it of their team." enum:"nobody,operators,everyone" default:"nobody" env:"PRESSROOM_REQUIRE_SECOND_FACTOR"`
	Scratch        string        `help:"Folder in which files for S3 are received; the system's for temporary files where empty." type:"path" env:"PRESSROOM_SCRATCH"`
	DiskReserve    string        `help:"Free space to keep where files are received and where the SQLite database lies, such as 2GiB; files are refused below it. auto is 1 GiB or 5 % of the volume, whichever is less; 0 turns it off." default:"auto" env:"PRESSROOM_DISK_RESERVE"`
	AtOnce         int           `help:"Calls that this node serves at once, and as many pages and uploads beside them; 128 for each processor where 0. What finds no place in time is told to come again." default:"0" env:"PRESSROOM_AT_ONCE"`
	MetricsAddr    string        `help:"Address of /metrics; empty for none." default:"127.0.0.1:9464" env:"PRESSROOM_METRICS_ADDR"`
	Workers        int           `help:"Deliveries worked on at once." default:"16" env:"PRESSROOM_WORKERS"`
	PerNetwork     int           `help:"Deliveries to one network worked on at once; half of --workers where 0." default:"0" env:"PRESSROOM_PER_NETWORK"`
	ShutdownDelay  time.Duration `help:"For how long a node that is told to end says so in /readyz, and serves on, before it takes no more requests: as long as what stands before it takes to ask." default:"0s" env:"PRESSROOM_SHUTDOWN_DELAY"`
	Lease          time.Duration `help:"How long work that a dead node held waits before another takes it over." default:"10s" env:"PRESSROOM_LEASE"`
}

// Run serves until it is told to stop.
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
			log.Warn("links will lead nowhere for others: say by which address clients reach the service (--public-url)", "public_url", cfg.PublicURL)
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
	log.Info("serving", "addr", listener.Addr().String(), "public_url", cfg.PublicURL, "role", c.Role, "metrics", c.MetricsAddr)
	return errors.Join(s.Run(ctx, listener), s.Close())
}

// lockFile keeps a second node off a SQLite file, which belongs to one.
func lockFile(database string) (func(), error) {
	path, isSQLite := strings.CutPrefix(database, "sqlite:")
	if !isSQLite {
		return func() {}, nil
	}
	lock, err := server.Lock(path+lockEnd, "another pressroom serves this SQLite file, which belongs to one node: stop it, or use PostgreSQL")
	if err != nil {
		return nil, fmt.Errorf("the SQLite file: %w", err)
	}
	return func() { _ = lock.Close() }, nil // it goes with the process anyway
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
	cfg.WaitForDatabase = databaseWithin
	cfg.PerNetwork, cfg.AtOnce, cfg.ShutdownDelay, cfg.Now = c.PerNetwork, c.AtOnce, c.ShutdownDelay, failpoint.Clock
	cfg.TrustedProxies, cfg.BlueskyServers, cfg.AnyServer = c.TrustedProxies, c.BlueskyServers, false
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
	cfg.Directory = oidc.Options{Issuer: c.OIDCIssuer, ClientID: c.OIDCClientID, ClientSecret: c.OIDCSecret, Only: c.OIDCOnly}
	cfg.Redis, cfg.ImportAllow, cfg.BridgeURL, cfg.BridgeToken, cfg.Scratch = c.Redis, c.ImportAllow, c.Bridge, c.BridgeToken, c.Scratch
	if err := c.into(&cfg, c); err != nil {
		return cfg, err
	}
	cfg.Beside = false
	cfg.Role, cfg.Workers, cfg.Lease, cfg.MetricsAddr = server.Role(c.Role), c.Workers, c.Lease, c.MetricsAddr
	return cfg, nil
}

// check refuses values that are out of range.
func (c serveCmd) check() error {
	switch {
	case c.PublicURL != "" && !isAddress(c.PublicURL):
		return errPublicURL
	case c.Lease < time.Second || c.Workers < 1 || c.PerNetwork < 0:
		return errors.New("PRESSROOM_LEASE (--lease) has to be at least 1s and PRESSROOM_WORKERS (--workers) at least 1, and PRESSROOM_PER_NETWORK (--per-network) not below 0")
	case c.ShutdownDelay < 0 || c.ShutdownDelay > server.MaxShutdownDelay:
		return errors.New("PRESSROOM_SHUTDOWN_DELAY (--shutdown-delay) has to be between 0s and 30s")
	case c.AtOnce < 0:
		return errors.New("PRESSROOM_AT_ONCE (--at-once) has to be at least 1, or 0 for 128 for each processor")
	}
	return nil
}

var errPublicURL = errors.New("PRESSROOM_PUBLIC_URL (--public-url) has to be an absolute address such as https://press.example.com")

// isAddress tells whether a text is an absolute address of the web.
func isAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// networkSettings reads what the operator says of the networks. Secrets come from the environment alone, where neither
// a list of processes nor a repository shows them.
func networkSettings(path string) (server.NetworkSettings, error) {
	out := server.NetworkSettings{Secret: func(name string) string { return os.Getenv("PRESSROOM_" + name + "_CLIENT_SECRET") }}
	if path == "" {
		return out, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return out, fmt.Errorf("reading the networks' settings: %w", err)
	}
	if err := json.Unmarshal(raw, &out.Of); err != nil {
		return out, fmt.Errorf("reading the networks' settings in %s: %w", path, err)
	}
	return out, nil
}

func (f storeFlags) config(log *slog.Logger) (server.Config, error) {
	if err := db.Known(f.Database); err != nil {
		return server.Config{}, err
	}
	offered, err := f.terms()
	if err != nil {
		return server.Config{}, err
	}
	key, err := f.sealingKey(log)
	if err != nil {
		return server.Config{}, err
	}
	blobs, err := f.blobs()
	return server.Config{Version: version, Database: f.Database, Blobs: blobs, SealingKey: key, TrustReplica: f.TrustReplica, Beside: true, Terms: &offered, Role: server.RoleAPI, Workers: 1, Log: log, AnyServer: true}, err
}

// blobs is the store given, or with SQLite a folder beside the file.
func (f storeFlags) blobs() (string, error) {
	path, isSQLite := strings.CutPrefix(f.Database, "sqlite:")
	switch {
	case f.Blobs != "":
		return f.Blobs, nil
	case isSQLite:
		return "file:" + path + mediaEnd, nil
	case !strings.HasPrefix(f.Database, "postgres"):
		return "", nil // what is wrong with the database is told when it is opened
	}
	return "", errors.New("PRESSROOM_BLOBS (--blobs) is needed with PostgreSQL, the same on every node: file:FOLDER on a disk that all of them share, or s3://BUCKET")
}

// terms are those of the file, or the shipped ones.
func (f storeFlags) terms() (plan.Terms, error) {
	if f.Terms == "" {
		return plan.Shipped(), nil
	}
	return plan.Read(f.Terms)
}

// sealingKey is the one given, or with SQLite one that lies beside the file.
func (f storeFlags) sealingKey(log *slog.Logger) (string, error) {
	if f.SealingKey != "" {
		return f.SealingKey, nil
	}
	path, isSQLite := strings.CutPrefix(f.Database, "sqlite:")
	if !isSQLite {
		return "", errors.New("PRESSROOM_SEALING_KEY (--sealing-key) is needed with PostgreSQL, the same on every node; make one with: pressroom admin sealing-key")
	}
	path += sealingKeyEnd
	raw, err := os.ReadFile(path)
	if err == nil {
		return strings.TrimSpace(string(raw)), nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("reading the sealing key: %w", err)
	}
	if _, err := os.Stat(strings.TrimSuffix(path, sealingKeyEnd)); err == nil {
		return "", fmt.Errorf("the database is there but not the sealing key that was made with it, %s; give that key by PRESSROOM_SEALING_KEY (--sealing-key)", path)
	}
	key, err := tokencrypt.NewKey()
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(path, []byte(key+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("keeping a new sealing key: %w", err)
	}
	log.Warn("made a sealing key; keep a copy, apart from your backups: without it connected accounts cannot be used, and with a backup it opens them", "file", path)
	return key, nil
}
