package settings

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/domain/team/teammembers"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// invitedView is the only page that shows invitation links.
type invitedView struct {
	Invited  []invitedLink
	Problems []string // errors, with the addresses that were not invited
	Mailed   bool     // the links were emailed and are not shown
}

// invitedLink is a new invitation and its link.
type invitedLink struct {
	team.Invitation

	Link string
}

// maxInvited is the maximum number of email addresses in the form.
const maxInvited = 20

var errTooMany = apierr.Invalidf(apierr.NotAllowedValue, "email", "Invite at most %d people at once.", maxInvited)

// addresses returns the distinct email addresses in a text. If there are none, it returns an empty address, which is
// rejected as invalid.
func addresses(text string) []string {
	var out []string
	for _, email := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;", r) }) {
		if !slices.ContainsFunc(out, func(known string) bool { return strings.EqualFold(known, email) }) {
			out = append(out, email)
		}
	}
	if len(out) == 0 {
		return []string{""} // invalid
	}
	return out
}

func (p *Handlers) invite(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	view := membersView{Email: r.PostForm.Get("email"), Role: access.Role(r.PostForm.Get("role"))}
	out, err := p.inviteAll(r, addresses(view.Email), view.Role)
	if err != nil {
		if formErr, ok := p.formError(w, r, err); ok {
			view.fieldError, view.Problems = formErr, out.Problems
			p.showMembers(w, r, shell.StatusOf(err), view)
		}
		return
	}
	if out.Mailed && len(out.Problems) == 0 {
		p.flashInvited(r, out.Invited)
		shell.Redirect(w, r, "/settings/members")
		return
	}
	p.Show(w, r, http.StatusOK, pages["invited"], "Invitation", out)
}

func (p *Handlers) flashInvited(r *http.Request, sent []invitedLink) {
	if len(sent) == 1 {
		p.Flash(r, "We sent an invitation to %s.", sent[0].Email)
		return
	}
	p.FlashText(r, p.Language(r).N(int64(len(sent)), "We sent %d invitation.", "We sent %d invitations."))
}

// inviteAll invites people. If an address is invalid or the plan has too few seats, it invites nobody and returns the
// first error. A later problem, such as an email that could not be sent, does not affect the other people.
func (p *Handlers) inviteAll(r *http.Request, emails []string, role access.Role) (invitedView, error) {
	out := invitedView{Mailed: p.LinkMailer.Enabled()}
	if len(emails) > maxInvited {
		return out, errTooMany
	}
	first, formErr := error(nil), map[string]error{}
	if len(emails) > 1 {
		var err error
		if formErr, err = teammembers.CheckInvitations(r.Context(), p.DB, p.Teams, teamID(r), emails); err != nil {
			return out, err
		}
	}
	blocked := len(formErr) > 0
	for _, email := range emails {
		err := formErr[email]
		if !blocked {
			var made invitedLink
			if made, err = p.sendInvitation(r, email, role); err == nil {
				out.Invited = append(out.Invited, made)
			}
		}
		if err != nil && len(emails) > 1 {
			out.Problems = append(out.Problems, email+": "+p.Detail(r, err))
		}
		if first == nil {
			first = err
		}
	}
	if len(out.Invited) > 0 {
		return out, nil
	}
	return out, first
}

// sendInvitation invites a person. It sends an email if the installation has a mail server; otherwise it returns the
// link.
func (p *Handlers) sendInvitation(r *http.Request, email string, role access.Role) (invitedLink, error) {
	by := shell.VisitorOf(r.Context()).ID
	if p.LinkMailer.Enabled() {
		i, err := p.LinkMailer.Invite(r.Context(), by, teamID(r), email, role)
		return invitedLink{Invitation: i}, err
	}
	i, token, err := p.Teams.Invite(r.Context(), by, teamID(r), email, role)
	i.ExpiresAt = inZone(i.ExpiresAt, zone(r))
	return invitedLink{i, p.PublicURL + team.InvitationPath + token}, err
}

func (p *Handlers) confirmMember(w http.ResponseWriter, r *http.Request) {
	p.handleWaitingMember(w, r, "The person is now a member.", team.Admin.ConfirmMember)
}

func (p *Handlers) declineMember(w http.ResponseWriter, r *http.Request) {
	p.handleWaitingMember(w, r, "The person was declined. The invitation no longer works.", team.Admin.DeclineMember)
}

// handleWaitingMember calls do with the ID of the invitation in the path. do confirms or declines the person.
func (p *Handlers) handleWaitingMember(
	w http.ResponseWriter, r *http.Request, message locale.Key, do func(team.Admin, context.Context, int64) error,
) {
	id, err := shell.PathID(r, "invitation")
	if err == nil {
		err = do(p.admin(r), r.Context(), id)
	}
	if err != nil {
		if formErr, ok := p.formError(w, r, err); ok {
			p.showMembers(w, r, shell.StatusOf(err), membersView{fieldError: formErr, Role: access.Editor})
		}
		return
	}
	p.finish(w, r, message, "/settings/members")
}

func (p *Handlers) revokeInvitation(w http.ResponseWriter, r *http.Request) {
	id, err := shell.PathID(r, "invitation")
	if err == nil {
		err = p.Teams.Revoke(r.Context(), shell.VisitorOf(r.Context()).ID, teamID(r), id)
	}
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.finish(w, r, "The invitation was revoked. Its link no longer works.", "/settings/members")
}
