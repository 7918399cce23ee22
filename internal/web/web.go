// Package web is the app in the browser: signing in, the pages on which a person uploads files and connects accounts,
// the one on which a client approves a post, the media's own addresses, and the links by which machines upload and
// networks fetch. It works without scripts, but for showing progress.
package web

import (
	"log/slog"
	"net/http"
	"net/url"

	"pressroom/internal/db"
	"pressroom/internal/fault"
	"pressroom/internal/post"
	"pressroom/internal/problem"
	"pressroom/internal/social"
	"pressroom/internal/team"
)

// Options say what the app stands on.
type Options struct {
	PublicURL string // the service's address, without a slash at its end; cookies are for HTTPS alone where it begins with https:
	Teams     *team.Service
	Library   Library
	Connector *social.Connector
	Approvals *post.Approvals
	// TrustedProxies are networks whose X-Forwarded-For is believed: it tells guessing clients apart.
	TrustedProxies []string
	DB             *db.DB // sessions lie there, and its clock is theirs
	Log            *slog.Logger
}

// App answers for every address that is neither the API's nor the tools'.
type App struct {
	opts     Options
	proxies  proxies
	signIns  *team.SignIns
	sessions *sessions
	handler  http.Handler
}

// New makes the app. Trusted proxies that are no networks are an error.
func New(opts Options) (*App, error) {
	trusted, err := readProxies(opts.TrustedProxies)
	if err != nil {
		return nil, err
	}
	a := &App{opts: opts, proxies: trusted, signIns: team.NewSignIns(opts.Teams)}
	a.sessions = newSessions(opts, a.broken)
	all := http.NewServeMux()
	all.HandleFunc("GET /assets/{name}", a.asset)
	all.HandleFunc("GET /files/{token}/{name}", a.publicFile)
	all.HandleFunc("/uploads/{link}", a.receive)
	all.Handle("/", a.ownOrigin().Handler(a.sessions.manager.LoadAndSave(a.recognise(a.pages()))))
	a.handler = all
	return a, nil
}

// ownOrigin refuses what pages of other sites make a browser send, but for reads.
func (a *App) ownOrigin() *http.CrossOriginProtection {
	p := http.NewCrossOriginProtection()
	// A proxy in front may ask for another host than the browser did.
	if u, err := url.Parse(a.opts.PublicURL); err == nil && u.Host != "" {
		_ = p.AddTrustedOrigin(u.Scheme + "://" + u.Host) // what is no origin is nobody's
	}
	p.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.show(w, r, http.StatusForbidden, "notice", "Not done", notice{"This came from another site. Nothing was changed."})
	}))
	return p
}

// pages are the addresses that know who asks.
func (a *App) pages() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", a.home)
	mux.HandleFunc("GET "+problem.ReferencePath, a.errorReference)
	mux.HandleFunc("GET /sign-in", a.signInPage)
	mux.HandleFunc("POST /sign-in", a.signIn)
	mux.HandleFunc("POST /sign-out", a.signOut)
	mux.HandleFunc("POST /team", a.forPeople(a.switchTeam))
	mux.HandleFunc("GET /upload/{batch}", a.forPeople(a.uploadPage))
	mux.HandleFunc("POST /upload/{batch}/files", a.upload)
	mux.HandleFunc("POST /upload/{batch}/done", a.forPeople(a.uploadDone))
	mux.HandleFunc("GET /connect/{token}", a.forPeople(a.connectPage))
	mux.HandleFunc("POST /connect/{token}", a.forPeople(a.connect))
	mux.HandleFunc("GET /connect/callback/{platform}", a.connectReturn)
	mux.HandleFunc("GET /connect/choose/{attempt}", a.forPeople(a.choicePage))
	mux.HandleFunc("POST /connect/choose/{attempt}", a.forPeople(a.choose))
	mux.HandleFunc("GET /connected/{account}", a.forPeople(a.connectedPage))
	mux.HandleFunc("GET /approval/{token}", a.approvalPage)
	mux.HandleFunc("POST /approval/{token}", a.decide)
	mux.HandleFunc("GET /approval/{token}/media/{id}", a.approvalPicture)
	mux.HandleFunc("POST /media/{id}/description", a.describe)
	mux.HandleFunc("GET /media/{id}/file", a.forPeople(a.mediaFile(false)))
	mux.HandleFunc("GET /media/{id}/thumbnail", a.forPeople(a.mediaFile(true)))
	mux.HandleFunc("/", a.missing)
	return mux
}

// pagePolicy lets a page have what comes from our own address and is no part of the page itself.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

func (a *App) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	a.handler.ServeHTTP(w, r)
}

// missing is the answer of every address that is not there, or not there for this person.
func (a *App) missing(w http.ResponseWriter, r *http.Request) {
	a.show(w, r, http.StatusNotFound, "notice", "Not found", notice{"There is no such page, or it is not for you."})
}

// broken shows that something failed, and logs what.
func (a *App) broken(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // nobody is there to be told, and nothing of ours failed
	}
	a.opts.Log.ErrorContext(r.Context(), "a page failed", "method", r.Method, "route", r.Pattern, "error", err)
	a.show(w, r, http.StatusInternalServerError, "notice", "Something failed", notice{"Something failed on our side. Try again in a moment."})
}

// refuse shows what came back from a service. What is not there and what one may not see are the same.
func (a *App) refuse(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.Of(err)
	switch f.Code {
	case fault.NotFound:
		a.missing(w, r)
	case fault.Internal:
		a.broken(w, r, err)
	default:
		a.show(w, r, statusOf(err), "notice", "Not done", notice{f.Detail})
	}
}

// notice is a page of one sentence.
type notice struct{ Text string }
