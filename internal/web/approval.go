package web

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/media"
	"pressroom/internal/domain/post"
	"pressroom/internal/domain/post/approval"
	"pressroom/internal/network"
	"pressroom/internal/web/shell"
)

// maxDecision is the maximum size of an approval form in bytes: the longest comment with each byte escaped as three.
const maxDecision = 3*4*approval.MaxComment + shell.MaxForm

// approvalView is the page on which a client approves a post. Said is rejected input to correct.
type approvalView struct {
	approval.Proposal

	Token        string
	Wrong, Field string // error and its field
	Said         approval.Decision
	MaxComment   int
}

// Bare reports whether an account overrides the post's media with none.
func (v approvalView) Bare(t post.Target) bool { return t.Media != nil && len(t.Media) == 0 }

// When describes when the post is published. Approval itself publishes nothing: a draft remains one until a team
// member schedules it. It returns "" for a post that was already sent.
func (v approvalView) When() string {
	at := v.inWords(v.ScheduledAt)
	switch {
	case v.PassedUnapproved() && at != "":
		return "It was scheduled for " + at + " but was not published, because it was not approved in time. " +
			v.afterwards()
	case v.Status != post.Draft && v.Status != post.Scheduled:
		return ""
	case v.Approval == post.Rejected:
		return "It will not be published until you approve a new version."
	case v.Status == post.Scheduled && v.Approval == post.Waiting:
		return "It will be published at " + at + " only if you approve it before then."
	case v.Status == post.Scheduled:
		return "It will be published at " + at + "."
	case v.Approval == post.Approved && at == "":
		return "The team has not set a time yet. The post will not be published until a team member schedules it."
	case v.Approval == post.Approved:
		return "The team plans to publish it at " + at +
			". It will not be published until a team member schedules it."
	case at == "":
		return "The team has not set a time yet and will do so after you approve the post."
	}
	return "The team plans to publish it at " + at +
		". After you approve it, a team member still needs to schedule it."
}

// afterwards describes what happens to a post whose time has passed.
func (v approvalView) afterwards() string {
	switch v.Approval {
	case post.Waiting:
		return "After you approve it, the team will choose a new time."
	case post.Approved:
		return "The team needs to choose a new time."
	case post.Rejected, post.NotNeeded:
	}
	return "It will not be published."
}

// DecidedAt returns when the client decided, in the team's time zone.
func (v approvalView) DecidedAt() string { return v.inWords(v.Decided) }

func (v approvalView) inWords(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(v.Zone).Format("15:04 on Monday 2 January 2006") + " (" + v.Zone.String() + ")"
}

func (a *App) approvalPage(w http.ResponseWriter, r *http.Request) {
	a.showApproval(w, r, http.StatusOK, approvalView{})
}

func (a *App) showApproval(w http.ResponseWriter, r *http.Request, status int, view approvalView) {
	view.Token, view.MaxComment = r.PathValue("token"), approval.MaxComment
	var err error
	if view.Proposal, err = a.Approvals.Proposal(r.Context(), view.Token); err != nil {
		a.refuseLink(w, r, err, view.Said)
		return
	}
	a.Show(w, r, status, pages["approval"], "Approve a post", view)
}

// deadLink is the page of a link that no longer works. Comment is what the client wrote, which was not sent.
type deadLink struct{ Heading, Why, Comment string }

// refuseLink shows a page for a link that no longer works, with what the client wrote. Deleted posts and posts that
// never existed look alike.
func (a *App) refuseLink(w http.ResponseWriter, r *http.Request, err error, said approval.Decision) {
	f := apierr.Of(err)
	if f.IsServerError() {
		a.ShowError(w, r, err)
		return
	}
	page := deadLink{"This link no longer works", f.Detail, said.Comment}
	switch state, _ := f.Context["state"].(string); {
	case f.Code == apierr.NotFound:
		page.Heading, page.Why = "No longer up for approval",
			"This post is no longer up for approval. Ask the team that sent you the link."
	case state == "changed":
		page.Heading = "The post has changed"
	}
	a.Show(w, r, shell.StatusOf(err), pages["deadlink"], page.Heading, page)
}

