package post

import (
	"context"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/post/attachment"
	"pressroom.example/pressroom/internal/domain/post/comment"
	"pressroom.example/pressroom/internal/domain/post/thread"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
)

// PartCount returns the number of parts of the post's thread, including the post itself.
func (p Record) PartCount() int { return 1 + len(p.Thread) }

// PartContent returns the content of one part that is published to an account. Part 0 is the post itself, and
// comment.Part is the first comment. Overrides of the account apply to part 0 only.
func (p Record) PartContent(t Target, language string, part int) network.Content {
	content := p.Content(t, language)
	switch {
	case part == comment.Part:
		content.Text, content.Media = p.FirstComment, nil
	case part > 0:
		content.Text, content.Media = p.Thread[part-1].Caption, p.Thread[part-1].Media
	}
	if part != 0 {
		content.Title, content.Options = "", content.Options.ForReplies()
	}
	return content
}

// PublishedPartCount returns how many parts are published on the account, which is also the number of the next part.
func (t Target) PublishedPartCount() int {
	if t.PublishedAt.IsZero() {
		return 0
	}
	return 1 + len(t.Parts)
}

// NextPart returns the number of the next part to publish on an account. After all parts of the thread, it returns
// comment.Part.
func (p Record) NextPart(t Target) int {
	if next := t.PublishedPartCount(); next < p.PartCount() {
		return next
	}
	return comment.Part
}

// IsIncomplete reports whether publishing to the account failed, or is unconfirmed, after the first part.
func (t Target) IsIncomplete() bool {
	return t.PublishedPartCount() > 0 && (t.State == TargetFailed || t.State == TargetUnconfirmed)
}

// ReplyOf returns the IDs of the posts that a part or the first comment replies to. It reports false if one is unknown.
func (t Target) ReplyOf(part int) (network.Reply, bool) {
	reply := network.Reply{Root: t.NetworkID, Parent: t.NetworkID}
	if part > 1 && part-2 < len(t.Parts) {
		reply.Parent = t.Parts[part-2].NetworkID
	}
	return reply, part <= t.PublishedPartCount() && reply.Root != "" && reply.Parent != ""
}

// stateOf returns the state of the first comment for comment.Part, and the state of the target for any other part.
func (t Target) stateOf(part int) TargetState {
	if part == comment.Part {
		return TargetState(t.Comment.State)
	}
	return t.State
}

// withResult returns the target with the result of a part, and whether another part of the thread follows.
func (t Target) withResult(r Result, parts int) (Target, bool) {
	if r.State != TargetPublished {
		r.PublishedAt = time.Time{}
	}
	switch {
	case r.Part == comment.Part:
		t.Comment.State, t.Comment.NetworkID, t.Comment.Permalink, t.Comment.At = string(r.State), r.NetworkID, r.Permalink, r.PublishedAt
		t.Comment.ErrorCode, t.Comment.NetworkText = r.ErrorCode, r.NetworkText
		return t, false
	case r.Part == 0:
		t.PublishedAt, t.Permalink, t.NetworkID = r.PublishedAt, r.Permalink, r.NetworkID
	case r.State == TargetPublished && r.Part == t.PublishedPartCount():
		t.Parts = append(t.Parts, thread.PublishedPart{NetworkID: r.NetworkID, Permalink: r.Permalink, At: r.PublishedAt})
	}
	t.State, t.ErrorCode, t.NetworkText = r.State, r.ErrorCode, r.NetworkText
	more := r.State == TargetPublished && r.Part+1 < parts
	if more {
		t.State = TargetSending
	}
	return t, more
}

// SetPermalink stores the permalink of a part that is published on an account. It ignores other parts.
func (s *Service) SetPermalink(ctx context.Context, tx *db.Tx, team int64, id string, account int64, part int,
	permalink string) error {
	p, err := s.Lock(ctx, tx, team, id)
	if err != nil {
		return err
	}
	for _, t := range p.Targets {
		switch {
		case t.AccountID != account || part >= t.PublishedPartCount():
			continue
		case part == comment.Part:
			t.Comment.Permalink = permalink
		case part == 0:
			t.Permalink = permalink
		default:
			t.Parts[part-1].Permalink = permalink
		}
		return updateTarget(ctx, tx, id, t)
	}
	return nil
}

