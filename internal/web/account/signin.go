package account

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/oidc"
	"pressroom.example/pressroom/internal/auth/passkey"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/web/shell"
)

// readSignIn parses a sign-in form, which may contain another form in the field "kept". If the form cannot be read or
// is too long, it writes the error response and returns false.
func (h *Handlers) readSignIn(w http.ResponseWriter, r *http.Request) bool {
	if !h.ReadLongForm(w, r, 3*maxKeptForm+shell.MaxForm) {
		return false
	}
	size := 0
	for name, values := range r.PostForm {
		if name != "kept" {
			size += len(name) + len(strings.Join(values, ""))
		}
	}
	if size > shell.MaxForm {
		h.ShowMessage(w, r, http.StatusBadRequest, "Action not completed",
			"The form could not be read. Reload the page and try again.")
		return false
	}
	return true
}

// signInForm is the sign-in page. If it is shown again after an error, its password field is empty.
type signInForm struct {
	signInMethods

	Email, Next, Error string
	Again              bool // a signed-in person authenticates again
	Resuming           bool // a submitted form is saved in the session
	Undone             bool // a form was not processed because the session had ended
	// Kept is a URL-encoded form that was submitted after the session had ended; "" if there is none.
	Kept string
}

// Fields returns the fields of the kept form.
func (f signInForm) Fields() []field {
	form, err := url.ParseQuery(f.Kept)
	if err != nil { // a browser would not send this
		return nil
	}
	var out []field
	for _, name := range slices.Sorted(maps.Keys(form)) {
		for _, value := range form[name] {
			if name != "do" { // the button must be pressed again
				out = append(out, field{name, value})
			}
		}
	}
	return out
}

type field struct{ Name, Value string }

// maxKeptForm is the maximum size in bytes of a form that is kept during sign-in. It is enough for a post with the
// longest text for several accounts. Encoding the form may triple its size.
const maxKeptForm = 512 << 10

// signInKeepingForm shows the sign-in page to a person whose session has ended and keeps the submitted form, so that no
// input is lost. A person who has signed in since then is redirected to the form's page, which shows the form again.
func (h *Handlers) signInKeepingForm(w http.ResponseWriter, r *http.Request) {
	if !h.ReadFormToSave(w, r, maxKeptForm) {
		return
	}
	form := signInForm{signInMethods: h.signInMethods(), Next: shell.LocalPath(r.URL.Query().Get("next")),
		Kept: r.PostForm.Encode()}
	if shell.VisitorOf(r.Context()) != nil { // signed in through another tab
		h.SaveForm(r.Context(), form.Next, r.PostForm)
		h.Flash(r, resumedText)
		shell.Redirect(w, r, form.Next)
		return
	}
	h.Show(w, r, http.StatusOK, pages["signin"], "Sign in", form)
}

func (h *Handlers) signInPage(w http.ResponseWriter, r *http.Request) {
	form := signInForm{
		signInMethods: h.signInMethods(), Next: shell.LocalPath(r.URL.Query().Get("next")),
		Undone: r.URL.Query().Get("undone") != "",
	}
	if v := shell.VisitorOf(r.Context()); v != nil {
		if r.URL.Query().Get("again") == "" {
			shell.Redirect(w, r, form.Next)
			return
		}
		form.Again, form.Email, form.Resuming = true, v.Email, h.HasSavedForm(r.Context(), form.Next)
	}
	h.Show(w, r, http.StatusOK, pages["signin"], "Sign in", form)
}

func (h *Handlers) signIn(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("resume") != "" {
		h.signInKeepingForm(w, r)
		return
	}
	h.requireLocal(h.signInByPassword)(w, r)
}

func (h *Handlers) signInByPassword(w http.ResponseWriter, r *http.Request) {
	if !h.readSignIn(w, r) {
		return
	}
	form := h.submittedForm(r)
	person, err := h.signIns.SignIn(r.Context(),
		team.Attempt{
			Email: form.Email, Password: r.PostForm.Get("password"), From: h.Client(r), Browser: h.KnownBrowser(r),
		})
	if form.Again && apierr.Is(err, apierr.Unauthorized) && !errors.Is(err, team.ErrNoTeam) {
		err = errWrongPassword
	}
	if err != nil {
		h.rejectSignIn(w, r, form, err)
		return
	}
	h.enterAfterFirstFactor(w, r, person, form, shell.Password)
}

