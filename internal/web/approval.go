package web

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/media"
	"pressroom/internal/domain/post"
	"pressroom/internal/network"
	"pressroom/internal/web/shell"
)

// maxDecision is how many bytes the form of an approval may have: the longest comment, each byte written as three.
const maxDecision = 3*4*post.MaxComment + shell.MaxForm

// approvalView is what the page shows on which a client approves a post. Said is what the client wrote and is asked
// to mend.
type approvalView struct {
	post.Proposal

	Token        string
	Wrong, Field string // what was refused, and the field that it is about
	Said         post.Decision
	MaxComment   int
}

// Bare tells whether an account shows no media in place of the post's.
func (v approvalView) Bare(t post.Target) bool { return t.Media != nil && len(t.Media) == 0 }

// When says when the post goes out and what that takes. Approval alone sends nothing: a draft stays one until somebody
// of the team schedules it. It is empty of a post that was handed over.
func (v approvalView) When() string {
	at := v.inWords(v.ScheduledAt)
	switch {
	case v.PassedUnapproved() && at != "":
		return "It was scheduled for " + at + " and was not published, because it was not approved by then. " +
			v.afterwards()
	case v.Status != post.Draft && v.Status != post.Scheduled:
		return ""
	case v.Approval == post.Rejected:
		return "It is not published until you approve a new version."
	case v.Status == post.Scheduled && v.Approval == post.Waiting:
		return "It is published at " + at + " if you have approved it by then, and not otherwise."
	case v.Status == post.Scheduled:
		return "It is published at " + at + "."
	case v.Approval == post.Approved && at == "":
		return "The team has not set a time yet. It is not published until somebody of the team schedules it."
	case v.Approval == post.Approved:
		return "The team plans to publish it at " + at +
			". It is not published until somebody of the team schedules it."
	case at == "":
		return "The team has not set a time yet. It does so after you have approved the post."
	}
	return "The team plans to publish it at " + at +
		". After you have approved it, somebody of the team still has to schedule it."
}

// afterwards says what becomes of a post whose time has passed.
func (v approvalView) afterwards() string {
	switch v.Approval {
	case post.Waiting:
		return "After you have approved it, the team chooses a new time."
	case post.Approved:
		return "The team has to choose a new time."
	case post.Rejected, post.NotNeeded:
	}
	return "It will not be published."
}

// DecidedAt is when the client decided, in the team's zone.
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
	view.Token, view.MaxComment = r.PathValue("token"), post.MaxComment
	var err error
	if view.Proposal, err = a.Approvals.Proposal(r.Context(), view.Token); err != nil {
		a.refuseLink(w, r, err, view.Said)
		return
	}
	a.Show(w, r, status, pages["approval"], "Approve a post", view)
}

// deadLink is the page of a link that shows nothing. Comment is what the client wrote, which was not sent.
type deadLink struct{ Heading, Why, Comment string }

// refuseLink tells a client that a link shows nothing, and shows what the client wrote. Posts that were deleted and
// posts that never existed look alike.
func (a *App) refuseLink(w http.ResponseWriter, r *http.Request, err error, said post.Decision) {
	f := apierr.Of(err)
	if f.IsServerError() {
		a.Refuse(w, r, err)
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

// decide takes a client's decision. Whoever has the link may decide; nobody signs in.
func (a *App) decide(w http.ResponseWriter, r *http.Request) {
	if !a.ReadLongForm(w, r, maxDecision) {
		return
	}
	said := post.Decision{
		Approve: r.PostForm.Get("decision") == "approve", Name: r.PostForm.Get("name"),
		Comment: r.PostForm.Get("comment"),
	}
	said.Round, _ = strconv.ParseInt(r.PostForm.Get("round"), 10, 64) // what is no number is no version
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

// maxLinkFiles is how many files of one approval link are sent at once: more than a post has, and a part of a node's
// places.
const maxLinkFiles = 48

// fieldOf returns the field of a form that a refusal is about; empty for none.
func fieldOf(f *apierr.Error) string {
	field, _ := f.Context["argument"].(string)
	return field
}

// errManyFiles refuses a link of which more files are on their way than any page of a post shows.
var errManyFiles = apierr.New(apierr.RateLimited,
	"Too many files of this link are being loaded. Try again in a moment.").With("scope", "approval_link").
	After(time.Second)

// approvalPicture sends the thumbnail of an image of a post to anybody who has the post's approval link.
func (a *App) approvalPicture(w http.ResponseWriter, r *http.Request) {
	a.approvalFile(w, r, network.Image, a.Media.ThumbnailOf)
}

// approvalImage sends an image of a post in full size, without metadata. An item that is stored without metadata is
// sent as it is; a copy of an older one is made once and kept.
func (a *App) approvalImage(w http.ResponseWriter, r *http.Request) {
	a.approvalFile(w, r, network.Image, a.Media.OpenOf)
}

// approvalVideo plays a video of a post, in the parts that the browser asks for.
func (a *App) approvalVideo(w http.ResponseWriter, r *http.Request) {
	a.approvalFile(w, r, network.Video, a.Media.OpenOf)
}

// approvalFile sends a file of a kind that a post has. It is counted for the link before anything is looked up.
func (a *App) approvalFile(
	w http.ResponseWriter, r *http.Request, kind string,
	open func(ctx context.Context, team, id int64) (media.Opened, error),
) {
	token := r.PathValue("token")
	if !a.linkFiles.Enter(token) {
		a.tellProblem(w, r, errManyFiles)
		return
	}
	defer a.linkFiles.Leave(token)
	id, err := mediaID(r)
	if err != nil {
		a.Refuse(w, r, err)
		return
	}
	shown, err := a.Approvals.Proposal(r.Context(), token)
	if err != nil {
		a.Refuse(w, r, err)
		return
	}
	if m, ok := shown.FindMedia(id); !ok || m.Kind != kind {
		a.Refuse(w, r, apierr.Missing())
		return
	}
	file, err := open(r.Context(), shown.TeamID, id)
	if err != nil {
		a.Refuse(w, r, err)
		return
	}
	defer file.Close()
	w.Header().Set("Cache-Control", "private, max-age=3600")
	send(w, r, file)
}
