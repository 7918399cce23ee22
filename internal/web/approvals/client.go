package approvals

import (
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/approval"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web/preview"
	"pressroom.example/pressroom/internal/web/shell"
)

// maxClientForm is the maximum size in bytes of a client's form: the longest comment on each post, with each byte
// percent-encoded as 3 bytes.
const maxClientForm = 3*4*approval.MaxComment*approval.MaxPosts + shell.MaxForm

// clientView is the page where a client approves posts.
type clientView struct {
	approval.Page

	Token, Name  string
	Error, Field string // error that is not about a post, and its field
	Cards        []*card
	MaxComment   int
	Approved     int
	Rejected     int
	Waiting      int
}

// Total returns the number of posts that the client can decide on or has decided on.
func (v *clientView) Total() int { return v.Approved + v.Rejected + v.Waiting }

// Several reports whether the page shows several posts.
func (v *clientView) Several() bool { return len(v.Cards) > 1 }

// Alone reports whether the page has one post that the client can see, and others that were changed or withdrawn.
func (v *clientView) Alone() bool { return v.Several() && v.Total() == 1 }

// Scheduled reports whether approving schedules any of the posts.
func (v *clientView) Scheduled() bool {
	for _, c := range v.Cards {
		if c.Schedules && c.Approval == post.Waiting && c.Status == post.Draft && !c.ScheduledAt.IsZero() {
			return true
		}
	}
	return false
}

// card is a post on the page.
type card struct {
	approval.Proposal

	l            *locale.Language
	Token        string
	Suffix       string // suffix of the names of the post's fields; empty if the page has a single post
	Choice       string // suffix of the values of the post's buttons; empty if the page has a single post
	Title        string
	Previews     []postPreview
	Thread       []approval.ThreadEntry
	Comment      string // comment that was entered but not sent
	Error, Field string
	Next         bool // the first post that waits for a decision
}

// postPreview is a preview of a post on one or several accounts of a network.
type postPreview struct {
	preview.Post

	Others []string        // further accounts with the same content
	Own    bool            // the account overrides the post's text or files
	Rest   []preview.Shown // files that the grid does not show
}

// gridSizes is the number of files that each network shows in a post's grid. The client's page shows the other files
// below the grid.
var gridSizes = map[string]int{"facebook": 4, "linkedin": 4, "x": 4, "bluesky": 4}

// previewsOf returns the previews of a post: one for each network, and one for each account with its own content. Each
// preview shows the post's full text and its date.
func previewsOf(
	p post.Record, link string, l *locale.Language, zone *time.Location, names map[int64]string,
) []postPreview {
	out := distinctPreviews(p, link, names)
	for i := range out {
		out[i].Lang, out[i].When = l, preview.Date(l, p, zone)
	}
	return out
}

// distinctPreviews returns one preview for all accounts of a network that share the post's content, and one for each
// account that overrides it.
func distinctPreviews(p post.Record, link string, names map[int64]string) []postPreview {
	var out []postPreview
	shared := map[string]int{}
	for _, t := range p.Targets {
		isOverride := t.Caption != nil || t.Title != nil || t.Media != nil
		if i, ok := shared[t.Platform]; ok && !isOverride {
			out[i].Others = append(out[i].Others, t.Username)
			continue
		}
		if !isOverride {
			shared[t.Platform] = len(out)
		}
		author := preview.Author{ID: t.AccountID, Platform: t.Platform, Username: t.Username, Name: names[t.AccountID]}
		out = append(out, newPreview(author, p, p.Content(t, ""), link, isOverride))
	}
	if len(out) == 0 {
		return []postPreview{newPreview(preview.Author{}, p, network.Content{Text: p.Caption, Media: p.Media}, link, false)}
	}
	return out
}

