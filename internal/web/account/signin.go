package account

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/oidc"
	"pressroom/internal/auth/passkey"
	"pressroom/internal/domain/team"
	"pressroom/internal/web/shell"
)

// readSignIn reads a form that signs somebody in, with one that is kept meanwhile. The rest of it is as short as
// others.
func (p *Part) readSignIn(w http.ResponseWriter, r *http.Request) bool {
	if !p.ReadLongForm(w, r, 3*maxKept+shell.MaxForm) {
		return false
	}
	rest := 0
	for name, values := range r.PostForm {
		if name != "kept" {
			rest += len(name) + len(strings.Join(values, ""))
		}
	}
	if rest > shell.MaxForm {
		p.Notice(w, r, http.StatusBadRequest, "Not done", "This form cannot be read.")
		return false
	}
	return true
}

// signInForm is what the sign-in page shows. The password is never shown again.
type signInForm struct {
	ways

	Email, Next, Wrong string
	Again              bool // a signed-in person authenticates once more
	Resuming           bool // the person's session keeps a form until then
	Undone             bool // what a form asked for was not done, as nobody was signed in any more
	// Kept is a form that was sent by somebody whose session had ended, as browsers send forms; empty for none.
	Kept string
}

// Fields are the fields of the form that is kept.
func (f signInForm) Fields() []field {
	form, err := url.ParseQuery(f.Kept)
	if err != nil { // what nobody's browser has sent
		return nil
	}
	var out []field
	for _, name := range slices.Sorted(maps.Keys(form)) {
		for _, value := range form[name] {
			if name != "do" { // which button was pressed: it is pressed again by whoever has seen the form
				out = append(out, field{name, value})
			}
		}
	}
	return out
}

type field struct{ Name, Value string }

// maxKept is how many bytes a form may have that goes along while its sender signs in: the longest text of a post for
// some accounts. In the form that carries it each byte may become three.
const maxKept = 512 << 10

// keep shows the sign-in page to somebody whose session has ended, with the form that was sent, so that nothing that
// was typed is lost. Somebody who has signed in meanwhile is led to the form's page, which shows it again.
func (p *Part) keep(w http.ResponseWriter, r *http.Request) {
	if !p.ReadLongForm(w, r, maxKept) {
		return
	}
	form := signInForm{ways: p.ways(), Next: shell.OwnPath(r.URL.Query().Get("next")), Kept: r.PostForm.Encode()}
	if shell.VisitorOf(r.Context()) != nil { // meanwhile, in another tab
		p.Resume(r.Context(), form.Next, r.PostForm)
		p.Say(r, resumedText)
		shell.Redirect(w, r, form.Next)
		return
	}
	p.Show(w, r, http.StatusOK, pages["signin"], "Sign in", form)
}

func (p *Part) signInPage(w http.ResponseWriter, r *http.Request) {
	form := signInForm{
		ways: p.ways(), Next: shell.OwnPath(r.URL.Query().Get("next")), Undone: r.URL.Query().Get("undone") != "",
	}
	if v := shell.VisitorOf(r.Context()); v != nil {
		if r.URL.Query().Get("again") == "" {
			shell.Redirect(w, r, form.Next)
			return
		}
		form.Again, form.Email, form.Resuming = true, v.Email, p.Resuming(r.Context(), form.Next)
	}
	p.Show(w, r, http.StatusOK, pages["signin"], "Sign in", form)
}

func (p *Part) signIn(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("resume") != "" {
		p.keep(w, r)
		return
	}
	p.here(p.byPassword)(w, r)
}

func (p *Part) byPassword(w http.ResponseWriter, r *http.Request) {
	if !p.readSignIn(w, r) {
		return
	}
	form := p.sentForm(r)
	person, err := p.signIns.SignIn(r.Context(),
		team.Attempt{
			Email: form.Email, Password: r.PostForm.Get("password"), From: p.Client(r), Browser: p.KnownBrowser(r),
		})
	if form.Again && apierr.Is(err, apierr.Unauthorized) && !errors.Is(err, team.ErrNoTeam) {
		err = errWrongAgain
	}
	if err != nil {
		p.refuseSignIn(w, r, form, err)
		return
	}
	p.enterBy(w, r, person, form, shell.Password)
}

