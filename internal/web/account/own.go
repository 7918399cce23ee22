package account

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/passkey"
	"pressroom/internal/auth/totp"
	"pressroom/internal/domain/team"
	"pressroom/internal/web/shell"
)

// view is the account page.
type view struct {
	Ways     ways
	Name     string // as it is or was typed
	Wrong    string
	Passkeys []passkey.Passkey
	App      *totp.App // nil without one
	Sessions []shell.Session

	Assistants []team.KeyLine // that the person lets work, over all teams
	Offers     []team.Offer   // open invitations to the person's address, once that is confirmed

	Mails      bool   // a link that confirms the address can be mailed
	WrongEmail string // why none was
}

// mostAssistants is how many of them the page shows.
const mostAssistants = 100

func (p *Part) page(w http.ResponseWriter, r *http.Request) {
	p.show(w, r, http.StatusOK, view{Name: shell.VisitorOf(r.Context()).Name})
}

// rename changes what the person is called.
func (p *Part) rename(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	name := r.PostForm.Get("name")
	if err := p.Teams.SetName(r.Context(), shell.VisitorOf(r.Context()).ID, name); err != nil {
		if wrong, ok := p.wrongOf(w, r, err); ok {
			p.show(w, r, shell.StatusOf(err), view{Name: name, Wrong: wrong})
		}
		return
	}
	p.Say(r, "Your name is changed.")
	shell.Redirect(w, r, "/account")
}

func (p *Part) show(w http.ResponseWriter, r *http.Request, status int, out view) {
	ctx, v := r.Context(), shell.VisitorOf(r.Context())
	zone, err := time.LoadLocation(v.Team.Timezone)
	if err != nil {
		p.Broken(w, r, err)
		return
	}
	out.Ways, out.Mails = p.ways(), p.Letters.Possible()
	if out.Passkeys, err = p.passkeys.List(ctx, v.ID); err != nil {
		p.Refuse(w, r, err)
		return
	}
	if out.App, err = p.totp.App(ctx, v.ID); err != nil {
		p.Refuse(w, r, err)
		return
	}
	if out.App != nil {
		out.App.Since = in(out.App.Since, zone)
	}
	if out.Sessions, err = p.Sessions(ctx); err != nil {
		p.Refuse(w, r, err)
		return
	}
	if out.Assistants, err = p.Teams.OwnConnections(ctx, v.ID, mostAssistants); err != nil {
		p.Refuse(w, r, err)
		return
	}
	if v.EmailConfirmed {
		if out.Offers, err = p.Teams.OpenOffers(ctx, v.Email); err != nil {
			p.Refuse(w, r, err)
			return
		}
	}
	for i := range out.Assistants {
		a := &out.Assistants[i]
		a.CreatedAt, a.UsedAt = in(a.CreatedAt, zone), in(a.UsedAt, zone)
	}
	for i := range out.Passkeys {
		k := &out.Passkeys[i]
		k.CreatedAt, k.UsedAt = in(k.CreatedAt, zone), in(k.UsedAt, zone)
	}
	for i := range out.Sessions {
		s := &out.Sessions[i]
		s.Since, s.Used = in(s.Since, zone), in(s.Used, zone)
	}
	p.Show(w, r, status, pages["account"], "Your account", out)
}

// in is an instant in a zone; none stays none.
func in(at time.Time, zone *time.Location) time.Time {
	if at.IsZero() {
		return at
	}
	return at.In(zone)
}

// passwordForm is the page on which one changes the password. Passwords are never shown again.
type passwordForm struct {
	Asks         bool // for the present one
	Initial      bool // nobody has chosen yet what to keep
	Wrong, Field string
	Credentials  keepables // that a change removes
	Issued       issued    // that a change leaves alone
}

// keepable is a credential that a new password removes unless its box is ticked.
type keepable struct {
	team.Credential

	Keep bool
}

// keepables are the credentials that a page shows, and how many more there are, which cannot be kept.
type keepables struct {
	Shown []keepable
	More  int
}

// mostKeepable is how many credentials a page shows, and how many keys and invitations.
const mostKeepable = 150

// keepables lists a person's credentials, with those ticked that the form keeps.
func (p *Part) keepables(r *http.Request, person int64, zone *time.Location) (keepables, error) {
	all, err := p.Teams.Credentials(r.Context(), person)
	if err != nil {
		return keepables{}, err
	}
	out := keepables{More: max(0, len(all)-mostKeepable)}
	for _, c := range all[:len(all)-out.More] {
		c.CreatedAt, c.UsedAt = in(c.CreatedAt, zone), in(c.UsedAt, zone)
		out.Shown = append(out.Shown, keepable{c, slices.Contains(r.PostForm["keep"], c.ID)})
	}
	return out, nil
}

// revocable is an API key or an invitation that a new password leaves alone unless its box is ticked.
type revocable struct {
	team.Credential

	Revoke bool
}

// issued is what a person handed out to others, and how many older ones of each kind the page does not show.
type issued struct {
	Shown                     []revocable
	MoreKeys, MoreInvitations int
}

// issued lists a person's API keys and invitations, with those ticked that the form revokes.
func (p *Part) issued(r *http.Request, person int64, zone *time.Location) (issued, error) {
	all, err := p.Teams.ListIssued(r.Context(), person)
	if err != nil {
		return issued{}, err
	}
	var out issued
	keys, invitations := 0, 0
	for _, c := range all { // newest first of each kind, so that many keys hide no invitation
		if c.Kind == team.IssuedKey {
			keys++
		} else {
			invitations++
		}
		if c.Kind == team.IssuedKey && keys > mostKeepable ||
			c.Kind == team.IssuedInvitation && invitations > mostKeepable {
			continue
		}
		c.CreatedAt, c.UsedAt = in(c.CreatedAt, zone), in(c.UsedAt, zone)
		out.Shown = append(out.Shown, revocable{c, slices.Contains(r.PostForm["revoke"], c.ID)})
	}
	out.MoreKeys, out.MoreInvitations = max(0, keys-mostKeepable), max(0, invitations-mostKeepable)
	return out, nil
}

