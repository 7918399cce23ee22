// Package web is the browser app. It serves the home page, the help, the pages for uploading files and connecting
// accounts, media files, and the links through which programs upload files and networks download them. Package shell
// has the common parts, and subpackages serve the other pages. The pages work without scripts, except for features
// that need one, such as passkeys and progress bars.
package web

import (
	"context"
	"net/http"
	"slices"

	"pressroom.example/pressroom/internal/auth/oauth"
	"pressroom.example/pressroom/internal/auth/oidc"
	"pressroom.example/pressroom/internal/auth/passkey"
	"pressroom.example/pressroom/internal/auth/totp"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/domain/erasure"
	"pressroom.example/pressroom/internal/domain/hashtag/list"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/approval"
	"pressroom.example/pressroom/internal/domain/report"
	"pressroom.example/pressroom/internal/domain/report/sharelink"
	"pressroom.example/pressroom/internal/domain/report/subscription"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/domain/voice"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/loadshed"
	accountpages "pressroom.example/pressroom/internal/web/account"
	"pressroom.example/pressroom/internal/web/accounts"
	"pressroom.example/pressroom/internal/web/approvals"
	"pressroom.example/pressroom/internal/web/components"
	"pressroom.example/pressroom/internal/web/compose"
	"pressroom.example/pressroom/internal/web/consent"
	erasurepages "pressroom.example/pressroom/internal/web/erasure"
	"pressroom.example/pressroom/internal/web/guides"
	"pressroom.example/pressroom/internal/web/hashtags"
	"pressroom.example/pressroom/internal/web/library"
	"pressroom.example/pressroom/internal/web/live"
	"pressroom.example/pressroom/internal/web/notifications"
	"pressroom.example/pressroom/internal/web/operator"
	"pressroom.example/pressroom/internal/web/posts"
	"pressroom.example/pressroom/internal/web/reference"
	"pressroom.example/pressroom/internal/web/reports"
	"pressroom.example/pressroom/internal/web/search"
	"pressroom.example/pressroom/internal/web/settings"
	"pressroom.example/pressroom/internal/web/shell"
	"pressroom.example/pressroom/internal/web/unsaved"
	"pressroom.example/pressroom/internal/web/voices"
)

// Options configure the app.
type Options struct {
	Shell         shell.Options
	Library       Library
	Connector     *account.Connector
	Approvals     *approval.Service
	Posts         *post.Service
	Delivery      *delivery.Service
	Jobs          *job.Store
	Reports       *report.Service
	ReportLinks   *sharelink.Service
	ReportMails   *subscription.Service
	Analytics     *analytics.Service
	Lists         *list.Service
	Voices        *voice.Service
	Media         *media.Service
	Settings      settings.Services
	Operator      operator.Services
	Erasure       *erasure.Service
	OAuth         *oauth.Service // authorizes assistants
	Notifications *notification.Service
	Describe      func() ([]byte, error) // returns the OpenAPI document, from which the reference is generated
	Directory     *oidc.Directory        // for sign-in; nil if not configured
	// SecurityContact is a URI for vulnerability reports; empty if there is none.
	SecurityContact string
	SandboxBluesky  network.Credentials // the credentials that the connect page suggests; empty outside the sandbox
	Components      bool                // serve the page that shows all UI components
	TOTP            *totp.Service
	SignIns         *team.SignIns
	FirstRun        *team.FirstRun
	Feed            *live.Feed // notifies open pages of changes
}

// App serves all paths except those of the API and MCP.
type App struct {
	*shell.Shell
	Options

	account   *accountpages.Handlers
	reference *reference.Handlers
	reports   *reports.Handlers
	handler   http.Handler
	linkFiles *loadshed.KeyLimiter // limits concurrent downloads per approval link
}