// submittedForm returns the sign-in form that the browser sent.
func (h *Handlers) submittedForm(r *http.Request) signInForm {
	form := signInForm{
		signInMethods: h.signInMethods(), Email: r.PostForm.Get("email"), Next: shell.LocalPath(r.PostForm.Get("next")),
		Kept:  r.PostForm.Get("kept"),
		Again: r.PostForm.Get("again") != "" && shell.VisitorOf(r.Context()) != nil,
	}
	form.Resuming = form.Again && h.HasSavedForm(r.Context(), form.Next)
	return form
}

// errWrongPassword rejects the wrong password of a signed-in person. The form already shows the person's email address.
var errWrongPassword = apierr.New(apierr.Unauthorized, "Incorrect password. Try again.")

// errOtherPerson rejects a sign-in by a person other than the one who is signed in.
var errOtherPerson = apierr.BadState("other_account",
	"That is a different account. Sign in with the account you are using, or sign out first.")

// resumedText explains what happened to a kept form.
const resumedText = "You are signed in again. Your input is in the form below. Nothing has been saved or sent yet."

// enter signs in a person and redirects to the page named in the form.
func (h *Handlers) enter(w http.ResponseWriter, r *http.Request, person team.Person, form signInForm,
	proof shell.Proof) {
	if form.Again && shell.VisitorOf(r.Context()).ID != person.ID {
		h.rejectSignIn(w, r, form, errOtherPerson)
		return
	}
	if err := h.SignIn(r.Context(), person, proof); err != nil {
		h.ShowError(w, r, err)
		return
	}
	if form.Resuming {
		h.Flash(r, "You are signed in again. Your input is still in the form. Nothing has been saved yet.")
	}
	if keptForm, err := url.ParseQuery(form.Kept); err == nil && form.Kept != "" {
		h.SaveForm(r.Context(), form.Next, keptForm)
		h.Flash(r, resumedText)
	}
	shell.Redirect(w, r, form.Next)
}

func (h *Handlers) rejectSignIn(w http.ResponseWriter, r *http.Request, form signInForm, err error) {
	if errors.Is(err, team.ErrNoTeam) {
		h.ShowText(w, r, http.StatusForbidden, "You no longer belong to a team", h.Detail(r, err))
		return
	}
	h.logRejected(r, err)
	formErr, ok := h.formError(w, r, err)
	if !ok {
		return
	}
	form.Error = formErr
	if v := shell.VisitorOf(r.Context()); form.Again && v != nil {
		form.Email = v.Email
	}
	h.Show(w, r, shell.StatusOf(err), pages["signin"], "Sign in", form)
}

// logRejected logs a failed sign-in with the client's address, so that operators can detect guessing. Form values are
// not logged.
func (h *Handlers) logRejected(r *http.Request, err error) {
	if f := apierr.FromError(err); !f.IsServerError() {
		h.Log.InfoContext(r.Context(), "sign-in failed", "route", r.Pattern, "code", string(f.Code), "client",
			h.Client(r))
	}
}

// signOut ends the session and redirects to the page named in the form.
func (h *Handlers) signOut(w http.ResponseWriter, r *http.Request) {
	if err := h.SignOut(r.Context()); err != nil {
		h.ServerError(w, r, err)
		return
	}
	if !h.ReadForm(w, r) {
		return
	}
	shell.Redirect(w, r, shell.LocalPath(r.PostForm.Get("next")))
}

// passkeyKey is the session key for the challenge of a passkey request.
const passkeyKey = "passkey"

func (h *Handlers) beginPasskeySignIn(w http.ResponseWriter, r *http.Request) {
	challenge, err := h.passkeys.BeginSignIn()
	h.writeChallenge(w, r, challenge, err)
}

// writeChallenge sends a page's script the options for the browser's passkey request, or the error.
func (h *Handlers) writeChallenge(w http.ResponseWriter, r *http.Request, challenge passkey.Challenge, err error) {
	if err != nil {
		if formErr, ok := h.formError(w, r, err); ok {
			writeJSON(w, shell.StatusOf(err), map[string]string{"error": formErr})
		}
		return
	}
	h.Put(r.Context(), passkeyKey, challenge.State)
	writeJSON(w, http.StatusOK, challenge.Options)
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) //nolint:errchkjson // texts; the client may have disconnected
}