func newPreview(author preview.Author, p post.Record, c network.Content, link string, isOverride bool) postPreview {
	out := postPreview{Post: preview.New(author, c).WithThread(p.Thread).WithComment(p.FirstComment).
		WithSettings(c.Options), Own: isOverride}
	out.Play, out.Link = true, link
	out.Text, out.Post.Rest = out.Text+out.Post.Rest, ""
	if limit := gridSizes[out.Platform]; limit > 0 && len(out.Media) > limit {
		for _, m := range out.Media[limit:] {
			out.Rest = append(out.Rest, out.Of(m))
		}
	}
	return out
}

const maxTitle = 60 // characters

// titleOf returns the beginning of a post's text, as the post's title.
func titleOf(l *locale.Language, p post.Record) string {
	text := strings.Join(strings.Fields(p.Excerpt), " ")
	if text == "" {
		return l.T("A post without text")
	}
	if utf8.RuneCountInString(text) > maxTitle {
		text = strings.TrimSpace(string([]rune(text)[:maxTitle])) + "…"
	}
	return text
}

// When describes when the post is published. It returns "" for a post that is already being published.
func (c *card) When() string {
	at := c.formatTime(c.ScheduledAt)
	switch {
	case c.MissedApproval() && at != "":
		return c.l.T("It was scheduled for %s but was not published, because it was not approved in time.", at) + " " +
			c.l.T(c.nextStepText())
	case c.Status != post.Draft && c.Status != post.Scheduled:
		return ""
	case c.Approval == post.Rejected:
		return c.l.T("It will not be published until you approve it or a new version of it.")
	case c.Status == post.Scheduled && c.Approval == post.Waiting:
		return c.l.T("It will be published at %s only if you approve it before then.", at)
	case c.Status == post.Scheduled:
		return c.l.T("It will be published at %s.", at)
	}
	return c.whenDraft(at)
}

// whenDraft describes when a draft is published. at is the planned time, or "" if the draft has none.
func (c *card) whenDraft(at string) string {
	switch {
	case c.Approval == post.Approved && at == "":
		return c.l.T("The team has not set a time yet. The post will not be published until a team member schedules it.")
	case c.Approval == post.Approved:
		return c.l.T("The team plans to publish it at %s. It will not be published until a team member schedules it.", at)
	case at == "":
		return c.l.T("The team has not set a time yet and will do so after you approve the post.")
	case c.Schedules:
		if c.Choice != "" {
			return "" // the page says this above the posts
		}
		return c.l.T("It is scheduled as soon as you approve it.")
	}
	return c.l.T("The team plans to publish it at %s. After you approve it, a team member still needs to schedule it.", at)
}

// nextStepText describes what happens to a post whose time has passed.
func (c *card) nextStepText() locale.Key {
	switch c.Approval {
	case post.Waiting:
		return "After you approve it, the team will choose a new time."
	case post.Approved:
		return "The team needs to choose a new time."
	case post.Rejected, post.NotNeeded:
	}
	return "It will not be published."
}

// Undoable reports whether the client requested changes and can still approve the post instead.
func (c *card) Undoable() bool { return approval.CanApproveAfterRejection(c.Record) }

// DecidedAt returns when the client decided, in the team's time zone.
func (c *card) DecidedAt() string { return c.formatTime(c.Decided) }

func (c *card) formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return c.l.Format(t.In(c.Zone), locale.ClockOnDate) + " (" + c.Zone.String() + ")"
}

func (h *Handlers) page(w http.ResponseWriter, r *http.Request) {
	v, err := h.newClientView(r)
	if err != nil {
		h.rejectLink(w, r, err, "")
		return
	}
	if !h.isMember(r, v.team()) {
		if err := h.approvals.RecordOpening(r.Context(), v.Token); err != nil {
			h.Log.WarnContext(r.Context(), "recording that an approval link was opened failed", "error", err)
		}
	}
	h.showPage(w, r, http.StatusOK, v)
}

