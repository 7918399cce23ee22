// Package web is the app in the browser: the pages on which a person uploads files and connects accounts,
// the one on which a client approves a post, the media's own addresses, and the links by which machines upload and
// networks fetch. What every page stands in is package shell; further pages are packages of their own beside it. It
// works without scripts, but for showing progress.
package web

import (
	"net/http"
	"slices"

	"pressroom/internal/api/problem"
	"pressroom/internal/auth/oauth"
	"pressroom/internal/auth/oidc"
	"pressroom/internal/auth/passkey"
	"pressroom/internal/auth/totp"
	"pressroom/internal/domain/account"
	"pressroom/internal/domain/analytics"
	"pressroom/internal/domain/delivery"
	departure "pressroom/internal/domain/erasure"
	"pressroom/internal/domain/hashtag/list"
	"pressroom/internal/domain/job"
	"pressroom/internal/domain/media"
	"pressroom/internal/domain/notification"
	"pressroom/internal/domain/post"
	"pressroom/internal/domain/report"
	"pressroom/internal/domain/team"
	"pressroom/internal/domain/voice"
	"pressroom/internal/platform/loadshed"
	accountpages "pressroom/internal/web/account"
	"pressroom/internal/web/accounts"
	"pressroom/internal/web/compose"
	"pressroom/internal/web/consent"
	erasurepages "pressroom/internal/web/erasure"
	"pressroom/internal/web/hashtags"
	"pressroom/internal/web/library"
	"pressroom/internal/web/notifications"
	"pressroom/internal/web/operator"
	"pressroom/internal/web/posts"
	"pressroom/internal/web/reference"
	"pressroom/internal/web/reports"
	"pressroom/internal/web/settings"
	"pressroom/internal/web/shell"
	"pressroom/internal/web/voices"
)

// Options say what the app stands on.
type Options struct {
	Frame     shell.Options
	Library   Library
	Connector *account.Connector
	Approvals *post.Approvals
	Posts     *post.Service
	Delivery  *delivery.Service
	Jobs      *job.Store
	Reports   *report.Service
	Insight   *analytics.Service
	Lists     *list.Service
	Voices    *voice.Service
	Media     *media.Service
	Settings  settings.Services
	Operator  operator.Services
	Leaving   *departure.Service
	Programs  *oauth.Service // by it people let assistants in
	Notices   *notification.Service
	Describe  func() ([]byte, error) // gives the OpenAPI document, of which the reference is made
	Directory *oidc.Directory        // by which people may sign in; nil for none
	// SecurityContact is a URI by which vulnerabilities are reported; empty for none.
	SecurityContact string
	TOTP            *totp.Service
}

// App answers for every address that is neither the API's nor the tools'.
type App struct {
	*shell.Frame
	Options

	account   *accountpages.Part
	reference *reference.Part
	handler   http.Handler
	linkFiles *loadshed.Shares // of approval links
}

// New makes the app. Trusted proxies that are no networks are an error.
func New(opts Options) (*App, error) {
	made, err := shell.New(opts.Frame)
	if err != nil {
		return nil, err
	}
	passkeys, err := passkey.New(opts.Frame.DB, opts.Frame.PublicURL)
	if err != nil {
		return nil, err
	}
	a := &App{
		Frame: made, Options: opts, reference: reference.New(made, opts.Describe),
		account:   accountpages.New(made, team.NewSignIns(opts.Frame.Teams), passkeys, opts.Directory, opts.TOTP),
		linkFiles: loadshed.NewShares(maxLinkFiles),
	}
	all, pages := http.NewServeMux(), http.NewServeMux()
	a.Mount(all, a.plain()...)
	a.Mount(pages, a.pages()...)
	pages.HandleFunc("/", a.Missing)
	all.Handle("/", a.People(pages))
	a.handler = shell.Guard(made.Roomed(all))
	return a, nil
}

// Routes are the addresses that the app answers at. All others are not there.
func (a *App) Routes() []shell.Route { return append(a.plain(), a.pages()...) }