func (h *Handlers) signInByPasskey(w http.ResponseWriter, r *http.Request) {
	if !h.readSignIn(w, r) {
		return
	}
	form := h.submittedForm(r)
	person, err := h.personByPasskey(r)
	if err != nil {
		h.rejectSignIn(w, r, form, err)
		return
	}
	account, err := h.Teams.Account(r.Context(), person)
	if err != nil {
		if apierr.Is(err, apierr.NotFound) {
			err = team.ErrNoTeam
		}
		h.rejectSignIn(w, r, form, err)
		return
	}
	h.enter(w, r, account.Person, form, h.ProofNow(shell.Passkey))
}

// personByPasskey returns the ID of the person whose passkey is in the form.
func (h *Handlers) personByPasskey(r *http.Request) (int64, error) {
	var person int64
	err := h.signIns.CheckSecret(h.Client(r), func() error {
		var err error
		person, err = h.passkeys.SignIn(r.Context(), h.Pop(r.Context(), passkeyKey),
			[]byte(r.PostForm.Get("passkey")))
		return err
	})
	return person, err
}

// directoryKey is the session key for a directory sign-in in progress.
const directoryKey = "directory"

func (h *Handlers) redirectToDirectory(w http.ResponseWriter, r *http.Request) {
	if h.directory == nil {
		h.NotFound(w, r)
		return
	}
	again := r.URL.Query().Get("again") != "" && shell.VisitorOf(r.Context()) != nil
	target, attempt, err := h.directory.Begin(r.Context(), shell.LocalPath(r.URL.Query().Get("next")), again)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	raw, err := json.Marshal(attempt)
	if err != nil {
		h.ServerError(w, r, err)
		return
	}
	h.Put(r.Context(), directoryKey, raw)
	http.Redirect(w, r, target, http.StatusSeeOther) //nolint:gosec // the operator configures the directory's address
}

func (h *Handlers) returnFromDirectory(w http.ResponseWriter, r *http.Request) {
	if h.directory == nil {
		h.NotFound(w, r)
		return
	}
	ctx := r.Context()
	var attempt oidc.Attempt
	if raw := h.Pop(ctx, directoryKey); raw != nil {
		if err := json.Unmarshal(raw, &attempt); err != nil {
			h.ServerError(w, r, err)
			return
		}
	}
	next := shell.LocalPath(attempt.Next)
	form := signInForm{signInMethods: h.signInMethods(), Next: next,
		Again: attempt.Reauthenticate && shell.VisitorOf(ctx) != nil}
	form.Resuming = form.Again && h.HasSavedForm(ctx, next)
	identity, err := h.directory.Finish(ctx, attempt, r.URL.Query())
	if err != nil {
		h.rejectSignIn(w, r, form, err)
		return
	}
	token, invited := strings.CutPrefix(next, team.InvitationPath)
	if !invited {
		token = ""
	}
	who := team.DirectoryIdentity{Issuer: identity.Issuer, Subject: identity.Subject, Email: identity.Email,
		Name: identity.Name, Roles: identity.Roles}
	person, err := h.Teams.FromDirectory(ctx, who, token)
	if errors.Is(err, team.ErrChooseInvitation) && !form.Again {
		h.chooseInvitation(w, r, pendingDirectorySignIn{Identity: who, AuthenticatedAt: identity.AuthenticatedAt,
			Since: h.DB.Now()})
		return
	}
	if err != nil {
		h.rejectSignIn(w, r, form, err)
		return
	}
	if invited && h.isAccepted(r, token) {
		form.Next = "/"
	}
	h.enter(w, r, person, form, shell.Proof{Method: shell.Directory, At: identity.AuthenticatedAt})
}

// isAccepted reports whether an invitation no longer exists or is no longer open, because the directory sign-in has
// accepted it.
func (h *Handlers) isAccepted(r *http.Request, token string) bool {
	_, err := h.Teams.InvitationByToken(r.Context(), token)
	return err != nil
}
