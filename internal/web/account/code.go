package account

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/totp"
	"pressroom/internal/domain/team"
	"pressroom/internal/web/shell"
)

// codeKept is where a session keeps a sign-in that waits for a code. Nobody is signed in by it.
const codeKept = "code"

// codeWithin is how long the person has to enter the code.
const codeWithin = 5 * time.Minute

// waiting is a sign-in whose first factor was right.
type waiting struct {
	Person     int64     `json:"person"`
	Epoch      int64     `json:"epoch"`
	At         time.Time `json:"at"`
	Invitation string    `json:"invitation,omitempty"` // the token of one to accept
}

var errCodeLate = apierr.BadState("ended", "This sign-in is over. Enter your password again.")

// codeForm is the page that asks for a code, with what the sign-in page knows.
type codeForm struct {
	signInForm

	Recovery bool // the wrong code was a recovery code
}

// errPasskeyAgain refuses a password in place of the passkey that is a session's second factor.
var errPasskeyAgain = apierr.BadState("passkey", "Your password alone is not enough here. Sign in with your passkey.")

// enterBy signs in a person who has shown the first factor, or asks for a code if the person has an authenticator app,
// also a person who only signs in again.
func (p *Part) enterBy(w http.ResponseWriter, r *http.Request, person team.Person, form signInForm, by shell.Method) {
	if form.Again && shell.VisitorOf(r.Context()).ID != person.ID {
		p.refuseSignIn(w, r, form, errOther)
		return
	}
	asked, err := p.afterPassword(r, person.ID)
	switch {
	case err != nil:
		p.refuseSignIn(w, r, form, err)
	case asked:
		p.askCode(w, r, waiting{Person: person.ID, Epoch: person.Epoch}, form)
	default:
		p.enter(w, r, person, form, p.Proved(by))
	}
}

// afterPassword reports whether a person has to enter a code after the password. It refuses the password alone to a
// session with two factors whose person has a passkey and no authenticator app.
func (p *Part) afterPassword(r *http.Request, person int64) (bool, error) {
	has, err := p.Teams.Factors(r.Context(), person)
	if err != nil || has.App {
		return has.App, err
	}
	v := shell.VisitorOf(r.Context())
	if has.Passkeys > 0 && v != nil && v.ID == person && p.Strong(r.Context()) {
		err = errPasskeyAgain
	}
	return false, err
}

// askCode notes that the first factor was right and asks for the second one. The browser gets another token: one that
// somebody planted must not get past the password.
func (p *Part) askCode(w http.ResponseWriter, r *http.Request, of waiting, form signInForm) {
	of.At = p.DB.Now()
	raw, err := json.Marshal(of)
	if err == nil {
		err = p.Renew(r.Context())
	}
	if err != nil {
		p.Broken(w, r, err)
		return
	}
	p.Keep(r.Context(), codeKept, raw)
	p.Show(w, r, http.StatusOK, pages["code"], "Sign in", codeForm{signInForm: form})
}

// waitsForCode reads the sign-in that waits for a code; nil if none does, or not any more.
func (p *Part) waitsForCode(r *http.Request) (*waiting, error) {
	raw := p.Take(r.Context(), codeKept)
	if raw == nil {
		return nil, nil //nolint:nilnil // none is no error
	}
	var of waiting
	if err := json.Unmarshal(raw, &of); err != nil {
		return nil, fmt.Errorf("reading the sign-in that waits for a code: %w", err)
	}
	if age := p.DB.Now().Sub(of.At); age < 0 || age >= codeWithin {
		return nil, nil //nolint:nilnil // as above
	}
	p.Keep(r.Context(), codeKept, raw)
	return &of, nil
}

// signInByCode ends a sign-in by a code of the person's authenticator app, or by a recovery code.
func (p *Part) signInByCode(w http.ResponseWriter, r *http.Request) {
	if !p.readSignIn(w, r) {
		return
	}
	form := p.sentForm(r)
	of, err := p.waitsForCode(r)
	if err == nil && of == nil {
		err = errCodeLate
	}
	if err != nil {
		p.refuseSignIn(w, r, form, err)
		return
	}
	left, err := p.checkCode(r, totp.Holder{Person: of.Person, Epoch: of.Epoch})
	if err != nil {
		p.refuseCode(w, r, form, err)
		return
	}
	p.Take(r.Context(), codeKept)
	if left >= 0 {
		p.Say(r,
			"You signed in with a recovery code. You have "+shell.Plural(left, "recovery code",
				"recovery codes")+" left.")
	}
	p.enterAfterCode(w, r, *of, form)
}

// checkCode returns how many recovery codes are left after one was used, and -1 after a code of the app. Wrong codes
// of the app delay the person; recovery codes pass all the same.
func (p *Part) checkCode(r *http.Request, of totp.Holder) (int, error) {
	left, ctx := -1, r.Context()
	if recovery := r.PostForm.Get("recovery"); recovery != "" {
		err := p.signIns.CheckSecret(p.Client(r), func() error {
			var err error
			left, err = p.totp.Recover(ctx, of, recovery)
			return err
		})
		return left, err
	}
	return left, p.signIns.GuessCode(ctx, of.Person, p.KnownBrowser(r), func() error {
		return p.totp.Check(ctx, of, r.PostForm.Get("code"))
	})
}

// refuseCode shows the page again, or the first one if the sign-in is over.
func (p *Part) refuseCode(w http.ResponseWriter, r *http.Request, form signInForm, err error) {
	if apierr.Is(err, apierr.ValidationFailed) {
		p.refuseSignIn(w, r, form, err)
		return
	}
	p.logRefused(r, err)
	if wrong, ok := p.wrongOf(w, r, err); ok {
		form.Wrong = wrong
		p.Show(w, r, shell.StatusOf(err), pages["code"], "Sign in", codeForm{form, r.PostForm.Get("recovery") != ""})
	}
}

// enterAfterCode signs in a person who has shown both factors, in the team of the invitation if there is one.
func (p *Part) enterAfterCode(w http.ResponseWriter, r *http.Request, of waiting, form signInForm) {
	person := team.Person{ID: of.Person, Epoch: of.Epoch}
	if of.Invitation == "" {
		p.enter(w, r, person, form, p.Proved(shell.Code))
		return
	}
	o, err := p.Teams.Accept(r.Context(), of.Invitation, person.ID)
	if err != nil {
		p.enterWithoutTeam(w, r, person, err)
		return
	}
	p.settle(w, r, o, person.ID, shell.Code)
}

// enterWithoutTeam signs in a person whose code was right and whose invitation cannot be accepted any more. The code is
// spent, so the person is signed in all the same and told why.
func (p *Part) enterWithoutTeam(w http.ResponseWriter, r *http.Request, person team.Person, why error) {
	f := apierr.Of(why)
	if f.IsServerError() {
		p.Refuse(w, r, why)
		return
	}
	text := f.Detail
	if f.Code == apierr.NotFound {
		text = "This invitation is no longer there. Ask for a new one."
	}
	err := p.SignIn(r.Context(), person, p.Proved(shell.Code))
	switch {
	case apierr.Is(err, apierr.NotFound): // in no other team
		p.Notice(w, r, http.StatusForbidden, "You did not join a team", text)
	case err != nil:
		p.Refuse(w, r, err)
	default:
		p.Say(r, "You are signed in, but you did not join a team. "+text)
		shell.Redirect(w, r, "/")
	}
}