// sentForm is the sign-in form that was sent.
func (p *Part) sentForm(r *http.Request) signInForm {
	form := signInForm{
		ways: p.ways(), Email: r.PostForm.Get("email"), Next: shell.OwnPath(r.PostForm.Get("next")),
		Kept:  r.PostForm.Get("kept"),
		Again: r.PostForm.Get("again") != "" && shell.VisitorOf(r.Context()) != nil,
	}
	form.Resuming = form.Again && p.Resuming(r.Context(), form.Next)
	return form
}

// errWrongAgain refuses a wrong password of a signed-in person, whose e-mail address the form shows.
var errWrongAgain = apierr.New(apierr.Unauthorized, "Incorrect password. Try again.")

// errOther refuses to let another person take over a session by signing in again.
var errOther = apierr.BadState("other_account",
	"That is another account. Sign in again with the account that you are using, or sign out first.")

// resumedText says what became of a form that was kept.
const resumedText = "You are signed in again. What you wrote is in the form below. Nothing has been saved or sent yet."

// enter signs a person in and leads on.
func (p *Part) enter(w http.ResponseWriter, r *http.Request, person team.Person, form signInForm, proof shell.Proof) {
	if form.Again && shell.VisitorOf(r.Context()).ID != person.ID {
		p.refuseSignIn(w, r, form, errOther)
		return
	}
	if err := p.SignIn(r.Context(), person, proof); err != nil {
		p.Refuse(w, r, err)
		return
	}
	if form.Resuming {
		p.Say(r, "You are signed in again. What you entered is still in the form; nothing was saved or done yet.")
	}
	if sent, err := url.ParseQuery(form.Kept); err == nil && form.Kept != "" {
		p.Resume(r.Context(), form.Next, sent)
		p.Say(r, resumedText)
	}
	shell.Redirect(w, r, form.Next)
}

func (p *Part) refuseSignIn(w http.ResponseWriter, r *http.Request, form signInForm, err error) {
	if errors.Is(err, team.ErrNoTeam) {
		p.Notice(w, r, http.StatusForbidden, "You no longer belong to a team", apierr.Of(err).Detail)
		return
	}
	p.logRefused(r, err)
	wrong, ok := p.wrongOf(w, r, err)
	if !ok {
		return
	}
	form.Wrong = wrong
	if v := shell.VisitorOf(r.Context()); form.Again && v != nil {
		form.Email = v.Email
	}
	p.Show(w, r, shell.StatusOf(err), pages["signin"], "Sign in", form)
}

// logRefused logs a refused sign-in with the client's address, for operators who watch for guessing. Nothing of the
// form is logged.
func (p *Part) logRefused(r *http.Request, err error) {
	if f := apierr.Of(err); !f.IsServerError() {
		p.Log.InfoContext(r.Context(), "sign-in refused", "route", r.Pattern, "code", string(f.Code), "client",
			p.Client(r))
	}
}

// signOut ends the session and leads to the page that the form names.
func (p *Part) signOut(w http.ResponseWriter, r *http.Request) {
	if err := p.SignOut(r.Context()); err != nil {
		p.Broken(w, r, err)
		return
	}
	if !p.ReadForm(w, r) {
		return
	}
	shell.Redirect(w, r, shell.OwnPath(r.PostForm.Get("next")))
}

// passkeyKept is where a session keeps the question that the browser is asked for a passkey.
const passkeyKept = "passkey"

func (p *Part) askPasskey(w http.ResponseWriter, r *http.Request) {
	asked, err := p.passkeys.AskSignIn()
	p.ask(w, r, asked, err)
}

