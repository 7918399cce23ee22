package marker

import (
	"context"
	"time"

	"pressroom.example/pressroom/internal/sandbox/store"
)

// Outcome is the result of an attempt to publish. A refused attempt may also have changed something, because a marker
// has acted.
type Outcome struct {
	Post    string // ID
	Refused error
	Wait    time.Duration // after which to try again
}

// Refusals are a network's errors for markers that prevent publication.
type Refusals struct{ Rejected, Expired, RateLimited, Failed error }

// Attempt is an attempt to publish a text.
type Attempt struct {
	Platform, Account, Text string
	Key                     string // identifies the post to markers that act once; by default its account and text
	Session                 string // which a marker may end
	Waited                  bool
}

// Publish applies the markers of the text. Unless one of them refuses the post it is stored by save, which returns
// the post's ID.
func (a Attempt) Publish(
	ctx context.Context, t store.Tx, answers Refusals, save func() (string, error),
) (Outcome, error) {
	marks := Read(a.Text, a.Platform)
	if a.Key == "" {
		a.Key = Key(a.Account, a.Text)
	}
	refused, err := a.refuse(ctx, t, marks, answers)
	if err != nil || refused != nil {
		return Outcome{Refused: refused}, err
	}
	if marks.Slow > 0 && !a.Waited {
		return Outcome{Wait: marks.Slow}, nil
	}
	id, err := save()
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Post: id}
	lost, err := Loses(ctx, t, a.Platform, marks, a.Key)
	if lost {
		out.Refused = ErrLost
	}
	return out, err
}

// Key identifies a text of an account for markers that act once. IDs cannot be used, because every attempt has new
// ones.
func Key(account, text string) string { return account + " " + store.ContentID([]byte(text)) }

// refuse returns the error that a marker requests, or nil.
func (a Attempt) refuse(ctx context.Context, t store.Tx, marks Set, answers Refusals) (error, error) {
	if marks.Has(Reject) {
		return answers.Rejected, nil
	}
	expired, err := Once(ctx, t, a.Platform, marks, a.Key, ExpiredToken)
	switch {
	case err != nil:
		return nil, err
	case expired:
		return answers.Expired, t.EndSession(ctx, a.Platform, a.Session)
	case marks.Has(RateLimit):
		return answers.RateLimited, nil
	}
	failed, err := Once(ctx, t, a.Platform, marks, a.Key, Failure)
	if failed {
		return answers.Failed, err
	}
	return nil, err
}
