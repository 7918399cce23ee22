package account

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/passkey"
	"pressroom.example/pressroom/internal/auth/totp"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/teamtime"
	"pressroom.example/pressroom/internal/web/shell"
)

// view is the account page.
type view struct {
	Methods  signInMethods
	Name     string // current or as entered
	Timezone string // IANA name, or "" for the time zone of each team; current or as entered
	Language string // BCP 47 tag, or "" for the browser's language; current or as entered
	Zones    []teamtime.ZoneOption

	Languages []*locale.Language // languages to choose from

	Error    string // error in Field
	Field    string
	Passkeys []passkey.Passkey
	App      *totp.App // nil if there is none
	Sessions []shell.Session

	Assistants []team.ListedKey // assistants that the person authorized, in all teams
	Offers     []team.Offer     // open invitations to the person's confirmed address

	CanMail    bool   // a confirmation link can be emailed
	WrongEmail string // why the confirmation link was not sent
}

// maxAssistants is the maximum number of assistants that the page shows.
const maxAssistants = 100

func viewOf(a team.Account) view {
	return view{Name: a.Name, Timezone: a.Timezone, Language: a.Language}
}

func (p *Handlers) page(w http.ResponseWriter, r *http.Request) {
	p.show(w, r, http.StatusOK, viewOf(shell.VisitorOf(r.Context()).Account))
}

var errLanguage = apierr.Invalid(apierr.NotAllowedValue, "language", "This language is not available.")

// changeProfile changes the person's name, time zone and language.
func (p *Handlers) changeProfile(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	v := shell.VisitorOf(r.Context())
	out := view{Name: r.PostForm.Get("name"), Timezone: r.PostForm.Get("timezone"), Language: v.Language}
	if r.PostForm.Has("language") {
		out.Language = r.PostForm.Get("language")
	}
	var err error
	if out.Language != "" && locale.ByTag(out.Language) == nil {
		err = errLanguage
	} else {
		err = p.Teams.SetProfile(r.Context(), v.ID, out.Name, out.Timezone, out.Language)
	}
	if err != nil {
		if formErr, ok := p.formError(w, r, err); ok {
			out.Error = formErr
			out.Field, _ = apierr.FromError(err).Context["argument"].(string)
			p.show(w, r, shell.StatusOf(err), out)
		}
		return
	}
	v.Language = out.Language // for the message below
	p.Flash(r, "Saved.")
	shell.Redirect(w, r, "/account")
}

func (p *Handlers) show(w http.ResponseWriter, r *http.Request, status int, out view) {
	ctx, v := r.Context(), shell.VisitorOf(r.Context())
	zone := v.Zone
	var err error
	out.Zones, out.Languages = teamtime.ZoneOptions(p.DB.Now()), locale.All()
	out.Methods, out.CanMail = p.signInMethods(), p.LinkMailer.Enabled()
	if out.Passkeys, err = p.passkeys.List(ctx, v.ID); err != nil {
		p.ShowError(w, r, err)
		return
	}
	if out.App, err = p.totp.App(ctx, v.ID); err != nil {
		p.ShowError(w, r, err)
		return
	}
	if out.App != nil {
		out.App.Since = inZone(out.App.Since, zone)
	}
	if out.Sessions, err = p.Sessions(r); err != nil {
		p.ShowError(w, r, err)
		return
	}
	if out.Assistants, err = p.Teams.OwnConnections(ctx, v.ID, maxAssistants); err != nil {
		p.ShowError(w, r, err)
		return
	}
	if v.EmailConfirmed {
		if out.Offers, err = p.Teams.OpenInvitationsFor(ctx, v.Email); err != nil {
			p.ShowError(w, r, err)
			return
		}
	}
	for i := range out.Assistants {
		a := &out.Assistants[i]
		a.CreatedAt, a.UsedAt = inZone(a.CreatedAt, zone), inZone(a.UsedAt, zone)
	}
	for i := range out.Passkeys {
		k := &out.Passkeys[i]
		k.CreatedAt, k.UsedAt = inZone(k.CreatedAt, zone), inZone(k.UsedAt, zone)
	}
	for i := range out.Sessions {
		s := &out.Sessions[i]
		s.Since, s.Used = inZone(s.Since, zone), inZone(s.Used, zone)
	}
	p.Show(w, r, status, pages["account"], "Your account", out)
}

