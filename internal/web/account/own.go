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

func (h *Handlers) page(w http.ResponseWriter, r *http.Request) {
	h.show(w, r, http.StatusOK, viewOf(shell.VisitorOf(r.Context()).Account))
}

var errLanguage = apierr.Invalid(apierr.NotAllowedValue, "language", "This language is not available.")

// changeProfile changes the person's name, time zone and language.
func (h *Handlers) changeProfile(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
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
		err = h.Teams.SetProfile(r.Context(), v.ID, out.Name, out.Timezone, out.Language)
	}
	if err != nil {
		if formErr, ok := h.formError(w, r, err); ok {
			out.Error = formErr
			out.Field, _ = apierr.FromError(err).Context["argument"].(string)
			h.show(w, r, shell.StatusOf(err), out)
		}
		return
	}
	v.Language = out.Language // for the message below
	h.Flash(r, "Saved.")
	shell.Redirect(w, r, "/account")
}

func (h *Handlers) show(w http.ResponseWriter, r *http.Request, status int, out view) {
	ctx, v := r.Context(), shell.VisitorOf(r.Context())
	zone := v.Zone
	var err error
	out.Zones, out.Languages = teamtime.ZoneOptions(h.DB.Now()), locale.All()
	out.Methods, out.CanMail = h.signInMethods(), h.LinkMailer.Enabled()
	if out.Passkeys, err = h.passkeys.List(ctx, v.ID); err != nil {
		h.ShowError(w, r, err)
		return
	}
	if out.App, err = h.totp.App(ctx, v.ID); err != nil {
		h.ShowError(w, r, err)
		return
	}
	if out.App != nil {
		out.App.Since = inZone(out.App.Since, zone)
	}
	if out.Sessions, err = h.Sessions(r); err != nil {
		h.ShowError(w, r, err)
		return
	}
	if out.Assistants, err = h.Teams.OwnConnections(ctx, v.ID, maxAssistants); err != nil {
		h.ShowError(w, r, err)
		return
	}
	if v.EmailConfirmed {
		if out.Offers, err = h.Teams.OpenInvitationsFor(ctx, v.Email); err != nil {
			h.ShowError(w, r, err)
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
	h.Show(w, r, status, pages["account"], "Your account", out)
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

// keepableCredential is a credential that a new password removes unless its box is checked.
type keepableCredential struct {
	team.Credential

	Keep bool
}

// keepableCredentials are the credentials on the page. More is the number of credentials that are not shown and
// therefore cannot be kept.
type keepableCredentials struct {
	Shown []keepableCredential
	More  int
}

// maxKeepable is the maximum number of credentials, of API keys and of invitations that the page shows.
const maxKeepable = 150

// keepableCredentials returns a person's credentials. The credentials that the form keeps are checked.
func (h *Handlers) keepableCredentials(r *http.Request, person int64, zone *time.Location) (keepableCredentials, error) {
	credentials, err := h.Teams.Credentials(r.Context(), person)
	if err != nil {
		return keepableCredentials{}, err
	}
	out := keepableCredentials{More: max(0, len(credentials)-maxKeepable)}
	for _, c := range credentials[:len(credentials)-out.More] {
		c.CreatedAt, c.UsedAt = inZone(c.CreatedAt, zone), inZone(c.UsedAt, zone)
		out.Shown = append(out.Shown, keepableCredential{c, slices.Contains(r.PostForm["keep"], c.ID)})
	}
	return out, nil
}

// revocableCredential is an API key or an invitation that a new password keeps unless its box is checked.
type revocableCredential struct {
	team.Credential

	Revoke bool
}

// issuedCredentials are the API keys and invitations that a person has issued. MoreKeys and MoreInvitations are the
// numbers of older ones that are not shown.
type issuedCredentials struct {
	Shown                     []revocableCredential
	MoreKeys, MoreInvitations int
}

// issuedCredentials returns a person's API keys and invitations. The items that the form revokes are checked.
func (h *Handlers) issuedCredentials(r *http.Request, person int64, zone *time.Location) (issuedCredentials, error) {
	credentials, err := h.Teams.ListIssued(r.Context(), person)
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
		out.Shown = append(out.Shown, revocableCredential{c, slices.Contains(r.PostForm["revoke"], c.ID)})
	}
	out.MoreKeys, out.MoreInvitations = max(0, keys-maxKeepable), max(0, invitations-maxKeepable)
	return out, nil
}

// choiceOf returns which credentials the form for a new password keeps and revokes.
func choiceOf(r *http.Request) team.CredentialChoice {
	return team.CredentialChoice{Keep: r.PostForm["keep"], Revoke: r.PostForm["revoke"]}
}

func (h *Handlers) passwordPage(w http.ResponseWriter, r *http.Request) {
	if stepUpRequired, ok := h.needsStepUp(w, r); !ok || stepUpRequired {
		if ok {
			h.StepUp(w, r, "/account/password", nil)
		}
		return
	}
	savedForm := h.SavedForm(r)
	r.PostForm = savedForm
	h.showPassword(w, r, http.StatusOK, passwordForm{IsFirstView: savedForm == nil})
}

// needsStepUp reports whether the visitor must sign in again before changing the password. The current password is
// enough only if neither the session nor the account has another factor. If an error occurs, it writes the error
// response, and its second result is false.
func (h *Handlers) needsStepUp(w http.ResponseWriter, r *http.Request) (bool, bool) {
	ctx, v := r.Context(), shell.VisitorOf(r.Context())
	if h.RecentlyAuthenticated(ctx) {
		return false, true
	}
	if !v.HasPassword || h.HasTwoFactors(ctx) {
		return true, true
	}
	factors, err := h.Teams.Factors(ctx, v.ID)
	if err != nil {
		h.ShowError(w, r, err)
		return false, false
	}
	return factors.Any(), true
}

func (h *Handlers) showPassword(w http.ResponseWriter, r *http.Request, status int, form passwordForm) {
	v := shell.VisitorOf(r.Context())
	zone := v.Zone
	var err error
	if form.AsksCurrentPassword = v.HasPassword; form.AsksCurrentPassword { // setting a first password removes nothing
		if form.Credentials, err = h.keepableCredentials(r, v.ID, zone); err != nil {
			h.ShowError(w, r, err)
			return
		}
		if form.Issued, err = h.issuedCredentials(r, v.ID, zone); err != nil {
			h.ShowError(w, r, err)
			return
		}
		for i := range form.Credentials.Shown { // the authenticator app is kept by default
			if c := &form.Credentials.Shown[i]; form.IsFirstView && c.ID == team.AppID {
				c.Keep = true
			}
		}
	}
	h.Show(w, r, status, pages["password"], "Password", form)
}

func (h *Handlers) changePassword(w http.ResponseWriter, r *http.Request) {
	ctx, v := r.Context(), shell.VisitorOf(r.Context())
	if !h.ReadForm(w, r) {
		return
	}
	if stepUpRequired, ok := h.needsStepUp(w, r); !ok || stepUpRequired {
		if ok { // passwords are not saved in the session
			h.StepUp(w, r, "/account/password", url.Values{"keep": r.PostForm["keep"], "revoke": r.PostForm["revoke"]})
		}
		return
	}
	person, err := h.signIns.ChangePassword(ctx, team.PasswordChange{
		Person: v.ID, Old: r.PostForm.Get("old"), New: r.PostForm.Get("password"), CredentialChoice: choiceOf(r),
		NeedsFactor: h.NeedsFactor(v),
	})
	if err != nil {
		if formErr, ok := h.formError(w, r, err); ok {
			h.showPassword(w, r, shell.StatusOf(err), passwordForm{Error: formErr, Field: fieldOf(err)})
		}
		return
	}
	// The old password proves only one factor, so sensitive actions still depend on the time of the last sign-in.
	proof := shell.Proof{Method: shell.Password, At: h.AuthenticatedAt(ctx)}
	h.startNewSession(w, r, person, proof, "Your password was changed. You were signed out everywhere else.")
}

// forgetOtherBrowsers deletes all sessions of a person, and all known browsers except the current one.
func (h *Handlers) forgetOtherBrowsers(r *http.Request, person int64) error {
	if err := h.DeleteSessions(r.Context(), person); err != nil {
		return err
	}
	return h.Teams.KeepBrowser(r.Context(), person, h.KnownBrowser(r))
}

// startNewSession starts a new session for a person after all of the person's sessions were ended.
func (h *Handlers) startNewSession(w http.ResponseWriter, r *http.Request, person team.Person, proof shell.Proof,
	message locale.Key) {
	if err := h.forgetOtherBrowsers(r, person.ID); err != nil {
		h.ServerError(w, r, err)
		return
	}
	if err := h.SignIn(r.Context(), person, proof); err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Flash(r, message)
	shell.Redirect(w, r, "/account")
}

func (h *Handlers) endSession(w http.ResponseWriter, r *http.Request) {
	if err := h.EndSession(r.Context(), r.PathValue("session")); err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Flash(r, "The browser was signed out.")
	shell.Redirect(w, r, "/account")
}

// endSessions ends all sessions of the person, including the current one.
func (h *Handlers) endSessions(w http.ResponseWriter, r *http.Request) {
	ctx, person := r.Context(), shell.VisitorOf(r.Context()).ID
	for _, step := range []func() error{
		func() error {
			return h.Teams.EndSessions(ctx, person)
		}, func() error { return h.DeleteSessions(ctx, person) }, func() error { return h.SignOut(ctx) },
	} {
		if err := step(); err != nil {
			h.ShowError(w, r, err)
			return
		}
	}
	shell.Redirect(w, r, "/sign-in")
}