// decide records a client's decision. Anyone with the link may decide, without signing in.
func (a *App) decide(w http.ResponseWriter, r *http.Request) {
	if !a.ReadLongForm(w, r, maxDecision) {
		return
	}
	said := approval.Decision{
		Approve: r.PostForm.Get("decision") == "approve", Name: r.PostForm.Get("name"),
		Comment: r.PostForm.Get("comment"),
	}
	said.Round, _ = strconv.ParseInt(r.PostForm.Get("round"), 10, 64) // an invalid number matches no version
	var err error
	if !said.Approve && r.PostForm.Get("decision") != "reject" {
		err = apierr.Invalid(apierr.MissingArgument, "decision", "Choose whether you approve the post.")
	} else {
		err = a.Approvals.Decide(r.Context(), r.PathValue("token"), said)
	}
	switch f := apierr.Of(err); {
	case err == nil:
		shell.Redirect(w, r, r.URL.EscapedPath())
	case f.IsServerError() || f.Code == apierr.NotFound:
		a.refuseLink(w, r, err, said)
	default:
		a.showApproval(w, r, shell.StatusOf(err), approvalView{Wrong: f.Detail, Field: fieldOf(f), Said: said})
	}
}

// maxLinkFiles limits the concurrent downloads of one approval link: more than a post's files, but only part of a
// node's slots.
const maxLinkFiles = 48

// fieldOf returns the form field of an error, or "".
func fieldOf(f *apierr.Error) string {
	field, _ := f.Context["argument"].(string)
	return field
}

// errManyFiles rejects a link with more concurrent downloads than the page of a post needs.
var errManyFiles = apierr.New(apierr.RateLimited,
	"Too many files of this link are being loaded. Try again in a moment.").With("scope", "approval_link").
	After(time.Second)

// approvalPicture serves the thumbnail of a post's image to anyone with the approval link.
func (a *App) approvalPicture(w http.ResponseWriter, r *http.Request) {
	a.approvalFile(w, r, network.Image, a.Media.ThumbnailForTeam)
}

// approvalImage serves an image of a post in full size without metadata. Older items with metadata are copied once.
func (a *App) approvalImage(w http.ResponseWriter, r *http.Request) {
	a.approvalFile(w, r, network.Image, a.Media.OpenForTeam)
}

// approvalVideo serves a video of a post, in the requested ranges.
func (a *App) approvalVideo(w http.ResponseWriter, r *http.Request) {
	a.approvalFile(w, r, network.Video, a.Media.OpenForTeam)
}

// approvalFile serves a file of a post. It is counted for the link before anything is looked up.
func (a *App) approvalFile(
	w http.ResponseWriter, r *http.Request, kind string,
	open func(ctx context.Context, team, id int64) (media.File, error),
) {
	token := r.PathValue("token")
	if !a.linkFiles.TryAcquire(token) {
		a.writeProblem(w, r, errManyFiles)
		return
	}
	defer a.linkFiles.Release(token)
	id, err := shell.PathID(r, "id")
	if err != nil {
		a.ShowError(w, r, err)
		return
	}
	shown, err := a.Approvals.Proposal(r.Context(), token)
	if err != nil {
		a.ShowError(w, r, err)
		return
	}
	if m, ok := shown.FindMedia(id); !ok || m.Kind != kind {
		a.ShowError(w, r, apierr.Missing())
		return
	}
	file, err := open(r.Context(), shown.TeamID, id)
	if err != nil {
		a.ShowError(w, r, err)
		return
	}
	defer file.Close()
	w.Header().Set("Cache-Control", "private, max-age=3600")
	send(w, r, file)
}
