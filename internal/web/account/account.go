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
func (h *Handlers) Routes() []shell.Route {
	routes := append(h.factorRoutes(), []shell.Route{
		{Pattern: "GET /setup", Audience: shell.Anyone, Handler: h.unlessSetUp(h.firstRunPage)},
		{Pattern: "POST /setup", Audience: shell.Anyone, Handler: h.unlessSetUp(h.setUp)},
		{Pattern: "GET /sign-in", Audience: shell.Anyone, Handler: h.RedirectToSetup(h.signInPage)},
		{Pattern: "POST /sign-in", Audience: shell.Anyone, Handler: h.signIn},
		{Pattern: "POST /sign-in/passkey", Audience: shell.Anyone, Handler: h.requireLocal(h.signInByPasskey)},
		{Pattern: "POST /sign-in/passkey/options", Audience: shell.Anyone, Handler: h.requireLocal(h.beginPasskeySignIn)},
		{Pattern: "GET /sign-in/directory", Audience: shell.Anyone, Handler: h.redirectToDirectory},
		{Pattern: "GET " + oidc.ReturnPath, Audience: shell.Anyone, Handler: h.returnFromDirectory},
		{Pattern: "POST /sign-in/directory/join", Audience: shell.Anyone, Handler: h.joinChosen},
		{Pattern: "POST /account/invitations/{invitation}/accept", Audience: shell.People, Handler: h.acceptOpen},
		{Pattern: "POST /appearance", Audience: shell.People, Handler: h.SetAppearance},
		{Pattern: "POST /sign-out", Audience: shell.Anyone, Handler: h.signOut, SkipsSlot: true},
		{Pattern: "GET /account", Audience: shell.People, Handler: h.page},
		{Pattern: "POST /account/profile", Audience: shell.People, Handler: h.changeProfile},
		{Pattern: "POST /account/email/confirm", Audience: shell.People, Handler: h.sendConfirmation},
		{Pattern: "GET " + team.ConfirmPath + "{token}", Audience: shell.People, Handler: h.confirmPage},
		{Pattern: "POST " + team.ConfirmPath + "{token}", Audience: shell.People, Handler: h.confirmEmail},
		{Pattern: "GET /account/password", Audience: shell.People,
			Handler: h.requireLocal(h.RequireUsedFactor(h.passwordPage))},
		{Pattern: "POST /account/password", Audience: shell.People,
			Handler: h.requireLocal(h.RequireUsedFactor(h.changePassword))},
		{Pattern: "POST /account/sessions/end", Audience: shell.People, Handler: h.endSessions,
			RequiresRecentAuth: true, SkipsSlot: true},
		{Pattern: "POST /account/sessions/{session}/end", Audience: shell.People, Handler: h.endSession,
			RequiresRecentAuth: true,
			SkipsSlot:          true},
		{Pattern: "GET " + team.InvitationPath + "{token}", Audience: shell.Anyone, Handler: h.invitationPage},
		{Pattern: "POST " + team.InvitationPath + "{token}/accept", Audience: shell.People, Handler: h.accept},
		{Pattern: "POST " + team.InvitationPath + "{token}/sign-in", Audience: shell.Anyone,
			Handler: h.requireLocal(h.acceptKnown)},
		{Pattern: "POST " + team.InvitationPath + "{token}/join", Audience: shell.Anyone, Handler: h.requireLocal(h.join)},
		{Pattern: "POST " + team.InvitationPath + "{token}/options", Audience: shell.Anyone,
			Handler: h.requireLocal(h.requestNewPasskey)},
		{Pattern: "GET " + team.RecoveryPath + "{token}", Audience: shell.Anyone, Handler: h.requireLocal(h.recoveryPage)},
		{Pattern: "POST " + team.RecoveryPath + "{token}", Audience: shell.Anyone, Handler: h.requireLocal(h.recover)},
		{Pattern: "POST /sign-in/code", Audience: shell.Anyone, Handler: h.requireLocal(h.signInByCode)},
	}...)
	for i := range routes {
		routes[i].AllowsOneFactor = true
	}
	return routes
}

