// Package web is the app in the browser: the pages on which a person uploads files and connects accounts,
// the one on which a client approves a post, the media's own addresses, and the links by which machines upload and
// networks fetch. What every page stands in is package frame; further pages are packages of their own beside it. It works
// without scripts, but for showing progress.
package web

import (
	"net/http"

	"pressroom/internal/delivery"
	"pressroom/internal/directory"
	"pressroom/internal/hashtag/list"
	"pressroom/internal/insight"
	"pressroom/internal/job"
	departure "pressroom/internal/leaving"
	"pressroom/internal/media"
	"pressroom/internal/notice"
	"pressroom/internal/passkey"
	"pressroom/internal/post"
	"pressroom/internal/problem"
	"pressroom/internal/report"
	"pressroom/internal/social"
	"pressroom/internal/team"
	"pressroom/internal/voice"
	"pressroom/internal/web/account"
	"pressroom/internal/web/accounts"
	"pressroom/internal/web/compose"
	"pressroom/internal/web/frame"
	"pressroom/internal/web/hashtags"
	leavingpages "pressroom/internal/web/leaving"
	"pressroom/internal/web/library"
	"pressroom/internal/web/notices"
	"pressroom/internal/web/operator"
	"pressroom/internal/web/posts"
	"pressroom/internal/web/reference"
	"pressroom/internal/web/reports"
	"pressroom/internal/web/settings"
	"pressroom/internal/web/voices"
)

// Options say what the app stands on.
type Options struct {
	Frame     frame.Options
	Library   Library
	Connector *social.Connector
	Approvals *post.Approvals
	Posts     *post.Service
	Delivery  *delivery.Service
	Jobs      *job.Store
	Reports   *report.Service
	Insight   *insight.Service
	Lists     *list.Service
	Voices    *voice.Service
	Media     *media.Service
	Settings  settings.Services
	Operator  operator.Services
	Leaving   *departure.Service
	Notices   *notice.Service
	// Description is the OpenAPI document, of which the reference is made.
	Description []byte
	Directory   *directory.Directory // by which people may sign in; nil for none
}

// App answers for every address that is neither the API's nor the tools'.
type App struct {
	*frame.Frame
	Options

	account   *account.Part
	reference *reference.Part
	handler   http.Handler
}

// New makes the app. Trusted proxies that are no networks are an error.
func New(opts Options) (*App, error) {
	made, err := frame.New(opts.Frame)
	if err != nil {
		return nil, err
	}
	passkeys, err := passkey.New(opts.Frame.DB, opts.Frame.PublicURL)
	if err != nil {
		return nil, err
	}
	described, err := reference.New(made, opts.Description)
	if err != nil {
		return nil, err
	}
	a := &App{Frame: made, Options: opts, reference: described, account: account.New(made, team.NewSignIns(opts.Frame.Teams), passkeys, opts.Directory)}
	all := http.NewServeMux()
	all.HandleFunc("GET /assets/{name}", a.Asset)
	all.HandleFunc("GET /files/{token}/{name}", a.publicFile)
	all.HandleFunc("/uploads/{link}", a.receive)
	all.Handle("/", a.People(a.pages()))
	a.handler = frame.Guard(all)
	return a, nil
}

// pages are the addresses that know who asks.
func (a *App) pages() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", a.home)
	mux.HandleFunc("GET "+problem.ReferencePath, a.errorReference)
	a.Mount(mux, a.account.Routes()...)
	a.Mount(mux, compose.New(a.Frame, a.Posts, a.Approvals, a.Library).Routes()...)
	a.Mount(mux, posts.New(a.Frame, a.Posts, a.Approvals, a.Delivery, a.Jobs).Routes()...)
	a.Mount(mux, reports.New(a.Frame, a.Reports).Routes()...)
	a.Mount(mux, accounts.New(a.Frame, a.Connector, a.Posts, a.Insight).Routes()...)
	a.Mount(mux, library.New(a.Frame, a.Media).Routes()...)
	a.Mount(mux, hashtags.New(a.Frame, a.Lists, a.Jobs).Routes()...)
	a.Mount(mux, voices.New(a.Frame, a.Voices).Routes()...)
	a.Mount(mux, settings.New(a.Frame, a.Settings).Routes()...)
	a.Mount(mux, operator.New(a.Frame, a.Operator).Routes()...)
	a.Mount(mux, leavingpages.New(a.Frame, a.Leaving).Routes()...)
	a.Mount(mux, a.reference.Routes()...)
	a.Mount(mux, notices.New(a.Frame, a.Notices).Routes()...)
	mux.HandleFunc("POST /team", a.ForPeople(a.switchTeam))
	mux.HandleFunc("GET /upload/{batch}", a.ForPeople(a.uploadPage))
	mux.HandleFunc("POST /upload/{batch}/files", a.upload)
	mux.HandleFunc("POST /upload/{batch}/done", a.ForPeople(a.uploadDone))
	mux.HandleFunc("GET /connect/{token}", a.ForPeople(a.connectPage))
	mux.HandleFunc("POST /connect/{token}", a.ForPeople(a.connect))
	mux.HandleFunc("GET /connect/callback/{platform}", a.connectReturn)
	mux.HandleFunc("GET /connect/choose/{attempt}", a.ForPeople(a.choicePage))
	mux.HandleFunc("POST /connect/choose/{attempt}", a.ForPeople(a.choose))
	mux.HandleFunc("GET /connected/{account}", a.ForPeople(a.connectedPage))
	mux.HandleFunc("GET /approval/{token}", a.approvalPage)
	mux.HandleFunc("POST /approval/{token}", a.decide)
	mux.HandleFunc("GET /approval/{token}/media/{id}", a.approvalPicture)
	mux.HandleFunc("POST /media/{id}/description", a.describe)
	mux.HandleFunc("GET /media/{id}/file", a.ForPeople(a.mediaFile(false)))
	mux.HandleFunc("GET /media/{id}/thumbnail", a.ForPeople(a.mediaFile(true)))
	mux.HandleFunc("/", a.Missing)
	return mux
}

func (a *App) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.handler.ServeHTTP(w, r) }
