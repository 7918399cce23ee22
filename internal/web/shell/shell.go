// Package shell is what every page of the app stands in: who asks, the layout around a page, its stylesheet and
// scripts, forms, and operations run for the person who is signed in. The pages themselves are packages beside it.
package shell

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"pressroom/internal/api/problem"
	"pressroom/internal/apierr"
	"pressroom/internal/core/operation"
	"pressroom/internal/core/pipeline"
	"pressroom/internal/domain/team"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/loadshed"
)

// Options say what the frame stands on.
type Options struct {
	// the service's address, without a slash at its end; cookies are for HTTPS alone where it begins with https:
	PublicURL string
	Teams     *team.Service
	Registry  *operation.Registry
	Pipeline  *pipeline.Pipeline
	Letters   *team.Letters // mails links; nil if there is no mail server
	// TrustedProxies are networks whose X-Forwarded-For is believed: it tells guessing clients apart.
	TrustedProxies []string
	DB             *db.DB // sessions lie there, and its clock is theirs
	Log            *slog.Logger
	// Unread counts the notices that a person has not read, for every page to tell; nil where there are none.
	Unread func(ctx context.Context, person int64) (int, error)
	Rooms  loadshed.Rooms // in which requests take places; rooms of its own where it has none
	// Away tells whether an error says that what the node stands on cannot be reached; never where nil.
	Away func(error) bool
	// Answers tells whether what the node stands on answers now; never where nil.
	Answers func() bool
	// SecondFactor is whom the operator requires to have a second factor; nobody if empty.
	SecondFactor Requirement
}

// Frame answers around the pages.
type Frame struct {
	Options

	proxies   proxies
	untrusted untrusted
	sessions  *sessions
	long      chan struct{}    // a value for each long form in memory
	longBy    *loadshed.Shares // the same, by network
	uploads   *loadshed.Shares // requests that bring files, by person
	known     *http.ServeMux   // of all addresses that are mounted, to look one up
	routes    map[string]Route // the same, by their patterns
}

// New makes the frame. Trusted proxies that are no networks are an error.
func New(o Options) (*Frame, error) {
	trusted, err := readProxies(o.TrustedProxies)
	if err != nil {
		return nil, err
	}
	if o.Rooms.Pages == nil {
		o.Rooms = loadshed.NewRooms(0)
	}
	if o.Away == nil {
		o.Away = func(error) bool { return false }
	}
	if o.Answers == nil {
		o.Answers = func() bool { return false }
	}
	f := &Frame{
		Options: o, proxies: trusted, long: make(chan struct{}, longForms), longBy: loadshed.NewShares(longPerNetwork),
		uploads: loadshed.NewShares(uploadsPerPerson), known: http.NewServeMux(), routes: map[string]Route{},
	}
	f.sessions = newSessions(o, f.Broken)
	return f, nil
}

// People lets pages know who asks, and refuses what pages of other sites make a browser send, but for reads.
func (f *Frame) People(pages http.Handler) http.Handler {
	p := http.NewCrossOriginProtection()
	// A proxy in front may ask for another host than the browser did.
	if u, err := url.Parse(f.PublicURL); err == nil && u.Host != "" {
		_ = p.AddTrustedOrigin(u.Scheme + "://" + u.Host) // what is no origin is nobody's
	}
	p.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.Notice(w, r, http.StatusForbidden, "Not done", "This came from another site. Nothing was changed.")
	}))
	return p.Handler(f.noting(f.sessions.manager.LoadAndSave(f.recognize(f.textual(f.led(pages))))))
}

// Policy lets a page have what comes from our own address and is no part of the page itself.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; " +
	"connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// permissions denies pages every browser feature that they do not use (Permissions Policy, W3C).
const permissions = "accelerometer=(), camera=(), display-capture=(), encrypted-media=(), geolocation=(), " +
	"gyroscope=(), hid=(), idle-detection=(), " +
	"local-fonts=(), magnetometer=(), microphone=(), midi=(), payment=(), screen-wake-lock=(), serial=(), usb=(), " +
	"xr-spatial-tracking=(), " +
	"clipboard-write=(self), publickey-credentials-create=(self), publickey-credentials-get=(self)"

// openerPolicy returns the Cross-Origin-Opener-Policy of a path. Applications open the consent page in a window of
// their own and are told the outcome through it: the pages of that flow must not cut the tie to their opener.
func openerPolicy(path string) string {
	if path == "/oauth/authorize" || path == "/sign-in" || strings.HasPrefix(path, "/sign-in/") {
		return "unsafe-none"
	}
	return "same-origin"
}

// Guard sets the header fields of every answer of the app, beside those of every answer of the server.
func Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", Policy)
		h.Set("Cross-Origin-Opener-Policy", openerPolicy(r.URL.Path))
		h.Set("Permissions-Policy", permissions)
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// Client tells clients apart by their addresses.
func (f *Frame) Client(r *http.Request) string { return f.proxies.client(r) }

// Missing is the answer of every address that is not there, or not there for this person.
func (f *Frame) Missing(w http.ResponseWriter, r *http.Request) {
	f.Notice(w, r, http.StatusNotFound, "Not found", "There is no such page, or it is not for you.")
}

// Broken shows that something failed, and logs what.
func (f *Frame) Broken(w http.ResponseWriter, r *http.Request, err error) {
	if Gone(r) {
		return // nobody is there to be told, and nothing of ours failed
	}
	if err := f.Told(r, err); apierr.Is(err, apierr.Unavailable) {
		f.later(w, r, err)
		return
	}
	f.Log.ErrorContext(r.Context(), "a page failed", "method", r.Method, "route", r.Pattern, "error", err)
	f.Notice(w, r, http.StatusInternalServerError, "Something failed",
		"Something failed on our side. Try again in a moment.")
}

// Refuse shows what came back from a service. What is not there and what one may not see are the same.
func (f *Frame) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	told := apierr.Of(err)
	switch told.Code {
	case apierr.NotFound:
		f.Missing(w, r)
	case apierr.Internal, apierr.Unavailable:
		f.Broken(w, r, err)
	default:
		f.Notice(w, r, StatusOf(err), "Not done", told.Detail)
	}
}

// StatusOf is the HTTP status of a refusal.
func StatusOf(err error) int { return problem.Of(err, "").Status }