// factorRoutes returns the routes of passkeys and of codes from an authenticator app.
func (h *Handlers) factorRoutes() []shell.Route {
	stepUp := h.signInMethods().Local // without a local method, nobody can sign in again to use these routes
	return []shell.Route{
		{Pattern: "GET /account/passkeys/new", Audience: shell.People,
			Handler:            h.requireLocal(h.RequireUsedFactor(h.newPasskeyPage)),
			RequiresRecentAuth: stepUp},
		{Pattern: "POST /account/passkeys/options", Audience: shell.People, Handler: h.requireLocal(
			h.RequireUsedFactor(h.beginAddPasskey)), RequiresRecentAuth: stepUp},
		{Pattern: "POST /account/passkeys", Audience: shell.People, Handler: h.requireLocal(
			h.RequireUsedFactor(h.addPasskey)), RequiresRecentAuth: stepUp, RestoresForm: true,
			Page: "/account/passkeys/new"},
		{Pattern: "GET /account/passkeys/{passkey}", Audience: shell.People, Handler: h.passkeyPage},
		{Pattern: "POST /account/passkeys/{passkey}", Audience: shell.People, Handler: h.renamePasskey},
		{Pattern: "POST /account/passkeys/{passkey}/remove", Audience: shell.People, Handler: h.RequireUsedFactor(
			h.removePasskey), RequiresRecentAuth: stepUp},
		{Pattern: "GET " + shell.FactorPath, Audience: shell.People, Handler: h.factorPage},
		{Pattern: "GET /account/authenticator", Audience: shell.People, Handler: h.requireLocal(h.appPage)},
		{Pattern: "GET /account/authenticator/new", Audience: shell.People,
			Handler:            h.requireLocal(h.RequireUsedFactor(h.newAppPage)),
			RequiresRecentAuth: stepUp},
		{Pattern: "POST /account/authenticator/new", Audience: shell.People,
			Handler:            h.requireLocal(h.RequireUsedFactor(h.addApp)),
			RequiresRecentAuth: stepUp},
		{Pattern: "GET " + replacePath, Audience: shell.People,
			Handler:            h.requireLocal(h.RequireUsedFactor(h.replaceAppPage)),
			RequiresRecentAuth: stepUp},
		{Pattern: "POST " + replacePath, Audience: shell.People,
			Handler:            h.requireLocal(h.RequireUsedFactor(h.replaceApp)),
			RequiresRecentAuth: stepUp},
		{Pattern: "POST /account/authenticator/codes", Audience: shell.People, Handler: h.requireLocal(
			h.RequireUsedFactor(h.newCodes)), RequiresRecentAuth: stepUp},
		{Pattern: "POST /account/authenticator/remove", Audience: shell.People, Handler: h.requireLocal(
			h.RequireUsedFactor(h.removeApp)), RequiresRecentAuth: stepUp},
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

func (h *Handlers) signInMethods() signInMethods {
	local := h.directory == nil || !h.directory.Exclusive
	return signInMethods{local, local && h.passkeys.Possible(), h.directory != nil, h.contact}
}

// requireLocal returns a handler that rejects every request if people can sign in only with the directory.
func (h *Handlers) requireLocal(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !h.signInMethods().Local {
			h.ShowMessage(w, r, http.StatusForbidden, "Action not completed",
				"You can sign in only with your organization’s directory.")
			return
		}
		next(w, r)
	}
}

// formError returns the text of a client error, for display in the form. For a server error, it writes the error
// response and returns false.
func (h *Handlers) formError(w http.ResponseWriter, r *http.Request, err error) (string, bool) {
	apiErr := apierr.FromError(err)
	if apiErr.IsServerError() {
		h.ShowError(w, r, err)
		return "", false
	}
	if apiErr.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(apiErr.RetryAfter/time.Second)))
	}
	return h.Detail(r, err), true
}

// fieldOf returns the form field that an error is about, or "".
func fieldOf(err error) string {
	field, _ := apierr.FromError(err).Context["argument"].(string)
	return field
}
