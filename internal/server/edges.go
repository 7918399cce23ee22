package server

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/api/mcp"
	"pressroom.example/pressroom/internal/api/openapi"
	"pressroom.example/pressroom/internal/api/rest"
	"pressroom.example/pressroom/internal/auth/oidc"
	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/web"
	"pressroom.example/pressroom/internal/web/live"
	"pressroom.example/pressroom/internal/web/operator"
	"pressroom.example/pressroom/internal/web/settings"
	"pressroom.example/pressroom/internal/web/shell"
)

const mcpPath = "/mcp"

// buildHandlers builds the HTTP handlers of the API, the tools and the app.
func (s *Server) buildHandlers() error {
	if err := s.buildAssistants(); err != nil {
		return err
	}
	// The OpenAPI document is built on the first request, because building it is slow.
	info := openapi.Info{Version: openapi.Version, ServerURL: s.cfg.PublicURL + rest.Prefix}
	describe := sync.OnceValues(func() ([]byte, error) { return openapi.Build(s.registry, info) })
	api := rest.New(s.registry, s.restPipe,
		rest.Options{PublicURL: s.cfg.PublicURL, Describe: describe, Log: s.cfg.Log, Observe: s.metrics.observeRequest})
	tools := mcp.New(s.registry, s.mcpPipe,
		mcp.Options{
			PublicURL: s.cfg.PublicURL, Version: s.cfg.Version, Log: s.cfg.Log, Observe: s.metrics.observeTool,
		})
	pages := http.NewServeMux()
	pages.HandleFunc("GET /livez", serveLivez)
	pages.HandleFunc("GET /readyz", s.serveReady)
	directory, err := s.directory()
	if err != nil {
		return err
	}
	settingsServices := settings.Services{Credits: s.Credits, Calls: s.freeCalls, Accounts: s.Accounts,
		Media: s.Media, Lists: s.Lists, Reports: s.Reports, Notifications: s.Notifications,
		DirectoryOnly: directory != nil && directory.Exclusive}
	s.feed = live.NewFeed(s.db)
	if s.app, err = web.New(web.Options{
		Shell: shell.Options{
			PublicURL: s.cfg.PublicURL, TrustedProxies: s.cfg.TrustedProxies, Teams: s.Teams, LinkMailer: s.LinkMailer,
			Registry: s.registry, Pipeline: s.pipe, DB: s.db, Unread: s.Notifications.Unread,
			AwaitingApproval: s.countAwaitingApproval, Limiters: s.limiters,
			IsUnavailable: isUnavailable, IsReachable: s.dependenciesUp, SecondFactor: shell.Requirement(s.cfg.SecondFactor),
			Log: s.cfg.Log,
		},
		Library: s.Media, Connector: s.Connector, Approvals: s.Approvals, Posts: s.Posts, Delivery: s.Delivery,
		Jobs: s.jobs, Reports: s.Reports, ReportLinks: s.ReportLinks, ReportMails: s.ReportMails,
		Analytics: s.Analytics, Lists: s.Lists, Voices: s.Voices,
		Media:    s.Media,
		Settings: settingsServices, Erasure: s.Erasure, OAuth: s.OAuth,
		Operator: operator.Services{
			Credits: s.Credits, Delivery: s.Delivery, Jobs: s.jobs, Posts: s.Posts, Platforms: s.platforms,
			RestoreGuard: s.Hold, Apps: s.Apps, Notifications: s.Notifications,
		},
		Directory: directory, Describe: describe, Notifications: s.Notifications, TOTP: s.TOTP,
		SecurityContact: s.cfg.SecurityContact, SandboxBluesky: s.cfg.SandboxBluesky,
		Components: s.cfg.Components,
		SignIns:    s.signIns, FirstRun: s.firstRun, Feed: s.feed,
	}); err != nil {
		return fmt.Errorf("building the app: %w", err)
	}
	pages.Handle("/", s.app)
	edges := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		// The API handles every path below its prefix itself, because a mux would redirect malformed paths.
		case path == rest.Prefix || strings.HasPrefix(path, rest.Prefix+"/"):
			api.ServeHTTP(w, r)
		case path == mcpPath:
			tools.ServeHTTP(w, r)
		default:
			pages.ServeHTTP(w, r)
		}
	})
	s.handler = s.tracer.Handler(s.withSecurityHeaders(rejectNonPaths(s.cfg.PublicURL, s.cfg.Log, edges)), requestKind)
	return nil
}

func serveLivez(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"status": "alive"})
}

// usesHTTPS reports whether clients reach the service only with TLS.
func (s *Server) usesHTTPS() bool {
	return s.certs != nil || strings.HasPrefix(s.cfg.PublicURL, "https:")
}

// securityHeaders returns the header fields that every response has. The app adds more. If the public URL is https, the
// headers require browsers to use TLS (RFC 6797), even if a proxy terminates TLS.
func (s *Server) securityHeaders() http.Header {
	h := http.Header{}
	if s.usesHTTPS() {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	return h
}

// withSecurityHeaders adds the security headers to every response of the public listener.
func (s *Server) withSecurityHeaders(next http.Handler) http.Handler {
	headers := s.securityHeaders()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), headers)
		s.app.WarnUntrustedProxy(r)
		next.ServeHTTP(w, r)
	})
}