// inZone converts a time to a zone. It returns the zero time unchanged.
func inZone(at time.Time, zone *time.Location) time.Time {
	if at.IsZero() {
		return at
	}
	return at.In(zone)
}

// passwordForm is the page for changing the password. If it is shown again after an error, its password fields are
// empty.
type passwordForm struct {
	AsksCurrentPassword bool // the form asks for the current password
	IsFirstView         bool // the form is shown for the first time, so nothing is chosen yet
	Error, Field        string
	Credentials         keepableCredentials // removed with the old password unless kept
	Issued              issuedCredentials   // kept unless revoked
}

// keepable is a credential that a new password removes unless its box is checked.
type keepable struct {
	team.Credential

	Keep bool
}

// keepableCredentials are the credentials on the page. More is the number of credentials that are not shown and
// therefore cannot be kept.
type keepableCredentials struct {
	Shown []keepable
	More  int
}

// maxKeepable is the maximum number of credentials, of API keys and of invitations that the page shows.
const maxKeepable = 150

// keepableCredentials returns a person's credentials. The credentials that the form keeps are checked.
func (p *Handlers) keepableCredentials(r *http.Request, person int64, zone *time.Location) (keepableCredentials, error) {
	credentials, err := p.Teams.Credentials(r.Context(), person)
	if err != nil {
		return keepableCredentials{}, err
	}
	out := keepableCredentials{More: max(0, len(credentials)-maxKeepable)}
	for _, c := range credentials[:len(credentials)-out.More] {
		c.CreatedAt, c.UsedAt = inZone(c.CreatedAt, zone), inZone(c.UsedAt, zone)
		out.Shown = append(out.Shown, keepable{c, slices.Contains(r.PostForm["keep"], c.ID)})
	}
	return out, nil
}

// revocable is an API key or an invitation that a new password keeps unless its box is checked.
type revocable struct {
	team.Credential

	Revoke bool
}

// issuedCredentials are the API keys and invitations that a person has issued. MoreKeys and MoreInvitations are the
// numbers of older ones that are not shown.
type issuedCredentials struct {
	Shown                     []revocable
	MoreKeys, MoreInvitations int
}

// issuedCredentials returns a person's API keys and invitations. The items that the form revokes are checked.
func (p *Handlers) issuedCredentials(r *http.Request, person int64, zone *time.Location) (issuedCredentials, error) {
	credentials, err := p.Teams.ListIssued(r.Context(), person)
	if err != nil {
		return issuedCredentials{}, err
	}
	var out issuedCredentials
	keys, invitations := 0, 0
	for _, c := range credentials { // newest first; each kind has its own limit, so that many keys do not hide invitations
		if c.Kind == team.IssuedKey {
			keys++
		} else {
			invitations++
		}
		if c.Kind == team.IssuedKey && keys > maxKeepable ||
			c.Kind == team.IssuedInvitation && invitations > maxKeepable {
			continue
		}
		c.CreatedAt, c.UsedAt = inZone(c.CreatedAt, zone), inZone(c.UsedAt, zone)
		out.Shown = append(out.Shown, revocable{c, slices.Contains(r.PostForm["revoke"], c.ID)})
	}
	out.MoreKeys, out.MoreInvitations = max(0, keys-maxKeepable), max(0, invitations-maxKeepable)
	return out, nil
}

// choiceOf returns which credentials the form for a new password keeps and revokes.
func choiceOf(r *http.Request) team.CredentialChoice {
	return team.CredentialChoice{Keep: r.PostForm["keep"], Revoke: r.PostForm["revoke"]}
}

func (p *Handlers) passwordPage(w http.ResponseWriter, r *http.Request) {
	if again, ok := p.needsStepUp(w, r); !ok || again {
		if ok {
			p.StepUp(w, r, "/account/password", nil)
		}
		return
	}
	kept := p.SavedForm(r)
	r.PostForm = kept
	p.showPassword(w, r, http.StatusOK, passwordForm{IsFirstView: kept == nil})
}

