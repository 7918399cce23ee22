package network

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// FirstComment is the draft of a comment on a post, for networks where a comment is not itself a post.
type FirstComment struct {
	On         string    `json:"comment_on"` // the network's ID of the post
	Text       string    `json:"text"`
	PreparedAt time.Time `json:"ready,omitzero"` // when PrepareFirstComment was called; the comment cannot be older
}

var firstComments = DraftCodec[FirstComment]{Kind: "a comment", Validate: FirstComment.validate, IsPrepared: FirstComment.isPrepared}

func (c FirstComment) validate() error {
	if c.On == "" {
		return errors.New("the draft is not the draft of a comment")
	}
	return nil
}

func (c FirstComment) isPrepared() bool { return !c.PreparedAt.IsZero() }

// PlanFirstComment returns the draft of a comment.
func PlanFirstComment(s Submission) (Draft, error) {
	return firstComments.Plan(FirstComment{On: s.Reply.Parent, Text: strings.ToValidUTF8(s.Content.Text, "\uFFFD")})
}

// IsFirstComment reports whether a draft is the draft of a comment.
func IsFirstComment(d Draft) bool {
	_, err := firstComments.Decode(d)
	return err == nil
}

// PrepareFirstComment records the time now in the draft. The comment does not exist before that time.
func PrepareFirstComment(d Draft, now time.Time) (Draft, time.Duration, error) {
	return firstComments.Prepare(d, func(c *FirstComment) (time.Duration, error) {
		c.PreparedAt = now.UTC()
		return 0, nil
	})
}

// ReadFirstComment decodes a draft. It returns an error if PrepareFirstComment has not prepared the draft.
func ReadFirstComment(d Draft) (FirstComment, error) { return firstComments.DecodePrepared(d) }

// CommentSearch is the result of a search for a comment among the comments on its post.
type CommentSearch struct {
	Matches   []Receipt
	Truncated bool      // there may be comments that were not searched
	StartedAt time.Time // when the search started
}

// Verdict returns the verdict of the search. If no comment matches, the verdict is Absent once delay has passed since
// the last attempt. Until then, it is Unknown with a Processing error.
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
// still publish posts. message tells people which permission is missing. Other errors are returned unchanged.
func CommentsForbidden(err error, message string) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Class != ReconnectRequired || e.Status != http.StatusForbidden {
		return err
	}
	newErr := *e
	newErr.Class, newErr.Message = Rejected, message
	return &newErr
}
