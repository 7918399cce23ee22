package account

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/totp"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/web/shell"
)

// pendingSignInKey is the session key for a pendingSignIn.
const pendingSignInKey = "code"

// codeTimeout is how long the person has to enter the code.
const codeTimeout = 5 * time.Minute

// pendingSignIn is a sign-in that waits for its second factor. The person is not signed in yet.
type pendingSignIn struct {
	Person     int64     `json:"person"`
	Epoch      int64     `json:"epoch"`
	At         time.Time `json:"at"`
	Invitation string    `json:"invitation,omitempty"` // token of an invitation to accept
}

var errCodeExpired = apierr.BadState("ended", "This sign-in has expired. Enter your password again.")

// codeForm is the page that asks for a code.
type codeForm struct {
	signInForm

	Recovery bool // the rejected code was a recovery code
}

// errPasskeyAgain rejects a password in a session that was started with two factors if the person has a passkey but no
// authenticator app.
var errPasskeyAgain = apierr.BadState("passkey", "Your password alone is not enough here. Sign in with your passkey.")

// enterAfterFirstFactor signs in a person whose first factor was correct. If the person has an authenticator app, it
// asks for a code first, even if the person is already signed in and only has to confirm an action.
func (h *Handlers) enterAfterFirstFactor(w http.ResponseWriter, r *http.Request, person team.Person, form signInForm,
	method shell.Method) {
	if form.Again && shell.VisitorOf(r.Context()).ID != person.ID {
		h.rejectSignIn(w, r, form, errOtherPerson)
		return
	}
	codeRequired, err := h.needsCode(r, person.ID)
	switch {
	case err != nil:
		h.rejectSignIn(w, r, form, err)
	case codeRequired:
		h.requestCode(w, r, pendingSignIn{Person: person.ID, Epoch: person.Epoch}, form)
	default:
		h.enter(w, r, person, form, h.ProofNow(method))
	}
}

// needsCode reports whether a person must enter a code after the password. It returns errPasskeyAgain if the password
// is not enough, but the person has no authenticator app.
func (h *Handlers) needsCode(r *http.Request, person int64) (bool, error) {
	factors, err := h.Teams.Factors(r.Context(), person)
	if err != nil || factors.App {
		return factors.App, err
	}
	v := shell.VisitorOf(r.Context())
	if factors.Passkeys > 0 && v != nil && v.ID == person && h.HasTwoFactors(r.Context()) {
		err = errPasskeyAgain
	}
	return false, err
}

// requestCode records that the first factor was correct and asks for the second factor. It issues a new session token
// to prevent session fixation.
func (h *Handlers) requestCode(w http.ResponseWriter, r *http.Request, pending pendingSignIn, form signInForm) {
	pending.At = h.DB.Now()
	raw, err := json.Marshal(pending)
	if err == nil {
		err = h.Renew(r.Context())
	}
	if err != nil {
		h.ServerError(w, r, err)
		return
	}
	h.Put(r.Context(), pendingSignInKey, raw)
	h.Show(w, r, http.StatusOK, pages["code"], "Sign in", codeForm{signInForm: form})
}

// pendingCode returns the sign-in that waits for a code, or nil if there is none or it has expired.
func (h *Handlers) pendingCode(r *http.Request) (*pendingSignIn, error) {
	raw := h.Pop(r.Context(), pendingSignInKey)
	if raw == nil {
		return nil, nil //nolint:nilnil // not an error
	}
	var pending pendingSignIn
	if err := json.Unmarshal(raw, &pending); err != nil {
		return nil, fmt.Errorf("reading the sign-in that waits for a code: %w", err)
	}
	if age := h.DB.Now().Sub(pending.At); age < 0 || age >= codeTimeout {
		return nil, nil //nolint:nilnil // as above
	}
	h.Put(r.Context(), pendingSignInKey, raw)
	return &pending, nil
}