// isMember reports whether the visitor is signed in as a member of a team.
func (h *Handlers) isMember(r *http.Request, team int64) bool {
	v := shell.VisitorOf(r.Context())
	if v == nil {
		return false
	}
	for _, t := range v.Teams {
		if t.ID == team {
			return true
		}
	}
	return false
}

func (h *Handlers) showPage(w http.ResponseWriter, r *http.Request, status int, v *clientView) {
	title := h.T(r, "Approve a post")
	if v.Several() {
		title = h.Language(r).N(v.Total(), "%d post for your review", "%d posts for your review")
	}
	h.ShowTitled(w, r, status, pages["client"], title, v)
}

// newClientView returns the page of the link in the path, with the values of the submitted form.
func (h *Handlers) newClientView(r *http.Request) (*clientView, error) {
	v := &clientView{Token: r.PathValue("token"), MaxComment: approval.MaxComment}
	var err error
	if v.Page, err = h.approvals.Show(r.Context(), v.Token); err != nil {
		return v, err
	}
	v.Name = h.signer(r)
	if r.PostForm != nil {
		v.Name = r.PostForm.Get("name")
	}
	names, err := account.DisplayNames(r.Context(), h.DB, v.team())
	if err != nil {
		return v, err
	}
	var ids []string
	l := h.Language(r)
	for _, proposal := range v.Proposals {
		c := &card{Proposal: proposal, l: l, Token: v.Token, Title: titleOf(l, proposal.Record)}
		if len(v.Proposals) > 1 {
			c.Suffix, c.Choice = "-"+proposal.ID, " "+proposal.ID
		}
		c.Comment = r.PostForm.Get("comment" + c.Suffix)
		v.Cards = append(v.Cards, c)
		if proposal.Hidden != "" {
			continue
		}
		ids = append(ids, proposal.ID)
		c.Previews = previewsOf(proposal.Record, approval.Path+v.Token, l, proposal.Zone, names)
		v.count(c)
	}
	threads, err := h.approvals.Threads(r.Context(), v.team(), ids)
	for _, c := range v.Cards {
		for _, entry := range threads[c.ID] {
			entry.At = entry.At.In(v.Zone)
			c.Thread = append(c.Thread, entry)
		}
	}
	return v, err
}

// count counts a post by its approval state.
func (v *clientView) count(c *card) {
	switch c.Approval {
	case post.Approved:
		v.Approved++
	case post.Rejected:
		v.Rejected++
	case post.Waiting:
		v.Waiting++
		c.Next = v.Waiting == 1
	case post.NotNeeded:
	}
}

// team returns the ID of the team that owns the posts, or 0 if no post is visible.
func (v *clientView) team() int64 {
	for _, proposal := range v.Proposals {
		if proposal.TeamID != 0 {
			return proposal.TeamID
		}
	}
	return 0
}

// invalidLinkPage is the page of a link that no longer works. Comment is the client's input, which was not sent.
type invalidLinkPage struct {
	Heading      locale.Key
	Why, Comment string
}

// rejectLink shows the error page for a link that no longer works, with the client's unsent comment. It does not
// reveal whether a post ever existed.
func (h *Handlers) rejectLink(w http.ResponseWriter, r *http.Request, err error, comment string) {
	f := apierr.FromError(err)
	if f.IsServerError() {
		h.ShowError(w, r, err)
		return
	}
	page := invalidLinkPage{"This link no longer works", h.Detail(r, err), comment}
	switch state, _ := f.Context["state"].(string); {
	case f.Code == apierr.NotFound:
		page.Heading, page.Why = "This link is no longer active", h.T(r, "Ask the team that sent it for a new one.")
	case state == "changed":
		page.Heading = "The post has changed"
	}
	h.Show(w, r, shell.StatusOf(err), pages["deadlink"], page.Heading, page)
}

// Client actions.
const (
	approve    = "approve"
	reject     = "reject"
	comment    = "comment"
	approveAll = "approve_all"
)
