package account

import (
	"net/http"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/passkey"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/web/shell"
)

// invitationView is the page of an invitation. If the form is shown again after an error, its password fields are
// empty.
type invitationView struct {
	team.Offer

	Methods            signInMethods
	Path               string
	Name, Error, Field string
	ForVisitor         bool // the invitation was sent to the visitor's email address
}

func (p *Handlers) invitationPage(w http.ResponseWriter, r *http.Request) {
	p.showInvitation(w, r, http.StatusOK, invitationView{})
}

// offer returns the invitation whose token is in the path. It limits how fast a client can guess tokens.
func (p *Handlers) offer(r *http.Request) (team.Offer, error) {
	var o team.Offer
	err := p.signIns.CheckSecret(p.Client(r), func() error {
		var err error
		o, err = p.Teams.InvitationByToken(r.Context(), r.PathValue("token"))
		return err
	})
	return o, err
}

func (p *Handlers) showInvitation(w http.ResponseWriter, r *http.Request, status int, view invitationView) {
	var err error
	if view.Offer, err = p.offer(r); err != nil {
		p.badLink(w, r, err)
		return
	}
	v := shell.VisitorOf(r.Context())
	view.Methods, view.Path, view.ForVisitor = p.signInMethods(), team.InvitationPath+r.PathValue("token"),
		v != nil && v.Email == view.Email
	p.ShowTitled(w, r, status, pages["invitation"], p.T(r, "Join %s", view.TeamName), view)
}

// badLink shows why a link that was sent to a person does not work. An unknown link may be incomplete, so the page
// suggests checking that.
func (p *Handlers) badLink(w http.ResponseWriter, r *http.Request, err error) {
	if apierr.Is(err, apierr.NotFound) {
		p.ShowMessage(w, r, http.StatusNotFound, "This link does not work",
			"Check that you opened the complete link. If you did, ask for a new one.")
		return
	}
	if f := apierr.FromError(err); f.Context["state"] == "used" && strings.HasPrefix(r.URL.Path, team.InvitationPath) {
		p.Show(w, r, shell.StatusOf(err), pages["invitationused"], "Invitation already accepted", p.Detail(r, err))
		return
	}
	p.ShowError(w, r, err)
}

// rejectInvitation shows the invitation page again with the error, or an explanation if there is no such invitation.
func (p *Handlers) rejectInvitation(w http.ResponseWriter, r *http.Request, err error) {
	if apierr.Is(err, apierr.NotFound) {
		p.badLink(w, r, err)
		return
	}
	field := fieldOf(err)
	if field == "" { // an invalid field, such as a weak password, is not a failed sign-in
		p.logRejected(r, err)
	}
	if formErr, ok := p.formError(w, r, err); ok {
		if apierr.Is(err, apierr.Unauthorized) {
			field = "present"
		}
		p.showInvitation(w, r, shell.StatusOf(err),
			invitationView{Name: r.PostForm.Get("name"), Error: formErr, Field: field})
	}
}

func (p *Handlers) accept(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	o, err := p.Teams.Accept(r.Context(), r.PathValue("token"), shell.VisitorOf(r.Context()).ID)
	if err != nil {
		p.rejectInvitation(w, r, err)
		return
	}
	p.welcome(w, r, o)
}

// welcome redirects a signed-in person to the team that the person joined. If an owner or admin must first confirm
// the person, it explains that.
func (p *Handlers) welcome(w http.ResponseWriter, r *http.Request, o team.Offer) {
	if o.Waiting {
		p.explainWaiting(w, r, o, p.LinkMailer.Enabled())
		return
	}
	p.SetTeam(r.Context(), o.TeamID)
	p.Flash(r, "You joined the team.")
	shell.Redirect(w, r, "/")
}

// explainWaiting tells a person who accepted an invitation that an owner or admin must first confirm who the person is.
func (p *Handlers) explainWaiting(w http.ResponseWriter, r *http.Request, o team.Offer, mails bool) {
	text := p.T(r, "We do not know yet whether %s is your address. An owner or admin of %s must confirm that it is you. "+
		"You join the team as soon as they do.", o.Email, o.TeamName)
	if mails {
		text += " " + p.T(r, "To join without waiting, confirm your email address on your account page.")
	}
	p.ShowText(w, r, http.StatusOK, "Waiting for confirmation", text)
}

