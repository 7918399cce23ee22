package sandbox

import (
	"context"
	"time"
)

// outcome is the result of an attempt to publish. A refused attempt may have changed something too: a marker has acted.
type outcome struct {
	post    string // id
	refused error
	wait    time.Duration // after which to try again
}

// refusals are the errors by which a network answers the markers that keep a post from being published.
type refusals struct{ rejected, expired, rateLimited, failed error }

// attempt is an attempt to publish a text.
type attempt struct {
	platform, account, text string
	key                     string // identifies the post to markers that act once; by default its account and text
	session                 string // which a marker may end
	waited                  bool
}

// publish applies the markers of the text. Unless one of them refuses the post it is stored by save, which returns
// the post's id.
func (a attempt) publish(
	ctx context.Context, t tx, answers refusals, save func() (string, error),
) (outcome, error) {
	marks := readMarkers(a.text, a.platform)
	if a.key == "" {
		a.key = markerKey(a.account, a.text)
	}
	refused, err := a.refuse(ctx, t, marks, answers)
	if err != nil || refused != nil {
		return outcome{refused: refused}, err
	}
	if marks.slow > 0 && !a.waited {
		return outcome{wait: marks.slow}, nil
	}
	id, err := save()
	if err != nil {
		return outcome{}, err
	}
	out := outcome{post: id}
	lost, err := loses(ctx, t, a.platform, marks, a.key)
	if lost {
		out.refused = errLost
	}
	return out, err
}

// markerKey identifies a text of an account to markers that act once. Ids would not do, as every attempt has new ones.
func markerKey(account, text string) string { return account + " " + contentID([]byte(text)) }

// refuse returns the refusal that a marker asks for, and nil if none does.
func (a attempt) refuse(ctx context.Context, t tx, marks markers, answers refusals) (refused, err error) {
	if marks.has(markReject) {
		return answers.rejected, nil
	}
	expired, err := once(ctx, t, a.platform, marks, a.key, markExpiredToken)
	switch {
	case err != nil:
		return nil, err
	case expired:
		return answers.expired, t.killSession(ctx, a.platform, a.session)
	case marks.has(markRateLimit):
		return answers.rateLimited, nil
	}
	failed, err := once(ctx, t, a.platform, marks, a.key, markError)
	if failed {
		return answers.failed, err
	}
	return nil, err
}
