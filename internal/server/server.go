// Package server builds the program from its parts and runs it: the composition root. Nothing but the command
// line and end-to-end tests imports it.
package server

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pressroom/internal/auth/oauth"
	"pressroom/internal/auth/oidc"
	"pressroom/internal/auth/tokencrypt"
	"pressroom/internal/auth/totp"
	"pressroom/internal/core/operation"
	"pressroom/internal/core/pipeline"
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/account"
	"pressroom/internal/domain/analytics"
	"pressroom/internal/domain/credit"
	"pressroom/internal/domain/delivery"
	"pressroom/internal/domain/erasure"
	"pressroom/internal/domain/hashtag/list"
	"pressroom/internal/domain/hashtag/search"
	"pressroom/internal/domain/hashtag/stats"
	"pressroom/internal/domain/idempotency"
	"pressroom/internal/domain/job"
	"pressroom/internal/domain/media"
	"pressroom/internal/domain/notification"
	"pressroom/internal/domain/post"
	"pressroom/internal/domain/provider"
	"pressroom/internal/domain/ratelimit"
	"pressroom/internal/domain/report"
	"pressroom/internal/domain/team"
	"pressroom/internal/domain/voice"
	"pressroom/internal/network"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/blob"
	"pressroom/internal/platform/clusterstats"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/loadshed"
	"pressroom/internal/platform/restoreguard"
	"pressroom/internal/platform/safehttp"
	"pressroom/internal/platform/tlscert"
	"pressroom/internal/platform/tracing"
	"pressroom/internal/web"
	"pressroom/internal/web/shell"
)

// Role is what a node does.
type Role string

// The roles.
const (
	RoleAll    Role = "all"
	RoleAPI    Role = "api"
	RoleWorker Role = "worker"
)

// Config is what a node needs to know.
type Config struct {
	Version   string
	PublicURL string // every absolute link begins with it, without a slash at its end
	Database  string // sqlite:PATH or postgres://…
	// WaitForDatabase is how long the start waits for a database that is away.
	WaitForDatabase time.Duration
	SealingKey      string // see package tokencrypt
	Role            Role
	Workers         int           // deliveries worked on at once
	PerNetwork      int           // see delivery.Options
	Lease           time.Duration // see delivery.Options
	// for how long a node that is told to end says so in /readyz before it takes no more requests
	ShutdownDelay time.Duration
	Terms         *plan.Terms // plans, prices and limits; the shipped ones where nil
	Redis         string      // redis://…, where nodes count request rates together; each counts for itself where empty
	// calls that are served at once, and as many pages and uploads beside them; by the processors where 0
	AtOnce      int
	MetricsAddr string // where /metrics listens; nowhere where empty
	// Certificates are what the program speaks TLS with; a proxy before it does where there are none. PlainAddr is
	// where plain HTTP is answered then, with the way to TLS; nowhere where empty.
	Certificates tlscert.Options
	PlainAddr    string
	// Blobs is where the library's files lie: file:FOLDER or s3://BUCKET… (package blob). Scratch is where those for S3
	// are received.
	Blobs, Scratch string
	// DiskReserve is how many bytes stay free where files are received and where an SQLite database lies; disk.Auto
	// for the usual, 0 for none.
	DiskReserve int64
	// CollectEvery is how often an account's own figures are collected; 6 hours where 0.
	CollectEvery time.Duration
	// MeasureReadyEvery is how far apart two measurements of hashtags of ready-made lists are; 10 minutes where 0.
	MeasureReadyEvery time.Duration
	// LookAtFiles is for what only looks at the library: the store of files is taken as it is.
	LookAtFiles    bool
	TrustReplica   bool           // see restoreguard.Options
	Beside         bool           // a command beside the service, see restoreguard.Options
	TrustedProxies []string       // networks whose X-Forwarded-For is believed
	ImportAllow    []string       // hosts and networks from which files are imported although they are private
	ImportRoots    *x509.CertPool // whose certificates imports trust; the system's where nil
	// BridgeURL is where profiles' media are asked for, by the contract of docs/bridge.md; nowhere where empty.
	BridgeURL, BridgeToken string
	// Sources are the official sources of public figures.
	Sources        SourceSettings
	BlueskyServers []string // addresses of servers, beside the network's own, whose accounts people may connect
	// AnyServer lets every Bluesky server be called, also one on a private address: for the operator's own commands.
	AnyServer bool
	Networks  NetworkSettings
	Mail      notification.Server // by which people are told of things; none where it has no address
	// SecurityContact is a URI by which vulnerabilities are reported, told at /.well-known/security.txt; empty for
	// none.
	SecurityContact string
	Directory       oidc.Options // the operator's own, by which people may sign in; none where it names no issuer
	Log             *slog.Logger
	Now             func() time.Time // the clock; PostgreSQL's, and with SQLite the machine's, where nil
	// whom the operator requires to sign in with two factors: nobody, operators or everyone; nobody if empty
	SecondFactor string
	// Extend adds operations to those of the program, and the work behind them. Results reads what their jobs produced.
	Extend  func(Parts) []operation.Operation
	Results map[job.Type]job.Result
}

