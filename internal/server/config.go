package server

import (
	"crypto/x509"
	"log/slog"
	"time"

	"pressroom.example/pressroom/internal/auth/oidc"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/credit"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/tlscert"
)

// Role is the work that a node does.
type Role string

// The roles.
const (
	RoleAll    Role = "all"
	RoleAPI    Role = "api"
	RoleWorker Role = "worker"
)

// Config configures a node.
type Config struct {
	Version   string
	PublicURL string // base URL of absolute links, without a trailing slash
	Database  string // sqlite:PATH or postgres://…
	// WaitForDatabase is the maximum time that the start waits for an unreachable database.
	WaitForDatabase time.Duration
	SealingKey      string // see package tokencrypt
	Role            Role
	Workers         int           // concurrent deliveries
	PerNetwork      int           // see delivery.Options
	Lease           time.Duration // see delivery.Options
	// ShutdownDelay is the time for which a stopping node still accepts requests while /readyz returns 503.
	ShutdownDelay time.Duration
	Catalog       *plan.Catalog // plans, prices and limits; nil for the defaults
	Redis         string        // redis://… for rate limits across nodes; if empty, each node counts its own requests
	MaxCalls      int           // maximum number each of concurrent calls, pages and uploads; 0 for 128 per CPU
	MetricsAddr   string        // listener of /metrics; empty for none
	// Certificates configures TLS without a proxy. PlainAddr is then the address that redirects plain HTTP to TLS.
	Certificates tlscert.Options
	PlainAddr    string
	// Blobs is the URL of the media library's file store: file:FOLDER or s3://BUCKET… (package blob). Scratch is the
	// folder for files that are about to be sent to S3.
	Blobs, Scratch string
	// DiskReserve is the free disk space to keep, in bytes; disk.AutoReserve for the default, 0 for none.
	DiskReserve int64
	// CollectInterval is the time between two collections of an account's metrics; 0 means 6 hours.
	CollectInterval time.Duration
	// ReadyMadeInterval is the time between two measurements of hashtags in ready-made lists; 0 means 10 minutes.
	ReadyMadeInterval time.Duration
	ReadOnlyFiles     bool           // whether to open the file store without testing it; for commands that only read
	TrustReplica      bool           // see restoreguard.Options
	BesideServer      bool           // for a command that runs while the service runs; see restoreguard.Options
	TrustedProxies    []string       // networks whose X-Forwarded-For is trusted
	ImportAllow       []string       // private hosts and networks from which files may be imported
	ImportRoots       *x509.CertPool // trusted by imports and notification channels; nil for the system's
	NotificationAllow []string       // private hosts and networks to which notifications may be sent
	// BridgeURL is the URL of a bridge, which provides media and metrics of public profiles (docs/bridge.md); empty for
	// none.
	BridgeURL, BridgeToken string
	// Sources are the official providers of public metrics.
	Sources        SourceSettings
	BlueskyServers []string // URLs of servers whose accounts may be connected, in addition to Bluesky's own
	// AllowAnyBlueskyServer allows every Bluesky server, even at a private address. It is for the operator's commands.
	AllowAnyBlueskyServer bool
	// SandboxBluesky contains the credentials that the app suggests for the sandbox; empty outside the quickstart.
	SandboxBluesky network.Credentials
	// Components reports whether to serve /dev/components, a page with every component of the app.
	Components bool
	Networks   NetworkSettings
	Mail       notification.Server // mail server; no email is sent if the URL is empty
	// SecurityContact is the URI in /.well-known/security.txt for reporting vulnerabilities; empty for none.
	SecurityContact string
	Directory       oidc.Options // OpenID Connect provider for sign-in; none if the issuer is empty
	Log             *slog.Logger
	Now             func() time.Time // nil for PostgreSQL's clock or, with SQLite, the machine's clock
	SecondFactor    string           // who must use two factors: nobody (the default), operators or everyone
	// Extend returns additional operations and starts their background work. Results reads the results of their jobs.
	Extend  func(ExtensionServices) []operation.Operation
	Results map[job.Type]job.Result
}

// ExtensionServices contains services for additional operations.
type ExtensionServices struct {
	DB      *db.DB
	Jobs    *job.Store
	Queue   *job.Queue // handlers registered here run once the service has started
	Credits *credit.Service
}