// New returns the app. It returns an error if an option is invalid, such as a trusted proxy that is not an IP
// network.
func New(opts Options) (*App, error) {
	sh, err := shell.New(opts.Shell)
	if err != nil {
		return nil, err
	}
	passkeys, err := passkey.New(opts.Shell.DB, opts.Shell.PublicURL)
	if err != nil {
		return nil, err
	}
	a := &App{
		Shell: sh, Options: opts, reference: reference.New(sh, opts.Describe),
		reports: reports.New(sh, opts.Reports, opts.ReportLinks, opts.ReportMails, opts.Media),
		account: accountpages.New(
			sh, opts.SignIns, opts.FirstRun, passkeys, opts.Directory, opts.TOTP, opts.SecurityContact),
		linkFiles: loadshed.NewKeyLimiter(maxLinkFiles),
	}
	root, pages := http.NewServeMux(), http.NewServeMux()
	a.Mount(root, a.sessionlessRoutes()...)
	a.Mount(pages, a.pageRoutes()...)
	pages.HandleFunc("/", a.NotFound)
	root.Handle("/", a.WithVisitor(pages))
	a.handler = shell.SecurityHeaders(sh.LimitConcurrency(root))
	return a, nil
}

// SweepUnsavedForms deletes old unsaved forms of posts and returns the number of deleted forms.
func (a *App) SweepUnsavedForms(ctx context.Context) (int64, error) {
	return unsaved.Sweep(ctx, a.DB)
}

// SummarizeReport returns the summary of a team's report for an email in the language l.
func (a *App) SummarizeReport(
	ctx context.Context, l *locale.Language, team int64, id string,
) (subscription.Summary, error) {
	return a.reports.Summarize(ctx, l, team, id)
}

// Routes returns all routes of the app.
func (a *App) Routes() []shell.Route { return append(a.sessionlessRoutes(), a.pageRoutes()...) }

// sessionlessRoutes returns the routes that do not read the visitor's session.
func (a *App) sessionlessRoutes() []shell.Route {
	return append(consent.New(a.Shell, a.OAuth).SessionlessRoutes(),
		shell.Route{Pattern: "GET /assets/{name}", Audience: shell.Anyone, Handler: a.Asset, SkipsSlot: true},
		shell.Route{Pattern: "GET /files/{token}/{name}", Audience: shell.Anyone, Handler: a.publicFile, SkipsSlot: true},
		shell.Route{Pattern: "/uploads/{link}", Audience: shell.Anyone, Handler: a.receive, SkipsSlot: true},
	)
}

// pageRoutes returns the routes that read the visitor's session.
func (a *App) pageRoutes() []shell.Route {
	var dev []shell.Route
	if a.Components {
		dev = components.New(a.Shell).Routes()
	}
	composer := compose.New(a.Shell, a.Posts, a.Approvals, a.Library, a.Operator.Apps, a.Lists, a.Analytics)
	return slices.Concat(
		dev,
		a.packageRoutes(),
		a.account.Routes(),
		composer.Routes(),
		posts.New(a.Shell, a.Posts, a.Approvals, a.Delivery, a.Jobs, a.Media, a.Erasure, a.Analytics).Routes(),
		approvals.New(a.Shell, a.Approvals, a.Posts).Routes(),
		a.reports.Routes(),
		accounts.New(a.Shell, a.Connector, a.Posts, a.Analytics).Routes(),
		library.New(a.Shell, a.Media, a.Posts, composer).Routes(),
		hashtags.New(a.Shell, a.Lists, a.Jobs).Routes(),
		voices.New(a.Shell, a.Voices).Routes(),
		search.New(a.Shell).Routes(),
		settings.New(a.Shell, a.Settings).Routes(),
		operator.New(a.Shell, a.Operator).Routes(),
		erasurepages.New(a.Shell, a.Erasure).Routes(),
		consent.New(a.Shell, a.OAuth).Routes(),
		a.reference.Routes(),
		guides.New(a.Shell).Routes(),
		notifications.New(a.Shell, a.Notifications).Routes(),
		live.New(a.Shell, a.Feed).Routes(),
	)
}

