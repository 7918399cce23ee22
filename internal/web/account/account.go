// Package account serves the pages for signing in by password, passkey or directory, accepting invitations, setting a
// new password by a recovery link, and managing the own account.
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

// credentialKinds are the display names of the kinds of credentials.
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
	contact   string // URI of the operator; "" if none is configured
}

// New returns the handlers. The directory may be nil, and the contact of the operator empty.
func New(
	f *shell.Shell, signIns *team.SignIns, firstRun *team.FirstRun, passkeys *passkey.Service, from *oidc.Directory,
	apps *totp.Service, contact string,
) *Handlers {
	return &Handlers{f, signIns, firstRun, passkeys, from, apps, contact}
}

// Routes returns the routes of the pages.
func (p *Handlers) Routes() []shell.Route {
	own := p.signInMethods().Local // otherwise these routes reject every request
	routes := []shell.Route{
		{Pattern: "GET /setup", For: shell.Anyone, Do: p.unlessSetUp(p.firstRunPage)},
		{Pattern: "POST /setup", For: shell.Anyone, Do: p.unlessSetUp(p.setUp)},
		{Pattern: "GET /sign-in", For: shell.Anyone, Do: p.WhileUnset(p.signInPage)},
		{Pattern: "POST /sign-in", For: shell.Anyone, Do: p.signIn},
		{Pattern: "POST /sign-in/passkey", For: shell.Anyone, Do: p.local(p.signInByPasskey)},
		{Pattern: "POST /sign-in/passkey/options", For: shell.Anyone, Do: p.local(p.askPasskey)},
		{Pattern: "GET /sign-in/directory", For: shell.Anyone, Do: p.toDirectory},
		{Pattern: "GET " + oidc.ReturnPath, For: shell.Anyone, Do: p.fromDirectory},
		{Pattern: "POST /sign-in/directory/join", For: shell.Anyone, Do: p.joinChosen},
		{Pattern: "POST /account/invitations/{invitation}/accept", For: shell.People, Do: p.acceptOpen},
		{Pattern: "POST /sign-out", For: shell.Anyone, Do: p.signOut, Urgent: true},
		{Pattern: "GET /account", For: shell.People, Do: p.page},
		{Pattern: "POST /account/profile", For: shell.People, Do: p.changeProfile},
		{Pattern: "POST /account/email/confirm", For: shell.People, Do: p.sendConfirmation},
		{Pattern: "GET " + team.ConfirmPath + "{token}", For: shell.People, Do: p.confirmPage},
		{Pattern: "POST " + team.ConfirmPath + "{token}", For: shell.People, Do: p.confirmEmail},
		{Pattern: "GET /account/password", For: shell.People, Do: p.local(p.RequireUsedFactor(p.passwordPage))},
		{Pattern: "POST /account/password", For: shell.People, Do: p.local(p.RequireUsedFactor(p.changePassword))},
		{Pattern: "GET /account/passkeys/new", For: shell.People, Do: p.local(p.RequireUsedFactor(p.newPasskeyPage)),
			Recent: own},
		{Pattern: "POST /account/passkeys/options", For: shell.People, Do: p.local(
			p.RequireUsedFactor(p.askOwnPasskey)), Recent: own},
		{Pattern: "POST /account/passkeys", For: shell.People, Do: p.local(
			p.RequireUsedFactor(p.addPasskey)), Recent: own, RestoresForm: true, Page: "/account/passkeys/new"},
		{Pattern: "GET /account/passkeys/{passkey}", For: shell.People, Do: p.passkeyPage},
		{Pattern: "POST /account/passkeys/{passkey}", For: shell.People, Do: p.renamePasskey},
		{Pattern: "POST /account/passkeys/{passkey}/remove", For: shell.People, Do: p.RequireUsedFactor(
			p.removePasskey), Recent: own},
		{Pattern: "POST /account/sessions/end", For: shell.People, Do: p.endSessions, Recent: true, Urgent: true},
		{Pattern: "POST /account/sessions/{session}/end", For: shell.People, Do: p.endSession, Recent: true,
			Urgent: true},
		{Pattern: "GET " + team.InvitationPath + "{token}", For: shell.Anyone, Do: p.invitationPage},
		{Pattern: "POST " + team.InvitationPath + "{token}/accept", For: shell.People, Do: p.accept},
		{Pattern: "POST " + team.InvitationPath + "{token}/sign-in", For: shell.Anyone, Do: p.local(p.acceptKnown)},
		{Pattern: "POST " + team.InvitationPath + "{token}/join", For: shell.Anyone, Do: p.local(p.join)},
		{Pattern: "POST " + team.InvitationPath + "{token}/options", For: shell.Anyone, Do: p.local(p.requestNewPasskey)},
		{Pattern: "GET " + team.RecoveryPath + "{token}", For: shell.Anyone, Do: p.local(p.recoveryPage)},
		{Pattern: "POST " + team.RecoveryPath + "{token}", For: shell.Anyone, Do: p.local(p.recover)},
		{Pattern: "POST /sign-in/code", For: shell.Anyone, Do: p.local(p.signInByCode)},
		{Pattern: "GET " + shell.FactorPath, For: shell.People, Do: p.factorPage},
		{Pattern: "GET /account/authenticator", For: shell.People, Do: p.local(p.appPage)},
		{Pattern: "GET /account/authenticator/new", For: shell.People, Do: p.local(p.RequireUsedFactor(p.newAppPage)),
			Recent: own},
		{Pattern: "POST /account/authenticator/new", For: shell.People, Do: p.local(p.RequireUsedFactor(p.addApp)),
			Recent: own},
		{Pattern: "GET " + replacePath, For: shell.People, Do: p.local(p.RequireUsedFactor(p.replaceAppPage)),
			Recent: own},
		{Pattern: "POST " + replacePath, For: shell.People, Do: p.local(p.RequireUsedFactor(p.replaceApp)),
			Recent: own},
		{Pattern: "POST /account/authenticator/codes", For: shell.People, Do: p.local(
			p.RequireUsedFactor(p.newCodes)), Recent: own},
		{Pattern: "POST /account/authenticator/remove", For: shell.People, Do: p.local(
			p.RequireUsedFactor(p.removeApp)), Recent: own},
	}
	for i := range routes {
		routes[i].OneFactor = true
	}
	return routes
}

// signInMethods are the available ways to sign in.
type signInMethods struct {
	Local     bool // by password or passkey
	Passkeys  bool
	Directory bool
	Contact   string // URI of the operator, who makes recovery links; "" if none is configured
}

// ContactText returns the email address or URL of the contact.
func (m signInMethods) ContactText() string { return strings.TrimPrefix(m.Contact, "mailto:") }

func (p *Handlers) signInMethods() signInMethods {
	here := p.directory == nil || !p.directory.Only
	return signInMethods{here, here && p.passkeys.Possible(), p.directory != nil, p.contact}
}

// local returns a handler that rejects every request if people can only sign in with the directory.
func (p *Handlers) local(do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !p.signInMethods().Local {
			p.ShowMessage(w, r, http.StatusForbidden, "Action not completed",
				"This service allows sign-in only through the directory.")
			return
		}
		do(w, r)
	}
}

// formError returns the text of an error that the person can correct in the form. It answers other errors and reports
// false.
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

// fieldOf returns the form field of an error.
func fieldOf(err error) string {
	field, _ := apierr.FromError(err).Context["argument"].(string)
	return field
}
