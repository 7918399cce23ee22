package web

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web/shell"
)

// connectView is the page of a connect link. If the form is shown again after an error, its password field is empty.
type connectView struct {
	account.Offer

	Token, Server, Identifier, Error string

	Sandbox network.Credentials // valid credentials in the sandbox, otherwise empty
}

// blueskyServer is the server of most Bluesky accounts.
const blueskyServer = "https://bsky.social"

// DefaultServer returns the server that the form is prefilled with.
func (v connectView) DefaultServer() string { return cmp.Or(v.Sandbox.Server, blueskyServer) }

// methodHints explains which accounts each sign-in method is for, on networks with several methods. The keys have the
// form "platform/method".
var methodHints = map[string]locale.Key{
	"instagram/instagram": "For business and creator accounts. You sign in with the account itself and need no Facebook Page.",
	"linkedin/":           "For members. Posts appear on your own profile.",
	"linkedin/company":    "For company pages that you administer, and for members.",
	"instagram/facebook":  "For accounts that belong to a Facebook Page. You sign in with a Facebook account that manages the Page.",
}

// methodTitles holds the headings of the same sign-in methods.
var methodTitles = map[string]locale.Key{
	"instagram/instagram": "Sign in with Instagram", "instagram/facebook": "Through a Facebook Page",
	"linkedin/": "Your own profile", "linkedin/company": "A company page",
}

// methodTitle returns the heading of a sign-in method, or "".
func methodTitle(platform, kind string) locale.Key { return methodTitles[platform+"/"+kind] }

// methodHint returns a text that explains which accounts a sign-in method is for, or "".
func methodHint(platform, kind string) locale.Key { return methodHints[platform+"/"+kind] }

// startsWithVowelSound reports whether the indefinite article before a network's name is "an".
func startsWithVowelSound(name string) bool { return name == "X" || strings.HasPrefix(name, "I") }

func (a *App) connectPage(w http.ResponseWriter, r *http.Request) {
	a.showConnect(w, r, http.StatusOK, connectView{Server: cmp.Or(a.SandboxBluesky.Server, blueskyServer)})
}

func (a *App) showConnect(w http.ResponseWriter, r *http.Request, status int, view connectView) {
	view.Token, view.Sandbox = r.PathValue("token"), a.SandboxBluesky
	var err error
	if view.Offer, err = a.Connector.Offer(r.Context(), shell.VisitorOf(r.Context()).ID, view.Token); err != nil {
		a.ShowError(w, r, err)
		return
	}
	if len(view.Methods) > 0 {
		// Browsers apply form-action to every redirect that follows a form, and networks redirect between several
		// hosts.
		formAction := []string{"form-action 'self' https:"}
		for _, method := range view.Methods {
			formAction = append(formAction, method.Origin)
		}
		w.Header().
			Set("Content-Security-Policy",
				strings.Replace(shell.ContentSecurityPolicy, "form-action 'self'", strings.Join(formAction, " "), 1))
	}
	a.ShowTitled(w, r, status, pages["connect"], a.T(r, "Connect %s", shell.NetworkName(view.Platform)), view)
}

// connect redirects the person to the network's sign-in page. If the network has none, it signs in with the submitted
// credentials.
func (a *App) connect(w http.ResponseWriter, r *http.Request) {
	if !a.ReadForm(w, r) {
		return
	}
	ctx, person, token := r.Context(), shell.VisitorOf(r.Context()).ID, r.PathValue("token")
	offer, err := a.Connector.Offer(ctx, person, token)
	switch {
	case err != nil:
		a.ShowError(w, r, err)
	case len(offer.Methods) == 0:
		a.connectWithPassword(w, r, person, token, offer.Platform)
	default:
		redirectURL, err := a.Connector.Begin(ctx, person, token, r.PostForm.Get("kind"))
		if err != nil {
			a.ShowError(w, r, err)
			return
		}
		http.Redirect(w, r, redirectURL, http.StatusSeeOther) //nolint:gosec // the operator configures the network's address
	}
}

// connectWithPassword signs in with the submitted credentials and connects the account.
func (a *App) connectWithPassword(w http.ResponseWriter, r *http.Request, person int64, token, platform string) {
	credentials := network.Credentials{
		Server:     strings.TrimSpace(r.PostForm.Get("server")),
		Identifier: strings.TrimSpace(r.PostForm.Get("identifier")), Password: r.PostForm.Get("password"),
	}
	account, err := a.Connector.SignIn(r.Context(), person, token, credentials)
	a.logRejection(r, platform, err)
	switch f := apierr.FromError(err); {
	case err == nil:
		shell.Redirect(w, r, connectedPath(account))
	case f.IsServerError() || f.Code == apierr.NotFound:
		a.ShowError(w, r, err)
	default:
		a.showConnect(w, r, shell.StatusOf(err),
			connectView{Server: credentials.Server, Identifier: credentials.Identifier, Error: a.Detail(r, err)})
	}
}