// choiceOf reads from a form what a new password keeps and revokes.
func choiceOf(r *http.Request) team.Choice {
	return team.Choice{Keep: r.PostForm["keep"], Revoke: r.PostForm["revoke"]}
}

func (p *Part) passwordPage(w http.ResponseWriter, r *http.Request) {
	if stale, ok := p.staleForPassword(w, r); !ok || stale {
		if ok {
			p.StepUp(w, r, "/account/password", nil)
		}
		return
	}
	kept := p.Resumed(r)
	r.PostForm = kept
	p.showPassword(w, r, http.StatusOK, passwordForm{Initial: kept == nil})
}

// staleForPassword reports whether the visitor has to sign in again before a change of the password. The current
// password is enough only for people whose session and account have no other factor. It answers on errors.
func (p *Part) staleForPassword(w http.ResponseWriter, r *http.Request) (stale, ok bool) {
	ctx, v := r.Context(), shell.VisitorOf(r.Context())
	if p.Fresh(ctx) {
		return false, true
	}
	if !v.HasPassword || p.Strong(ctx) {
		return true, true
	}
	has, err := p.Teams.Factors(ctx, v.ID)
	if err != nil {
		p.Refuse(w, r, err)
		return false, false
	}
	return has.Any(), true
}

func (p *Part) showPassword(w http.ResponseWriter, r *http.Request, status int, form passwordForm) {
	v := shell.VisitorOf(r.Context())
	zone, err := time.LoadLocation(v.Team.Timezone)
	if err != nil {
		p.Broken(w, r, err)
		return
	}
	if form.Asks = v.HasPassword; form.Asks { // a first password replaces nothing
		if form.Credentials, err = p.keepables(r, v.ID, zone); err != nil {
			p.Refuse(w, r, err)
			return
		}
		if form.Issued, err = p.issued(r, v.ID, zone); err != nil {
			p.Refuse(w, r, err)
			return
		}
		for i := range form.Credentials.Shown { // people who change a password want the second factor to stay
			if c := &form.Credentials.Shown[i]; form.Initial && c.ID == team.AppID {
				c.Keep = true
			}
		}
	}
	p.Show(w, r, status, pages["password"], "Password", form)
}

func (p *Part) changePassword(w http.ResponseWriter, r *http.Request) {
	ctx, v := r.Context(), shell.VisitorOf(r.Context())
	if !p.ReadForm(w, r) {
		return
	}
	if stale, ok := p.staleForPassword(w, r); !ok || stale {
		if ok { // passwords are not stored in the session
			p.StepUp(w, r, "/account/password", url.Values{"keep": r.PostForm["keep"], "revoke": r.PostForm["revoke"]})
		}
		return
	}
	person, err := p.signIns.ChangePassword(ctx, team.Change{
		Person: v.ID, Old: r.PostForm.Get("old"), New: r.PostForm.Get("password"), Choice: choiceOf(r),
		NeedsFactor: p.NeedsFactor(v),
	})
	if err != nil {
		if wrong, ok := p.wrongOf(w, r, err); ok {
			p.showPassword(w, r, shell.StatusOf(err), passwordForm{Wrong: wrong, Field: fieldOf(err)})
		}
		return
	}
	// The old password proves one factor, so the last sign-in stays the proof for sensitive actions.
	proof := shell.Proof{By: shell.Password, At: p.ProvedAt(ctx)}
	p.renew(w, r, person, proof, "Your password is changed. You are signed out everywhere else.")
}

// forgetOthers forgets the sessions and the browsers of a person whose sessions have all ended. This browser stays
// known for the person.
func (p *Part) forgetOthers(r *http.Request, person int64) error {
	if err := p.Forget(r.Context(), person); err != nil {
		return err
	}
	return p.Teams.KeepBrowser(r.Context(), person, p.KnownBrowser(r))
}

// renew begins a new session for a person whose others have all ended.
func (p *Part) renew(w http.ResponseWriter, r *http.Request, person team.Person, proof shell.Proof, said string) {
	if err := p.forgetOthers(r, person.ID); err != nil {
		p.Broken(w, r, err)
		return
	}
	if err := p.SignIn(r.Context(), person, proof); err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.Say(r, said)
	shell.Redirect(w, r, "/account")
}

func (p *Part) endSession(w http.ResponseWriter, r *http.Request) {
	if err := p.EndSession(r.Context(), r.PathValue("session")); err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.Say(r, "That browser is signed out.")
	shell.Redirect(w, r, "/account")
}

// endSessions signs the person out everywhere, also here.
func (p *Part) endSessions(w http.ResponseWriter, r *http.Request) {
	ctx, person := r.Context(), shell.VisitorOf(r.Context()).ID
	for _, step := range []func() error{
		func() error {
			return p.Teams.EndSessions(ctx, person)
		}, func() error { return p.Forget(ctx, person) }, func() error { return p.SignOut(ctx) },
	} {
		if err := step(); err != nil {
			p.Refuse(w, r, err)
			return
		}
	}
	shell.Redirect(w, r, "/sign-in")
}

// numberIn is an id in the address.
func numberIn(r *http.Request, name string) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue(name), 10, 64)
	if err != nil || id < 1 {
		return 0, apierr.Missing()
	}
	return id, nil
}
