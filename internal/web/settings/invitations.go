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

// parseAddresses returns the distinct email addresses in a text. If there are none, it returns an empty address, which
// is rejected as invalid.
func parseAddresses(text string) []string {
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

func (h *Handlers) invite(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	view := membersView{Email: r.PostForm.Get("email"), Role: access.Role(r.PostForm.Get("role"))}
	out, err := h.inviteAll(r, parseAddresses(view.Email), view.Role)
	if err != nil {
		if formErr, ok := h.formError(w, r, err); ok {
			view.fieldError, view.Problems = formErr, out.Problems
			h.showMembers(w, r, shell.StatusOf(err), view)
		}
		return
	}
	if out.Mailed && len(out.Problems) == 0 {
		h.flashInvited(r, out.Invited)
		shell.Redirect(w, r, "/settings/members")
		return
	}
	h.Show(w, r, http.StatusOK, pages["invited"], "Invitation", out)
}

func (h *Handlers) flashInvited(r *http.Request, sent []invitedLink) {
	if len(sent) == 1 {
		h.Flash(r, "We sent an invitation to %s.", sent[0].Email)
		return
	}
	h.FlashText(r, h.Language(r).N(int64(len(sent)), "We sent %d invitation.", "We sent %d invitations."))
}

// inviteAll invites people. If an address is invalid or the plan has too few seats, it invites nobody and returns the
// first error. A later problem, such as an email that could not be sent, does not affect the other people.
func (h *Handlers) inviteAll(r *http.Request, emails []string, role access.Role) (invitedView, error) {
	out := invitedView{Mailed: h.LinkMailer.Enabled()}
	if len(emails) > maxInvited {
		return out, errTooMany
	}
	firstErr, errsByEmail := error(nil), map[string]error{}
	if len(emails) > 1 {
		var err error
		if errsByEmail, err = teammembers.CheckInvitations(r.Context(), h.DB, h.Teams, teamID(r), emails); err != nil {
			return out, err
		}
	}
	blocked := len(errsByEmail) > 0
	for _, email := range emails {
		err := errsByEmail[email]
		if !blocked {
			var invited invitedLink
			if invited, err = h.sendInvitation(r, email, role); err == nil {
				out.Invited = append(out.Invited, invited)
			}
		}
		if err != nil && len(emails) > 1 {
			out.Problems = append(out.Problems, email+": "+h.Detail(r, err))
		}
		if firstErr == nil {
			firstErr = err
		}
	}
	if len(out.Invited) > 0 {
		return out, nil
	}
	return out, firstErr
}

// sendInvitation invites a person. It sends an email if the installation has a mail server; otherwise it returns the
// link.
func (h *Handlers) sendInvitation(r *http.Request, email string, role access.Role) (invitedLink, error) {
	inviterID := shell.VisitorOf(r.Context()).ID
	if h.LinkMailer.Enabled() {
		invitation, err := h.LinkMailer.Invite(r.Context(), inviterID, teamID(r), email, role)
		return invitedLink{Invitation: invitation}, err
	}
	invitation, token, err := h.Teams.Invite(r.Context(), inviterID, teamID(r), email, role)
	invitation.ExpiresAt = inZone(invitation.ExpiresAt, zone(r))
	return invitedLink{invitation, h.PublicURL + team.InvitationPath + token}, err
}

func (h *Handlers) confirmMember(w http.ResponseWriter, r *http.Request) {
	h.handleWaitingMember(w, r, "The person is now a member.", team.Admin.ConfirmMember)
}

func (h *Handlers) declineMember(w http.ResponseWriter, r *http.Request) {
	h.handleWaitingMember(w, r, "The person was declined. The invitation no longer works.", team.Admin.DeclineMember)
}

// handleWaitingMember calls fn with the ID of the invitation in the path. fn confirms or declines the person.
func (h *Handlers) handleWaitingMember(
	w http.ResponseWriter, r *http.Request, message locale.Key, fn func(team.Admin, context.Context, int64) error,
) {
	id, err := shell.PathID(r, "invitation")
	if err == nil {
		err = fn(h.admin(r), r.Context(), id)
	}
	if err != nil {
		if formErr, ok := h.formError(w, r, err); ok {
			h.showMembers(w, r, shell.StatusOf(err), membersView{fieldError: formErr, Role: access.Editor})
		}
		return
	}
	h.finish(w, r, message, "/settings/members")
}

func (h *Handlers) revokeInvitation(w http.ResponseWriter, r *http.Request) {
	id, err := shell.PathID(r, "invitation")
	if err == nil {
		err = h.Teams.Revoke(r.Context(), shell.VisitorOf(r.Context()).ID, teamID(r), id)
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.finish(w, r, "The invitation was revoked. Its link no longer works.", "/settings/members")
}