// readMedia sets the media of all parts of p.
func (s *Service) readMedia(ctx context.Context, q db.Querier, p *Record) error {
	media, err := attachment.Read(ctx, q, s.library, p.TeamID, p.ID, p.PartCount())
	if err != nil {
		return err
	}
	p.Media = media[0]
	for i := range p.Thread {
		p.Thread[i].Media = media[i+1]
	}
	return nil
}

// setMedia stores the media of all parts and of the options.
func setMedia(ctx context.Context, tx *db.Tx, p Record) error {
	media := [][]network.Media{p.Media}
	for _, part := range p.Thread {
		media = append(media, part.Media)
	}
	return attachment.Set(ctx, tx, p.ID, media, attachment.UsedByOptions(p.Options, p.OptionMedia))
}

// AllMedia returns the media of all parts and overrides.
func (p Record) AllMedia() []network.Media {
	media := slices.Clone(p.Media)
	for _, t := range p.Targets {
		media = append(media, t.Media...)
	}
	for _, part := range p.Thread {
		media = append(media, part.Media...)
	}
	return media
}

// explanation returns what the error code of the account means.
func (t Target) explanation() string {
	return thread.Explanation(t.ErrorCode, job.AccountMessage(t.ErrorCode, t.Permalink), t.PublishedPartCount())
}

// findThread returns the parts of a thread with their media.
func (s *Service) findThread(ctx context.Context, q db.Querier, team int64, in []ThreadPart) ([]thread.Part, error) {
	var out []thread.Part
	for _, part := range in {
		media, err := s.library.ForPost(ctx, q, team, part.MediaIDs)
		if err != nil {
			return nil, err
		}
		out = append(out, thread.Part{Caption: part.Caption, Media: media})
	}
	return out, nil
}

// changeThread replaces the parts of a post's thread and reports whether they changed.
func (s *Service) changeThread(ctx context.Context, tx *db.Tx, p *Record, in []ThreadPart) (bool, error) {
	parts, err := s.findThread(ctx, tx, p.TeamID, in)
	if err != nil {
		return false, err
	}
	before := p.AllMedia()
	for i := range parts {
		parts[i].Media = attachment.CopyCovers(parts[i].Media, before)
	}
	if thread.Same(parts, p.Thread) {
		return false, nil
	}
	p.Thread = parts
	return true, setMedia(ctx, tx, *p)
}

// PostAccountPart is the result of one part of a thread on an account.
type PostAccountPart struct {
	State       TargetState      `json:"state" enum:"pending|sending|published|failed|unconfirmed" title:"PostAccountState"`
	PublishedAt *teamtime.Moment `json:"published_at,omitempty"`
	Permalink   string           `json:"permalink,omitempty"`
}

// apiThread converts the parts after the post itself to their API representation.
func (p Record) apiThread() []ThreadPart {
	var out []ThreadPart
	for _, part := range p.Thread {
		ids := make([]int64, len(part.Media))
		for i, m := range part.Media {
			ids[i] = m.ID
		}
		out = append(out, ThreadPart{part.Caption, ids})
	}
	return out
}

// apiParts converts the results of the parts after the post itself to their API representation.
func (p Record) apiParts(call operation.Call, t Target) []PostAccountPart {
	var out []PostAccountPart
	for part := 1; part < p.PartCount(); part++ {
		result := PostAccountPart{State: TargetPending}
		switch published := t.PublishedPartCount(); {
		case part < published:
			done := t.Parts[part-1]
			result = PostAccountPart{TargetPublished, call.MomentOrNil(done.At), done.Permalink}
		case part == published && published > 0:
			result.State = t.State
		}
		out = append(out, result)
	}
	return out
}

// PostAccountFirstComment is the result of the first comment on an account.
type PostAccountFirstComment struct {
	PostAccountPart
	AccountError

	RetriesLeft int `json:"retries_left" jsonschema:"How often the comment can be retried if it fails."`
}

// apiComment converts the result of a first comment to its API representation. It returns nil if there is no result.
func (s *Service) apiComment(call operation.Call, t Target, quotes *operation.UntrustedTexts) *PostAccountFirstComment {
	c := t.Comment
	if c.State == "" {
		return nil
	}
	return &PostAccountFirstComment{
		PostAccountPart{TargetState(c.State), call.MomentOrNil(c.At), c.Permalink},
		AccountError{c.ErrorCode, comment.Explanation(c.ErrorCode, job.AccountMessage(c.ErrorCode, "")),
			Quote(quotes, t.Platform, t.Username, c.NetworkText)},
		c.RetriesLeft(s.limits.MaxRetries),
	}
}