// acceptKnown accepts an invitation for an existing person who authenticates with a password or passkey.
func (p *Handlers) acceptKnown(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	if _, err := p.offer(r); err != nil {
		p.rejectInvitation(w, r, err)
		return
	}
	if r.PostForm.Get("passkey") == "" {
		p.acceptByPassword(w, r)
		return
	}
	p.acceptByPasskey(w, r)
}

// acceptByPassword accepts an invitation for a person who sends the correct password. If the person has an
// authenticator app, it asks for a code first.
func (p *Handlers) acceptByPassword(w http.ResponseWriter, r *http.Request) {
	token := r.PathValue("token")
	person, err := p.signIns.Invitee(r.Context(), token,
		team.Attempt{Password: r.PostForm.Get("password"), From: p.Client(r), Browser: p.KnownBrowser(r)})
	if err != nil {
		p.rejectInvitation(w, r, err)
		return
	}
	codeRequired, err := p.needsCode(r, person.ID)
	if err != nil {
		p.rejectInvitation(w, r, err)
		return
	}
	if codeRequired {
		p.requestCode(w, r, pendingSignIn{Person: person.ID, Epoch: person.Epoch, Invitation: token},
			signInForm{signInMethods: p.signInMethods(), Next: "/"})
		return
	}
	o, err := p.Teams.Accept(r.Context(), token, person.ID)
	if err != nil {
		p.rejectInvitation(w, r, err)
		return
	}
	p.finishInvitation(w, r, o, person.ID, shell.Password)
}

// acceptByPasskey accepts an invitation for the owner of the passkey in the form. A passkey counts as two factors.
func (p *Handlers) acceptByPasskey(w http.ResponseWriter, r *http.Request) {
	person, err := p.personByPasskey(r)
	if err != nil {
		p.rejectInvitation(w, r, err)
		return
	}
	o, err := p.Teams.Accept(r.Context(), r.PathValue("token"), person)
	if apierr.Is(err, apierr.NotFound) {
		err = errOthersPasskey
	}
	if err != nil {
		p.rejectInvitation(w, r, err)
		return
	}
	p.finishInvitation(w, r, o, person, shell.Passkey)
}

var errOthersPasskey = apierr.New(apierr.Unauthorized, "This passkey belongs to a different email address than the invitation.")

// finishInvitation signs in a person who has accepted an invitation. A person who must be confirmed and has no other
// team cannot sign in yet.
func (p *Handlers) finishInvitation(w http.ResponseWriter, r *http.Request, o team.Offer, person int64,
	by shell.Method) {
	account, err := p.Teams.Account(r.Context(), person)
	if o.Waiting && apierr.Is(err, apierr.NotFound) {
		p.explainWaiting(w, r, o, false)
		return
	}
	if err == nil {
		err = p.SignIn(r.Context(), account.Person, p.ProofNow(by))
	}
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.welcome(w, r, o)
}

// methodOf returns shell.Passkey if the form contains a passkey, and other otherwise.
func methodOf(r *http.Request, other shell.Method) shell.Method {
	if r.PostForm.Get("passkey") != "" {
		return shell.Passkey
	}
	return other
}

// requestNewPasskey asks the browser of a new person to create a passkey.
func (p *Handlers) requestNewPasskey(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	o, err := p.offer(r)
	var asked passkey.Challenge
	if err == nil {
		asked, err = p.passkeys.BeginRegistration(r.Context(), passkey.Registrant{Name: r.PostForm.Get("name"), Email: o.Email})
	}
	p.writeChallenge(w, r, asked, err)
}

// join creates a person for an invitation, with a password or a new passkey.
func (p *Handlers) join(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	ctx, token := r.Context(), r.PathValue("token")
	o, err := p.offer(r)
	if err != nil {
		p.rejectInvitation(w, r, err)
		return
	}
	newcomer := team.NewMember{Name: r.PostForm.Get("name"), Password: r.PostForm.Get("password"), From: p.Client(r)}
	if response := r.PostForm.Get("passkey"); response != "" {
		credential, err := p.passkeys.FinishRegistration(0, p.Pop(ctx, passkeyKey), []byte(response), p.T(r, "First passkey"))
		if err != nil {
			p.rejectInvitation(w, r, err)
			return
		}
		newcomer.Password, newcomer.StoreCredential = "", credential.Save
	}
	person, err := p.signIns.Join(ctx, token, newcomer)
	if err != nil {
		p.rejectInvitation(w, r, err)
		return
	}
	p.finishInvitation(w, r, o, person.ID, methodOf(r, shell.Link))
}