// Parts are what an operation that is added can stand on.
type Parts struct {
	DB      *db.DB
	Jobs    *job.Store
	Queue   *job.Queue // work is handled once the program runs
	Credits *credit.Service
}

// Server is the program, built and not yet running.
type Server struct {
	Teams     *team.Service
	Accounts  *account.Service
	TOTP      *totp.Service
	Connects  *account.Connector // by it people connect accounts
	Posts     *post.Service
	Approvals *post.Approvals // by it clients approve posts
	Credits   *credit.Service
	Media     *media.Service
	Reports   *report.Service
	Delivery  *delivery.Service
	Insight   *analytics.Service
	Voices    *voice.Service
	Lists     *list.Service
	Searches  *search.Service
	Leaving   *erasure.Service // by it data goes
	Notices   *notification.Service
	Letters   *team.Letters         // mails links
	Programs  *oauth.Service        // by it people let assistants in
	Hold      *restoreguard.Service // keeps a restored or copied database from publishing by itself

	cfg       Config
	db        *db.DB
	queue     *job.Queue
	worker    *job.Worker
	blobs     blob.Store
	app       *web.App
	waker     *delivery.Waker
	platforms []string // of the networks that this installation speaks with
	jobs      *job.Store
	limiter   *provider.Limiter // of whoever works out what sources answer
	figures   *stats.Store      // of hashtags
	measuring *stats.Measurer   // nil where no source is joined
	replay    *idempotency.Store
	rates     *ratelimit.Rates
	calls     *ratelimit.Calls
	registry  *operation.Registry
	pipe      *pipeline.Pipeline
	toolPipe  *pipeline.Pipeline
	metrics   *metrics
	tracer    *tracing.Tracer // nil where nobody takes traces
	standing  *clusterstats.Service
	guard     *safehttp.Client      // what Bluesky servers are called by; nil where every one is called
	reach     *http.Transport       // what networks are called by
	certs     *tlscert.Certificates // nil where the program does not speak TLS itself
	checks    *dependencies
	handler   http.Handler
	rooms     loadshed.Rooms
	ending    atomic.Bool // this node was told to end
	outage    *sparing    // tells the log of what is away
}

