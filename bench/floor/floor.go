// Package floor is the baseline of the benchmarks: four of pressroom's calls, written by hand as a bare net/http
// handler on database/sql. It uses the same database and driver as pressroom. For every request, it looks up the key by
// its hash, writes the same rows in one transaction and returns the same JSON. It has no other operations, and no
// validation, capabilities, limits, metrics or logs.
package floor

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Options configure Open.
type Options struct {
	Database  string // sqlite:PATH or postgres://…, with pressroom's tables
	PublicURL string // base URL of absolute links
}

// Server serves the four calls and a constant response.
type Server struct {
	db        store
	publicURL string
	zones     sync.Map // time zones by name, because loading one reads a file
}

// Open opens the database and prepares the statements.
func Open(ctx context.Context, o Options) (*Server, error) {
	f := &Server{publicURL: o.PublicURL}
	if err := f.db.open(ctx, o.Database); err != nil {
		return nil, err
	}
	return f, nil
}

// Close closes the database.
func (f *Server) Close() error { return f.db.close() }

// Handler returns a handler for GET /me, GET /posts, GET /posts/{id} and POST /posts below /api/v1, and for GET
// /constant.
func (f *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/me", f.call(f.me))
	mux.HandleFunc("GET /api/v1/posts", f.call(f.listPosts))
	mux.HandleFunc("GET /api/v1/posts/{id}", f.call(f.getPost))
	mux.HandleFunc("POST /api/v1/posts", f.call(f.createPost))
	mux.HandleFunc("GET /constant", constant)
	return mux
}

const constantSize = 8 << 10 // bytes

var constantBody = []byte(`"` + strings.Repeat("x", constantSize-2) + `"`)

// constant sends a fixed response of 8 KB. Its throughput is the maximum that net/http and the client can reach.
func constant(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(constantBody)))
	_, _ = w.Write(constantBody) // the client may have disconnected
}

// caller is the data about an API key that every call needs.
type caller struct {
	key, team, person int64
	zone              *time.Location
}

// request is a request with its ID, time and key hash.
type request struct {
	*http.Request
	ctx  context.Context
	w    http.ResponseWriter
	id   string
	now  time.Time
	hash [sha256.Size]byte
}

var (
	errUnauthorized = errors.New("unauthorized")
	errNotFound     = errors.New("not_found")
	errInvalid      = errors.New("validation_failed")
	errKeyReused    = errors.New("idempotency_key_reused")
)

// call returns a handler for a call. The handler reads the key from the header and converts errors to responses.
func (f *Server) call(do func(*request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := uuid.NewV7()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		// Canceling a query when the client disconnects would cost more than it saves, because a query takes much less
		// than a millisecond.
		x := &request{
			Request: r, ctx: context.WithoutCancel(r.Context()), w: w, id: id.String(), now: time.Now().UTC().Truncate(time.Microsecond),
		}
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		x.hash = sha256.Sum256([]byte(token))
		if err = errUnauthorized; ok {
			err = do(x)
		}
		if err != nil {
			reject(w, err)
		}
	}
}

func reject(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	switch {
	case errors.Is(err, errUnauthorized):
		status = http.StatusUnauthorized
	case errors.Is(err, errNotFound):
		status = http.StatusNotFound
	case errors.Is(err, errInvalid), errors.Is(err, errKeyReused):
		status = http.StatusUnprocessableEntity
	}
	http.Error(w, err.Error(), status)
}

// authenticate returns the caller that the request's key identifies.
func (f *Server) authenticate(x *request) (caller, error) {
	var c caller
	var zone string
	err := f.db.keyOwner.QueryRowContext(x.ctx, x.hash[:], x.now.UnixMicro()).Scan(&c.key, &c.team, &c.person, &zone)
	if errors.Is(err, sql.ErrNoRows) {
		return c, errUnauthorized
	}
	if err != nil {
		return c, fmt.Errorf("looking up a key: %w", err)
	}
	c.zone, err = f.zone(zone)
	return c, err
}

func (f *Server) zone(name string) (*time.Location, error) {
	if z, ok := f.zones.Load(name); ok {
		return z.(*time.Location), nil
	}
	z, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("loading the time zone: %w", err)
	}
	f.zones.Store(name, z)
	return z, nil
}
