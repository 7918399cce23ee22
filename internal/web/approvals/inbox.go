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
	maxUnanswered   = 50 // comments shown
)

// inboxView lists approval requests that wait for clients, and comments that wait for the team.
type inboxView struct {
	Tab        string // waiting, decided or all
	Waiting    int    // posts that wait for the client, as in the navigation and the list of posts
	Requests   []request
	Unanswered []unanswered
	Comments   int
	Pages      *pager
	MaxComment int
}

type pager struct{ First, Next string }

// request is a link with times in the team's zone.
type request struct {
	approval.Request

	Posts  []requestedPost
	Live   bool
	Mailed bool
	Link   string // link to send to the client; empty if it no longer works
}

// requestedPost is a post of a link with its thread.
type requestedPost struct {
	approval.RequestedPost

	Details  postlist.Details
	Accounts []post.PostEntryAccount
	Caption  string // the whole text; set on the page of a link
	Looks    []look // set on the page of a link
	Thread   []approval.ThreadEntry
	Why      locale.Key // why it was not scheduled
	Opens    bool       // the thread has a comment of the client
}

// Suffix distinguishes the names of the post's fields on the page.
func (a requestedPost) Suffix() string { return "-" + a.ID }

type unanswered struct {
	approval.Unanswered

	Details postlist.Details
	Back    string // the page to return to
}

// scheduleErrors explain why a post was not scheduled on approval.
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
	found, err := p.approvals.Requests(r.Context(), shell.VisitorOf(r.Context()).Team.ID,
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
	if len(found) > requestsPerPage {
		found = found[:requestsPerPage]
		query.Set("before", found[requestsPerPage-1].ID)
		v.Pages.Next = "/approvals?" + query.Encode()
	}
	shown, err := p.shownOf(r, found...)
	for _, one := range found {
		v.Requests = append(v.Requests, p.requestIn(one, shown, zone))
	}
	return err
}

// shown is what lists show of posts, by ID.
type shown struct {
	details  map[string]postlist.Details
	accounts map[string][]post.PostEntryAccount
}

// shownOf returns what lists show of the requests' posts.
func (p *Handlers) shownOf(r *http.Request, requests ...approval.Request) (shown, error) {
	var ids []string
	for _, one := range requests {
		for _, a := range one.Posts {
			ids = append(ids, a.ID)
		}
	}
	var out shown
	var err error
	team := shell.VisitorOf(r.Context()).Team.ID
	if out.details, err = postlist.ListDetails(r.Context(), p.DB, team, ids); err == nil {
		out.accounts, err = post.ListAccounts(r.Context(), p.DB, team, ids)
	}
	return out, err
}

func (p *Handlers) addUnanswered(r *http.Request, v *inboxView, zone *time.Location) error {
	team := shell.VisitorOf(r.Context()).Team.ID
	found, err := p.approvals.ListUnanswered(r.Context(), team, maxUnanswered)
	if err != nil {
		return err
	}
	var ids []string
	for _, one := range found {
		ids = append(ids, one.PostID)
	}
	details, err := postlist.ListDetails(r.Context(), p.DB, team, ids)
	for _, one := range found {
		for i := range one.Comments {
			one.Comments[i].At = one.Comments[i].At.In(zone)
		}
		v.Comments += len(one.Comments)
		v.Unanswered = append(v.Unanswered, unanswered{one, details[one.PostID], "/approvals"})
	}
	return err
}

// requestIn returns a request with times in a zone.
func (p *Handlers) requestIn(one approval.Request, posts shown, zone *time.Location) request {
	out := request{Request: one, Live: one.Live(p.DB.Now()), Mailed: !one.MailedAt.IsZero()}
	if out.Live {
		out.Link = p.approvals.Link(one.ID)
	}
	for _, at := range []*time.Time{&out.MailedAt, &out.OpenedAt, &out.CreatedAt, &out.ExpiresAt, &out.RevokedAt} {
		*at = at.In(zone)
	}
	for _, a := range one.Posts {
		if !a.At.IsZero() {
			a.At = a.At.In(zone)
		}
		out.Posts = append(out.Posts, requestedPost{RequestedPost: a, Details: posts.details[a.ID], Accounts: posts.accounts[a.ID],
			Why: ScheduleError(a.ScheduleError)})
	}
	return out
}

