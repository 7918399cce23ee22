package account

import (
	"net/http"
	"strings"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/passkey"
	"pressroom/internal/domain/team"
	"pressroom/internal/web/shell"
)

// invitationView is the page of an invitation. Passwords are never shown again.
type invitationView struct {
	team.Offer

	Ways               ways
	Path               string
	Name, Wrong, Field string
	Fits               bool // it is to the visitor's own e-mail address
}

func (p *Part) invitationPage(w http.ResponseWriter, r *http.Request) {
	p.showInvitation(w, r, http.StatusOK, invitationView{})
}

// offer reads the invitation of the address. Whoever guesses at them is slowed down.
func (p *Part) offer(r *http.Request) (team.Offer, error) {
	var o team.Offer
	err := p.signIns.CheckSecret(p.Client(r), func() error {
		var err error
		o, err = p.Teams.InvitationByToken(r.Context(), r.PathValue("token"))
		return err
	})
	return o, err
}

func (p *Part) showInvitation(w http.ResponseWriter, r *http.Request, status int, view invitationView) {
	var err error
	if view.Offer, err = p.offer(r); err != nil {
		p.badLink(w, r, err)
		return
	}
	v := shell.VisitorOf(r.Context())
	view.Ways, view.Path, view.Fits = p.ways(), team.InvitationPath+r.PathValue("token"),
		v != nil && v.Email == view.Email
	p.Show(w, r, status, pages["invitation"], "Join "+view.TeamName, view)
}

// badLink refuses a link that somebody was sent. A link that is not known is explained: it may have been cut off.
func (p *Part) badLink(w http.ResponseWriter, r *http.Request, err error) {
	if apierr.Is(err, apierr.NotFound) {
		p.Notice(w, r, http.StatusNotFound, "This link does not work",
			"Check that you opened the whole link. If you did, ask for a new one.")
		return
	}
	if f := apierr.Of(err); f.Context["state"] == "used" && strings.HasPrefix(r.URL.Path, team.InvitationPath) {
		p.Show(w, r, shell.StatusOf(err), pages["invitationused"], "Invitation already accepted", f.Detail)
		return
	}
	p.Refuse(w, r, err)
}

// refuseInvitation shows the page again with what is wrong, or why there is none.
func (p *Part) refuseInvitation(w http.ResponseWriter, r *http.Request, err error) {
	if apierr.Is(err, apierr.NotFound) {
		p.badLink(w, r, err)
		return
	}
	p.logRefused(r, err)
	if wrong, ok := p.wrongOf(w, r, err); ok {
		field := fieldOf(err)
		if apierr.Is(err, apierr.Unauthorized) {
			field = "present"
		}
		p.showInvitation(w, r, shell.StatusOf(err),
			invitationView{Name: r.PostForm.Get("name"), Wrong: wrong, Field: field})
	}
}

func (p *Part) accept(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	o, err := p.Teams.Accept(r.Context(), r.PathValue("token"), shell.VisitorOf(r.Context()).ID)
	if err != nil {
		p.refuseInvitation(w, r, err)
		return
	}
	p.welcome(w, r, o)
}

// welcome shows the team that a signed-in person has joined, or what happens next if somebody has to confirm the
// person.
func (p *Part) welcome(w http.ResponseWriter, r *http.Request, o team.Offer) {
	if o.Waiting {
		p.tellWaiting(w, r, o, p.Letters.Possible())
		return
	}
	p.LookAt(r.Context(), o.TeamID)
	p.Say(r, "You are in the team now.")
	shell.Redirect(w, r, "/")
}

// tellWaiting says what happens next to a person who accepted an invitation and has to be confirmed.
func (p *Part) tellWaiting(w http.ResponseWriter, r *http.Request, o team.Offer, mails bool) {
	text := "It is not confirmed yet that " + o.Email + " is your address. An owner or admin of " + o.TeamName +
		" has to confirm that it is you. You join the team as soon as they do."
	if mails {
		text += " To join without waiting, confirm your e-mail address on your account page."
	}
	p.Notice(w, r, http.StatusOK, "Waiting for confirmation", text)
}