// logRejection logs a network's error without its message, which may contain secrets. If the network has not
// approved the app, it also logs what the operator has to do.
func (a *App) logRejection(r *http.Request, platform string, err error) {
	networkErr, ok := errors.AsType[*network.Error](err)
	if !ok {
		return
	}
	attrs := []any{"platform", platform, "class", networkErr.Class, "status", networkErr.Status, "code", networkErr.Code}
	if networkErr.Class == network.AppNotApproved {
		attrs = append(attrs, "next_step", network.NextStep(platform, networkErr.Code))
	}
	a.Log.WarnContext(r.Context(), "connecting an account failed", attrs...)
}

// connectedPath returns the page to show after an account was connected, or connected again.
func connectedPath(a account.Account) string {
	path := "/connected/" + strconv.FormatInt(a.ID, 10)
	if a.Renewed {
		path += "?renewed=1"
	}
	return path
}

// signedOutReturn is shown to signed-out visitors who return from a network. They are not redirected to the sign-in
// page, because its URL would then contain the network's code.
const signedOutReturn = "You are signed out, so no account was connected. Sign in, then open the link again."

// connectReturn handles the redirect back from a network.
func (a *App) connectReturn(w http.ResponseWriter, r *http.Request) {
	v := shell.VisitorOf(r.Context())
	if v == nil {
		a.ShowMessage(w, r, http.StatusUnauthorized, "Action not completed", signedOutReturn)
		return
	}
	q := r.URL.Query()
	platform := r.PathValue("platform")
	result, err := a.Connector.HandleCallback(r.Context(), v.ID,
		account.Callback{
			Platform: platform, State: q.Get("state"), Code: q.Get("code"), Error: q.Get("error"),
		})
	a.logRejection(r, platform, err)
	switch f := apierr.FromError(err); {
	case err != nil && (result.Retry == "" || f.IsServerError() || f.Code == apierr.NotFound):
		a.ShowError(w, r, err)
	case err != nil:
		a.Show(w, r, shell.StatusOf(err), pages["connectend"], "Not connected",
			connectFailure{a.Detail(r, err), account.ConnectPath + result.Retry})
	case result.Choice != 0:
		shell.Redirect(w, r, choicePath(result.Choice))
	default:
		shell.Redirect(w, r, connectedPath(result.Account))
	}
}

// connectFailure is the page that explains why no account was connected. RetryPath is where to start again.
type connectFailure struct{ Text, RetryPath string }

func choicePath(id int64) string { return account.ConnectPath + "choose/" + strconv.FormatInt(id, 10) }

// choiceView is the page where a person chooses one of several accounts.
type choiceView struct {
	account.Choice

	Page string // path of this page
}

func (a *App) choicePage(w http.ResponseWriter, r *http.Request) {
	id, err := shell.PathID(r, "attempt")
	if err != nil {
		a.ShowError(w, r, err)
		return
	}
	choice, err := a.Connector.Choice(r.Context(), shell.VisitorOf(r.Context()).ID, id)
	if err != nil {
		a.ShowError(w, r, err)
		return
	}
	a.Show(w, r, http.StatusOK, pages["connectchoice"], "Choose an account", choiceView{choice, choicePath(id)})
}

func (a *App) choose(w http.ResponseWriter, r *http.Request) {
	if !a.ReadForm(w, r) {
		return
	}
	id, err := shell.PathID(r, "attempt")
	if err != nil {
		a.ShowError(w, r, err)
		return
	}
	index, err := strconv.Atoi(r.PostForm.Get("account"))
	if err != nil {
		index = -1 // no choice
	}
	account, err := a.Connector.Choose(r.Context(), shell.VisitorOf(r.Context()).ID, id, index)
	if err != nil {
		a.ShowError(w, r, err)
		return
	}
	shell.Redirect(w, r, connectedPath(account))
}

// connectedView is the page of a connected account.
type connectedView struct {
	account.Account

	TeamName string
}

func (a *App) connectedPage(w http.ResponseWriter, r *http.Request) {
	id, err := shell.PathID(r, "account")
	if err != nil {
		a.ShowError(w, r, err)
		return
	}
	account, team, err := a.Connector.FindConnected(r.Context(), shell.VisitorOf(r.Context()).ID, id)
	if err != nil {
		a.ShowError(w, r, err)
		return
	}
	account.Renewed = r.URL.Query().Has("renewed")
	a.Show(w, r, http.StatusOK, pages["connected"], "Account", connectedView{account, team})
}