// requestView is the page of a link.
type requestView struct {
	request

	Again      bool // posts can be sent again
	Changed    bool // the link shows an old version of a post
	MaxComment int
	Error      shell.FormError
}

func (p *Handlers) request(w http.ResponseWriter, r *http.Request) {
	p.showRequest(w, r, http.StatusOK, shell.FormError{})
}

func (p *Handlers) showRequest(w http.ResponseWriter, r *http.Request, status int, formErr shell.FormError) {
	team := shell.VisitorOf(r.Context()).Team.ID
	found, err := p.approvals.RequestByID(r.Context(), team, r.PathValue("id"))
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	zone, err := p.zone(r)
	var posts shown
	if err == nil {
		posts, err = p.shownOf(r, found)
	}
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	v := requestView{request: p.requestIn(found, posts, zone), MaxComment: approval.MaxComment, Error: formErr}
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
		v.Posts[i].Thread, v.Posts[i].Opens = threadOf(threads[v.Posts[i].ID], zone)
		if err := p.addContent(r, &v.Posts[i], zone); err != nil {
			p.ShowError(w, r, err)
			return
		}
	}
	p.Show(w, r, status, pages["request"], "Approval link", v)
}

// addContent adds the whole text of a post and how the networks show it.
func (p *Handlers) addContent(r *http.Request, a *requestedPost, zone *time.Location) error {
	found, err := p.posts.Load(r.Context(), shell.VisitorOf(r.Context()).Team.ID, a.ID)
	if err != nil {
		return err
	}
	names, err := account.DisplayNames(r.Context(), p.DB, found.TeamID)
	a.Caption, a.Looks = found.Caption, postContents(found, "", p.Language(r), zone, names)
	return err
}

// threadOf returns a thread with the times of a zone, and reports whether it has a comment of the client.
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

// resend sends the current versions with the same link.
func (p *Handlers) resend(w http.ResponseWriter, r *http.Request) {
	p.change(w, r, "ask_approval", func(person, team int64, id string) error {
		sent, err := p.approvals.Resend(r.Context(), person, team, id)
		if err == nil {
			found, err := p.approvals.RequestByID(r.Context(), team, id)
			if err != nil {
				return err
			}
			p.flashSent(r, sent, found.Email)
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

// change changes the request in the path and shows it again.
func (p *Handlers) change(w http.ResponseWriter, r *http.Request, what string, do func(person, team int64, id string) error) {
	if !p.ReadForm(w, r) {
		return
	}
	id, visitor := r.PathValue("id"), shell.VisitorOf(r.Context())
	err := p.require(r, what)
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

// maxAnswer is the maximum size of an answer's form in bytes: the longest comment with each byte escaped as three.
const maxAnswer = 3*4*approval.MaxComment + shell.MaxForm

// answerView is a rejected answer.
type answerView struct {
	PostID, Comment, Back string
	Thread                []approval.ThreadEntry
	MaxComment            int
	Error                 shell.FormError
}

// answer adds the team's answer to the comments on a post, or marks the comments as answered.
func (p *Handlers) answer(w http.ResponseWriter, r *http.Request) {
	if !p.ReadLongForm(w, r, maxAnswer) {
		return
	}
	id := r.PathValue("id")
	call, err := p.Call(r, "answer_comment")
	if err == nil {
		err = call.Require(access.Write)
	}
	told := locale.Key("Your reply is on the client’s page.")
	switch {
	case err != nil:
	case r.PostForm.Get("do") == "aside":
		told, err = "The comments are marked as answered.", p.approvals.DismissComments(r.Context(), call, id)
	default:
		err = p.approvals.CommentAs(r.Context(), call, id, r.PostForm.Get("comment"))
	}
	back := shell.LocalPath(r.PostForm.Get("back"))
	if err == nil {
		p.Flash(r, told)
		shell.Redirect(w, r, back)
		return
	}
	if formErr, ok := p.FormErrorOf(w, r, err, nil); ok {
		p.showAnswer(w, r, shell.StatusOf(err), answerView{PostID: id, Comment: r.PostForm.Get("comment"), Back: back,
			MaxComment: approval.MaxComment, Error: formErr})
	}
}

// showAnswer shows a rejected answer below the comment that it answers.
func (p *Handlers) showAnswer(w http.ResponseWriter, r *http.Request, status int, v answerView) {
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