// needsStepUp reports whether the visitor must sign in again before changing the password. The current password is
// enough only if neither the session nor the account has another factor. If an error occurs, it writes the error
// response, and its second result is false.
func (p *Handlers) needsStepUp(w http.ResponseWriter, r *http.Request) (bool, bool) {
	ctx, v := r.Context(), shell.VisitorOf(r.Context())
	if p.RecentlyAuthenticated(ctx) {
		return false, true
	}
	if !v.HasPassword || p.HasTwoFactors(ctx) {
		return true, true
	}
	factors, err := p.Teams.Factors(ctx, v.ID)
	if err != nil {
		p.ShowError(w, r, err)
		return false, false
	}
	return factors.Any(), true
}

func (p *Handlers) showPassword(w http.ResponseWriter, r *http.Request, status int, form passwordForm) {
	v := shell.VisitorOf(r.Context())
	zone := v.Zone
	var err error
	if form.AsksCurrentPassword = v.HasPassword; form.AsksCurrentPassword { // setting a first password removes nothing
		if form.Credentials, err = p.keepableCredentials(r, v.ID, zone); err != nil {
			p.ShowError(w, r, err)
			return
		}
		if form.Issued, err = p.issuedCredentials(r, v.ID, zone); err != nil {
			p.ShowError(w, r, err)
			return
		}
		for i := range form.Credentials.Shown { // the authenticator app is kept by default
			if c := &form.Credentials.Shown[i]; form.IsFirstView && c.ID == team.AppID {
				c.Keep = true
			}
		}
	}
	p.Show(w, r, status, pages["password"], "Password", form)
}

func (p *Handlers) changePassword(w http.ResponseWriter, r *http.Request) {
	ctx, v := r.Context(), shell.VisitorOf(r.Context())
	if !p.ReadForm(w, r) {
		return
	}
	if again, ok := p.needsStepUp(w, r); !ok || again {
		if ok { // passwords are not saved in the session
			p.StepUp(w, r, "/account/password", url.Values{"keep": r.PostForm["keep"], "revoke": r.PostForm["revoke"]})
		}
		return
	}
	person, err := p.signIns.ChangePassword(ctx, team.PasswordChange{
		Person: v.ID, Old: r.PostForm.Get("old"), New: r.PostForm.Get("password"), CredentialChoice: choiceOf(r),
		NeedsFactor: p.NeedsFactor(v),
	})
	if err != nil {
		if formErr, ok := p.formError(w, r, err); ok {
			p.showPassword(w, r, shell.StatusOf(err), passwordForm{Error: formErr, Field: fieldOf(err)})
		}
		return
	}
	// The old password proves only one factor, so sensitive actions still depend on the time of the last sign-in.
	proof := shell.Proof{Method: shell.Password, At: p.AuthenticatedAt(ctx)}
	p.startNewSession(w, r, person, proof, "Your password was changed. You were signed out everywhere else.")
}

// forgetOtherBrowsers deletes all sessions of a person, and all known browsers except the current one.
func (p *Handlers) forgetOtherBrowsers(r *http.Request, person int64) error {
	if err := p.DeleteSessions(r.Context(), person); err != nil {
		return err
	}
	return p.Teams.KeepBrowser(r.Context(), person, p.KnownBrowser(r))
}

// startNewSession starts a new session for a person after all of the person's sessions were ended.
func (p *Handlers) startNewSession(w http.ResponseWriter, r *http.Request, person team.Person, proof shell.Proof,
	message locale.Key) {
	if err := p.forgetOtherBrowsers(r, person.ID); err != nil {
		p.ServerError(w, r, err)
		return
	}
	if err := p.SignIn(r.Context(), person, proof); err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.Flash(r, message)
	shell.Redirect(w, r, "/account")
}

func (p *Handlers) endSession(w http.ResponseWriter, r *http.Request) {
	if err := p.EndSession(r.Context(), r.PathValue("session")); err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.Flash(r, "The browser was signed out.")
	shell.Redirect(w, r, "/account")
}

// endSessions ends all sessions of the person, including the current one.
func (p *Handlers) endSessions(w http.ResponseWriter, r *http.Request) {
	ctx, person := r.Context(), shell.VisitorOf(r.Context()).ID
	for _, step := range []func() error{
		func() error {
			return p.Teams.EndSessions(ctx, person)
		}, func() error { return p.DeleteSessions(ctx, person) }, func() error { return p.SignOut(ctx) },
	} {
		if err := step(); err != nil {
			p.ShowError(w, r, err)
			return
		}
	}
	shell.Redirect(w, r, "/sign-in")
}