// acceptKnown lets somebody in who is known and says the password, or uses a passkey.
func (p *Part) acceptKnown(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	if _, err := p.offer(r); err != nil {
		p.refuseInvitation(w, r, err)
		return
	}
	if r.PostForm.Get("passkey") == "" {
		p.acceptByPassword(w, r)
		return
	}
	p.acceptByPasskey(w, r)
}

// acceptByPassword accepts an invitation for a person whose password was right, after a code if the person has an
// authenticator app.
func (p *Part) acceptByPassword(w http.ResponseWriter, r *http.Request) {
	token := r.PathValue("token")
	person, err := p.signIns.Invitee(r.Context(), token,
		team.Attempt{Password: r.PostForm.Get("password"), From: p.Client(r), Browser: p.KnownBrowser(r)})
	if err != nil {
		p.refuseInvitation(w, r, err)
		return
	}
	asked, err := p.afterPassword(r, person.ID)
	if err != nil {
		p.refuseInvitation(w, r, err)
		return
	}
	if asked {
		p.askCode(w, r, waiting{Person: person.ID, Epoch: person.Epoch, Invitation: token},
			signInForm{ways: p.ways(), Next: "/"})
		return
	}
	o, err := p.Teams.Accept(r.Context(), token, person.ID)
	if err != nil {
		p.refuseInvitation(w, r, err)
		return
	}
	p.settle(w, r, o, person.ID, shell.Password)
}

// acceptByPasskey accepts an invitation for the person of a passkey, which is two factors.
func (p *Part) acceptByPasskey(w http.ResponseWriter, r *http.Request) {
	person, err := p.byPasskey(r)
	if err != nil {
		p.refuseInvitation(w, r, err)
		return
	}
	o, err := p.Teams.Accept(r.Context(), r.PathValue("token"), person)
	if apierr.Is(err, apierr.NotFound) {
		err = errOthers
	}
	if err != nil {
		p.refuseInvitation(w, r, err)
		return
	}
	p.settle(w, r, o, person, shell.Passkey)
}

var errOthers = apierr.New(apierr.Unauthorized, "This passkey is of another e-mail address than the invitation.")

// settle signs somebody in who has accepted an invitation. Somebody who waits and is in no other team cannot sign in
// yet.
func (p *Part) settle(w http.ResponseWriter, r *http.Request, o team.Offer, person int64, by shell.Method) {
	account, err := p.Teams.Account(r.Context(), person)
	if o.Waiting && apierr.Is(err, apierr.NotFound) {
		p.tellWaiting(w, r, o, false)
		return
	}
	if err == nil {
		err = p.SignIn(r.Context(), account.Person, p.Proved(by))
	}
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.welcome(w, r, o)
}

// methodOf is how the form of an invitation authenticates: by the passkey that it holds, else another way.
func methodOf(r *http.Request, other shell.Method) shell.Method {
	if r.PostForm.Get("passkey") != "" {
		return shell.Passkey
	}
	return other
}

// askNewcomer asks the browser of somebody new for a passkey.
func (p *Part) askNewcomer(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	o, err := p.offer(r)
	var asked passkey.Question
	if err == nil {
		asked, err = p.passkeys.AskNew(r.Context(), passkey.Asker{Name: r.PostForm.Get("name"), Email: o.Email})
	}
	p.ask(w, r, asked, err)
}

// join makes a new person of whoever has the link: with a password, or with the passkey that the browser has made.
func (p *Part) join(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	ctx, token := r.Context(), r.PathValue("token")
	o, err := p.offer(r)
	if err != nil {
		p.refuseInvitation(w, r, err)
		return
	}
	newcomer := team.Newcomer{Name: r.PostForm.Get("name"), Password: r.PostForm.Get("password"), From: p.Client(r)}
	if answer := r.PostForm.Get("passkey"); answer != "" {
		made, err := p.passkeys.Read(0, p.Take(ctx, passkeyKept), []byte(answer), "First passkey")
		if err != nil {
			p.refuseInvitation(w, r, err)
			return
		}
		newcomer.Password, newcomer.Also = "", made.Keep
	}
	person, err := p.signIns.Join(ctx, token, newcomer)
	if err != nil {
		p.refuseInvitation(w, r, err)
		return
	}
	p.settle(w, r, o, person.ID, methodOf(r, shell.Link))
}
