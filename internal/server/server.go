// Package server is the composition root: it builds the program from its parts and runs it. Only the command line and
// end-to-end tests import it.
package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"pressroom.example/pressroom/internal/auth/oauth"
	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/auth/totp"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/pipeline"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/account/appcheck"
	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/domain/credit"
	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/domain/erasure"
	"pressroom.example/pressroom/internal/domain/hashtag/list"
	"pressroom.example/pressroom/internal/domain/hashtag/search"
	"pressroom.example/pressroom/internal/domain/hashtag/stats"
	"pressroom.example/pressroom/internal/domain/idempotency"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/domain/media/storecheck"
	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/approval"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/ratelimit"
	"pressroom.example/pressroom/internal/domain/report"
	"pressroom.example/pressroom/internal/domain/report/sharelink"
	"pressroom.example/pressroom/internal/domain/report/subscription"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/domain/voice"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/platform/clusterstats"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/loadshed"
	"pressroom.example/pressroom/internal/platform/restoreguard"
	"pressroom.example/pressroom/internal/platform/safehttp"
	"pressroom.example/pressroom/internal/platform/tlscert"
	"pressroom.example/pressroom/internal/platform/tracing"
	"pressroom.example/pressroom/internal/web"
	"pressroom.example/pressroom/internal/web/live"
	"pressroom.example/pressroom/internal/web/shell"
)

// Server is the program.
type Server struct {
	Teams         *team.Service
	Accounts      *account.Service
	TOTP          *totp.Service
	Connector     *account.Connector // connects accounts
	Posts         *post.Service
	Approvals     *approval.Service // approval by clients
	Credits       *credit.Service
	Media         *media.Service
	Reports       *report.Service
	ReportLinks   *sharelink.Service // share links of reports
	ReportMails   *subscription.Service
	Delivery      *delivery.Service
	Apps          *appcheck.Service
	Analytics     *analytics.Service
	Voices        *voice.Service
	Lists         *list.Service
	Searches      *search.Service
	Erasure       *erasure.Service // deletion and export of data
	Notifications *notification.Service
	LinkMailer    *team.LinkMailer      // emails links
	OAuth         *oauth.Service        // authorization of assistants
	Hold          *restoreguard.Service // stops a restored or copied database from publishing

	cfg            Config
	db             *db.DB
	queue          *job.Queue
	worker         *job.Worker
	blobs          blob.Store
	app            *web.App
	feed           *live.Feed
	waker          *delivery.Waker
	platforms      []string // names of the configured networks
	jobs           *job.Store
	limiter        *provider.Limiter // limits the analysis of data from providers
	hashtagStats   *stats.Store      // hashtag statistics
	measurer       *stats.Measurer   // nil if there is no provider
	idempotency    *idempotency.Store
	rateLimiter    *ratelimit.Rates
	freeCalls      *ratelimit.FreeCalls
	registry       *operation.Registry
	pipe           *pipeline.Pipeline
	mcpPipe        *pipeline.Pipeline // pipeline of the MCP endpoint
	restPipe       *pipeline.Pipeline // pipeline of the REST API
	metrics        *metrics
	tracer         *tracing.Tracer // nil if tracing is off
	clusterStats   *clusterstats.Service
	signIns        *team.SignIns
	firstRun       *team.FirstRun
	blueskyClient  *safehttp.Client      // for Bluesky servers; nil if all are allowed
	fetcher        *safehttp.Client      // for files at addresses from users and providers
	transport      *http.Transport       // for networks
	certs          *tlscert.Certificates // nil if the program does not terminate TLS
	dependencies   *dependencies
	handler        http.Handler
	limiters       loadshed.Limiters
	stopping       atomic.Bool
	outageThrottle *throttle // limits how often outages are logged
}

