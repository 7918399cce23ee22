// Package shell provides the shared parts of all pages of the app: sessions, the layout with its stylesheet and
// scripts, forms, and operations run for the visitor. The pages themselves are in sibling packages.
package shell

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"pressroom.example/pressroom/internal/api/problem"
	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/pipeline"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/loadshed"
)

// Options configures a Shell.
type Options struct {
	// PublicURL has no trailing slash. Cookies are restricted to HTTPS if it begins with https:.
	PublicURL  string
	Teams      *team.Service
	Registry   *operation.Registry
	Pipeline   *pipeline.Pipeline
	LinkMailer *team.LinkMailer // nil if there is no mail server
	// TrustedProxies are IP networks or addresses of proxies whose X-Forwarded-For is trusted.
	TrustedProxies []string
	DB             *db.DB // stores sessions; its clock determines when they end
	Log            *slog.Logger
	// Unread returns the number of a person's unread notifications. It is nil if notifications are disabled.
	Unread func(ctx context.Context, person int64) (int, error)
	// AwaitingApproval returns the number of a team's posts that wait for the client. If it is nil, no number is shown.
	AwaitingApproval func(ctx context.Context, team int64) (int, error)
	Limiters         loadshed.Limiters // limits concurrent requests; created if Pages is nil
	// IsUnavailable reports whether an error means that a dependency is unreachable. It may be nil.
	IsUnavailable func(error) bool
	// IsReachable reports whether the dependencies are reachable now. It may be nil.
	IsReachable func() bool
	// SecondFactor states who must use a second factor. If it is empty, nobody must.
	SecondFactor Requirement
}

// Shell provides the shared parts of all pages.
type Shell struct {
	Options

	proxies         proxies
	untrusted       untrustedProxy
	sessions        *sessions
	longFormSlots   chan struct{}        // contains one value per long form in memory
	longFormLimiter *loadshed.KeyLimiter // limits long forms per IP network of clients
	uploads         *loadshed.KeyLimiter // limits requests with files per person
	routeMux        *http.ServeMux       // contains all mounted routes, for lookups
	routes          map[string]Route     // mounted routes by pattern
}

// New returns a Shell. It returns an error if a trusted proxy is not an IP network or address.
func New(o Options) (*Shell, error) {
	trusted, err := parseProxies(o.TrustedProxies)
	if err != nil {
		return nil, err
	}
	if o.Limiters.Pages == nil {
		o.Limiters = loadshed.NewLimiters(0)
	}
	if o.IsUnavailable == nil {
		o.IsUnavailable = func(error) bool { return false }
	}
	if o.IsReachable == nil {
		o.IsReachable = func() bool { return false }
	}
	s := &Shell{
		Options: o, proxies: trusted, longFormSlots: make(chan struct{}, maxLongForms),
		longFormLimiter: loadshed.NewKeyLimiter(maxLongFormsPerNetwork),
		uploads:         loadshed.NewKeyLimiter(maxUploadsPerPerson), routeMux: http.NewServeMux(), routes: map[string]Route{},
	}
	s.sessions = newSessions(o, s.ServerError)
	return s, nil
}

// WithVisitor wraps the pages. It adds the visitor to requests, and rejects cross-origin requests that could change
// data.
func (s *Shell) WithVisitor(pages http.Handler) http.Handler {
	p := http.NewCrossOriginProtection()
	// Behind a proxy, the Host of a request may differ from the host in PublicURL.
	if u, err := url.Parse(s.PublicURL); err == nil && u.Host != "" {
		_ = p.AddTrustedOrigin(u.Scheme + "://" + u.Host) // an invalid origin matches nothing
	}
	p.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.ShowMessage(w, r, http.StatusForbidden, "Action not completed",
			"This request came from another site. Nothing was changed.")
	}))
	return p.Handler(s.recordVisit(s.sessions.manager.LoadAndSave(s.identify(s.requireText(s.followTeamLink(pages))))))
}

// ContentSecurityPolicy is the value of the header Content-Security-Policy. It allows only resources from this origin
// and forbids inline scripts and styles.
const ContentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; " +
	"font-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// permissionsPolicy is the Permissions-Policy (W3C), which disables unused browser features.
const permissionsPolicy = "accelerometer=(), camera=(), display-capture=(), encrypted-media=(), geolocation=(), " +
	"gyroscope=(), hid=(), idle-detection=(), local-fonts=(), magnetometer=(), microphone=(), midi=(), payment=(), " +
	"screen-wake-lock=(), serial=(), usb=(), xr-spatial-tracking=(), clipboard-write=(self), " +
	"publickey-credentials-create=(self), publickey-credentials-get=(self)"

// openerPolicy returns the Cross-Origin-Opener-Policy of a path. Applications open the OAuth consent page in a new
// window and learn the outcome through that window, so the sign-in and consent pages must keep their opener.
func openerPolicy(path string) string {
	if path == "/oauth/authorize" || path == "/sign-in" || strings.HasPrefix(path, "/sign-in/") {
		return "unsafe-none"
	}
	return "same-origin"
}

// SecurityHeaders wraps a handler. It sets the security header fields that are specific to pages, and Cache-Control.
func SecurityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", ContentSecurityPolicy)
		h.Set("Cross-Origin-Opener-Policy", openerPolicy(r.URL.Path))
		h.Set("Permissions-Policy", permissionsPolicy)
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// Client returns an identifier of the client: its IPv4 address or IPv6 network.
func (s *Shell) Client(r *http.Request) string { return s.proxies.client(r) }

// NotFound writes the error page for a path that does not exist or that the visitor must not see.
func (s *Shell) NotFound(w http.ResponseWriter, r *http.Request) {
	s.ShowMessage(w, r, http.StatusNotFound, "Not found", "This page doesn’t exist, or you don’t have access to it.")
}

// ServerError logs an error and writes an error page. It does nothing if the client has disconnected.
func (s *Shell) ServerError(w http.ResponseWriter, r *http.Request, err error) {
	if IsClientGone(r) {
		return // the client has disconnected
	}
	if err := s.AsUnavailable(r, err); apierr.Is(err, apierr.Unavailable) {
		s.showUnavailable(w, r, err)
		return
	}
	s.Log.ErrorContext(r.Context(), "page failed", "method", r.Method, "route", r.Pattern, "error", err)
	s.ShowMessage(w, r, http.StatusInternalServerError, "Something went wrong",
		"An error occurred on our side. Try again in a moment.")
}

// ShowError writes the error page for an error from a service. Missing items and inaccessible items get the same page.
func (s *Shell) ShowError(w http.ResponseWriter, r *http.Request, err error) {
	apiErr := apierr.FromError(err)
	switch apiErr.Code {
	case apierr.NotFound:
		s.NotFound(w, r)
	case apierr.Internal, apierr.Unavailable:
		s.ServerError(w, r, err)
	default:
		s.ShowText(w, r, StatusOf(err), "Action not completed", s.Detail(r, err))
	}
}

// StatusOf returns the HTTP status of an error.
func StatusOf(err error) int { return problem.FromError(err, "").Status }
