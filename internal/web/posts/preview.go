package posts

import (
	"slices"
	"time"

	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web/preview"
)

// Planned reports whether the post is a draft or scheduled. The page of such a post begins with the content.
func (v *view) Planned() bool { return v.Status == post.Draft || v.Status == post.Scheduled }

// Title returns the title of the post: usually the beginning of its text.
func (v *view) Title() string {
	switch {
	case v.Stored.IsTemplate:
		return v.lang.T("Post of a series")
	case v.Status == post.Draft && v.Caption == "":
		return v.lang.T("Untitled draft")
	}
	return v.Head
}

// Local returns the scheduled time in the visitor's time zone.
func (v *view) Local() time.Time { return v.Stored.ScheduledAt.In(v.zone) }

// IsBoxed reports whether the page begins with a box that lists what the visitor can do about a failure.
func (v *view) IsBoxed() bool {
	return v.MayCreateCopy && v.Writes || len(v.Retryable) > 0 && v.Publishes
}

// Copy returns the ID of an edited copy that has taken over a failed account, or "".
func (v *view) Copy() string {
	for _, a := range v.Accounts {
		if a.Holder != "" {
			return a.Holder
		}
	}
	return ""
}

// HasCounts reports whether one of the post's metrics is above 0.
func (v *view) HasCounts() bool {
	sums := v.Totals
	return slices.ContainsFunc([]*int64{sums.Views, sums.Likes, sums.Comments, sums.Shares, sums.Engagement},
		func(count *int64) bool { return count != nil && *count > 0 })
}

// IsTemporary reports whether there are accounts that can be retried, and all of them can succeed without changing the
// post.
func (v *view) IsTemporary() bool {
	return len(v.Retryable) > 0 && !slices.ContainsFunc(v.Retryable, func(a accountView) bool {
		return !delivery.IsRetryableCode(a.ErrorCode)
	})
}

// ShowsAccounts reports whether the page lists the accounts. The page of a planned post lists them only if there is
// more to say about an account than the preview shows.
func (v *view) ShowsAccounts() bool {
	return !v.Planned() || slices.ContainsFunc(v.Accounts, func(a accountView) bool {
		return a.Next != nil || a.State != post.TargetPending || a.Why != ""
	})
}

// Deletable reports whether the post can be deleted.
func (v *view) Deletable() bool { return isDeletable(v.Stored) }

// IsUnplanned reports whether a draft has no time and no pending approval, so that its state needs no explanation.
func (v *view) IsUnplanned() bool {
	return v.Status == post.Draft && !v.Stored.IsTemplate && v.ScheduledAt == nil &&
		v.Approval != post.Waiting && v.Approval != post.Rejected
}

// AsksClient reports whether the next step is to give the client the approval link.
func (v *view) AsksClient() bool { return v.Link != "" && v.Approval == post.Waiting }

// CutText reports whether a preview of the post shows only part of the text.
func (v *view) CutText() bool {
	return slices.ContainsFunc(v.Previews(), func(look preview.Post) bool { return look.Rest != "" })
}

// Previews returns the preview for each account or, if the post has no accounts, a single preview of its own content.
func (v *view) Previews() []preview.Post {
	var out []preview.Post
	for i, a := range v.Accounts {
		author := preview.Author{ID: a.ID, Platform: a.Platform, Username: a.Username, Name: v.Names[a.ID]}
		c := v.Stored.Content(v.Stored.Targets[i], "")
		out = append(out, preview.New(author, c).WithThread(v.Stored.Thread).WithComment(v.Stored.FirstComment).
			WithSettings(c.Options))
	}
	if len(out) == 0 {
		shared := preview.New(preview.Author{}, network.Content{Text: v.Caption, Media: v.Stored.Media})
		out = append(out, shared.WithThread(v.Stored.Thread))
	}
	for i := range out {
		out[i].Lang, out[i].When = v.lang, preview.Date(v.lang, v.Stored, v.zone)
		out[i].Play = v.Client // clients see the media only in the preview
	}
	return out
}
