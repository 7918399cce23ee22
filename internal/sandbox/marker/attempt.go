package marker

import (
	"context"
	"time"

	"pressroom.example/pressroom/internal/sandbox/store"
)

// Outcome is the result of an attempt to publish. The caller must commit the transaction even if the post was rejected,
// because the transaction records which markers have taken effect.
type Outcome struct {
	Post      string        // ID of the post; empty if it was not published
	ClientErr error         // error to send to the client
	Wait      time.Duration // time that the caller must wait before it tries again; 0 if no wait is needed
}

// MarkerErrors contains a network's errors for the markers that prevent publication.
type MarkerErrors struct{ RejectErr, ExpiredTokenErr, RateLimitErr, FailureErr error }

// Attempt is an attempt to publish a text.
type Attempt struct {
	Platform, Account, Text string
	Key                     string // identifies the post for markers that take effect once; Key(Account, Text) by default
	Session                 string // session that ExpiredToken ends
	Waited                  bool   // whether the caller has already waited as a marker requested
}

// Publish applies the markers of the text. Unless a marker rejects or delays the post, it calls save, which stores the
// post and returns its ID.
func (a Attempt) Publish(
	ctx context.Context, t store.Tx, markerErrors MarkerErrors, save func() (string, error),
) (Outcome, error) {
	markers := Read(a.Text, a.Platform)
	if a.Key == "" {
		a.Key = Key(a.Account, a.Text)
	}
	clientErr, err := a.reject(ctx, t, markers, markerErrors)
	if err != nil || clientErr != nil {
		return Outcome{ClientErr: clientErr}, err
	}
	if markers.Slow > 0 && !a.Waited {
		return Outcome{Wait: markers.Slow}, nil
	}
	id, err := save()
	if err != nil {
		return Outcome{}, err
	}
	outcome := Outcome{Post: id}
	lost, err := LosesResponse(ctx, t, a.Platform, markers, a.Key)
	if lost {
		outcome.ClientErr = ErrLost
	}
	return outcome, err
}

// Key identifies a text of an account for markers that take effect only once. The ID of the post is not suitable,
// because every attempt has a new ID.
func Key(account, text string) string { return account + " " + store.ContentID([]byte(text)) }

// reject returns the error that a marker requests, or nil.
func (a Attempt) reject(ctx context.Context, t store.Tx, markers Set, markerErrors MarkerErrors) (error, error) {
	if markers.Has(Reject) {
		return markerErrors.RejectErr, nil
	}
	expired, err := ConsumeOnce(ctx, t, a.Platform, markers, a.Key, ExpiredToken)
	switch {
	case err != nil:
		return nil, err
	case expired:
		return markerErrors.ExpiredTokenErr, t.EndSession(ctx, a.Platform, a.Session)
	case markers.Has(RateLimit):
		return markerErrors.RateLimitErr, nil
	}
	failed, err := ConsumeOnce(ctx, t, a.Platform, markers, a.Key, Failure)
	if failed {
		return markerErrors.FailureErr, err
	}
	return nil, err
}
