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

	"pressroom/internal/api/mcp"
	"pressroom/internal/api/openapi"
	"pressroom/internal/api/rest"
	"pressroom/internal/auth/oidc"
	"pressroom/internal/domain/delivery"
	"pressroom/internal/web"
	"pressroom/internal/web/operator"
	"pressroom/internal/web/settings"
	"pressroom/internal/web/shell"
)

const mcpPath = "/mcp"

// buildEdges puts the edges and the program's own pages at their addresses.
func (s *Server) buildEdges() error {
	if err := s.buildAssistants(); err != nil {
		return err
	}
	// Writing it takes longer than all else at the start, and whoever reads it keeps it.
	describe := sync.OnceValues(func() ([]byte, error) {
		return openapi.Build(s.registry,
			openapi.Info{Version: openapi.Version, ServerURL: s.cfg.PublicURL + rest.Prefix})
	})
	api := rest.New(s.registry, s.pipe,
		rest.Options{PublicURL: s.cfg.PublicURL, Describe: describe, Log: s.cfg.Log, Observe: s.metrics.answered})
	tools := mcp.New(s.registry, s.toolPipe,
		mcp.Options{PublicURL: s.cfg.PublicURL, Version: s.cfg.Version, Log: s.cfg.Log, Observe: s.metrics.called})
	pages := http.NewServeMux()
	pages.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		tell(w, http.StatusOK, map[string]string{"status": "alive"})
	})
	pages.HandleFunc("GET /readyz", s.ready)
	from, err := s.directory()
	if err != nil {
		return err
	}
	figures := settings.Services{Credits: s.Credits, Calls: s.calls, Accounts: s.Accounts, Posts: s.Posts,
		Media: s.Media, Lists: s.Lists, Reports: s.Reports,
		DirectoryOnly: from != nil && from.Only}
	if s.app, err = web.New(web.Options{
		Frame: shell.Options{
			PublicURL: s.cfg.PublicURL, TrustedProxies: s.cfg.TrustedProxies, Teams: s.Teams, Letters: s.Letters,
			Registry: s.registry, Pipeline: s.pipe, DB: s.db, Unread: s.Notices.Unread, Rooms: s.rooms, Away: away,
			Answers: s.answers, SecondFactor: shell.Requirement(s.cfg.SecondFactor), Log: s.cfg.Log,
		},
		Library: s.Media, Connector: s.Connects, Approvals: s.Approvals, Posts: s.Posts, Delivery: s.Delivery,
		Jobs: s.jobs, Reports: s.Reports, Insight: s.Insight, Lists: s.Lists, Voices: s.Voices, Media: s.Media,
		Settings: figures,
		Leaving:  s.Leaving,
		Programs: s.Programs,
		Operator: operator.Services{
			Credits: s.Credits, Delivery: s.Delivery, Jobs: s.jobs, Posts: s.Posts, Platforms: s.platforms,
			Hold: s.Hold,
		},
		Directory: from, Describe: describe, Notices: s.Notices, TOTP: s.TOTP, SecurityContact: s.cfg.SecurityContact,
	}); err != nil {
		return fmt.Errorf("building the app: %w", err)
	}
	pages.Handle("/", s.app)
	edges := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		// The API answers for every address below its prefix, well-formed or not: a mux would redirect some.
		case path == rest.Prefix || strings.HasPrefix(path, rest.Prefix+"/"):
			api.ServeHTTP(w, r)
		case path == mcpPath:
			tools.ServeHTTP(w, r)
		default:
			pages.ServeHTTP(w, r)
		}
	})
	s.handler = s.tracer.Handler(s.secured(onlyPaths(s.cfg.PublicURL, s.cfg.Log, edges)), asked)
	return nil
}

// https reports whether clients reach the service by TLS only.
func (s *Server) https() bool { return s.certs != nil || strings.HasPrefix(s.cfg.PublicURL, "https:") }

// securityHeaders returns the header fields that hold for every answer. The app adds its own. With an https public URL
// browsers are told to use TLS only (RFC 6797), also where a proxy terminates it.
func (s *Server) securityHeaders() http.Header {
	h := http.Header{}
	if s.https() {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	return h
}

// secured sets the security headers of every answer of the public listener.
func (s *Server) secured(next http.Handler) http.Handler {
	secure := s.securityHeaders()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), secure)
		s.app.NoteForwarded(r)
		next.ServeHTTP(w, r)
	})
}