// packageRoutes returns the routes of the pages in this package.
func (a *App) packageRoutes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /{$}", Audience: shell.Anyone, Handler: a.account.RedirectToSetup(a.home)},
		{Pattern: "GET " + securityPath, Audience: shell.Anyone, Handler: a.securityText, AllowsOneFactor: true},
		{Pattern: "GET /docs/app", Audience: shell.Anyone, Handler: a.help, AllowsOneFactor: true},
		{Pattern: "GET /help", Audience: shell.Anyone, Handler: redirectTo("/docs/app"), AllowsOneFactor: true},
		{Pattern: "GET /sign-up", Audience: shell.Anyone, Handler: redirectTo("/sign-in"), AllowsOneFactor: true},
		{Pattern: "GET /forgot-password", Audience: shell.Anyone, Handler: redirectTo("/sign-in"), AllowsOneFactor: true},
		{Pattern: "GET /compose", Audience: shell.Anyone, Handler: redirectTo("/posts/new")},
		{Pattern: "GET /recover", Audience: shell.Anyone, Handler: redirectTo("/sign-in"), AllowsOneFactor: true},
		{Pattern: "POST /checklist/dismiss", Audience: shell.Managers, Handler: a.dismissChecklist},
		{Pattern: "POST /team", Audience: shell.People, Handler: a.switchTeam},
		{Pattern: "GET /upload/{batch}", Audience: shell.People, Handler: a.uploadPage},
		// Open to Anyone: a signed-out script gets an error, and a signed-out person gets the sign-in page.
		{Pattern: "POST /upload/{batch}/files", Audience: shell.Anyone, Handler: a.upload, SkipsSlot: true},
		{Pattern: "POST /upload/{batch}/done", Audience: shell.People, Handler: a.uploadDone},
		{Pattern: "GET /connect/{token}", Audience: shell.People, Handler: a.connectPage},
		{Pattern: "POST /connect/{token}", Audience: shell.People, Handler: a.connect},
		{Pattern: "GET /connect/callback/{platform}", Audience: shell.Anyone, Handler: a.connectReturn},
		{Pattern: "GET /connect/choose/{attempt}", Audience: shell.People, Handler: a.choicePage},
		{Pattern: "POST /connect/choose/{attempt}", Audience: shell.People, Handler: a.choose},
		{Pattern: "GET /connected/{account}", Audience: shell.People, Handler: a.connectedPage},
		{Pattern: "GET /approval/{token}/media/{id}", Audience: shell.Anyone, Handler: a.approvalThumbnail,
			AllowsOneFactor: true},
		{Pattern: "GET /approval/{token}/accounts/{id}", Audience: shell.Anyone, Handler: a.approvalAccount,
			AllowsOneFactor: true},
		// These routes skip the slot because approvalFile limits the downloads per link.
		{Pattern: "GET /approval/{token}/images/{id}", Audience: shell.Anyone, Handler: a.approvalImage, SkipsSlot: true,
			AllowsOneFactor: true},
		{Pattern: "GET /approval/{token}/videos/{id}", Audience: shell.Anyone, Handler: a.approvalVideo, SkipsSlot: true,
			AllowsOneFactor: true},
		{Pattern: "POST /media/{id}/description", Audience: shell.Anyone, Handler: a.describe},
		{Pattern: "GET /media/{id}/file", Audience: shell.People, Handler: a.mediaFile(false), SkipsSlot: true},
		{Pattern: "GET /media/{id}/original", Audience: shell.People, Handler: a.originalFile, SkipsSlot: true},
		{Pattern: "GET /media/{id}/thumbnail", Audience: shell.People, Handler: a.mediaFile(true)},
	}
}

// redirectTo returns a handler that redirects to a page. Its routes are paths that people may guess.
func redirectTo(page string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { shell.Redirect(w, r, page) }
}

func (a *App) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.handler.ServeHTTP(w, r) }