// requestKind returns the kind of a request, which is used as the name of its span in traces.
func requestKind(r *http.Request) string {
	switch path := r.URL.Path; {
	case path == rest.Prefix || strings.HasPrefix(path, rest.Prefix+"/"):
		return "api"
	case path == mcpPath:
		return "tools"
	}
	return "app"
}

// directory returns the operator's OpenID Connect directory, or nil.
func (s *Server) directory() (*oidc.Directory, error) {
	opts := s.cfg.Directory
	opts.PublicURL, opts.Now, opts.Log = s.cfg.PublicURL, s.db.Now, s.cfg.Log
	return oidc.New(opts)
}

const (
	readyTimeout = 2 * time.Second // timeout of the database check
	// holdTimeout is the timeout of the hold check. It is shorter, because this check uses the connection pool. If the
	// pool is busy, the check is omitted.
	holdTimeout     = readyTimeout / 4
	maxQueueSilence = 30 * time.Second // a heartbeat is sent every 5 seconds
)

// serveReady responds only with the status, because the details are for the operator.
func (s *Server) serveReady(w http.ResponseWriter, r *http.Request) {
	status, _ := s.checkReadiness(r.Context())
	text := "ok"
	if status != http.StatusOK {
		text = "unavailable"
	}
	writeJSON(w, status, map[string]string{"status": text})
}

// serveReadyDetails responds with the same status and the result of each check.
func (s *Server) serveReadyDetails(w http.ResponseWriter, r *http.Request) {
	status, checks := s.checkReadiness(r.Context())
	writeJSON(w, status, checks)
}

// checkReadiness returns the status 200 if the database responds, the node is not stopping and, on nodes with
// background work, the queue works. Otherwise, it returns 503. It also returns a description of each check's result.
func (s *Server) checkReadiness(ctx context.Context) (int, map[string]string) {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	checks := map[string]string{"database": "ok"}
	status := http.StatusOK
	if err := s.db.Ping(ctx); err != nil {
		checks["database"], status = "unreachable", http.StatusServiceUnavailable
		s.logError(ctx, "not ready: database unreachable", err)
	}
	if s.cfg.Role != RoleAPI {
		checks["queue"] = "ok"
		if s.db.Now().Sub(s.waker.LastHeartbeat()) > maxQueueSilence {
			checks["queue"], status = "delivers no work", http.StatusServiceUnavailable
		}
		s.checkNetworks(checks)
	}
	if s.stopping.Load() {
		checks["node"], status = "stopping", http.StatusServiceUnavailable
	}
	s.checkClock(checks)
	checks["files"] = "ok"
	if err := s.blobs.Ping(ctx); err != nil { // the node stays ready, because work without files continues
		checks["files"] = "unreachable: uploads, imports and posts with media wait or are rejected"
		s.logError(ctx, "file store unreachable", err)
	}
	s.checkHold(ctx, checks)
	if shared, up := s.rateLimiter.RedisStatus(ctx); shared {
		checks["redis"] = "ok"
		if !up { // the node stays ready
			checks["redis"] = "unreachable: this node counts only its own requests for rate limits"
		}
	}
	return status, checks
}

// maxClockSkew is the maximum difference between the machine's clock and the database's clock that is not reported.
const maxClockSkew = 5 * time.Second

// checkClock compares the machine's clock with the database's, which all nodes use.
func (s *Server) checkClock(checks map[string]string) {
	checks["clock"] = "ok"
	if ahead := s.db.ClockOffset().Round(time.Second); ahead > maxClockSkew {
		checks["clock"] = "machine clock is " + ahead.String() + " ahead of the database's, which this node uses"
	} else if ahead < -maxClockSkew {
		checks["clock"] = "machine clock is " + (-ahead).String() + " behind the database's, which this node uses"
	}
}

// checkHold adds whether publishing is on hold to checks. During a hold, the node stays ready.
func (s *Server) checkHold(ctx context.Context, checks map[string]string) {
	ctx, cancel := context.WithTimeout(ctx, holdTimeout)
	defer cancel()
	state, err := s.Hold.State(ctx)
	if err != nil {
		return // the database check reports this problem
	}
	checks["publishing"] = "ok"
	if state.IsHeld() {
		checks["publishing"] = "on hold since " + state.HeldAt.Format(time.RFC3339) + ", because " + state.Cause.Text() +
			": run pressroom admin resume"
	}
}

// checkNetworks adds the state of each network's circuit breaker to checks. If a network fails, the node stays ready.
func (s *Server) checkNetworks(checks map[string]string) {
	for _, platform := range s.platforms {
		c := s.Delivery.Circuit(platform)
		text := string(c.State)
		if c.State == delivery.Open {
			text += " since " + c.Since.Format(time.RFC3339)
		}
		checks["network_"+platform] = text
	}
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) //nolint:errchkjson // maps of strings; the client may have disconnected
}

// countAwaitingApproval returns the number of a team's posts that wait for a client's approval.
func (s *Server) countAwaitingApproval(ctx context.Context, team int64) (int, error) {
	return postlist.CountOf(ctx, s.db, team, postlist.NeedsApproval)
}
