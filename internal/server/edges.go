package server

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"

	"pressroom/internal/mcp"
	"pressroom/internal/openapi"
	"pressroom/internal/problem"
	"pressroom/internal/rest"
)

const mcpPath = "/mcp"

// buildEdges puts the edges and the program's own pages at their addresses.
func (s *Server) buildEdges() error {
	description, err := openapi.Build(s.registry, openapi.Info{Version: openapi.Version, ServerURL: s.cfg.PublicURL + rest.Prefix})
	if err != nil {
		return fmt.Errorf("describing the API: %w", err)
	}
	api := rest.New(s.registry, s.pipe, rest.Options{PublicURL: s.cfg.PublicURL, Description: description, Log: s.cfg.Log, Observe: s.metrics.answered})
	tools := mcp.New(s.registry, s.pipe, mcp.Options{PublicURL: s.cfg.PublicURL, Version: s.cfg.Version, Log: s.cfg.Log, Observe: s.metrics.called})
	pages := http.NewServeMux()
	pages.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		tell(w, http.StatusOK, map[string]string{"status": "alive"})
	})
	pages.HandleFunc("GET /readyz", s.ready)
	pages.HandleFunc("GET "+problem.ReferencePath, errorReference)
	pages.HandleFunc("GET /{$}", s.front)
	s.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		// The API answers for every address below its prefix, well-formed or not: a mux would redirect some.
		case path == rest.Prefix || strings.HasPrefix(path, rest.Prefix+"/"):
			api.ServeHTTP(w, r)
		case path == mcpPath:
			tools.ServeHTTP(w, r)
		default:
			w.Header().Set("Cache-Control", "no-store")
			pages.ServeHTTP(w, r)
		}
	})
	return nil
}

const (
	readyWithin = 2 * time.Second  // how long the database may take to answer
	queueSilent = 30 * time.Second // how long the queue may carry nothing although it is sent a pulse every 5 s
)

// ready tells whether this node can do its work: the database answers, and where it works in the background,
// the queue brings it something.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyWithin)
	defer cancel()
	checks := map[string]string{"database": "ok"}
	status := http.StatusOK
	if err := s.db.Ping(ctx); err != nil {
		checks["database"], status = "does not answer", http.StatusServiceUnavailable
		s.cfg.Log.ErrorContext(ctx, "not ready", "error", err)
	}
	if s.cfg.Role != RoleAPI {
		checks["queue"] = "ok"
		if s.db.Now().Sub(s.waker.Pulsed()) > queueSilent {
			checks["queue"], status = "carries no work", http.StatusServiceUnavailable
		}
	}
	if shared, answering := s.rates.Shared(ctx); shared {
		checks["redis"] = "ok"
		if !answering { // no reason to take no more requests
			checks["redis"] = "does not answer: this node counts request rates for itself"
		}
	}
	tell(w, status, checks)
}

func tell(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) //nolint:errchkjson // maps of strings; the client may be gone
}

var referencePage = template.Must(template.New("errors").Parse(`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Errors · pressroom</title><style>body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}dt{font-weight:600;margin-top:1rem}dd{margin:0}code{font-size:1em}:target{background:#fff3c4}</style>
<h1>Error reference</h1><p>Act on <code>code</code> and the HTTP status; the sentences may change. Unknown codes may be added: act on the status then.</p>
<dl>{{range .}}<dt id="{{.Code}}"><code>{{.Code}}</code> · {{.Status}}</dt><dd>{{.Title}}</dd>{{end}}</dl></html>`))

func errorReference(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = referencePage.Execute(w, problem.Entries()) // the client may be gone
}

var frontPage = template.Must(template.New("front").Parse(`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>pressroom</title><style>body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}</style>
<h1>pressroom</h1><p>Drafts, schedules and publishes posts through an API and through assistants' tools.</p>
<ul><li>The API: <code>{{.}}/api/v1</code>, <a href="/api/v1/openapi.json">described here</a></li><li>Tools for assistants: <code>{{.}}/mcp</code></li><li><a href="/docs/errors">Error reference</a></li></ul></html>`))

func (s *Server) front(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = frontPage.Execute(w, s.cfg.PublicURL) // the client may be gone
}