// plain are the addresses that do not know who asks.
func (a *App) plain() []shell.Route {
	return append(consent.New(a.Frame, a.Programs).Plain(),
		shell.Route{Pattern: "GET /assets/{name}", For: shell.Anyone, Do: a.Asset, Urgent: true},
		shell.Route{Pattern: "GET /files/{token}/{name}", For: shell.Anyone, Do: a.publicFile, Urgent: true},
		shell.Route{Pattern: "/uploads/{link}", For: shell.Anyone, Do: a.receive, Urgent: true},
	)
}

// pages are the addresses that know who asks.
func (a *App) pages() []shell.Route {
	return slices.Concat(
		a.own(),
		a.account.Routes(),
		compose.New(a.Frame, a.Posts, a.Approvals, a.Library).Routes(),
		posts.New(a.Frame, a.Posts, a.Approvals, a.Delivery, a.Jobs, a.Media).Routes(),
		reports.New(a.Frame, a.Reports).Routes(),
		accounts.New(a.Frame, a.Connector, a.Posts, a.Insight).Routes(),
		library.New(a.Frame, a.Media, a.Posts).Routes(),
		hashtags.New(a.Frame, a.Lists, a.Jobs).Routes(),
		voices.New(a.Frame, a.Voices).Routes(),
		settings.New(a.Frame, a.Settings).Routes(),
		operator.New(a.Frame, a.Operator).Routes(),
		erasurepages.New(a.Frame, a.Leaving).Routes(),
		consent.New(a.Frame, a.Programs).Routes(),
		a.reference.Routes(),
		notifications.New(a.Frame, a.Notices).Routes(),
	)
}

// own are the addresses whose pages are in this package.
func (a *App) own() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /{$}", For: shell.Anyone, Do: a.home},
		{Pattern: "GET " + securityPath, For: shell.Anyone, Do: a.securityText, OneFactor: true},
		{Pattern: "GET " + problem.ReferencePath, For: shell.Anyone, Do: a.errorReference, OneFactor: true},
		{Pattern: "POST /team", For: shell.People, Do: a.switchTeam},
		{Pattern: "GET /upload/{batch}", For: shell.People, Do: a.uploadPage},
		// a script is told otherwise than a person
		{Pattern: "POST /upload/{batch}/files", For: shell.Anyone, Do: a.upload, Urgent: true},
		{Pattern: "POST /upload/{batch}/done", For: shell.People, Do: a.uploadDone},
		{Pattern: "GET /connect/{token}", For: shell.People, Do: a.connectPage},
		{Pattern: "POST /connect/{token}", For: shell.People, Do: a.connect},
		{Pattern: "GET /connect/callback/{platform}", For: shell.Anyone, Do: a.connectReturn},
		{Pattern: "GET /connect/choose/{attempt}", For: shell.People, Do: a.choicePage},
		{Pattern: "POST /connect/choose/{attempt}", For: shell.People, Do: a.choose},
		{Pattern: "GET /connected/{account}", For: shell.People, Do: a.connectedPage},
		{Pattern: "GET /approval/{token}", For: shell.Anyone, Do: a.approvalPage, OneFactor: true},
		{Pattern: "POST /approval/{token}", For: shell.Anyone, Do: a.decide, OneFactor: true},
		{Pattern: "GET /approval/{token}/media/{id}", For: shell.Anyone, Do: a.approvalPicture, OneFactor: true},
		{Pattern: "GET /approval/{token}/images/{id}", For: shell.Anyone, Do: a.approvalImage, Urgent: true, OneFactor: true}, // bounded for each link
		{Pattern: "GET /approval/{token}/videos/{id}", For: shell.Anyone, Do: a.approvalVideo, Urgent: true, OneFactor: true}, // bounded for each link
		// as above
		{Pattern: "POST /media/{id}/description", For: shell.Anyone, Do: a.describe},
		{Pattern: "GET /media/{id}/file", For: shell.People, Do: a.mediaFile(false), Urgent: true},
		{Pattern: "GET /media/{id}/original", For: shell.People, Do: a.originalFile, Urgent: true},
		{Pattern: "GET /media/{id}/thumbnail", For: shell.People, Do: a.mediaFile(true)},
	}
}

func (a *App) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.handler.ServeHTTP(w, r) }
