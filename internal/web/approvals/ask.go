package approvals

import (
	"net/http"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/approval"
	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/teamtime"
	"pressroom.example/pressroom/internal/web/shell"
)

// newRequestView is the page where a person sends posts to a client for approval.
type newRequestView struct {
	input

	Choosing    bool             // no posts were selected yet
	Choices     []postlist.Entry // posts to choose from
	Posts       []listedPost     // selected posts that can be sent
	Others      []listedPost     // selected posts that cannot be sent
	Timed       int              // number of drafts with a future time, which can be scheduled on approval
	Draft       bool             // the only post is a draft, whose time can be chosen here
	CanEmail    bool
	MaySchedule bool
	Blocked     bool // there is only one post, and a network would reject it
	Zone        string
	Error       shell.FormError
	MaxMessage  int
}

// Back returns the path of the previous page: the post if there is only one, or the list of posts.
func (v newRequestView) Back() string {
	if all := slices.Concat(v.Posts, v.Others); len(all) == 1 {
		return "/posts/" + all[0].ID
	}
	return "/posts"
}

// ErrorAbove reports whether the page shows the error above the form, because the form has no field for it.
func (v newRequestView) ErrorAbove() bool {
	if v.Error.Text == "" || len(v.Posts) == 0 {
		return v.Error.Text != ""
	}
	switch v.Error.Field {
	case "message", "client":
		return false
	case "email":
		return !v.CanEmail
	case "date", "scheduled_at":
		return !v.Draft
	}
	return true
}

// input holds the values of the form.
type input struct {
	Schedule       bool
	Message, Email string
	Client         string
	Date, Time     string
	Timed          bool // the form has fields for the time
}

// parseInput returns the input of a submitted form.
func parseInput(r *http.Request) input {
	form := r.PostForm
	return input{form.Get("schedule") != "", form.Get("message"), form.Get("email"), form.Get("client"), form.Get("date"), form.Get("time"),
		form.Has("date")}
}

// listedPost is a selected post.
type listedPost struct {
	postlist.Details
	post.Record

	At  time.Time // in the team's time zone; zero if the post has no time
	Why string    // why the post cannot be sent; "" if it can
}

// newRequestPage shows which of the selected posts can be sent to a client, and the options of the approval request. If
// no posts are selected, it shows posts to select.
func (h *Handlers) newRequestPage(w http.ResponseWriter, r *http.Request) {
	v, ids, status := newRequestView{input: input{Schedule: true}}, r.URL.Query()["post"], http.StatusOK
	if len(ids) == 0 {
		v.Choosing = true
		if r.URL.Query().Has("chosen") {
			status, v.Error.Text = http.StatusUnprocessableEntity, h.T(r, "Select at least one post.")
		}
		if err := h.addChoices(r, &v); err != nil {
			h.ShowError(w, r, err)
			return
		}
	}
	h.showNewRequest(w, r, status, ids, v)
}

// addChoices adds the posts that can be selected, sorted by their time. Drafts without a time come last.
func (h *Handlers) addChoices(r *http.Request, v *newRequestView) error {
	visitor := shell.VisitorOf(r.Context())
	for _, tab := range []postlist.Tab{postlist.Scheduled, postlist.Drafts} {
		entries, _, err := postlist.List(r.Context(), h.DB, visitor.Team.ID, postlist.Filter{Tab: tab}, "", approval.MaxPosts)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if entry.Approval == post.Approved {
				continue
			}
			if !entry.ScheduledAt.IsZero() {
				entry.ScheduledAt = entry.ScheduledAt.In(visitor.Zone)
			}
			v.Choices = append(v.Choices, entry)
		}
	}
	slices.SortStableFunc(v.Choices, func(a, b postlist.Entry) int {
		if a.ScheduledAt.IsZero() || b.ScheduledAt.IsZero() {
			return -a.ScheduledAt.Compare(b.ScheduledAt)
		}
		return a.ScheduledAt.Compare(b.ScheduledAt)
	})
	return nil
}

