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

func (h *Handlers) invitationPage(w http.ResponseWriter, r *http.Request) {
	h.showInvitation(w, r, http.StatusOK, invitationView{})
}

// offer returns the invitation whose token is in the path. It limits how fast a client can guess tokens.
func (h *Handlers) offer(r *http.Request) (team.Offer, error) {
	var o team.Offer
	err := h.signIns.CheckSecret(h.Client(r), func() error {
		var err error
		o, err = h.Teams.InvitationByToken(r.Context(), r.PathValue("token"))
		return err
	})
	return o, err
}

func (h *Handlers) showInvitation(w http.ResponseWriter, r *http.Request, status int, view invitationView) {
	var err error
	if view.Offer, err = h.offer(r); err != nil {
		h.showBadLink(w, r, err)
		return
	}
	v := shell.VisitorOf(r.Context())
	view.Methods, view.Path, view.ForVisitor = h.signInMethods(), team.InvitationPath+r.PathValue("token"),
		v != nil && v.Email == view.Email
	h.ShowTitled(w, r, status, pages["invitation"], h.T(r, "Join %s", view.TeamName), view)
}

// showBadLink shows why a link that was sent to a person does not work. An unknown link may be incomplete, so the page
// suggests checking that.
func (h *Handlers) showBadLink(w http.ResponseWriter, r *http.Request, err error) {
	if apierr.Is(err, apierr.NotFound) {
		h.ShowMessage(w, r, http.StatusNotFound, "This link does not work",
			"Check that you opened the complete link. If you did, ask for a new one.")
		return
	}
	if f := apierr.FromError(err); f.Context["state"] == "used" && strings.HasPrefix(r.URL.Path, team.InvitationPath) {
		h.Show(w, r, shell.StatusOf(err), pages["invitationused"], "Invitation already accepted", h.Detail(r, err))
		return
	}
	h.ShowError(w, r, err)
}

// rejectInvitation shows the invitation page again with the error, or an explanation if there is no such invitation.
func (h *Handlers) rejectInvitation(w http.ResponseWriter, r *http.Request, err error) {
	if apierr.Is(err, apierr.NotFound) {
		h.showBadLink(w, r, err)
		return
	}
	field := fieldOf(err)
	if field == "" { // an invalid field, such as a weak password, is not a failed sign-in
		h.logRejected(r, err)
	}
	if formErr, ok := h.formError(w, r, err); ok {
		if apierr.Is(err, apierr.Unauthorized) {
			field = "present"
		}
		h.showInvitation(w, r, shell.StatusOf(err),
			invitationView{Name: r.PostForm.Get("name"), Error: formErr, Field: field})
	}
}

func (h *Handlers) accept(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	o, err := h.Teams.Accept(r.Context(), r.PathValue("token"), shell.VisitorOf(r.Context()).ID)
	if err != nil {
		h.rejectInvitation(w, r, err)
		return
	}
	h.welcome(w, r, o)
}

// welcome redirects a signed-in person to the team that the person joined. If an owner or admin must first confirm
// the person, it explains that.
func (h *Handlers) welcome(w http.ResponseWriter, r *http.Request, o team.Offer) {
	if o.Waiting {
		h.explainWaiting(w, r, o, h.LinkMailer.Enabled())
		return
	}
	h.SetTeam(r.Context(), o.TeamID)
	h.Flash(r, "You joined the team.")
	shell.Redirect(w, r, "/")
}

// explainWaiting tells a person who accepted an invitation that an owner or admin must first confirm who the person is.
func (h *Handlers) explainWaiting(w http.ResponseWriter, r *http.Request, o team.Offer, canConfirmByEmail bool) {
	text := h.T(r, "We do not know yet whether %s is your address. An owner or admin of %s must confirm that it is you. "+
		"You join the team as soon as they do.", o.Email, o.TeamName)
	if canConfirmByEmail {
		text += " " + h.T(r, "To join without waiting, confirm your email address on your account page.")
	}
	h.ShowText(w, r, http.StatusOK, "Waiting for confirmation", text)
}

// acceptKnown accepts an invitation for an existing person who authenticates with a password or passkey.
func (h *Handlers) acceptKnown(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	if _, err := h.offer(r); err != nil {
		h.rejectInvitation(w, r, err)
		return
	}
	if r.PostForm.Get("passkey") == "" {
		h.acceptByPassword(w, r)
		return
	}
	h.acceptByPasskey(w, r)
}

