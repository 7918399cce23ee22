package delivery

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/domain/post/comment"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/plaintext"
)

// candidate is a post on one account. Another installation may have published it during the hold.
type candidate struct {
	ResumedAccount

	delivery  delivery // its ID is empty if the post is still scheduled
	text      string
	receipt   network.Receipt
	lookedUp  bool
	retryable bool // whether the lookup failed temporarily
	verdict   network.Verdict
	paused    bool // whether the team may not publish
	isStory   bool
}

// isListed reports whether the network lists the candidate once it is published.
func (c *candidate) isListed() bool { return !c.isStory && c.delivery.Part != comment.Part }

// outcome returns the outcome of a candidate. Another account of the post may still change it; see decideOutcomes.
func (c *candidate) outcome(now time.Time, maxLateness time.Duration) Outcome {
	switch {
	case c.lookedUp && c.verdict == network.Published:
		return OutcomePublished
	case c.delivery.ID == "" && c.DueAt.After(now):
		return OutcomePending
	case c.isUncertain():
		return OutcomeUnconfirmed
	case c.paused:
		return OutcomePending
	case !c.lookedUp && c.delivery.Phase == phaseCommitting:
		return OutcomeSendLate // The delivery looks up the post before it commits again.
	case now.Sub(c.DueAt) > maxLateness:
		return OutcomeMissed
	}
	return OutcomeSendLate
}

// isUncertain reports whether the lookup was inconclusive.
func (c *candidate) isUncertain() bool { return c.lookedUp && c.verdict == network.Unknown }

// listCandidates returns the accounts of unfinished deliveries and of scheduled posts. It includes future posts,
// because they may have been published early.
func (s *Service) listCandidates(ctx context.Context) ([]*candidate, error) {
	targets, err := s.posts.ListScheduled(ctx)
	if err != nil {
		return nil, err
	}
	out := []*candidate{}
	for _, target := range targets {
		out = append(out, &candidate{ResumedAccount: ResumedAccount{TeamID: target.TeamID, PostID: target.PostID,
			AccountID: target.AccountID, DueAt: target.At}, paused: target.Paused})
	}
	openDeliveries, err := s.listOpen(ctx, s.db, ``)
	if err != nil {
		return nil, err
	}
	for _, d := range openDeliveries {
		out = append(out, &candidate{ResumedAccount: ResumedAccount{TeamID: d.TeamID, PostID: d.PostID,
			AccountID: d.AccountID, DueAt: d.CreatedAt}, delivery: d})
	}
	for _, d := range out {
		if d.Platform, d.Username, err = s.accountName(ctx, d.AccountID); err != nil {
			return nil, err
		}
		content, err := s.posts.ContentFor(ctx, d.TeamID, d.PostID, d.AccountID, d.delivery.Part)
		if err != nil {
			return nil, fmt.Errorf("reading the content of post %s: %w", d.PostID, err)
		}
		d.text, d.isStory = content.Text, content.Options.IsStory(d.Platform)
		d.Excerpt = excerpt(d.text)
	}
	return out, nil
}

// listOpen returns the deliveries without a result. where is empty, or " AND" with an additional SQL condition on the
// deliveries d.
func (s *Service) listOpen(ctx context.Context, q db.Querier, where string, args ...any) ([]delivery, error) {
	out, err := db.All(ctx, q, func(rows *sql.Rows, d *delivery) error {
		var phaseText, draft string
		var first, created int64
		err := rows.Scan(&d.ID, &d.TeamID, &d.PostID, &d.AccountID, &d.Part, &d.JobID, &phaseText, &draft, &d.Tries,
			&d.Lookups, &d.Epoch, &d.NetworkID, &first, &created)
		d.Phase, d.Draft, d.FirstSubmittedAt, d.CreatedAt = phase(phaseText), []byte(draft), db.Time(first), db.Time(created)
		return err
	}, `SELECT d.id, d.team_id, d.post_id, d.account_id, d.part, d.job_id, d.phase, d.draft, d.tries, d.looks, d.epoch,
		d.network_id, d.first_at, d.created_at
		FROM deliveries d WHERE d.phase IN ('planned', 'prepared', 'committing')`+where+`
			ORDER BY d.created_at, d.id`, args...)
	if err != nil {
		return nil, fmt.Errorf("listing unfinished deliveries: %w", err)
	}
	return out, nil
}

// accountName returns the platform and username of an account.
func (s *Service) accountName(ctx context.Context, account int64) (string, string, error) {
	var platform, username string
	if err := s.db.QueryRow(ctx, `SELECT platform, username FROM social_accounts WHERE id = ?`,
		account).Scan(&platform, &username); err != nil {
		return "", "", fmt.Errorf("reading the network of account %d: %w", account, err)
	}
	return platform, username, nil
}

const maxExcerpt = 60 // characters

// excerpt returns the start of a text on one line, without unprintable characters.
func excerpt(text string) string {
	text = plaintext.Line(network.Clip(text, 4*maxExcerpt))
	if short := network.Clip(text, maxExcerpt); short != text {
		return short + "…"
	}
	return text
}