// Open opens and migrates the database, and builds the program.
func Open(ctx context.Context, cfg Config) (*Server, error) {
	sealer, err := tokencrypt.New(cfg.SealingKey)
	if err != nil {
		return nil, fmt.Errorf("the sealing key: %w", err)
	}
	certs, err := openCertificates(cfg)
	if err != nil {
		return nil, err
	}
	tracer, err := openTracer(ctx, cfg)
	if err != nil {
		return nil, err
	}
	d, err := OpenDatabase(ctx, cfg)
	if err != nil {
		return nil, errors.Join(err, tracer.Close(ctx))
	}
	cfg.Now = d.Now // all nodes use the database's clock
	s := &Server{
		tracer: tracer, cfg: cfg, outageThrottle: newThrottle(outageInterval), db: d, certs: certs,
		metrics: newMetrics(cfg.Version, cfg.Role),
	}
	s.cfg.Log = s.metrics.countLines(cfg.Log)
	if s.blobs, err = blob.Open(ctx, cfg.Blobs, blob.Options{Scratch: cfg.Scratch, ReadOnly: cfg.ReadOnlyFiles}); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if err := s.build(sealer); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if err := s.Hold.Check(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if err := s.Accounts.CheckKeys(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if err := errors.Join(s.TOTP.CheckSealing(ctx), s.Notifications.CheckSealing(ctx)); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if !cfg.ReadOnlyFiles {
		if err := storecheck.Check(ctx, d, s.Media.Blobs); err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	return s, nil
}

// OpenDatabase opens and migrates the database.
func OpenDatabase(ctx context.Context, cfg Config) (*db.DB, error) {
	d, err := awaitDatabase(ctx, cfg)
	if err != nil {
		return nil, err
	}
	err = d.WithMigrationLock(ctx, func(ctx context.Context) error {
		if err := d.Migrate(ctx); err != nil {
			return err
		}
		return job.MigrateQueue(ctx, d, quietLogger(cfg.Log))
	})
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

const databaseRetryInterval = 250 * time.Millisecond

// awaitDatabase opens the database. If the database is unreachable, it tries again for up to Config.WaitForDatabase.
func awaitDatabase(ctx context.Context, cfg Config) (*db.DB, error) {
	deadline := time.Now().Add(cfg.WaitForDatabase)
	for try := 1; ; try++ {
		d, err := db.Open(ctx, cfg.Database,
			db.Options{Now: cfg.Now, Connected: restoreguard.NewFailoverCheck(cfg.TrustReplica || cfg.BesideServer).CheckConnection})
		if err == nil || !db.IsUnavailable(err) || time.Now().After(deadline) {
			return d, err
		}
		if try == 1 {
			cfg.Log.WarnContext(ctx, "waiting for the database", "at_most", cfg.WaitForDatabase.String(), "error", err)
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(err, context.Cause(ctx))
		case <-time.After(databaseRetryInterval):
		}
	}
}

func (s *Server) build(sealer *tokencrypt.Sealer) error {
	s.limiters = loadshed.NewLimiters(s.cfg.MaxCalls)
	s.metrics.registry.MustRegister(&slotCollector{s.limiters})
	catalog := plan.Default()
	if s.cfg.Catalog != nil {
		catalog = *s.cfg.Catalog
	}
	if err := s.buildFoundation(catalog, sealer); err != nil {
		return err
	}
	networks, err := s.networks()
	if err != nil {
		return err
	}
	s.Accounts = account.New(s.db, sealer, analytics.AccountObserver{}, networks...)
	s.TOTP = totp.New(s.db, sealer, "pressroom")
	s.signIns = team.NewSignIns(s.Teams)
	s.firstRun = team.NewFirstRun(s.signIns, sealer.Signer("setup code"))
	s.buildConnector(catalog)
	s.idempotency = idempotency.New(s.db)
	s.jobs = job.NewStore(s.db, s.results(), catalog.Limits.JobsInFlight)
	s.worker = job.NewWorker(s.db, s.queue, s.cfg.Log)
	providers, err := s.buildMedia(sealer, catalog)
	if err != nil {
		return err
	}
	s.hashtagStats, s.limiter = stats.New(s.db), provider.NewLimiter()
	if err := s.buildReports(providers, catalog); err != nil {
		return err
	}
	s.buildReportMails(sealer)
	if err := s.buildHashtags(providers, catalog); err != nil {
		return err
	}
	s.Posts = post.New(s.db, s.Accounts, s.jobs, s.Media, delivery.NewSubmitter(s.queue), post.DefaultLimits, catalog)
	s.Approvals = approval.New(approval.Options{DB: s.db, Posts: s.Posts, Sealer: sealer, PublicURL: s.cfg.PublicURL,
		Send: s.approvalEmailSender()})
	s.buildDelivery(networks)
	s.buildAnalytics(catalog)
	s.buildErasure()
	s.Voices = voice.New(voice.Options{DB: s.db, Fetch: s.fetchPage})
	s.buildOperations(catalog)
	s.buildClusterStats()
	return s.buildHandlers()
}

// results maps each job type to the function that reads the results of its jobs.
func (s *Server) results() map[job.Type]job.Result {
	reports := report.ResultReader(s.Credits.ChargedCredits)
	out := map[job.Type]job.Result{
		job.SocialPost: delivery.Result, job.ProfileReport: reports, job.HashtagReport: reports,
		job.HashtagSearch: search.ResultReader(s.Credits.ChargedCredits),
		job.MediaImport:   media.ImportsAndBatches, job.ContentFetch: media.Downloads(s.Credits.ChargedCredits),
	}
	maps.Copy(out, s.cfg.Results)
	return out
}

// buildFoundation builds the parts that all other parts use: the queue, limits, credits, notifications and teams.
func (s *Server) buildFoundation(catalog plan.Catalog, sealer *tokencrypt.Sealer) error {
	guessLimiter, err := ratelimit.NewGuessLimiter()
	if err != nil {
		return err
	}
	if s.queue, err = job.NewQueue(s.db, max(1, s.cfg.Workers), quietLogger(s.cfg.Log)); err != nil {
		return err
	}
	if s.rateLimiter, err = ratelimit.NewRates(catalog.Limits,
		ratelimit.RatesOptions{Redis: s.cfg.Redis, Now: s.cfg.Now, Log: s.cfg.Log}); err != nil {
		return err
	}
	file, _ := strings.CutPrefix(s.cfg.Database, "sqlite:")
	if s.db.Postgres() {
		file = ""
	}
	s.Hold = restoreguard.New(s.db,
		restoreguard.Options{File: file, TrustReplica: s.cfg.TrustReplica, BesideServer: s.cfg.BesideServer, Log: s.cfg.Log})
	s.metrics.registerHold(s.Hold)
	s.freeCalls = ratelimit.NewFreeCalls(s.db)
	if err := s.buildNotifications(sealer); err != nil {
		return err
	}
	s.Credits = credit.New(s.db, credit.Options{CountFree: s.freeCalls.CountRefunded,
		BalanceLowered: s.Notifications.NotifyLowCredits})
	s.Teams = team.New(s.db, guessLimiter, catalog)
	s.LinkMailer = team.NewLinkMailer(s.Teams, s.cfg.PublicURL, s.linkEmailSender())
	return nil
}

// buildOperations builds the registry of operations and the pipeline.
func (s *Server) buildOperations(catalog plan.Catalog) {
	groups := [][]operation.Operation{team.Operations(), s.Credits.Operations(), s.freeCalls.Operations(catalog),
		s.jobs.Operations(), s.Accounts.Operations(), s.Connector.Operations(), s.Posts.Operations(),
		s.Media.Operations(), s.Reports.Operations(), s.Analytics.Operations(),
		s.Lists.Operations(), s.Searches.Operations(), s.Voices.Operations()}
	if s.cfg.Extend != nil {
		groups = append(groups, s.cfg.Extend(ExtensionServices{s.db, s.jobs, s.queue, s.Credits}))
	}
	s.registry = operation.NewRegistry(groups...)
	s.pipe = s.pipeline(s.Teams)
}

// pipeline returns the pipeline of calls that authenticates with keys.
func (s *Server) pipeline(keys pipeline.Keys) *pipeline.Pipeline {
	return pipeline.New(pipeline.Ports{
		Keys: keys, Idempotency: s.idempotency, Rates: s.rateLimiter, FreeCalls: s.freeCalls, Credits: s.Credits,
		Slots:       s.limiters.Calls,
		Unavailable: isUnavailable, Healthy: s.dependenciesUp,
	}, s.db.Now)
}

// isUnavailable reports whether an error means that the database or the file store is unreachable.
func isUnavailable(err error) bool { return db.IsUnavailable(err) || blob.IsUnavailable(err) }

// dependencyTimeout is the maximum time that dependenciesUp waits for the database and the file store.
const dependencyTimeout = time.Second

// dependenciesUp reports whether the database and the file store respond.
func (s *Server) dependenciesUp() bool {
	ctx, cancel := context.WithTimeout(context.Background(), dependencyTimeout)
	defer cancel()
	return s.db.Ping(ctx) == nil && s.blobs.Ping(ctx) == nil
}

// buildNotifications builds the notification service and subscribes it to all events.
func (s *Server) buildNotifications(sealer *tokencrypt.Sealer) error {
	send, err := s.cfg.Mail.Sender()
	if err != nil {
		return err
	}
	client, err := safehttp.New(safehttp.Options{Allow: s.cfg.NotificationAllow, RootCAs: s.cfg.ImportRoots, Redirects: -1})
	if err != nil {
		return fmt.Errorf("reading --notification-allow: %w", err)
	}
	s.Notifications = notification.New(s.db, notification.Options{
		PublicURL: s.cfg.PublicURL, Send: send, Log: s.cfg.Log, Sealer: sealer, Client: client,
	})
	s.db.OnEvent(s.Notifications.HandleEvent)
	return nil
}

// buildDelivery builds the service that delivers posts to networks.
func (s *Server) buildDelivery(networks []network.Network) {
	opts := delivery.DefaultOptions
	opts.Workers, opts.PerNetwork, opts.OnCall, opts.OnPublished = max(1, s.cfg.Workers), s.cfg.PerNetwork,
		s.metrics.countNetworkCall, s.metrics.observeLateness
	opts.Hosts = s.cfg.Networks.namedHosts()
	if s.cfg.Lease > 0 {
		opts.Lease = s.cfg.Lease
	}
	s.Delivery = delivery.New(s.db, s.Posts, s.Accounts, s.Media, s.queue, opts, s.cfg.Log)
	s.Apps = &appcheck.Service{Accounts: s.Accounts, Deliveries: s.Delivery, Now: s.db.Now}
	s.waker = s.Delivery.NewWaker()
	for _, n := range networks {
		s.platforms = append(s.platforms, n.Platform())
	}
	s.metrics.initNetworkCalls(s.platforms)
	s.metrics.registry.MustRegister(&deliveryCollector{s.Delivery, s.platforms})
}

// Registry returns all operations.
func (s *Server) Registry() *operation.Registry { return s.registry }

// Routes returns the routes of the app.
func (s *Server) Routes() []shell.Route { return s.app.Routes() }

// Events calls yield for each event of the audit log; see auditlog.Each.
func (s *Server) Events(ctx context.Context, filter auditlog.Filter, yield func(auditlog.Entry) error) error {
	return auditlog.Each(ctx, s.db, filter, yield)
}

// Handler returns the handler of the public listener.
func (s *Server) Handler() http.Handler { return s.handler }

// Close releases what Open opened.
func (s *Server) Close() error {
	if s.certs != nil {
		s.certs.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), traceFlushTimeout)
	defer cancel()
	if err := s.tracer.Close(ctx); err != nil {
		s.cfg.Log.Warn("the last traces were not sent", "error", err)
	}
	if s.transport != nil {
		s.transport.CloseIdleConnections()
	}
	return errors.Join(s.rateLimiter.Close(), s.db.Close())
}
