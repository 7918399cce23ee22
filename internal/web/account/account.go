// Package account is how people come in and how they stay safe: signing in by password, passkey or the operator's
// directory, accepting invitations, setting a new password by a link of the operator's, and everybody's own account.
package account

import (
	"embed"
	"html/template"
	"net/http"
	"strconv"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/oidc"
	"pressroom/internal/auth/passkey"
	"pressroom/internal/auth/totp"
	"pressroom/internal/domain/team"
	"pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files, template.FuncMap{"time": shell.Time})

// Part is these pages.
type Part struct {
	*shell.Frame

	signIns   *team.SignIns
	passkeys  *passkey.Service
	directory *oidc.Directory // nil where there is none
	totp      *totp.Service
}

// New makes them. The directory may be nil.
func New(
	f *shell.Frame, signIns *team.SignIns, passkeys *passkey.Service, from *oidc.Directory, apps *totp.Service,
) *Part {
	return &Part{f, signIns, passkeys, from, apps}
}

// Routes are their addresses.
func (p *Part) Routes() []shell.Route {
	own := p.ways().Here // where it is not, these routes refuse everybody
	routes := []shell.Route{
		{Pattern: "GET /sign-in", For: shell.Anyone, Do: p.signInPage},
		{Pattern: "POST /sign-in", For: shell.Anyone, Do: p.signIn},
		{Pattern: "POST /sign-in/passkey", For: shell.Anyone, Do: p.here(p.signInByPasskey)},
		{Pattern: "POST /sign-in/passkey/options", For: shell.Anyone, Do: p.here(p.askPasskey)},
		{Pattern: "GET /sign-in/directory", For: shell.Anyone, Do: p.toDirectory},
		{Pattern: "GET " + oidc.ReturnPath, For: shell.Anyone, Do: p.fromDirectory},
		{Pattern: "POST /sign-in/directory/join", For: shell.Anyone, Do: p.joinChosen},
		{Pattern: "POST /account/invitations/{invitation}/accept", For: shell.People, Do: p.acceptOpen},
		{Pattern: "POST /sign-out", For: shell.Anyone, Do: p.signOut, Urgent: true},
		{Pattern: "GET /account", For: shell.People, Do: p.page},
		{Pattern: "POST /account/name", For: shell.People, Do: p.rename},
		{Pattern: "POST /account/email/confirm", For: shell.People, Do: p.sendConfirmation},
		{Pattern: "GET " + team.ConfirmPath + "{token}", For: shell.People, Do: p.confirmPage},
		{Pattern: "POST " + team.ConfirmPath + "{token}", For: shell.People, Do: p.confirmEmail},
		{Pattern: "GET /account/password", For: shell.People, Do: p.here(p.Proven(p.passwordPage))},
		{Pattern: "POST /account/password", For: shell.People, Do: p.here(p.Proven(p.changePassword))},
		{Pattern: "GET /account/passkeys/new", For: shell.People, Do: p.here(p.Proven(p.newPasskeyPage)), Recent: own},
		{Pattern: "POST /account/passkeys/options", For: shell.People, Do: p.here(
			p.Proven(p.askOwnPasskey)), Recent: own},
		{Pattern: "POST /account/passkeys", For: shell.People, Do: p.here(
			p.Proven(p.addPasskey)), Recent: own, Resumes: true, Page: "/account/passkeys/new"},
		{Pattern: "GET /account/passkeys/{passkey}", For: shell.People, Do: p.passkeyPage},
		{Pattern: "POST /account/passkeys/{passkey}", For: shell.People, Do: p.renamePasskey},
		{Pattern: "POST /account/passkeys/{passkey}/remove", For: shell.People, Do: p.Proven(
			p.removePasskey), Recent: own},
		{Pattern: "POST /account/sessions/end", For: shell.People, Do: p.endSessions, Recent: true, Urgent: true},
		{Pattern: "POST /account/sessions/{session}/end", For: shell.People, Do: p.endSession, Recent: true, Urgent: true},
		{Pattern: "GET " + team.InvitationPath + "{token}", For: shell.Anyone, Do: p.invitationPage},
		{Pattern: "POST " + team.InvitationPath + "{token}/accept", For: shell.People, Do: p.accept},
		{Pattern: "POST " + team.InvitationPath + "{token}/sign-in", For: shell.Anyone, Do: p.here(p.acceptKnown)},
		{Pattern: "POST " + team.InvitationPath + "{token}/join", For: shell.Anyone, Do: p.here(p.join)},
		{Pattern: "POST " + team.InvitationPath + "{token}/options", For: shell.Anyone, Do: p.here(p.askNewcomer)},
		{Pattern: "GET " + team.RecoveryPath + "{token}", For: shell.Anyone, Do: p.here(p.recoveryPage)},
		{Pattern: "POST " + team.RecoveryPath + "{token}", For: shell.Anyone, Do: p.here(p.recover)},
		{Pattern: "POST /sign-in/code", For: shell.Anyone, Do: p.here(p.signInByCode)},
		{Pattern: "GET " + shell.FactorPath, For: shell.People, Do: p.factorPage},
		{Pattern: "GET /account/authenticator", For: shell.People, Do: p.here(p.appPage)},
		{Pattern: "GET /account/authenticator/new", For: shell.People, Do: p.here(p.Proven(p.newAppPage)), Recent: own},
		{Pattern: "POST /account/authenticator/new", For: shell.People, Do: p.here(p.Proven(p.addApp)), Recent: own},
		{Pattern: "GET " + replacePath, For: shell.People, Do: p.here(p.Proven(p.replaceAppPage)), Recent: own},
		{Pattern: "POST " + replacePath, For: shell.People, Do: p.here(p.Proven(p.replaceApp)), Recent: own},
		{Pattern: "POST /account/authenticator/codes", For: shell.People, Do: p.here(
			p.Proven(p.newCodes)), Recent: own},
		{Pattern: "POST /account/authenticator/remove", For: shell.People, Do: p.here(
			p.Proven(p.removeApp)), Recent: own},
	}
	for i := range routes {
		routes[i].OneFactor = true
	}
	return routes
}

// ways are how one can sign in here.
type ways struct {
	Here      bool // by password or passkey
	Passkeys  bool
	Directory bool
}

func (p *Part) ways() ways {
	here := p.directory == nil || !p.directory.Only
	return ways{here, here && p.passkeys.Possible(), p.directory != nil}
}

// here keeps what is about passwords and passkeys from services on which the directory alone lets people in.
func (p *Part) here(do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !p.ways().Here {
			p.Notice(w, r, http.StatusForbidden, "Not done", "Here people sign in by the directory alone.")
			return
		}
		do(w, r)
	}
}

// wrongOf is the sentence of a refusal that the person can mend at the form, and what stands in the way else.
func (p *Part) wrongOf(w http.ResponseWriter, r *http.Request, err error) (string, bool) {
	f := apierr.Of(err)
	if f.IsServerError() {
		p.Refuse(w, r, err)
		return "", false
	}
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(f.RetryAfter/time.Second)))
	}
	return f.Detail, true
}

// fieldOf is the field of a form that a refusal is about.
func fieldOf(err error) string {
	field, _ := apierr.Of(err).Context["argument"].(string)
	return field
}
