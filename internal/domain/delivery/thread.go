package delivery

import (
	"context"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/platform/db"
)

// The parts of a thread are published in order. Each part has a delivery of its own. The delivery of the next part is
// inserted in the transaction that records the part before it as published, so that no part is lost or sent twice after a
// crash. A part that fails or becomes unconfirmed ends the thread; a retry continues with that part.

// threadInterrupted is the error code of a part that was not sent, although the part before it is published.
const threadInterrupted = "thread_interrupted"

// insertNextPart inserts the delivery of the part after d, which is due immediately.
func insertNextPart(ctx context.Context, tx *db.Tx, d delivery) (delivery, error) {
	first, err := firstSubmission(ctx, tx, post.Record{ID: d.PostID}, d.AccountID)
	if err != nil {
		return delivery{}, err
	}
	next := delivery{
		TeamID: d.TeamID, PostID: d.PostID, AccountID: d.AccountID, Part: d.Part + 1, JobID: d.JobID, FirstAt: first,
	}
	return next, insert(ctx, tx, &next, 0)
}

// endThread stores the result of a delivery like recordResult. If the thread has another part, that part is not sent but
// gets the result rest.
func endThread(
	ctx context.Context, tx *db.Tx, posts *post.Service, d delivery, next phase, r, rest post.Result,
) error {
	more, err := storeResult(ctx, tx, posts, d, next, r)
	if err != nil {
		return err
	}
	if more {
		following, err := insertNextPart(ctx, tx, d)
		if err != nil {
			return err
		}
		if _, err := storeResult(ctx, tx, posts, following, ended, rest); err != nil {
			return err
		}
	}
	return updateJob(ctx, tx, d.JobID)
}
