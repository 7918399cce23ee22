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
func (a requestedPost) Suffix() string { return "-" + a.ID }

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
	why, known := scheduleErrors[code]
	if !known {
		return "The client has approved it, but it was not scheduled: an error occurred. Schedule it yourself."
	}
	return why
}

func (p *Handlers) inbox(w http.ResponseWriter, r *http.Request) {
	v := inboxView{Tab: "waiting", MaxComment: approval.MaxComment}
	if tab := r.URL.Query().Get("show"); tab == "decided" || tab == "all" {
		v.Tab = tab
	}
	zone, err := p.zone(r)
	if err == nil {
		v.Waiting, err = postlist.CountOf(r.Context(), p.DB, shell.VisitorOf(r.Context()).Team.ID, postlist.NeedsApproval)
	}
	if err == nil {
		err = p.addRequests(r, &v, zone)
	}
	if err == nil && v.Tab == "waiting" {
		err = p.addUnanswered(r, &v, zone)
	}
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.Show(w, r, http.StatusOK, pages["inbox"], "Approvals", v)
}

func (p *Handlers) addRequests(r *http.Request, v *inboxView, zone *time.Location) error {
	before := r.URL.Query().Get("before")
	requests, err := p.approvals.Requests(r.Context(), shell.VisitorOf(r.Context()).Team.ID,
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
	summaries, err := p.summaries(r, requests...)
	for _, one := range requests {
		v.Requests = append(v.Requests, p.requestIn(one, summaries, zone))
	}
	return err
}

// postSummaries holds the details and accounts of posts, by post ID.
type postSummaries struct {
	details  map[string]postlist.Details
	accounts map[string][]post.PostEntryAccount
}

// summaries returns the details and accounts of the requests' posts.
func (p *Handlers) summaries(r *http.Request, requests ...approval.Request) (postSummaries, error) {
	var ids []string
	for _, one := range requests {
		for _, a := range one.Posts {
			ids = append(ids, a.ID)
		}
	}
	var out postSummaries
	var err error
	team := shell.VisitorOf(r.Context()).Team.ID
	if out.details, err = postlist.ListDetails(r.Context(), p.DB, team, ids); err == nil {
		out.accounts, err = post.ListAccounts(r.Context(), p.DB, team, ids)
	}
	return out, err
}

func (p *Handlers) addUnanswered(r *http.Request, v *inboxView, zone *time.Location) error {
	team := shell.VisitorOf(r.Context()).Team.ID
	unanswered, err := p.approvals.ListUnanswered(r.Context(), team, maxUnanswered)
	if err != nil {
		return err
	}
	var ids []string
	for _, one := range unanswered {
		ids = append(ids, one.PostID)
	}
	details, err := postlist.ListDetails(r.Context(), p.DB, team, ids)
	for _, one := range unanswered {
		for i := range one.Comments {
			one.Comments[i].At = one.Comments[i].At.In(zone)
		}
		v.Comments += len(one.Comments)
		v.Unanswered = append(v.Unanswered, unansweredPost{one, details[one.PostID], "/approvals"})
	}
	return err
}

// requestIn returns a list item for an approval request, with its times in the given zone.
func (p *Handlers) requestIn(request approval.Request, posts postSummaries, zone *time.Location) requestItem {
	out := requestItem{Request: request, Live: request.Live(p.DB.Now()), Mailed: !request.MailedAt.IsZero()}
	if out.Live {
		out.Link = p.approvals.Link(request.ID)
	}
	for _, at := range []*time.Time{&out.MailedAt, &out.OpenedAt, &out.CreatedAt, &out.ExpiresAt, &out.RevokedAt} {
		*at = at.In(zone)
	}
	for _, a := range request.Posts {
		out.Resend = out.Resend || out.RevokedAt.IsZero() && a.Changed && a.Sendable() && a.NewerRequest == ""
		if !a.At.IsZero() {
			a.At = a.At.In(zone)
		}
		out.Posts = append(out.Posts, requestedPost{RequestedPost: a, Details: posts.details[a.ID], Accounts: posts.accounts[a.ID],
			Why: ScheduleError(a.ScheduleError)})
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

func (p *Handlers) request(w http.ResponseWriter, r *http.Request) {
	p.showRequest(w, r, http.StatusOK, shell.FormError{})
}

func (p *Handlers) showRequest(w http.ResponseWriter, r *http.Request, status int, formErr shell.FormError) {
	team := shell.VisitorOf(r.Context()).Team.ID
	request, err := p.approvals.RequestByID(r.Context(), team, r.PathValue("id"))
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	zone, err := p.zone(r)
	var posts postSummaries
	if err == nil {
		posts, err = p.summaries(r, request)
	}
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	v := requestView{requestItem: p.requestIn(request, posts, zone), MaxComment: approval.MaxComment, Error: formErr}
	ids := make([]string, len(v.Posts))
	for i, one := range v.Posts {
		ids[i] = one.ID
		v.Changed = v.Changed || one.Changed || one.Revoked
		v.Again = v.Again || v.RevokedAt.IsZero() && one.Sendable()
	}
	threads, err := p.approvals.Threads(r.Context(), team, ids)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	for i := range v.Posts {
		v.Posts[i].Thread, v.Posts[i].HasClientComment = threadOf(threads[v.Posts[i].ID], zone)
		if err := p.addContent(r, &v.Posts[i], zone); err != nil {
			p.ShowError(w, r, err)
			return
		}
	}
	p.Show(w, r, status, pages["request"], "Approval link", v)
}

// addContent adds the whole text of a post and its previews on the networks.
func (p *Handlers) addContent(r *http.Request, a *requestedPost, zone *time.Location) error {
	record, err := p.posts.Load(r.Context(), shell.VisitorOf(r.Context()).Team.ID, a.ID)
	if err != nil {
		return err
	}
	names, err := account.DisplayNames(r.Context(), p.DB, record.TeamID)
	a.Caption, a.Previews = record.Caption, previewsOf(record, "", p.Language(r), zone, names)
	return err
}

// threadOf returns the thread with its times in the given zone, and reports whether the client has commented.
func threadOf(thread []approval.ThreadEntry, zone *time.Location) ([]approval.ThreadEntry, bool) {
	var out []approval.ThreadEntry
	hasComment := false
	for _, said := range thread {
		said.At = said.At.In(zone)
		out = append(out, said)
		hasComment = hasComment || !said.Team && said.Text != ""
	}
	return out, hasComment
}

// resend sends the posts' current versions for approval, with the same link.
func (p *Handlers) resend(w http.ResponseWriter, r *http.Request) {
	p.change(w, r, "ask_approval", func(person, team int64, id string) error {
		request, err := p.approvals.Resend(r.Context(), person, team, id)
		if err == nil {
			found, err := p.approvals.RequestByID(r.Context(), team, id)
			if err != nil {
				return err
			}
			p.flashSent(r, request, found.Email)
		}
		return err
	})
}

func (p *Handlers) revoke(w http.ResponseWriter, r *http.Request) {
	p.change(w, r, "revoke_links", func(person, team int64, id string) error {
		err := p.approvals.Revoke(r.Context(), person, team, id)
		if err == nil {
			p.Flash(r, "The link was revoked and no longer shows the posts.")
		}
		return err
	})
}

// change calls do for the approval request whose ID is in the path, and redirects to the request's page.
func (p *Handlers) change(
	w http.ResponseWriter, r *http.Request, operation string, do func(person, team int64, id string) error,
) {
	if !p.ReadForm(w, r) {
		return
	}
	id, visitor := r.PathValue("id"), shell.VisitorOf(r.Context())
	err := p.require(r, operation)
	if err == nil {
		err = do(visitor.ID, visitor.Team.ID, id)
	}
	if err != nil {
		if formErr, ok := p.FormErrorOf(w, r, err, nil); ok {
			p.showRequest(w, r, shell.StatusOf(err), formErr)
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
func (p *Handlers) reply(w http.ResponseWriter, r *http.Request) {
	if !p.ReadLongForm(w, r, maxReplyForm) {
		return
	}
	id := r.PathValue("id")
	call, err := p.NewCall(r, "answer_comment")
	if err == nil {
		err = call.Require(access.Write)
	}
	message := locale.Key("Your reply is on the client’s page.")
	switch {
	case err != nil:
	case r.PostForm.Get("do") == "aside":
		message, err = "The comments are marked as answered.", p.approvals.DismissComments(r.Context(), call, id)
	default:
		err = p.approvals.CommentAs(r.Context(), call, id, r.PostForm.Get("comment"))
	}
	back := shell.LocalPath(r.PostForm.Get("back"))
	if err == nil {
		p.Flash(r, message)
		shell.Redirect(w, r, back)
		return
	}
	if formErr, ok := p.FormErrorOf(w, r, err, nil); ok {
		p.showReply(w, r, shell.StatusOf(err), replyView{PostID: id, Comment: r.PostForm.Get("comment"), Back: back,
			MaxComment: approval.MaxComment, Error: formErr})
	}
}

// showReply shows a rejected reply below the comments on the post.
func (p *Handlers) showReply(w http.ResponseWriter, r *http.Request, status int, v replyView) {
	threads, err := p.approvals.Threads(r.Context(), shell.VisitorOf(r.Context()).Team.ID, []string{v.PostID})
	var zone *time.Location
	if err == nil {
		zone, err = p.zone(r)
	}
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	for _, said := range threads[v.PostID] {
		said.At = said.At.In(zone)
		v.Thread = append(v.Thread, said)
	}
	p.Show(w, r, status, pages["answer"], "Reply to the client", v)
}
