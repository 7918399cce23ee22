package settings

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"pressroom/internal/core/access"
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/team"
	"pressroom/internal/web/shell"
)

const membersAtOnce = 100

// roles are those that can be given, the widest first. The ownership is handed on instead.
func roles() []access.Role { return access.Roles()[1:] }

// membersView is who is in the team, and who is invited.
type membersView struct {
	wrong

	Members     []team.Member
	Factors     map[int64]team.Factors
	Directory   bool // people sign in by the directory alone
	Required    bool // members need a second factor
	Invitations []team.Invitation
	Waiting     []team.Waiting // who accepted an invitation and has to be confirmed
	Mails       bool           // invitations are mailed
	Seats       team.Seats
	Limit       int64 // of seats
	Pages       *pager
	Roles       []access.Role
	Email       string // as typed
	Role        access.Role
}

// Full tells whether nobody more can be invited.
func (v membersView) Full() bool {
	return v.Limit != plan.Unlimited && v.Seats.Total() >= v.Limit
}

func (p *Part) membersPage(w http.ResponseWriter, r *http.Request) {
	view := membersView{Role: access.Editor}
	if typed := p.Resumed(r); typed != nil {
		view.Email, view.Role = typed.Get("email"), access.Role(typed.Get("role"))
	}
	p.showMembers(w, r, http.StatusOK, view)
}

func (p *Part) showMembers(w http.ResponseWriter, r *http.Request, status int, view membersView) {
	after, _ := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
	if err := p.fillMembers(r, &view, after); err != nil {
		p.Refuse(w, r, err)
		return
	}
	first, next := "", ""
	if after > 0 {
		first = "/settings/members"
	}
	if len(view.Members) > membersAtOnce {
		view.Members = view.Members[:membersAtOnce]
		next = "/settings/members?after=" + strconv.FormatInt(view.Members[membersAtOnce-1].PersonID, 10)
	}
	view.Pages = pagerOf(first, next)
	p.Show(w, r, status, pages["members"], "Members", view)
}

func (p *Part) fillMembers(r *http.Request, view *membersView, after int64) error {
	ctx := r.Context()
	var err error
	if view.Members, err = p.Teams.MemberPage(ctx, here(r), after, membersAtOnce+1); err != nil {
		return err
	}
	if view.Factors, err = p.Teams.MemberFactors(ctx, here(r), after, membersAtOnce+1); err != nil {
		return err
	}
	view.Directory, view.Required = p.DirectoryOnly, shell.VisitorOf(ctx).Team.SecondFactor
	if view.Invitations, err = p.Teams.Invitations(ctx, here(r)); err != nil {
		return err
	}
	for i := range view.Invitations {
		view.Invitations[i].ExpiresAt = in(view.Invitations[i].ExpiresAt, zone(r))
	}
	if view.Waiting, err = p.Teams.Waiting(ctx, here(r)); err != nil {
		return err
	}
	for i := range view.Waiting {
		wait := &view.Waiting[i]
		wait.Since, wait.AccountMade = in(wait.Since, zone(r)), in(wait.AccountMade, zone(r))
	}
	if view.Seats, err = p.Teams.Seats(ctx, here(r)); err != nil {
		return err
	}
	view.Mails = p.Letters.Possible()
	plan, err := p.Teams.Plan(ctx, here(r))
	view.Limit, view.Roles = plan.Seats, roles()
	return err
}

// invitedView is the one page that shows an invitation's link.
type invitedView struct {
	team.Invitation

	Link string
}

func (p *Part) invite(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	email, role := r.PostForm.Get("email"), access.Role(r.PostForm.Get("role"))
	shown, err := p.sendInvitation(r, email, role)
	if err != nil {
		if told, ok := p.wrongOf(w, r, err); ok {
			p.showMembers(w, r, shell.StatusOf(err), membersView{wrong: told, Email: email, Role: role})
		}
		return
	}
	if shown == nil {
		p.did(w, r, "We sent an invitation to "+strings.TrimSpace(email)+".", "/settings/members")
		return
	}
	p.Show(w, r, http.StatusOK, pages["invited"], "Invitation", shown)
}

// sendInvitation mails an invitation and returns nil. Without a mail server it returns what shows the link.
func (p *Part) sendInvitation(r *http.Request, email string, role access.Role) (*invitedView, error) {
	by := shell.VisitorOf(r.Context()).ID
	if p.Letters.Possible() {
		_, err := p.Letters.Invite(r.Context(), by, here(r), email, role)
		return nil, err
	}
	i, token, err := p.Teams.Invite(r.Context(), by, here(r), email, role)
	if err != nil {
		return nil, err
	}
	i.ExpiresAt = in(i.ExpiresAt, zone(r))
	return &invitedView{i, p.PublicURL + team.InvitationPath + token}, nil
}

