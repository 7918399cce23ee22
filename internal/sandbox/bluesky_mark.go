package sandbox

import (
	"context"
	"net/http"
)

// actBefore lets the markers act that keep a post from being stored. It is true where one did, with what the
// write then came to.
func (b *bluesky) actBefore(ctx context.Context, t tx, w write, postID, session string) (outcome, bool, error) {
	if w.marks.has(markReject) {
		return outcome{refused: invalidRequest("This content cannot be posted (asked for by a sandbox marker)")}, true,
			nil
	}
	if dead, err := once(ctx, t, blueskyName, w.marks, postID, markExpiredToken); err != nil || dead {
		if err == nil {
			err = t.killSession(ctx, blueskyName, session)
		}
		return outcome{refused: errTokenExpired}, true, err
	}
	if w.marks.has(markRateLimit) {
		return outcome{refused: &xrpcError{http.StatusTooManyRequests, "RateLimitExceeded", "Rate Limit Exceeded"}},
			true, nil
	}
	if failing, err := once(ctx, t, blueskyName, w.marks, postID, markError); err != nil || failing {
		return outcome{
			refused: &xrpcError{http.StatusInternalServerError, "InternalServerError", "Internal Server Error"},
		}, true, err
	}
	if w.marks.slow > 0 && !w.waited {
		return outcome{wait: w.marks.slow}, true, nil
	}
	return outcome{}, false, nil
}
