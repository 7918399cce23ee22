// Package web is the app in the browser: signing in, the pages on which a person uploads files and connects accounts,
// the one on which a client approves a post, the media's own addresses, and the links by which machines upload and
// networks fetch. What every page stands in is package frame; further pages are packages of their own beside it. It works
// without scripts, but for showing progress.
package web

import (
	"net/http"

	"pressroom/internal/post"
	"pressroom/internal/problem"
	"pressroom/internal/social"
	"pressroom/internal/team"
	"pressroom/internal/web/frame"
)

// Options say what the app stands on.
type Options struct {
	Frame     frame.Options
	Library   Library
	Connector *social.Connector
	Approvals *post.Approvals
}

// App answers for every address that is neither the API's nor the tools'.
type App struct {
	*frame.Frame
	Options

	signIns *team.SignIns
	handler http.Handler
}

// New makes the app. Trusted proxies that are no networks are an error.
func New(opts Options) (*App, error) {
	made, err := frame.New(opts.Frame)
	if err != nil {
		return nil, err
	}
	a := &App{Frame: made, Options: opts, signIns: team.NewSignIns(opts.Frame.Teams)}
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
	mux.HandleFunc("GET /sign-in", a.signInPage)
	mux.HandleFunc("POST /sign-in", a.signIn)
	mux.HandleFunc("POST /sign-out", a.signOut)
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
