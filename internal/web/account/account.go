// Package account serves the pages for signing in with a password, a passkey or the directory, accepting invitations,
// setting a new password with a recovery link, and managing one's own account.
package account

import (
	"embed"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/oidc"
	"pressroom.example/pressroom/internal/auth/passkey"
	"pressroom.example/pressroom/internal/auth/totp"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

// credentialKinds maps kinds of credentials to their display names.
var credentialKinds = map[string]locale.Key{
	team.IssuedKey: "API key", team.IssuedInvitation: "Invitation", "Passkey": "Passkey", "Assistant": "Assistant",
	"Authenticator app": "Authenticator app",
}

var pages = shell.Parse(files, nil, func(l *locale.Language) template.FuncMap {
	return template.FuncMap{"credential": func(kind string) string { return l.T(credentialKinds[kind]) }}
})

// Handlers serves the account pages.
type Handlers struct {
	*shell.Shell

	signIns   *team.SignIns
	firstRun  *team.FirstRun
	passkeys  *passkey.Service
	directory *oidc.Directory // nil if not configured
	totp      *totp.Service
	contact   string // contact URI of the operator; "" if not configured
}

// New returns the handlers. directory may be nil, and contact may be empty.
func New(
	f *shell.Shell, signIns *team.SignIns, firstRun *team.FirstRun, passkeys *passkey.Service, directory *oidc.Directory,
	apps *totp.Service, contact string,
) *Handlers {
	return &Handlers{f, signIns, firstRun, passkeys, directory, apps, contact}
}

// Routes returns the routes of the pages.
func (p *Handlers) Routes() []shell.Route {
	stepUp := p.signInMethods().Local // without a local method, nobody can sign in again to use these routes
	routes := []shell.Route{
		{Pattern: "GET /setup", For: shell.Anyone, Do: p.unlessSetUp(p.firstRunPage)},
		{Pattern: "POST /setup", For: shell.Anyone, Do: p.unlessSetUp(p.setUp)},
		{Pattern: "GET /sign-in", For: shell.Anyone, Do: p.RedirectToSetup(p.signInPage)},
		{Pattern: "POST /sign-in", For: shell.Anyone, Do: p.signIn},
		{Pattern: "POST /sign-in/passkey", For: shell.Anyone, Do: p.requireLocal(p.signInByPasskey)},
		{Pattern: "POST /sign-in/passkey/options", For: shell.Anyone, Do: p.requireLocal(p.beginPasskeySignIn)},
		{Pattern: "GET /sign-in/directory", For: shell.Anyone, Do: p.redirectToDirectory},
		{Pattern: "GET " + oidc.ReturnPath, For: shell.Anyone, Do: p.returnFromDirectory},
		{Pattern: "POST /sign-in/directory/join", For: shell.Anyone, Do: p.joinChosen},
		{Pattern: "POST /account/invitations/{invitation}/accept", For: shell.People, Do: p.acceptOpen},
		{Pattern: "POST /appearance", For: shell.People, Do: p.SetAppearance},
		{Pattern: "POST /sign-out", For: shell.Anyone, Do: p.signOut, Urgent: true},
		{Pattern: "GET /account", For: shell.People, Do: p.page},
		{Pattern: "POST /account/profile", For: shell.People, Do: p.changeProfile},
		{Pattern: "POST /account/email/confirm", For: shell.People, Do: p.sendConfirmation},
		{Pattern: "GET " + team.ConfirmPath + "{token}", For: shell.People, Do: p.confirmPage},
		{Pattern: "POST " + team.ConfirmPath + "{token}", For: shell.People, Do: p.confirmEmail},
		{Pattern: "GET /account/password", For: shell.People, Do: p.requireLocal(p.RequireUsedFactor(p.passwordPage))},
		{Pattern: "POST /account/password", For: shell.People, Do: p.requireLocal(p.RequireUsedFactor(p.changePassword))},
		{Pattern: "GET /account/passkeys/new", For: shell.People, Do: p.requireLocal(p.RequireUsedFactor(p.newPasskeyPage)),
			Recent: stepUp},
		{Pattern: "POST /account/passkeys/options", For: shell.People, Do: p.requireLocal(
			p.RequireUsedFactor(p.beginAddPasskey)), Recent: stepUp},
		{Pattern: "POST /account/passkeys", For: shell.People, Do: p.requireLocal(
			p.RequireUsedFactor(p.addPasskey)), Recent: stepUp, RestoresForm: true, Page: "/account/passkeys/new"},
		{Pattern: "GET /account/passkeys/{passkey}", For: shell.People, Do: p.passkeyPage},
		{Pattern: "POST /account/passkeys/{passkey}", For: shell.People, Do: p.renamePasskey},
		{Pattern: "POST /account/passkeys/{passkey}/remove", For: shell.People, Do: p.RequireUsedFactor(
			p.removePasskey), Recent: stepUp},
		{Pattern: "POST /account/sessions/end", For: shell.People, Do: p.endSessions, Recent: true, Urgent: true},
		{Pattern: "POST /account/sessions/{session}/end", For: shell.People, Do: p.endSession, Recent: true,
			Urgent: true},
		{Pattern: "GET " + team.InvitationPath + "{token}", For: shell.Anyone, Do: p.invitationPage},
		{Pattern: "POST " + team.InvitationPath + "{token}/accept", For: shell.People, Do: p.accept},
		{Pattern: "POST " + team.InvitationPath + "{token}/sign-in", For: shell.Anyone, Do: p.requireLocal(p.acceptKnown)},
		{Pattern: "POST " + team.InvitationPath + "{token}/join", For: shell.Anyone, Do: p.requireLocal(p.join)},
		{Pattern: "POST " + team.InvitationPath + "{token}/options", For: shell.Anyone, Do: p.requireLocal(p.requestNewPasskey)},
		{Pattern: "GET " + team.RecoveryPath + "{token}", For: shell.Anyone, Do: p.requireLocal(p.recoveryPage)},
		{Pattern: "POST " + team.RecoveryPath + "{token}", For: shell.Anyone, Do: p.requireLocal(p.recover)},
		{Pattern: "POST /sign-in/code", For: shell.Anyone, Do: p.requireLocal(p.signInByCode)},
		{Pattern: "GET " + shell.FactorPath, For: shell.People, Do: p.factorPage},
		{Pattern: "GET /account/authenticator", For: shell.People, Do: p.requireLocal(p.appPage)},
		{Pattern: "GET /account/authenticator/new", For: shell.People, Do: p.requireLocal(p.RequireUsedFactor(p.newAppPage)),
			Recent: stepUp},
		{Pattern: "POST /account/authenticator/new", For: shell.People, Do: p.requireLocal(p.RequireUsedFactor(p.addApp)),
			Recent: stepUp},
		{Pattern: "GET " + replacePath, For: shell.People, Do: p.requireLocal(p.RequireUsedFactor(p.replaceAppPage)),
			Recent: stepUp},
		{Pattern: "POST " + replacePath, For: shell.People, Do: p.requireLocal(p.RequireUsedFactor(p.replaceApp)),
			Recent: stepUp},
		{Pattern: "POST /account/authenticator/codes", For: shell.People, Do: p.requireLocal(
			p.RequireUsedFactor(p.newCodes)), Recent: stepUp},
		{Pattern: "POST /account/authenticator/remove", For: shell.People, Do: p.requireLocal(
			p.RequireUsedFactor(p.removeApp)), Recent: stepUp},
	}
	for i := range routes {
		routes[i].OneFactor = true
	}
	return routes
}

// signInMethods are the available ways to sign in.
type signInMethods struct {
	Local     bool // with a password or passkey
	Passkeys  bool
	Directory bool
	Contact   string // contact URI of the operator, who can issue recovery links; "" if not configured
}

// ContactText returns the email address or URL of the contact.
func (m signInMethods) ContactText() string { return strings.TrimPrefix(m.Contact, "mailto:") }

func (p *Handlers) signInMethods() signInMethods {
	local := p.directory == nil || !p.directory.Only
	return signInMethods{local, local && p.passkeys.Possible(), p.directory != nil, p.contact}
}

// requireLocal returns a handler that rejects every request if people can sign in only with the directory.
func (p *Handlers) requireLocal(do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !p.signInMethods().Local {
			p.ShowMessage(w, r, http.StatusForbidden, "Action not completed",
				"You can sign in only with your organization’s directory.")
			return
		}
		do(w, r)
	}
}

// formError returns the text of a client error, for display in the form. For a server error, it writes the error
// response and returns false.
func (p *Handlers) formError(w http.ResponseWriter, r *http.Request, err error) (string, bool) {
	f := apierr.FromError(err)
	if f.IsServerError() {
		p.ShowError(w, r, err)
		return "", false
	}
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(f.RetryAfter/time.Second)))
	}
	return p.Detail(r, err), true
}

// fieldOf returns the form field that an error is about, or "".
func fieldOf(err error) string {
	field, _ := apierr.FromError(err).Context["argument"].(string)
	return field
}
