package delivery

import (
	"context"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/platform/db"
)

// The parts of a thread are published in order. Each part has a delivery of its own. The delivery of the next part is
// inserted in the transaction that records the part before it as published, so that no part is lost or sent twice after
// a crash. A part that fails or becomes unconfirmed ends the thread. A retry continues with that part. The first
// comment is a part too. It follows the last part, and its result does not change the result of the account or the job.

// threadInterrupted is the error code of a part that was not sent, although the part before it is published.
const threadInterrupted = "thread_interrupted"

// insertPart inserts and returns the delivery of the given part, which comes after d's part. The new delivery is due
// immediately.
func insertPart(ctx context.Context, tx *db.Tx, d delivery, part int) (delivery, error) {
	firstSubmittedAt, err := firstSubmission(ctx, tx, post.Record{ID: d.PostID}, d.AccountID)
	if err != nil {
		return delivery{}, err
	}
	next := delivery{
		TeamID: d.TeamID, PostID: d.PostID, AccountID: d.AccountID, Part: part, JobID: d.JobID, FirstSubmittedAt: firstSubmittedAt,
	}
	return next, insert(ctx, tx, &next, 0)
}

// endThread stores the result of a delivery, as recordResult does. If another part or the first comment follows,
// endThread stores restResult for it instead of sending it.
func endThread(
	ctx context.Context, tx *db.Tx, posts *post.Service, d delivery, newPhase phase, result, restResult post.Result,
) error {
	nextPart, hasMore, err := storeResult(ctx, tx, posts, d, newPhase, result)
	if err != nil {
		return err
	}
	if hasMore {
		following, err := insertPart(ctx, tx, d, nextPart)
		if err != nil {
			return err
		}
		if _, _, err := storeResult(ctx, tx, posts, following, phaseEnded, restResult); err != nil {
			return err
		}
	}
	return updateJob(ctx, tx, d.JobID)
}