// acceptByPassword accepts an invitation for a person who sends the correct password. If the person has an
// authenticator app, it asks for a code first.
func (h *Handlers) acceptByPassword(w http.ResponseWriter, r *http.Request) {
	token := r.PathValue("token")
	person, err := h.signIns.Invitee(r.Context(), token,
		team.Attempt{Password: r.PostForm.Get("password"), From: h.Client(r), Browser: h.KnownBrowser(r)})
	if err != nil {
		h.rejectInvitation(w, r, err)
		return
	}
	codeRequired, err := h.needsCode(r, person.ID)
	if err != nil {
		h.rejectInvitation(w, r, err)
		return
	}
	if codeRequired {
		h.requestCode(w, r, pendingSignIn{Person: person.ID, Epoch: person.Epoch, Invitation: token},
			signInForm{signInMethods: h.signInMethods(), Next: "/"})
		return
	}
	o, err := h.Teams.Accept(r.Context(), token, person.ID)
	if err != nil {
		h.rejectInvitation(w, r, err)
		return
	}
	h.finishInvitation(w, r, o, person.ID, shell.Password)
}

// acceptByPasskey accepts an invitation for the owner of the passkey in the form. A passkey counts as two factors.
func (h *Handlers) acceptByPasskey(w http.ResponseWriter, r *http.Request) {
	person, err := h.personByPasskey(r)
	if err != nil {
		h.rejectInvitation(w, r, err)
		return
	}
	o, err := h.Teams.Accept(r.Context(), r.PathValue("token"), person)
	if apierr.Is(err, apierr.NotFound) {
		err = errOthersPasskey
	}
	if err != nil {
		h.rejectInvitation(w, r, err)
		return
	}
	h.finishInvitation(w, r, o, person, shell.Passkey)
}

var errOthersPasskey = apierr.New(apierr.Unauthorized, "This passkey belongs to a different email address than the invitation.")

// finishInvitation signs in a person who has accepted an invitation. A person who must be confirmed and has no other
// team cannot sign in yet.
func (h *Handlers) finishInvitation(w http.ResponseWriter, r *http.Request, o team.Offer, person int64,
	method shell.Method) {
	account, err := h.Teams.Account(r.Context(), person)
	if o.Waiting && apierr.Is(err, apierr.NotFound) {
		h.explainWaiting(w, r, o, false)
		return
	}
	if err == nil {
		err = h.SignIn(r.Context(), account.Person, h.ProofNow(method))
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.welcome(w, r, o)
}

// methodOf returns shell.Passkey if the form contains a passkey, and other otherwise.
func methodOf(r *http.Request, other shell.Method) shell.Method {
	if r.PostForm.Get("passkey") != "" {
		return shell.Passkey
	}
	return other
}

// requestNewPasskey asks the browser of a new person to create a passkey.
func (h *Handlers) requestNewPasskey(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	o, err := h.offer(r)
	var challenge passkey.Challenge
	if err == nil {
		challenge, err = h.passkeys.BeginRegistration(r.Context(), passkey.Registrant{Name: r.PostForm.Get("name"), Email: o.Email})
	}
	h.writeChallenge(w, r, challenge, err)
}

// join creates a person for an invitation, with a password or a new passkey.
func (h *Handlers) join(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	ctx, token := r.Context(), r.PathValue("token")
	o, err := h.offer(r)
	if err != nil {
		h.rejectInvitation(w, r, err)
		return
	}
	newcomer := team.NewMember{Name: r.PostForm.Get("name"), Password: r.PostForm.Get("password"), From: h.Client(r)}
	if response := r.PostForm.Get("passkey"); response != "" {
		credential, err := h.passkeys.FinishRegistration(0, h.Pop(ctx, passkeyKey), []byte(response), h.T(r, "First passkey"))
		if err != nil {
			h.rejectInvitation(w, r, err)
			return
		}
		newcomer.Password, newcomer.StoreCredential = "", credential.Save
	}
	person, err := h.signIns.Join(ctx, token, newcomer)
	if err != nil {
		h.rejectInvitation(w, r, err)
		return
	}
	h.finishInvitation(w, r, o, person.ID, methodOf(r, shell.Link))
}