// ask answers a page's script with what the browser asks the person's device.
func (p *Part) ask(w http.ResponseWriter, r *http.Request, asked passkey.Question, err error) {
	if err != nil {
		if wrong, ok := p.wrongOf(w, r, err); ok {
			tell(w, shell.StatusOf(err), map[string]string{"wrong": wrong})
		}
		return
	}
	p.Keep(r.Context(), passkeyKept, asked.Kept)
	tell(w, http.StatusOK, asked.Options)
}

func tell(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) //nolint:errchkjson // texts; the client may be gone
}

func (p *Part) signInByPasskey(w http.ResponseWriter, r *http.Request) {
	if !p.readSignIn(w, r) {
		return
	}
	form := p.sentForm(r)
	person, err := p.byPasskey(r)
	if err != nil {
		p.refuseSignIn(w, r, form, err)
		return
	}
	account, err := p.Teams.Account(r.Context(), person)
	if err != nil {
		if apierr.Is(err, apierr.NotFound) {
			err = team.ErrNoTeam
		}
		p.refuseSignIn(w, r, form, err)
		return
	}
	p.enter(w, r, account.Person, form, p.Proved(shell.Passkey))
}

// byPasskey tells whose passkey the form holds.
func (p *Part) byPasskey(r *http.Request) (int64, error) {
	var person int64
	err := p.signIns.CheckSecret(p.Client(r), func() error {
		var err error
		person, err = p.passkeys.SignIn(r.Context(), p.Take(r.Context(), passkeyKept),
			[]byte(r.PostForm.Get("passkey")))
		return err
	})
	return person, err
}

// directoryKept is where a session keeps a sign-in at the directory that is under way.
const directoryKept = "directory"

func (p *Part) toDirectory(w http.ResponseWriter, r *http.Request) {
	if p.directory == nil {
		p.Missing(w, r)
		return
	}
	again := r.URL.Query().Get("again") != "" && shell.VisitorOf(r.Context()) != nil
	address, attempt, err := p.directory.Begin(r.Context(), shell.OwnPath(r.URL.Query().Get("next")), again)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	raw, err := json.Marshal(attempt)
	if err != nil {
		p.Broken(w, r, err)
		return
	}
	p.Keep(r.Context(), directoryKept, raw)
	http.Redirect(w, r, address, http.StatusSeeOther) //nolint:gosec // the directory's address is the operator's
}

func (p *Part) fromDirectory(w http.ResponseWriter, r *http.Request) {
	if p.directory == nil {
		p.Missing(w, r)
		return
	}
	ctx := r.Context()
	var attempt oidc.Attempt
	if raw := p.Take(ctx, directoryKept); raw != nil {
		if err := json.Unmarshal(raw, &attempt); err != nil {
			p.Broken(w, r, err)
			return
		}
	}
	next := shell.OwnPath(attempt.Next)
	form := signInForm{ways: p.ways(), Next: next, Again: attempt.Again && shell.VisitorOf(ctx) != nil}
	form.Resuming = form.Again && p.Resuming(ctx, next)
	known, err := p.directory.Finish(ctx, attempt, r.URL.Query())
	if err != nil {
		p.refuseSignIn(w, r, form, err)
		return
	}
	token, invited := strings.CutPrefix(next, team.InvitationPath)
	if !invited {
		token = ""
	}
	who := team.DirectoryIdentity{Issuer: known.Issuer, Subject: known.Subject, Email: known.Email, Name: known.Name}
	joined, err := p.Teams.FromDirectory(ctx, who, token)
	if errors.Is(err, team.ErrChooseInvitation) && !form.Again {
		p.chooseInvitation(w, r, chooser{Who: who, ProvedAt: known.AuthenticatedAt, Since: p.DB.Now()})
		return
	}
	if err != nil {
		p.refuseSignIn(w, r, form, err)
		return
	}
	if invited && p.accepted(r, token) {
		form.Next = "/"
	}
	p.enter(w, r, joined, form, shell.Proof{By: shell.Directory, At: known.AuthenticatedAt})
}

// accepted tells whether an invitation needs no more of the person who comes from the directory.
func (p *Part) accepted(r *http.Request, token string) bool {
	_, err := p.Teams.InvitationByToken(r.Context(), token)
	return err != nil
}