// asked says of what kind a request is.
func asked(r *http.Request) string {
	switch path := r.URL.Path; {
	case path == rest.Prefix || strings.HasPrefix(path, rest.Prefix+"/"):
		return "api"
	case path == mcpPath:
		return "tools"
	}
	return "app"
}

// directory is the operator's own, by which people may sign in; nil where there is none.
func (s *Server) directory() (*oidc.Directory, error) {
	opts := s.cfg.Directory
	opts.PublicURL, opts.Now, opts.Log = s.cfg.PublicURL, s.db.Now, s.cfg.Log
	return oidc.New(opts)
}

const (
	readyWithin = 2 * time.Second // how long the database may take to answer
	// as long, of the one that is read by the pool that calls share: on a full node it stays untold
	holdWithin  = readyWithin / 4
	queueSilent = 30 * time.Second // how long the queue may carry nothing although it is sent a pulse every 5 s
)

// ready answers anyone with the status only: what the node depends on is the operator's business.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	status, _ := s.readiness(r.Context())
	text := "ok"
	if status != http.StatusOK {
		text = "unavailable"
	}
	tell(w, status, map[string]string{"status": text})
}

// readyDetails answers with the same status, and with each check.
func (s *Server) readyDetails(w http.ResponseWriter, r *http.Request) {
	status, checks := s.readiness(r.Context())
	tell(w, status, checks)
}

// readiness returns 200 if this node can do its work and goes on to: the database answers, the queue of a node that
// works in the background brings it something, and the node was not told to end. It also returns every check in words.
func (s *Server) readiness(ctx context.Context) (int, map[string]string) {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	checks := map[string]string{"database": "ok"}
	status := http.StatusOK
	if err := s.db.Ping(ctx); err != nil {
		checks["database"], status = "does not answer", http.StatusServiceUnavailable
		s.failed(ctx, "not ready", err)
	}
	if s.cfg.Role != RoleAPI {
		checks["queue"] = "ok"
		if s.db.Now().Sub(s.waker.LastPulse()) > queueSilent {
			checks["queue"], status = "carries no work", http.StatusServiceUnavailable
		}
		s.tellNetworks(checks)
	}
	if s.ending.Load() {
		checks["node"], status = "was told to end", http.StatusServiceUnavailable
	}
	s.tellClock(checks)
	checks["files"] = "ok"
	if err := s.blobs.Ping(ctx); err != nil { // what needs no files goes on
		checks["files"] = "cannot be reached: uploads, imports and posts with media wait or are refused"
		s.failed(ctx, "the store of files does not answer", err)
	}
	s.tellHold(ctx, checks)
	if shared, answering := s.rates.Shared(ctx); shared {
		checks["redis"] = "ok"
		if !answering { // no reason to take no more requests
			checks["redis"] = "does not answer: this node counts request rates for itself"
		}
	}
	return status, checks
}

// clockTold is how far the machine's clock may be from the database's before it is told.
const clockTold = 5 * time.Second

// tellClock says whether the machine's clock is the database's, by which all nodes go.
func (s *Server) tellClock(checks map[string]string) {
	checks["clock"] = "ok"
	if by := s.db.ClockAhead().Round(time.Second); by > clockTold {
		checks["clock"] = "the machine's is " + by.String() + " ahead of the database's, by which this node goes"
	} else if by < -clockTold {
		checks["clock"] = "the machine's is " + (-by).String() + " behind the database's, by which this node goes"
	}
}

// tellHold says whether all is held. A node that is takes requests as ever.
func (s *Server) tellHold(ctx context.Context, checks map[string]string) {
	ctx, cancel := context.WithTimeout(ctx, holdWithin)
	defer cancel()
	state, err := s.Hold.State(ctx)
	if err != nil {
		return // where the database is to blame it says so itself
	}
	checks["publishing"] = "ok"
	if state.Held() {
		checks["publishing"] = "held since " + state.HeldAt.Format(time.RFC3339) + ", as " + state.Why.Text() +
			": pressroom admin resume"
	}
}

// tellNetworks says how this node stands to each network. One that fails is no reason to take no more requests.
func (s *Server) tellNetworks(checks map[string]string) {
	for _, platform := range s.platforms {
		c := s.Delivery.Circuit(platform)
		text := string(c.State)
		if c.State == delivery.Open {
			text += " since " + c.Since.Format(time.RFC3339)
		}
		checks["network_"+platform] = text
	}
}

func tell(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) //nolint:errchkjson // maps of strings; the client may be gone
}
