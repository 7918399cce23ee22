package network

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// FirstComment is the draft of a comment on a post, for networks on which a comment is not a post of its own.
type FirstComment struct {
	On         string    `json:"comment_on"` // the network's ID of the post
	Text       string    `json:"text"`
	PreparedAt time.Time `json:"ready,omitzero"` // when PrepareFirstComment returned; the comment is not older
}

var firstComments = DraftCodec[FirstComment]{Kind: "a comment", Validate: FirstComment.validate, IsPrepared: FirstComment.isPrepared}

func (c FirstComment) validate() error {
	if c.On == "" {
		return errors.New("the draft is not that of a comment")
	}
	return nil
}

func (c FirstComment) isPrepared() bool { return !c.PreparedAt.IsZero() }

// PlanFirstComment returns the draft of a comment.
func PlanFirstComment(i Submission) (Draft, error) {
	return firstComments.Plan(FirstComment{On: i.Reply.Parent, Text: strings.ToValidUTF8(i.Content.Text, "\uFFFD")})
}

// IsFirstComment reports whether a draft is that of a comment.
func IsFirstComment(d Draft) bool {
	_, err := firstComments.Decode(d)
	return err == nil
}

// PrepareFirstComment records now in the draft as the time before which the comment does not exist.
func PrepareFirstComment(d Draft, now time.Time) (Draft, time.Duration, error) {
	return firstComments.Prepare(d, func(c *FirstComment) (time.Duration, error) {
		c.PreparedAt = now.UTC()
		return 0, nil
	})
}

// ReadFirstComment returns a comment that PrepareFirstComment has completed.
func ReadFirstComment(d Draft) (FirstComment, error) { return firstComments.DecodePrepared(d) }

// CommentSearch is the result of a search for a comment among the comments on its post.
type CommentSearch struct {
	Matches   []Receipt
	Truncated bool      // there may be more comments
	StartedAt time.Time // when the search started
}

// Verdict returns the verdict of the search. A comment that was not found counts as absent once delay has passed since
// the last attempt.
func (s CommentSearch) Verdict(history CommitHistory, delay time.Duration) (Verdict, Receipt, error) {
	switch listedBy := history.Last.Add(delay); {
	case len(s.Matches) == 1:
		return Published, s.Matches[0], nil
	case len(s.Matches) > 1 || s.Truncated:
		return Unknown, Receipt{}, &Error{
			Class: OutcomeUnknown, Status: http.StatusOK,
			Err: fmt.Errorf("searching for the comment: %d comments match", len(s.Matches)),
		}
	case s.StartedAt.Before(listedBy):
		return Unknown, Receipt{}, &Error{
			Class: Processing, Status: http.StatusOK, RetryAt: listedBy.UTC(),
			Err: errors.New("searching for the comment: not listed yet"),
		}
	}
	return Absent, Receipt{}, nil
}

// CommentsForbidden changes the class of a ReconnectRequired error with status 403 to Rejected, because the account can
// still publish posts. The changed error has the message, which tells people which permission is missing. Other errors
// remain unchanged.
func CommentsForbidden(err error, message string) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Class != ReconnectRequired || e.Status != http.StatusForbidden {
		return err
	}
	changed := *e
	changed.Class, changed.Message = Rejected, message
	return &changed
}