func (p *Part) confirmMember(w http.ResponseWriter, r *http.Request) {
	p.onWaiting(w, r, "The person is now a member.", team.Admin.ConfirmMember)
}

func (p *Part) declineMember(w http.ResponseWriter, r *http.Request) {
	p.onWaiting(w, r, "The person was declined. The invitation no longer works.", team.Admin.DeclineMember)
}

// onWaiting decides about the person who waits by the invitation of the address.
func (p *Part) onWaiting(
	w http.ResponseWriter, r *http.Request, said string, do func(team.Admin, context.Context, int64) error,
) {
	id, err := numberIn(r, "invitation")
	if err == nil {
		err = do(p.hand(r), r.Context(), id)
	}
	if err != nil {
		if told, ok := p.wrongOf(w, r, err); ok {
			p.showMembers(w, r, shell.StatusOf(err), membersView{wrong: told, Role: access.Editor})
		}
		return
	}
	p.did(w, r, said, "/settings/members")
}

func (p *Part) takeBack(w http.ResponseWriter, r *http.Request) {
	id, err := numberIn(r, "invitation")
	if err == nil {
		err = p.Teams.Revoke(r.Context(), shell.VisitorOf(r.Context()).ID, here(r), id)
	}
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.did(w, r, "The invitation is revoked. Its link no longer works.", "/settings/members")
}

// memberView is one member's page.
type memberView struct {
	wrong
	team.Member

	Roles []access.Role
	Fixed bool // the owner, or the visitor: the role is not changed here
}

func (p *Part) memberPage(w http.ResponseWriter, r *http.Request) {
	p.showMember(w, r, http.StatusOK, "member", wrong{})
}

// showMember shows one of the pages about the member of the address.
func (p *Part) showMember(w http.ResponseWriter, r *http.Request, status int, page string, told wrong) {
	id, err := numberIn(r, "person")
	var m team.Member
	if err == nil {
		m, err = p.Teams.Member(r.Context(), here(r), id)
	}
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	fixed := m.Role == access.Owner || m.PersonID == shell.VisitorOf(r.Context()).ID
	if fixed && page != "member" {
		shell.Redirect(w, r, memberPath(m.PersonID))
		return
	}
	p.Show(w, r, status, pages[page], m.Name, memberView{told, m, roles(), fixed})
}

func memberPath(person int64) string { return "/settings/members/" + strconv.FormatInt(person, 10) }

func (p *Part) changeRole(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	p.onMember(w, r, "member", memberPathOf(r), "The role is changed.", func(h team.Admin, person int64) error {
		return h.SetRole(r.Context(), person, access.Role(r.PostForm.Get("role")))
	})
}

func memberPathOf(r *http.Request) string { return "/settings/members/" + r.PathValue("person") }

// onMember does something about the member of the address, then leads on; a refusal is shown on a page about the
// member.
func (p *Part) onMember(
	w http.ResponseWriter, r *http.Request, page, next, said string, do func(team.Admin, int64) error,
) {
	id, err := numberIn(r, "person")
	if err == nil {
		err = do(p.hand(r), id)
	}
	if err != nil {
		if told, ok := p.wrongOf(w, r, err); ok {
			p.showMember(w, r, shell.StatusOf(err), page, told)
		}
		return
	}
	p.did(w, r, said, next)
}

func (p *Part) removePage(w http.ResponseWriter, r *http.Request) {
	p.showMember(w, r, http.StatusOK, "memberremove", wrong{})
}

func (p *Part) removeMember(w http.ResponseWriter, r *http.Request) {
	p.onMember(w, r, "member", "/settings/members",
		"That person is no member any more.", func(h team.Admin, person int64) error {
			return h.Remove(r.Context(), person)
		})
}

func (p *Part) handOnPage(w http.ResponseWriter, r *http.Request) {
	p.showMember(w, r, http.StatusOK, "handon", wrong{})
}

func (p *Part) handOn(w http.ResponseWriter, r *http.Request) {
	p.onMember(w, r, "member", "/settings/members",
		"The team has another owner now. You stay as an admin.", func(h team.Admin, person int64) error {
			return h.HandOn(r.Context(), person)
		})
}
