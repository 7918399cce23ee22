package marker

import (
	"context"
	"time"

	"pressroom.example/pressroom/internal/sandbox/store"
)

// Outcome is the result of an attempt to publish. Even if it is refused, the transaction must be committed, because it
// records which markers have acted.
type Outcome struct {
	Post    string        // ID; empty unless published
	Refused error         // for the client
	Wait    time.Duration // not 0 if the caller must wait and try again
}

// Refusals are a network's errors for markers that prevent publication.
type Refusals struct{ Rejected, Expired, RateLimited, Failed error }

// Attempt is an attempt to publish a text.
type Attempt struct {
	Platform, Account, Text string
	Key                     string // identifies the post for markers that act once; Key(Account, Text) by default
	Session                 string // session that ExpiredToken ends
	Waited                  bool   // whether the wait that a marker requests is over
}

// Publish applies the markers of the text. Unless a marker refuses the post, it calls save, which stores the post and
// returns its ID.
func (a Attempt) Publish(
	ctx context.Context, t store.Tx, refusals Refusals, save func() (string, error),
) (Outcome, error) {
	markers := Read(a.Text, a.Platform)
	if a.Key == "" {
		a.Key = Key(a.Account, a.Text)
	}
	refused, err := a.refuse(ctx, t, markers, refusals)
	if err != nil || refused != nil {
		return Outcome{Refused: refused}, err
	}
	if markers.Slow > 0 && !a.Waited {
		return Outcome{Wait: markers.Slow}, nil
	}
	id, err := save()
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Post: id}
	lost, err := LosesResponse(ctx, t, a.Platform, markers, a.Key)
	if lost {
		out.Refused = ErrLost
	}
	return out, err
}

// Key identifies a text of an account for markers that act once. The ID of the post is not suitable, because every
// attempt has a new ID.
func Key(account, text string) string { return account + " " + store.ContentID([]byte(text)) }

// refuse returns the error that a marker requests, or nil.
func (a Attempt) refuse(ctx context.Context, t store.Tx, markers Set, refusals Refusals) (error, error) {
	if markers.Has(Reject) {
		return refusals.Rejected, nil
	}
	expired, err := Once(ctx, t, a.Platform, markers, a.Key, ExpiredToken)
	switch {
	case err != nil:
		return nil, err
	case expired:
		return refusals.Expired, t.EndSession(ctx, a.Platform, a.Session)
	case markers.Has(RateLimit):
		return refusals.RateLimited, nil
	}
	failed, err := Once(ctx, t, a.Platform, markers, a.Key, Failure)
	if failed {
		return refusals.Failed, err
	}
	return nil, err
}