func (h *Handlers) showNewRequest(w http.ResponseWriter, r *http.Request, status int, ids []string, v newRequestView) {
	zone := shell.VisitorOf(r.Context()).Zone
	v.CanEmail, v.MaySchedule = h.approvals.CanSendEmail(), h.maySchedule(r)
	v.Zone, v.MaxMessage = zone.String(), approval.MaxComment
	err := h.addPosts(r, &v, ids, zone)
	if err == nil && len(v.Posts) == 1 {
		err = h.addDraft(r, &v)
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Show(w, r, status, pages["ask"], "Send for approval", v)
}

// maySchedule reports whether the visitor may choose that posts are scheduled as soon as they are approved.
func (h *Handlers) maySchedule(r *http.Request) bool {
	call, err := h.NewCall(r, "ask_approval")
	return err == nil && call.Require(access.Publish) == nil
}

// addDraft adds the data that the form shows only for a single post: the time of a draft, and whether a network would
// reject the post.
func (h *Handlers) addDraft(r *http.Request, v *newRequestView) error {
	draft := v.Posts[0]
	v.Draft = draft.Status == post.Draft && v.MaySchedule
	if r.Method == http.MethodGet && !draft.At.IsZero() {
		v.Date, v.Time = draft.At.Format(time.DateOnly), draft.At.Format("15:04")
	}
	validation, _, err := shell.Run[post.Validation](h.Shell, r, "validate_post", operation.Arguments{"post_id": draft.ID})
	v.Blocked = slices.ContainsFunc(validation.Problems, func(problem post.PostProblem) bool { return problem.Blocking })
	return err
}

// addPosts adds the team's posts with the given IDs.
func (h *Handlers) addPosts(r *http.Request, v *newRequestView, ids []string, zone *time.Location) error {
	team := shell.VisitorOf(r.Context()).Team.ID
	ids = ids[:min(len(ids), approval.MaxPosts)]
	details, err := postlist.ListDetails(r.Context(), h.DB, team, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		record, err := h.posts.Load(r.Context(), team, id)
		if apierr.Is(err, apierr.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		listed := listedPost{Details: details[id], Record: record}
		if !record.ScheduledAt.IsZero() {
			listed.At = record.ScheduledAt.In(zone)
		}
		if requestErr := approval.CheckRequest(record); requestErr != nil {
			listed.Why = h.Detail(r, requestErr)
			v.Others = append(v.Others, listed)
			continue
		}
		v.Posts = append(v.Posts, listed)
		if record.Status == post.Draft && record.ScheduledAt.After(h.DB.Now()) {
			v.Timed++
		}
	}
	return nil
}

// createRequest creates an approval request for the posts and redirects to the page that shows its link.
func (h *Handlers) createRequest(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	ids := r.PostForm["post"]
	in := parseInput(r)
	request := approval.NewRequest{Posts: ids, Schedule: in.Schedule, Email: in.Email, Message: in.Message,
		Client: in.Client}
	err := h.require(r, "ask_approval")
	if err == nil && len(ids) == 1 {
		err = in.setTime(&request, shell.VisitorOf(r.Context()).Zone)
	}
	var sent approval.SentRequest
	if err == nil {
		sent, err = h.approvals.RequestPosts(r.Context(), shell.VisitorOf(r.Context()).ID, request)
	}
	if err != nil {
		if formErr, ok := h.FormErrorOf(w, r, err, nil); ok {
			h.showNewRequest(w, r, shell.StatusOf(err), ids, newRequestView{input: in, Error: formErr})
		}
		return
	}
	h.flashSent(r, sent, request.Email)
	if len(ids) == 1 {
		shell.Redirect(w, r, "/posts/"+ids[0])
		return
	}
	shell.Redirect(w, r, "/approvals/"+sent.ID)
}

// setTime sets the request's Time to the time in the form. Empty fields clear the draft's time.
func (in input) setTime(request *approval.NewRequest, zone *time.Location) error {
	if !in.Timed {
		return nil
	}
	var at time.Time
	if in.Date != "" || in.Time != "" {
		var err error
		if at, err = teamtime.Parse(in.Date+"T"+in.Time, zone); err != nil {
			return apierr.Invalid(apierr.Malformed, "date", "Enter a date and a time that exists on that date.").Wrap(err)
		}
	}
	request.Time = &at
	return nil
}

// flashSent sets a message for the next page about whether the link was emailed.
func (h *Handlers) flashSent(r *http.Request, sent approval.SentRequest, email string) {
	switch {
	case sent.EmailErr != nil:
		h.Log.WarnContext(r.Context(), "emailing an approval link failed", "request", sent.ID, "error", sent.EmailErr)
		h.Flash(r, "The link works, but it could not be emailed. Send it to the client yourself, or try again.")
	case email != "":
		h.Flash(r, "The link was emailed to %s.", email)
	default:
		h.Flash(r, "Send the link below to the client.")
	}
}

// require returns an error if the visitor may not write. name is the operation's name.
func (h *Handlers) require(r *http.Request, name string) error {
	call, err := h.NewCall(r, name)
	if err != nil {
		return err
	}
	return call.Require(access.Write)
}
