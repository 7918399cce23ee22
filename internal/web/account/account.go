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

var pages = shell.Parse(files, shell.Data{
	"account": view{}, "authenticator": appView{}, "authenticatornew": setupForm{}, "choose": []team.Offer{},
	"code": codeForm{}, "confirm": "", "firstrun": firstRunView{}, "invitation": invitationView{},
	"invitationused": "", "newpasskey": passkeyForm{}, "passkey": passkeyView{}, "password": passwordForm{},
	"recovery": recoveryView{}, "recoverycodes": recoveryCodesPage{}, "secondfactor": factorView{},
	"signin": signInForm{},
}, nil, func(l *locale.Language) template.FuncMap {
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
	sh *shell.Shell, signIns *team.SignIns, firstRun *team.FirstRun, passkeys *passkey.Service, directory *oidc.Directory,
	apps *totp.Service, contact string,
) *Handlers {
	return &Handlers{sh, signIns, firstRun, passkeys, directory, apps, contact}
}

// Routes returns the routes of the pages.
func (p *Handlers) Routes() []shell.Route {
	routes := append(p.factorRoutes(), []shell.Route{
		{Pattern: "GET /setup", Audience: shell.Anyone, Handler: p.unlessSetUp(p.firstRunPage)},
		{Pattern: "POST /setup", Audience: shell.Anyone, Handler: p.unlessSetUp(p.setUp)},
		{Pattern: "GET /sign-in", Audience: shell.Anyone, Handler: p.RedirectToSetup(p.signInPage)},
		{Pattern: "POST /sign-in", Audience: shell.Anyone, Handler: p.signIn},
		{Pattern: "POST /sign-in/passkey", Audience: shell.Anyone, Handler: p.requireLocal(p.signInByPasskey)},
		{Pattern: "POST /sign-in/passkey/options", Audience: shell.Anyone, Handler: p.requireLocal(p.beginPasskeySignIn)},
		{Pattern: "GET /sign-in/directory", Audience: shell.Anyone, Handler: p.redirectToDirectory},
		{Pattern: "GET " + oidc.ReturnPath, Audience: shell.Anyone, Handler: p.returnFromDirectory},
		{Pattern: "POST /sign-in/directory/join", Audience: shell.Anyone, Handler: p.joinChosen},
		{Pattern: "POST /account/invitations/{invitation}/accept", Audience: shell.People, Handler: p.acceptOpen},
		{Pattern: "POST /appearance", Audience: shell.People, Handler: p.SetAppearance},
		{Pattern: "POST /sign-out", Audience: shell.Anyone, Handler: p.signOut, SkipsSlot: true},
		{Pattern: "GET /account", Audience: shell.People, Handler: p.page},
		{Pattern: "POST /account/profile", Audience: shell.People, Handler: p.changeProfile},
		{Pattern: "POST /account/email/confirm", Audience: shell.People, Handler: p.sendConfirmation},
		{Pattern: "GET " + team.ConfirmPath + "{token}", Audience: shell.People, Handler: p.confirmPage},
		{Pattern: "POST " + team.ConfirmPath + "{token}", Audience: shell.People, Handler: p.confirmEmail},
		{Pattern: "GET /account/password", Audience: shell.People,
			Handler: p.requireLocal(p.RequireUsedFactor(p.passwordPage))},
		{Pattern: "POST /account/password", Audience: shell.People,
			Handler: p.requireLocal(p.RequireUsedFactor(p.changePassword))},
		{Pattern: "POST /account/sessions/end", Audience: shell.People, Handler: p.endSessions,
			RequiresRecentAuth: true, SkipsSlot: true},
		{Pattern: "POST /account/sessions/{session}/end", Audience: shell.People, Handler: p.endSession,
			RequiresRecentAuth: true,
			SkipsSlot:          true},
		{Pattern: "GET " + team.InvitationPath + "{token}", Audience: shell.Anyone, Handler: p.invitationPage},
		{Pattern: "POST " + team.InvitationPath + "{token}/accept", Audience: shell.People, Handler: p.accept},
		{Pattern: "POST " + team.InvitationPath + "{token}/sign-in", Audience: shell.Anyone,
			Handler: p.requireLocal(p.acceptKnown)},
		{Pattern: "POST " + team.InvitationPath + "{token}/join", Audience: shell.Anyone, Handler: p.requireLocal(p.join)},
		{Pattern: "POST " + team.InvitationPath + "{token}/options", Audience: shell.Anyone,
			Handler: p.requireLocal(p.requestNewPasskey)},
		{Pattern: "GET " + team.RecoveryPath + "{token}", Audience: shell.Anyone, Handler: p.requireLocal(p.recoveryPage)},
		{Pattern: "POST " + team.RecoveryPath + "{token}", Audience: shell.Anyone, Handler: p.requireLocal(p.recover)},
		{Pattern: "POST /sign-in/code", Audience: shell.Anyone, Handler: p.requireLocal(p.signInByCode)},
	}...)
	for i := range routes {
		routes[i].AllowsOneFactor = true
	}
	return routes
}

// factorRoutes returns the routes of passkeys and of codes from an authenticator app.
func (p *Handlers) factorRoutes() []shell.Route {
	stepUp := p.signInMethods().Local // without a local method, nobody can sign in again to use these routes
	return []shell.Route{
		{Pattern: "GET /account/passkeys/new", Audience: shell.People,
			Handler:            p.requireLocal(p.RequireUsedFactor(p.newPasskeyPage)),
			RequiresRecentAuth: stepUp},
		{Pattern: "POST /account/passkeys/options", Audience: shell.People, Handler: p.requireLocal(
			p.RequireUsedFactor(p.beginAddPasskey)), RequiresRecentAuth: stepUp},
		{Pattern: "POST /account/passkeys", Audience: shell.People, Handler: p.requireLocal(
			p.RequireUsedFactor(p.addPasskey)), RequiresRecentAuth: stepUp, RestoresForm: true,
			Page: "/account/passkeys/new"},
		{Pattern: "GET /account/passkeys/{passkey}", Audience: shell.People, Handler: p.passkeyPage},
		{Pattern: "POST /account/passkeys/{passkey}", Audience: shell.People, Handler: p.renamePasskey},
		{Pattern: "POST /account/passkeys/{passkey}/remove", Audience: shell.People, Handler: p.RequireUsedFactor(
			p.removePasskey), RequiresRecentAuth: stepUp},
		{Pattern: "GET " + shell.FactorPath, Audience: shell.People, Handler: p.factorPage},
		{Pattern: "GET /account/authenticator", Audience: shell.People, Handler: p.requireLocal(p.appPage)},
		{Pattern: "GET /account/authenticator/new", Audience: shell.People,
			Handler:            p.requireLocal(p.RequireUsedFactor(p.newAppPage)),
			RequiresRecentAuth: stepUp},
		{Pattern: "POST /account/authenticator/new", Audience: shell.People,
			Handler:            p.requireLocal(p.RequireUsedFactor(p.addApp)),
			RequiresRecentAuth: stepUp},
		{Pattern: "GET " + replacePath, Audience: shell.People,
			Handler:            p.requireLocal(p.RequireUsedFactor(p.replaceAppPage)),
			RequiresRecentAuth: stepUp},
		{Pattern: "POST " + replacePath, Audience: shell.People,
			Handler:            p.requireLocal(p.RequireUsedFactor(p.replaceApp)),
			RequiresRecentAuth: stepUp},
		{Pattern: "POST /account/authenticator/codes", Audience: shell.People, Handler: p.requireLocal(
			p.RequireUsedFactor(p.newCodes)), RequiresRecentAuth: stepUp},
		{Pattern: "POST /account/authenticator/remove", Audience: shell.People, Handler: p.requireLocal(
			p.RequireUsedFactor(p.removeApp)), RequiresRecentAuth: stepUp},
	}
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
	local := p.directory == nil || !p.directory.Exclusive
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
