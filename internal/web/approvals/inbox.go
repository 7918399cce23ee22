package approvals

import (
	"net/http"
	"net/url"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/approval"
	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

const (
	requestsPerPage = 20
	maxUnanswered   = 50 // maximum number of posts with unanswered comments
)

// inboxView is the page that lists approval requests and client comments that the team has not answered.
type inboxView struct {
	Tab        string // waiting, decided or all
	Waiting    int    // number of posts that wait for approval; the navigation shows the same number
	Requests   []requestItem
	Unanswered []unansweredPost
	Comments   int // number of unanswered comments
	Pages      *pager
	MaxComment int
}

type pager struct{ First, Next string }

// requestItem is an approval request with its times in the team's time zone.
type requestItem struct {
	approval.Request

	Posts  []requestedPost
	Live   bool   // the link still works
	Mailed bool   // the link was emailed
	Link   string // link to send to the client; empty if it no longer works
	Resend bool   // sending again would show the client a version that the link does not show
}

// requestedPost is a post of an approval request, with its comments and decisions.
type requestedPost struct {
	approval.RequestedPost

	Details          postlist.Details
	Accounts         []post.PostEntryAccount
	Caption          string        // the whole text; set only on the page of an approval request
	Previews         []postPreview // how networks show the post; set only on the page of an approval request
	Thread           []approval.ThreadEntry
	Why              locale.Key // why the post was not scheduled on approval
	HasClientComment bool       // the client has commented on the post
}

// Suffix returns the suffix that makes the names of the post's form fields unique on the page.
func (p requestedPost) Suffix() string { return "-" + p.ID }

// unansweredPost is a post with client comments that the team has not answered.
type unansweredPost struct {
	approval.Unanswered

	Details postlist.Details
	Back    string // the page to return to
}

// scheduleErrors maps error codes to texts that explain why a post was not scheduled on approval.
var scheduleErrors = map[string]locale.Key{
	approval.NoTime: "The client has approved it, but it was not scheduled: it has no time. Give it one, then schedule it.",
	approval.TimePassed: "The client has approved it, but it was not scheduled: its time had passed. Give it another one, " +
		"then schedule it.",
	approval.NotAllowed: "The client has approved it, but it was not scheduled: the person who sent it to the client can no " +
		"longer schedule posts. Schedule it yourself.",
	string(apierr.PreflightBlocked): "The client has approved it, but it was not scheduled: a network would reject it. Open the " +
		"post to see why.",
	string(apierr.PlanLimitReached): "The client has approved it, but it was not scheduled: the plan’s post limit for that month " +
		"has been reached.",
}

// ScheduleError explains why a post was not scheduled on approval. It returns "" if the post was scheduled.
func ScheduleError(code string) locale.Key {
	if code == "" {
		return ""
	}
	why, ok := scheduleErrors[code]
	if !ok {
		return "The client has approved it, but it was not scheduled: an error occurred. Schedule it yourself."
	}
	return why
}

func (h *Handlers) inbox(w http.ResponseWriter, r *http.Request) {
	v := inboxView{Tab: "waiting", MaxComment: approval.MaxComment}
	if tab := r.URL.Query().Get("show"); tab == "decided" || tab == "all" {
		v.Tab = tab
	}
	zone, err := h.zone(r)
	if err == nil {
		v.Waiting, err = postlist.CountOf(r.Context(), h.DB, shell.VisitorOf(r.Context()).Team.ID, postlist.NeedsApproval)
	}
	if err == nil {
		err = h.addRequests(r, &v, zone)
	}
	if err == nil && v.Tab == "waiting" {
		err = h.addUnanswered(r, &v, zone)
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Show(w, r, http.StatusOK, pages["inbox"], "Approvals", v)
}

func (h *Handlers) addRequests(r *http.Request, v *inboxView, zone *time.Location) error {
	before := r.URL.Query().Get("before")
	requests, err := h.approvals.Requests(r.Context(), shell.VisitorOf(r.Context()).Team.ID,
		approval.Filter{Open: v.Tab == "waiting", Decided: v.Tab == "decided", Before: before, Limit: requestsPerPage + 1})
	if err != nil {
		return err
	}
	query := url.Values{}
	if v.Tab != "waiting" {
		query.Set("show", v.Tab)
	}
	v.Pages = &pager{}
	if before != "" {
		v.Pages.First = "/approvals?" + query.Encode()
	}
	if len(requests) > requestsPerPage {
		requests = requests[:requestsPerPage]
		query.Set("before", requests[requestsPerPage-1].ID)
		v.Pages.Next = "/approvals?" + query.Encode()
	}
	summaries, err := h.summaries(r, requests...)
	for _, request := range requests {
		v.Requests = append(v.Requests, h.newRequestItem(request, summaries, zone))
	}
	return err
}

// postSummaries holds the details and accounts of posts, by post ID.
type postSummaries struct {
	details  map[string]postlist.Details
	accounts map[string][]post.PostEntryAccount
}

// summaries returns the details and accounts of the requests' posts.
func (h *Handlers) summaries(r *http.Request, requests ...approval.Request) (postSummaries, error) {
	var ids []string
	for _, request := range requests {
		for _, requested := range request.Posts {
			ids = append(ids, requested.ID)
		}
	}
	var out postSummaries
	var err error
	team := shell.VisitorOf(r.Context()).Team.ID
	if out.details, err = postlist.ListDetails(r.Context(), h.DB, team, ids); err == nil {
		out.accounts, err = post.ListAccounts(r.Context(), h.DB, team, ids)
	}
	return out, err
}

func (h *Handlers) addUnanswered(r *http.Request, v *inboxView, zone *time.Location) error {
	team := shell.VisitorOf(r.Context()).Team.ID
	unanswered, err := h.approvals.ListUnanswered(r.Context(), team, maxUnanswered)
	if err != nil {
		return err
	}
	var ids []string
	for _, item := range unanswered {
		ids = append(ids, item.PostID)
	}
	details, err := postlist.ListDetails(r.Context(), h.DB, team, ids)
	for _, item := range unanswered {
		for i := range item.Comments {
			item.Comments[i].At = item.Comments[i].At.In(zone)
		}
		v.Comments += len(item.Comments)
		v.Unanswered = append(v.Unanswered, unansweredPost{item, details[item.PostID], "/approvals"})
	}
	return err
}

// newRequestItem returns a list item for an approval request, with its times in the given zone.
func (h *Handlers) newRequestItem(request approval.Request, posts postSummaries, zone *time.Location) requestItem {
	out := requestItem{Request: request, Live: request.Live(h.DB.Now()), Mailed: !request.MailedAt.IsZero()}
	if out.Live {
		out.Link = h.approvals.Link(request.ID)
	}
	for _, at := range []*time.Time{&out.MailedAt, &out.OpenedAt, &out.CreatedAt, &out.ExpiresAt, &out.RevokedAt} {
		*at = at.In(zone)
	}
	for _, requested := range request.Posts {
		out.Resend = out.Resend || out.RevokedAt.IsZero() && requested.Changed && requested.Sendable() && requested.NewerRequest == ""
		if !requested.At.IsZero() {
			requested.At = requested.At.In(zone)
		}
		out.Posts = append(out.Posts, requestedPost{
			RequestedPost: requested, Details: posts.details[requested.ID], Accounts: posts.accounts[requested.ID],
			Why: ScheduleError(requested.ScheduleError)})
	}
	return out
}

// requestView is the page of an approval request.
type requestView struct {
	requestItem

	Again      bool // there are posts that can be sent again
	Changed    bool // a post has changed or was withdrawn, so the link no longer shows it
	MaxComment int
	Error      shell.FormError
}

func (h *Handlers) request(w http.ResponseWriter, r *http.Request) {
	h.showRequest(w, r, http.StatusOK, shell.FormError{})
}

func (h *Handlers) showRequest(w http.ResponseWriter, r *http.Request, status int, formErr shell.FormError) {
	team := shell.VisitorOf(r.Context()).Team.ID
	request, err := h.approvals.RequestByID(r.Context(), team, r.PathValue("id"))
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	zone, err := h.zone(r)
	var posts postSummaries
	if err == nil {
		posts, err = h.summaries(r, request)
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	v := requestView{requestItem: h.newRequestItem(request, posts, zone), MaxComment: approval.MaxComment, Error: formErr}
	ids := make([]string, len(v.Posts))
	for i, item := range v.Posts {
		ids[i] = item.ID
		v.Changed = v.Changed || item.Changed || item.Revoked
		v.Again = v.Again || v.RevokedAt.IsZero() && item.Sendable()
	}
	threads, err := h.approvals.Threads(r.Context(), team, ids)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	for i := range v.Posts {
		v.Posts[i].Thread, v.Posts[i].HasClientComment = threadOf(threads[v.Posts[i].ID], zone)
		if err := h.addContent(r, &v.Posts[i], zone); err != nil {
			h.ShowError(w, r, err)
			return
		}
	}
	h.Show(w, r, status, pages["request"], "Approval link", v)
}

// addContent adds the whole text of a post and its previews on the networks.
func (h *Handlers) addContent(r *http.Request, p2 *requestedPost, zone *time.Location) error {
	record, err := h.posts.Load(r.Context(), shell.VisitorOf(r.Context()).Team.ID, p2.ID)
	if err != nil {
		return err
	}
	names, err := account.DisplayNames(r.Context(), h.DB, record.TeamID)
	p2.Caption, p2.Previews = record.Caption, previewsOf(record, "", h.Language(r), zone, names)
	return err
}

// threadOf returns the thread with its times in the given zone, and reports whether the client has commented.
func threadOf(thread []approval.ThreadEntry, zone *time.Location) ([]approval.ThreadEntry, bool) {
	var out []approval.ThreadEntry
	hasComment := false
	for _, entry := range thread {
		entry.At = entry.At.In(zone)
		out = append(out, entry)
		hasComment = hasComment || !entry.Team && entry.Text != ""
	}
	return out, hasComment
}

// resend sends the posts' current versions for approval, with the same link.
func (h *Handlers) resend(w http.ResponseWriter, r *http.Request) {
	h.change(w, r, "ask_approval", func(person, team int64, id string) error {
		request, err := h.approvals.Resend(r.Context(), person, team, id)
		if err == nil {
			stored, err := h.approvals.RequestByID(r.Context(), team, id)
			if err != nil {
				return err
			}
			h.flashSent(r, request, stored.Email)
		}
		return err
	})
}

func (h *Handlers) revoke(w http.ResponseWriter, r *http.Request) {
	h.change(w, r, "revoke_links", func(person, team int64, id string) error {
		err := h.approvals.Revoke(r.Context(), person, team, id)
		if err == nil {
			h.Flash(r, "The link was revoked and no longer shows the posts.")
		}
		return err
	})
}

// change calls fn for the approval request whose ID is in the path, and redirects to the request's page.
func (h *Handlers) change(
	w http.ResponseWriter, r *http.Request, operation string, fn func(person, team int64, id string) error,
) {
	if !h.ReadForm(w, r) {
		return
	}
	id, visitor := r.PathValue("id"), shell.VisitorOf(r.Context())
	err := h.require(r, operation)
	if err == nil {
		err = fn(visitor.ID, visitor.Team.ID, id)
	}
	if err != nil {
		if formErr, ok := h.FormErrorOf(w, r, err, nil); ok {
			h.showRequest(w, r, shell.StatusOf(err), formErr)
		}
		return
	}
	shell.Redirect(w, r, "/approvals/"+id)
}

// maxReplyForm is the maximum size in bytes of a reply form: the longest comment, with each byte percent-encoded as 3
// bytes.
const maxReplyForm = 3*4*approval.MaxComment + shell.MaxForm

// replyView is the page that shows a rejected reply again.
type replyView struct {
	PostID, Comment, Back string
	Thread                []approval.ThreadEntry
	MaxComment            int
	Error                 shell.FormError
}

// reply adds the team's reply to the comments on a post, or marks the comments as answered.
func (h *Handlers) reply(w http.ResponseWriter, r *http.Request) {
	if !h.ReadLongForm(w, r, maxReplyForm) {
		return
	}
	id := r.PathValue("id")
	call, err := h.NewCall(r, "answer_comment")
	if err == nil {
		err = call.Require(access.Write)
	}
	message := locale.Key("Your reply is on the client’s page.")
	switch {
	case err != nil:
	case r.PostForm.Get("do") == "aside":
		message, err = "The comments are marked as answered.", h.approvals.DismissComments(r.Context(), call, id)
	default:
		err = h.approvals.CommentAs(r.Context(), call, id, r.PostForm.Get("comment"))
	}
	back := shell.LocalPath(r.PostForm.Get("back"))
	if err == nil {
		h.Flash(r, message)
		shell.Redirect(w, r, back)
		return
	}
	if formErr, ok := h.FormErrorOf(w, r, err, nil); ok {
		h.showReply(w, r, shell.StatusOf(err), replyView{PostID: id, Comment: r.PostForm.Get("comment"), Back: back,
			MaxComment: approval.MaxComment, Error: formErr})
	}
}

// showReply shows a rejected reply below the comments on the post.
func (h *Handlers) showReply(w http.ResponseWriter, r *http.Request, status int, v replyView) {
	threads, err := h.approvals.Threads(r.Context(), shell.VisitorOf(r.Context()).Team.ID, []string{v.PostID})
	var zone *time.Location
	if err == nil {
		zone, err = h.zone(r)
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	for _, entry := range threads[v.PostID] {
		entry.At = entry.At.In(zone)
		v.Thread = append(v.Thread, entry)
	}
	h.Show(w, r, status, pages["answer"], "Reply to the client", v)
}
