package settings

import (
	"net/http"
	"strconv"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/domain/team/teammembers"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

const membersPerPage = 100

// roles returns the roles that can be assigned, most powerful first. The owner's role cannot be assigned, only
// transferred.
func roles() []access.Role { return access.Roles()[1:] }

// membersView is the page that lists members and invitations.
type membersView struct {
	fieldError

	Members     []team.Member
	Factors     map[int64]team.Factors
	Directory   bool // people can sign in only with the directory
	Required    bool // members must use a second factor
	Invitations []team.Invitation
	Waiting     []team.PendingMember // people who accepted an invitation and must be confirmed
	Mails       bool                 // invitations are emailed
	Seats       team.Seats
	Limit       int64 // maximum number of seats
	Pages       *pager
	Roles       []access.Role
	Email       string   // email addresses, as entered
	Problems    []string // errors, with the addresses that they are about
	Role        access.Role
}

// Alone reports whether the team has only one member and no open invitations.
func (v membersView) Alone() bool { return v.Seats.Total() == 1 }

// Full reports whether all seats of the plan are taken, so nobody else can be invited.
func (v membersView) Full() bool {
	return v.Limit != plan.Unlimited && v.Seats.Total() >= v.Limit
}

func (h *Handlers) membersPage(w http.ResponseWriter, r *http.Request) {
	view := membersView{Role: access.Editor}
	if typed := h.SavedForm(r); typed != nil {
		view.Email, view.Role = typed.Get("email"), access.Role(typed.Get("role"))
	}
	h.showMembers(w, r, http.StatusOK, view)
}

func (h *Handlers) showMembers(w http.ResponseWriter, r *http.Request, status int, view membersView) {
	after, _ := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
	if err := h.fillMembers(r, &view, after); err != nil {
		h.ShowError(w, r, err)
		return
	}
	first, next := "", ""
	if after > 0 {
		first = "/settings/members"
	}
	if len(view.Members) > membersPerPage {
		view.Members = view.Members[:membersPerPage]
		next = "/settings/members?after=" + strconv.FormatInt(view.Members[membersPerPage-1].PersonID, 10)
	}
	view.Pages = pagerOf(first, next)
	h.Show(w, r, status, pages["members"], "Members", view)
}

func (h *Handlers) fillMembers(r *http.Request, view *membersView, after int64) error {
	ctx := r.Context()
	var err error
	if view.Members, err = h.Teams.MemberPage(ctx, teamID(r), after, membersPerPage+1); err != nil {
		return err
	}
	if view.Factors, err = h.Teams.MemberFactors(ctx, teamID(r), after, membersPerPage+1); err != nil {
		return err
	}
	view.Directory, view.Required = h.DirectoryOnly, shell.VisitorOf(ctx).Team.SecondFactor
	if view.Invitations, err = h.Teams.Invitations(ctx, teamID(r)); err != nil {
		return err
	}
	for i := range view.Invitations {
		view.Invitations[i].ExpiresAt = inZone(view.Invitations[i].ExpiresAt, zone(r))
	}
	if view.Waiting, err = h.Teams.PendingMembers(ctx, teamID(r)); err != nil {
		return err
	}
	for i := range view.Waiting {
		pending := &view.Waiting[i]
		pending.Since, pending.AccountCreatedAt = inZone(pending.Since, zone(r)), inZone(pending.AccountCreatedAt, zone(r))
	}
	if view.Seats, err = h.Teams.Seats(ctx, teamID(r)); err != nil {
		return err
	}
	view.Mails = h.LinkMailer.Enabled()
	plan, err := h.Teams.Plan(ctx, teamID(r))
	view.Limit, view.Roles = plan.Seats, roles()
	return err
}

// memberView is a member's page.
type memberView struct {
	fieldError
	team.Member
	teammembers.Activity

	Factors   team.Factors
	Directory bool // people can sign in only with the directory
	Roles     []access.Role
	Fixed     bool // the owner or the visitor, whose role cannot be changed
}

func (h *Handlers) memberPage(w http.ResponseWriter, r *http.Request) {
	h.showMember(w, r, http.StatusOK, "member", fieldError{})
}

// showMember shows a page about the member whose ID is in the path.
func (h *Handlers) showMember(w http.ResponseWriter, r *http.Request, status int, page string, formErr fieldError) {
	id, err := shell.PathID(r, "person")
	var m team.Member
	if err == nil {
		m, err = h.Teams.Member(r.Context(), teamID(r), id)
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	fixed := m.Role == access.Owner || m.PersonID == shell.VisitorOf(r.Context()).ID
	if fixed && page != "member" {
		shell.Redirect(w, r, memberPath(m.PersonID))
		return
	}
	view := memberView{fieldError: formErr, Member: m, Directory: h.DirectoryOnly, Roles: roles(), Fixed: fixed}
	if err := h.fillMember(r, &view); err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.ShowTitled(w, r, status, pages[page], m.Name, view)
}

func (h *Handlers) fillMember(r *http.Request, view *memberView) error {
	factors, err := h.Teams.MemberFactors(r.Context(), teamID(r), view.PersonID-1, 1)
	if err != nil {
		return err
	}
	view.Factors = factors[view.PersonID]
	view.Activity, err = teammembers.ReadActivity(r.Context(), h.DB, teamID(r), view.PersonID)
	view.JoinedAt, view.ActiveAt = inZone(view.JoinedAt, zone(r)), inZone(view.ActiveAt, zone(r))
	return err
}

func memberPath(person int64) string { return "/settings/members/" + strconv.FormatInt(person, 10) }

func (h *Handlers) changeRole(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	h.withMember(w, r, "member", memberPathOf(r), "The role was changed.", func(admin team.Admin, person int64) error {
		return admin.SetRole(r.Context(), person, access.Role(r.PostForm.Get("role")))
	})
}

func memberPathOf(r *http.Request) string { return "/settings/members/" + r.PathValue("person") }

// withMember calls fn with the ID of the member in the path and redirects to next. Errors are shown on the page about
// the member.
func (h *Handlers) withMember(
	w http.ResponseWriter, r *http.Request, page, next string, message locale.Key, fn func(team.Admin, int64) error,
) {
	id, err := shell.PathID(r, "person")
	if err == nil {
		err = fn(h.admin(r), id)
	}
	if err != nil {
		if formErr, ok := h.formError(w, r, err); ok {
			h.showMember(w, r, shell.StatusOf(err), page, formErr)
		}
		return
	}
	h.finish(w, r, message, next)
}

func (h *Handlers) removePage(w http.ResponseWriter, r *http.Request) {
	h.showMember(w, r, http.StatusOK, "memberremove", fieldError{})
}

func (h *Handlers) removeMember(w http.ResponseWriter, r *http.Request) {
	h.withMember(w, r, "member", "/settings/members",
		"The person is no longer a member.", func(admin team.Admin, person int64) error {
			return admin.Remove(r.Context(), person)
		})
}

func (h *Handlers) transferPage(w http.ResponseWriter, r *http.Request) {
	h.showMember(w, r, http.StatusOK, "transfer", fieldError{})
}

func (h *Handlers) transfer(w http.ResponseWriter, r *http.Request) {
	h.withMember(w, r, "member", "/settings/members",
		"Ownership was transferred. You are now an admin.", func(admin team.Admin, person int64) error {
			return admin.TransferOwnership(r.Context(), person)
		})
}