// signInByCode completes a sign-in with a code from the person's authenticator app or with a recovery code.
func (h *Handlers) signInByCode(w http.ResponseWriter, r *http.Request) {
	if !h.readSignIn(w, r) {
		return
	}
	form := h.submittedForm(r)
	pending, err := h.pendingCode(r)
	if err == nil && pending == nil {
		err = errCodeExpired
	}
	if err != nil {
		h.rejectSignIn(w, r, form, err)
		return
	}
	remainingCodes, err := h.checkCode(r, totp.Holder{Person: pending.Person, Epoch: pending.Epoch})
	if err != nil {
		h.rejectCode(w, r, form, err)
		return
	}
	h.Pop(r.Context(), pendingSignInKey)
	if remainingCodes >= 0 {
		h.FlashText(r, h.Language(r).N(remainingCodes, "You signed in with a recovery code. You have %d recovery code left.",
			"You signed in with a recovery code. You have %d recovery codes left."))
	}
	h.enterAfterCode(w, r, *pending, form)
}

// checkCode checks the code in the form. If it is a recovery code, checkCode returns how many recovery codes remain.
// Otherwise it returns -1. Wrong app codes delay further app codes, but not recovery codes.
func (h *Handlers) checkCode(r *http.Request, holder totp.Holder) (int, error) {
	remainingCodes, ctx := -1, r.Context()
	if recovery := r.PostForm.Get("recovery"); recovery != "" {
		err := h.signIns.CheckSecret(h.Client(r), func() error {
			var err error
			remainingCodes, err = h.totp.Recover(ctx, holder, recovery)
			return err
		})
		return remainingCodes, err
	}
	return remainingCodes, h.signIns.GuessCode(ctx, holder.Person, h.KnownBrowser(r), func() error {
		return h.totp.Check(ctx, holder, r.PostForm.Get("code"))
	})
}

// rejectCode shows the error on the code page or, if the sign-in can no longer be completed (validation_failed), on the
// sign-in page.
func (h *Handlers) rejectCode(w http.ResponseWriter, r *http.Request, form signInForm, err error) {
	if apierr.Is(err, apierr.ValidationFailed) {
		h.rejectSignIn(w, r, form, err)
		return
	}
	h.logRejected(r, err)
	if formErr, ok := h.formError(w, r, err); ok {
		form.Error = formErr
		h.Show(w, r, shell.StatusOf(err), pages["code"], "Sign in", codeForm{form, r.PostForm.Get("recovery") != ""})
	}
}

// enterAfterCode signs in a person whose two factors were correct, and accepts the invitation if there is one.
func (h *Handlers) enterAfterCode(w http.ResponseWriter, r *http.Request, pending pendingSignIn, form signInForm) {
	person := team.Person{ID: pending.Person, Epoch: pending.Epoch}
	if pending.Invitation == "" {
		h.enter(w, r, person, form, h.ProofNow(shell.Code))
		return
	}
	o, err := h.Teams.Accept(r.Context(), pending.Invitation, person.ID)
	if err != nil {
		h.enterWithoutTeam(w, r, person, err)
		return
	}
	h.finishInvitation(w, r, o, person.ID, shell.Code)
}

// enterWithoutTeam signs in a person whose code was correct but whose invitation is no longer valid. It signs the
// person in anyway, because the code cannot be used again, and explains why the person did not join.
func (h *Handlers) enterWithoutTeam(w http.ResponseWriter, r *http.Request, person team.Person, joinErr error) {
	apiErr := apierr.FromError(joinErr)
	if apiErr.IsServerError() {
		h.ShowError(w, r, joinErr)
		return
	}
	text := h.Detail(r, joinErr)
	if apiErr.Code == apierr.NotFound {
		text = h.T(r, "This invitation is no longer valid. Ask for a new one.")
	}
	err := h.SignIn(r.Context(), person, h.ProofNow(shell.Code))
	switch {
	case apierr.Is(err, apierr.NotFound): // the person is not in another team
		h.ShowText(w, r, http.StatusForbidden, "You did not join a team", text)
	case err != nil:
		h.ShowError(w, r, err)
	default:
		h.FlashText(r, h.T(r, "You are signed in, but you did not join a team.")+" "+text)
		shell.Redirect(w, r, "/")
	}
}