// Open opens the database, brings it to today's shape and builds everything.
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
	cfg.Now = d.Now // by which everything goes
	s := &Server{
		tracer: tracer, cfg: cfg, outage: newSparing(outageEvery), db: d, certs: certs,
		metrics: newMetrics(cfg.Version, cfg.Role),
	}
	s.cfg.Log = s.metrics.counted(cfg.Log)
	if s.blobs, err = blob.Open(ctx, cfg.Blobs, blob.Options{Scratch: cfg.Scratch, Look: cfg.LookAtFiles}); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if err := s.build(sealer); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if err := s.Hold.Look(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if err := s.Accounts.CheckKeys(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if err := s.TOTP.CheckSealing(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if !cfg.LookAtFiles {
		if err := s.Media.CheckStore(ctx); err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	return s, nil
}

// OpenDatabase opens the database and brings it to today's shape.
func OpenDatabase(ctx context.Context, cfg Config) (*db.DB, error) {
	d, err := awaitDatabase(ctx, cfg)
	if err != nil {
		return nil, err
	}
	err = d.Alone(ctx, func(ctx context.Context) error {
		if err := d.Migrate(ctx); err != nil {
			return err
		}
		return job.MigrateQueue(ctx, d, quiet(cfg.Log))
	})
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

const askAgain = 250 * time.Millisecond

// awaitDatabase opens the database; one that is away it waits for.
func awaitDatabase(ctx context.Context, cfg Config) (*db.DB, error) {
	limit := time.Now().Add(cfg.WaitForDatabase)
	for try := 1; ; try++ {
		d, err := db.Open(ctx, cfg.Database,
			db.Options{Now: cfg.Now, Connected: restoreguard.NewFailover(cfg.TrustReplica || cfg.Beside).Connected})
		if err == nil || !db.Away(err) || time.Now().After(limit) {
			return d, err
		}
		if try == 1 {
			cfg.Log.WarnContext(ctx, "waiting for the database", "at_most", cfg.WaitForDatabase.String(), "error", err)
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(err, context.Cause(ctx))
		case <-time.After(askAgain):
		}
	}
}

func (s *Server) build(sealer *tokencrypt.Sealer) error {
	s.rooms = loadshed.NewRooms(s.cfg.AtOnce)
	s.metrics.registry.MustRegister(&roomState{s.rooms})
	offered := plan.Shipped()
	if s.cfg.Terms != nil {
		offered = *s.cfg.Terms
	}
	if err := s.buildGround(offered); err != nil {
		return err
	}
	networks, err := s.networks()
	if err != nil {
		return err
	}
	s.Accounts = account.New(s.db, sealer, networks...)
	s.TOTP = totp.New(s.db, sealer, "pressroom")
	s.buildConnects(offered)
	s.replay = idempotency.New(s.db)
	s.jobs = job.NewStore(s.db, s.results(), offered.Limits.JobsInFlight)
	s.worker = job.NewWorker(s.db, s.queue, s.cfg.Log)
	from, err := s.buildMedia(sealer, offered)
	if err != nil {
		return err
	}
	s.figures, s.limiter = stats.New(s.db), provider.NewLimiter()
	if err := s.buildReports(from, offered); err != nil {
		return err
	}
	if err := s.buildHashtags(from, offered); err != nil {
		return err
	}
	s.Posts = post.New(s.db, s.Accounts, s.jobs, s.Media, post.DefaultLimits, offered)
	s.Approvals = post.NewApprovals(post.ApprovalsOptions{Posts: s.Posts, Sealer: sealer, PublicURL: s.cfg.PublicURL})
	s.buildDelivery(networks)
	s.Insight = analytics.New(s.db, s.Accounts,
		analytics.Options{
			Terms: offered, Every: s.cfg.CollectEvery, Called: s.metrics.calledNetwork,
			Posts: hearer{s.db, s.figures}.collected, Log: s.cfg.Log,
		})
	s.buildLeaving()
	s.Voices = voice.New(voice.Options{DB: s.db})
	s.buildOperations(offered)
	s.buildStanding()
	return s.buildEdges()
}

// results returns what reads the results of each type of job.
func (s *Server) results() map[job.Type]job.Result {
	reports := report.ResultReader(s.Credits.Charged)
	out := map[job.Type]job.Result{
		job.SocialPost: delivery.Result, job.ProfileReport: reports, job.HashtagReport: reports,
		job.HashtagSearch: search.ResultReader(s.Credits.Charged),
		job.MediaImport:   media.ImportsAndBatches, job.ContentFetch: media.Downloads(s.Credits.Charged),
	}
	maps.Copy(out, s.cfg.Results)
	return out
}

// buildGround makes what all the rest stands on: the queue, the limits, credits, notices and teams.
func (s *Server) buildGround(offered plan.Terms) error {
	guesses, err := ratelimit.NewGuesses()
	if err != nil {
		return err
	}
	if s.queue, err = job.NewQueue(s.db, max(1, s.cfg.Workers), quiet(s.cfg.Log)); err != nil {
		return err
	}
	if s.rates, err = ratelimit.NewRates(offered.Limits,
		ratelimit.RatesOptions{Redis: s.cfg.Redis, Now: s.cfg.Now, Log: s.cfg.Log}); err != nil {
		return err
	}
	file, _ := strings.CutPrefix(s.cfg.Database, "sqlite:")
	if s.db.Postgres() {
		file = ""
	}
	s.Hold = restoreguard.New(s.db,
		restoreguard.Options{File: file, TrustReplica: s.cfg.TrustReplica, Beside: s.cfg.Beside, Log: s.cfg.Log})
	s.metrics.tellHeld(s.Hold)
	s.calls = ratelimit.NewCalls(s.db)
	s.Credits = credit.New(s.db)
	s.Credits.CountFree = s.calls.CountFree
	if err := s.buildNotices(); err != nil {
		return err
	}
	s.Teams = team.New(s.db, guesses, offered)
	s.Letters = team.NewLetters(s.Teams, s.cfg.PublicURL, s.sendLetter())
	return nil
}

// buildOperations lists what can be done, and makes the way that each call goes.
func (s *Server) buildOperations(offered plan.Terms) {
	groups := [][]operation.Operation{team.Operations(), s.Credits.Operations(), s.calls.Operations(offered),
		s.jobs.Operations(), s.Accounts.Operations(), s.Connects.Operations(), s.Posts.Operations(),
		s.Media.Operations(), s.Reports.Operations(), s.Insight.Operations(),
		s.Lists.Operations(), s.Searches.Operations(), s.Voices.Operations()}
	if s.cfg.Extend != nil {
		groups = append(groups, s.cfg.Extend(Parts{s.db, s.jobs, s.queue, s.Credits}))
	}
	s.registry = operation.NewRegistry(groups...)
	s.pipe = s.pipeline(s.Teams)
}

// pipeline is the way of every call, by keys as somebody knows them.
func (s *Server) pipeline(keys pipeline.Keys) *pipeline.Pipeline {
	return pipeline.New(pipeline.Ports{
		Keys: keys, Replay: s.replay, Rates: s.rates, FreeCalls: s.calls, Credits: s.Credits, Room: s.rooms.Calls,
		Away: away, Answers: s.answers,
	}, s.db.Now)
}

// away tells whether an error says that the database or the store of files cannot be reached.
func away(err error) bool { return db.Away(err) || blob.Away(err) }

// answersWithin is how long the database and the store of files may take to say that they are there, to whoever waited
// for them in vain.
const answersWithin = time.Second

// answers tells whether the database and the store of files answer at this moment.
func (s *Server) answers() bool {
	ctx, cancel := context.WithTimeout(context.Background(), answersWithin)
	defer cancel()
	return s.db.Ping(ctx) == nil && s.blobs.Ping(ctx) == nil
}

// buildNotices makes what tells people of what happened. It hears of every event from then on.
func (s *Server) buildNotices() error {
	send, err := s.cfg.Mail.Sender()
	if err != nil {
		return err
	}
	s.Notices = notification.New(s.db, notification.Options{PublicURL: s.cfg.PublicURL, Send: send, Log: s.cfg.Log})
	s.db.Listen(s.Notices.HandleEvent)
	s.Credits.Lowered = s.Notices.NotifyLowCredits
	return nil
}

// sendLetter returns what mails links; nil if there is no mail server.
func (s *Server) sendLetter() func(context.Context, team.Letter) error {
	if !s.Notices.Mails() {
		return nil
	}
	return func(ctx context.Context, l team.Letter) error {
		err := s.Notices.Send(ctx, notification.Mail{ID: l.ID, To: l.To, Subject: l.Subject, Text: l.Text})
		if err != nil {
			s.cfg.Log.WarnContext(ctx, "a mail with a link was not sent", "mail", l.ID, "error", err)
		}
		return err
	}
}

// buildDelivery makes what hands posts to the networks.
func (s *Server) buildDelivery(networks []network.Network) {
	opts := delivery.DefaultOptions
	opts.Workers, opts.PerNetwork, opts.OnCall, opts.OnPublished = max(1, s.cfg.Workers), s.cfg.PerNetwork,
		s.metrics.calledNetwork, s.metrics.stood
	opts.Hosts = s.cfg.Networks.namedHosts()
	if s.cfg.Lease > 0 {
		opts.Lease = s.cfg.Lease
	}
	s.Delivery = delivery.New(s.db, s.Posts, s.Accounts, s.Media, s.queue, opts, s.cfg.Log)
	s.waker = s.Delivery.NewWaker()
	for _, n := range networks {
		s.platforms = append(s.platforms, n.Platform())
	}
	s.metrics.expect(s.platforms)
	s.metrics.registry.MustRegister(&deliveryState{s.Delivery, s.platforms})
}

// Registry is every operation of the program.
func (s *Server) Registry() *operation.Registry { return s.registry }

// Routes are the addresses of the app.
func (s *Server) Routes() []shell.Route { return s.app.Routes() }

// Events yields the record of who did what: see auditlog.Each.
func (s *Server) Events(ctx context.Context, part auditlog.Part, yield func(auditlog.Entry) error) error {
	return auditlog.Each(ctx, s.db, part, yield)
}

// Handler answers every request of the public address.
func (s *Server) Handler() http.Handler { return s.handler }

// Close closes what Open opened.
func (s *Server) Close() error {
	if s.certs != nil {
		s.certs.Close()
	}
	ending, cancel := context.WithTimeout(context.Background(), tracesWithin)
	defer cancel()
	if err := s.tracer.Close(ending); err != nil { // no reason to end with a failure
		s.cfg.Log.Warn("the last traces were not sent", "error", err)
	}
	if s.reach != nil {
		s.reach.CloseIdleConnections()
	}
	return errors.Join(s.rates.Close(), s.db.Close())
}

// tracesWithin is how long the end of the program waits for whoever takes traces.
const tracesWithin = 3 * time.Second

// openTracer is nil where the environment names nobody who takes traces, and for what only looks.
func openTracer(ctx context.Context, cfg Config) (*tracing.Tracer, error) {
	if cfg.LookAtFiles {
		return nil, nil //nolint:nilnil // a nil tracer is one that does nothing
	}
	return tracing.Open(ctx, tracing.Options{Version: cfg.Version, Role: string(cfg.Role), Log: cfg.Log})
}

// drain is how long the end of the program waits for what is under way.
const drain = 20 * time.Second

// Run serves on a listener and works in the background until the context ends, then lets what is under way end.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	// What is under way ends after the context does.
	background, stop := context.WithCancel(s.tracer.Into(context.WithoutCancel(ctx)))
	defer stop()
	var tasks sync.WaitGroup
	s.background(background, &tasks)
	if s.cfg.Role != RoleAPI {
		if err := s.queue.Start(background); err != nil {
			return err
		}
	}
	err := s.listen(ctx, listener)
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	err = errors.Join(err, s.cutOff("work", s.queue.Stop(ending)), s.cutOff("deliveries", s.Delivery.Drain(ending)))
	stop()
	tasks.Wait()
	giving, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBack)
	defer cancel()
	return errors.Join(err, s.calls.Close(giving))
}

// cutOff tells the log of what takes longer than the end of a node waits for, which is no failure of the end: work and
// deliveries are taken up once their lease is over, and callers repeat their requests.
func (s *Server) cutOff(what string, err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		s.cfg.Log.Warn("cut off what takes longer than the end of a node waits for", "what", what, "waited",
			drain.String())
		return nil
	}
	return err
}

// giveBack is how long the end of the program may take to give free calls back that nobody made.
const giveBack = 10 * time.Second

// background starts what goes on beside the requests.
func (s *Server) background(ctx context.Context, tasks *sync.WaitGroup) {
	report := func(what string) func(error) {
		return func(err error) { s.failed(ctx, what, err) }
	}
	tasks.Go(func() { s.warn(ctx, report("looking what to warn of")) })
	tasks.Go(func() { s.Teams.Watch(ctx, report("looking for changed keys")) })
	tasks.Go(func() { s.Teams.RunUses(ctx, report("noting which keys are used")) })
	tasks.Go(func() { s.Accounts.Serve(ctx, report("looking which sealing keys this node needs")) })
	tasks.Go(func() { s.Hold.Watch(ctx, report("looking where the database lives")) })
	tasks.Go(func() { s.standing.Run(ctx, s.cfg.Role != RoleAPI, report("measuring how everything stands")) })
	tasks.Go(func() { s.checks.run(ctx) })
	if s.cfg.Role == RoleAPI {
		return
	}
	tasks.Go(func() { s.Delivery.Run(ctx) })
	tasks.Go(func() { s.waker.Run(ctx, report("waking deliveries")) })
	tasks.Go(func() { s.Posts.RunSeries(ctx, report("making posts of recurring series")) })
	tasks.Go(func() { s.Reports.RunTracking(ctx, report("refreshing tracked reports")) })
	tasks.Go(func() { s.worker.Run(ctx, report("waking jobs")) })
	// What uses grants, which may be another installation's too, sends mail or takes files away rests while all is
	// held.
	unheld := func(work func(context.Context)) {
		tasks.Go(func() { s.Hold.While(ctx, report("looking whether all is held"), work) })
	}
	unheld(func(ctx context.Context) { s.Accounts.Run(ctx, report("renewing grants")) })
	unheld(func(ctx context.Context) { s.Leaving.Run(ctx, report("deleting teams")) })
	unheld(func(ctx context.Context) { s.Insight.Run(ctx, report("collecting accounts' figures")) })
	if s.measuring != nil {
		unheld(func(ctx context.Context) { s.measuring.Run(ctx, report("measuring hashtags")) })
	}
	unheld(func(ctx context.Context) { s.Notices.RunMail(ctx, report("sending mail")) })
	unheld(func(ctx context.Context) { s.sweep(ctx, report("sweeping")) })
}

const sweepEvery = time.Minute

// sweep forgets what has outlived its use, a batch at a time.
func (s *Server) sweep(ctx context.Context, report func(error)) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		for _, sweep := range []func(context.Context) (int64, error){
			s.replay.Sweep, s.jobs.Sweep, s.Media.Sweep, s.Reports.Sweep, s.Searches.Sweep, s.figures.Sweep,
			s.Connects.Sweep, s.Notices.Sweep, s.app.SweepSessions, s.Teams.SweepSignIns, s.Leaving.Sweep,
			s.Programs.Sweep,
		} {
			if _, err := sweep(ctx); err != nil && ctx.Err() == nil {
				report(err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
