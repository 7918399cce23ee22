package delivery

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/comment"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// UnconfirmedDelivery is a delivery with an unknown outcome.
type UnconfirmedDelivery struct {
	TeamID    int64         `json:"team_id"`
	PostID    string        `json:"post_id"`
	AccountID int64         `json:"account_id"`
	Platform  string        `json:"platform"`
	Username  string        `json:"username"` // username on the network
	Excerpt   string        `json:"excerpt"`  // start of the post's text
	Since     time.Time     `json:"since"`    // when it became unconfirmed
	Attempts  []AttemptLine `json:"attempts"`
}

const maxUnconfirmed = 200 // per list

// ListUnconfirmed returns up to 200 unconfirmed deliveries of a team, or of all teams if team is 0, oldest first.
func (s *Service) ListUnconfirmed(ctx context.Context, team int64) ([]UnconfirmedDelivery, error) {
	ids := []string{}
	deliveries, err := db.All(ctx, s.db, func(rows *sql.Rows, d *UnconfirmedDelivery) error {
		var id string
		var since int64
		err := rows.Scan(&id, &d.TeamID, &d.PostID, &d.AccountID, &d.Platform, &d.Username, &d.Excerpt, &since)
		ids, d.Since = append(ids, id), db.Time(since)
		return err
	}, `SELECT d.id, d.team_id, d.post_id, d.account_id, a.platform, a.username, p.excerpt, d.ended_at
		FROM deliveries d JOIN social_accounts a ON a.id = d.account_id JOIN posts p ON p.id = d.post_id
		WHERE d.outcome = ? AND (d.team_id = ? OR ? = 0) ORDER BY d.ended_at, d.id LIMIT ?`,
		string(post.TargetUnconfirmed), team, team, maxUnconfirmed)
	if err != nil {
		return nil, fmt.Errorf("listing unconfirmed accounts: %w", err)
	}
	for i, id := range ids {
		if deliveries[i].Attempts, err = listAttempts(ctx, s.db, `d.id = ?`, id); err != nil {
			return nil, err
		}
	}
	return deliveries, nil
}

// Decision is a person's statement about whether the network published the post.
type Decision struct {
	Published bool
	Permalink string // permalink of a published post; may be empty
}

// result returns the Result of the decision's AttemptLine.
func (d Decision) result() string {
	if d.Published {
		return "published"
	}
	return "not_published"
}

const maxPermalink = 2000 // characters

// validate returns an error if the permalink is invalid.
func (d Decision) validate() error {
	if d.Permalink == "" {
		return nil
	}
	u, err := url.Parse(d.Permalink)
	switch {
	case !d.Published:
		return apierr.Invalid(apierr.NotAllowedValue, "permalink",
			"A permalink requires a published post. Remove the permalink, or mark the post as published.")
	case len(d.Permalink) > maxPermalink:
		return apierr.Invalid(apierr.TooLong, "permalink",
			"The permalink is too long. It may have at most 2000 characters.")
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return apierr.Invalid(apierr.Malformed, "permalink", "The permalink must be a full URL, such as https://….")
	}
	return nil
}

const (
	decideTimeout  = 30 * time.Second       // maximum time to wait for a running lookup
	decideInterval = 250 * time.Millisecond // time between two tries to record the decision
)

// errLookupRunning reports that a lookup of the account is running.
var errLookupRunning = errors.New("a lookup is running")

// Decide records a person's decision for an unconfirmed account of a post. person is 0 for the operator. If team is 0,
// the post can belong to any team. Repeating a decision has no effect.
//
// Decide returns not_found for an unknown post or account, and wrong_state for an account that is not unconfirmed. It
// waits for a running lookup, because its result is newer than the state that the person saw.
func (s *Service) Decide(ctx context.Context, person, team int64, postID string, accountID int64, d Decision) error {
	if err := d.validate(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, decideTimeout)
	defer cancel()
	tick := time.NewTicker(decideInterval)
	defer tick.Stop()
	for {
		err := s.db.InTx(ctx, "delivery.decide", func(ctx context.Context, tx *db.Tx) error {
			return s.decide(ctx, tx, person, team, postID, accountID, d)
		})
		if !errors.Is(err, errLookupRunning) {
			return err
		}
		select {
		case <-ctx.Done():
			return apierr.BadState(string(post.TargetUnconfirmed),
				"pressroom is looking up this post on the network. Try again in half a minute.").WithRetryAfter(decideTimeout)
		case <-tick.C:
		}
	}
}

// newestDelivery is an SQL condition that selects the newest delivery of a post to an account.
const newestDelivery = `id = (SELECT id FROM deliveries WHERE post_id = ? AND account_id = ? AND (team_id = ?
	OR ? = 0) ORDER BY created_at DESC, id DESC LIMIT 1)`

func (s *Service) decide(ctx context.Context, tx *db.Tx, person, team int64, postID string, accountID int64,
	decision Decision) error {
	d := delivery{PostID: postID, AccountID: accountID}
	var draft string
	now := db.Micros(tx.Now())
	// The new epoch invalidates the last holder's lease.
	err := tx.QueryRow(ctx, `UPDATE deliveries SET epoch = epoch + 1 WHERE `+newestDelivery+` AND outcome = ?
		AND lease_until < ? RETURNING id, team_id, part, job_id, epoch, network_id, draft`,
		postID, accountID, team, team, string(post.TargetUnconfirmed), now).Scan(&d.ID, &d.TeamID, &d.Part, &d.JobID, &d.Epoch,
		&d.NetworkID, &draft)
	if errors.Is(err, sql.ErrNoRows) {
		return undecidableError(ctx, tx, team, postID, accountID, decision)
	}
	if err != nil {
		return fmt.Errorf("claiming an unconfirmed delivery: %w", err)
	}
	_, err = tx.Exec(ctx, `INSERT INTO delivery_attempts (delivery_id, epoch, call, started_at, ended_at, result,
		person_id) VALUES (?, ?, 'decide', ?, ?, ?, ?)`, d.ID, d.Epoch, now, now, decision.result(), person)
	if err != nil {
		return fmt.Errorf("recording a decision: %w", err)
	}
	d.Draft = []byte(draft)
	result, newPhase, err := s.decisionResult(ctx, tx, d, decision)
	if err != nil {
		return err
	}
	if err := endThread(ctx, tx, s.posts, d, newPhase, result, failedResult(threadInterrupted, "")); err != nil {
		return err
	}
	event := "post.account_decided"
	if d.Part == comment.Part {
		event = "post.first_comment_decided"
	}
	return auditlog.Record(ctx, tx, d.TeamID, auditlog.Actor{PersonID: person}, event, postID,
		map[string]any{"account": accountID, "decision": decision.result()})
}

// decisionResult returns the result of a decision and the next phase. The time of publication is the time of the last
// commit. If this installation made no commit, it is the delivery's creation time.
func (s *Service) decisionResult(
	ctx context.Context, tx *db.Tx, d delivery, decision Decision,
) (post.Result, phase, error) {
	if !decision.Published {
		result := failedResult("network_error", "")
		result.RecordedByPerson = true
		return result, phaseEnded, nil
	}
	if err := s.checkPermalink(ctx, tx, d, decision.Permalink); err != nil {
		return post.Result{}, phaseEnded, err
	}
	var at int64
	err := tx.QueryRow(ctx, `SELECT COALESCE((SELECT MAX(started_at) FROM delivery_attempts WHERE delivery_id = d.id
		AND call = 'commit'), d.created_at) FROM deliveries d WHERE d.id = ?`, d.ID).Scan(&at)
	if err != nil {
		return post.Result{}, phaseEnded, fmt.Errorf("reading when %s was committed: %w", d.ID, err)
	}
	result := post.Result{State: post.TargetPublished, PublishedAt: db.Time(at), Permalink: decision.Permalink,
		NetworkID: d.NetworkID, RecordedByPerson: true}
	finisher, err := s.finisher(ctx, tx, d.AccountID)
	if err != nil || finisher == nil || len(finisher.FinishSteps(d.Draft)) == 0 {
		return result, phaseEnded, err
	}
	result.NetworkID = cmp.Or(result.NetworkID, finisher.PostID(d.Draft, decision.Permalink))
	return result, phaseFinishing, nil
}

// checkPermalink returns an error if address is not on the account's network. The app links to the address, so it must
// not lead elsewhere.
func (s *Service) checkPermalink(ctx context.Context, tx *db.Tx, d delivery, address string) error {
	if address == "" {
		return nil
	}
	var platform string
	if err := tx.QueryRow(ctx, `SELECT platform FROM social_accounts WHERE id = ? AND team_id = ?`, d.AccountID,
		d.TeamID).Scan(&platform); err != nil {
		return fmt.Errorf("reading the network of account %d: %w", d.AccountID, err)
	}
	if network.IsPostURL(platform, address, s.opts.Hosts[platform]) {
		return nil
	}
	return apierr.Invalid(apierr.NotAllowedValue, "permalink",
		"The permalink must start with https:// and belong to "+network.Host(platform)+". You may omit it.")
}

// undecidableError returns an error that says why a decision is not possible, or nil if the same decision was already
// recorded.
func undecidableError(ctx context.Context, tx *db.Tx, team int64, postID string, accountID int64,
	decision Decision) error {
	var id, outcome string
	err := tx.QueryRow(ctx, `SELECT id, outcome FROM deliveries WHERE `+newestDelivery, postID, accountID, team,
		team).Scan(&id, &outcome)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return apierr.ItemNotFound()
	case err != nil:
		return fmt.Errorf("reading a delivery to decide: %w", err)
	case outcome == string(post.TargetUnconfirmed):
		return errLookupRunning
	}
	var sameDecisions int
	err = tx.QueryRow(ctx, `SELECT COUNT(*) FROM delivery_attempts WHERE delivery_id = ? AND call = 'decide'
		AND result = ?`, id, decision.result()).Scan(&sameDecisions)
	switch {
	case err != nil:
		return fmt.Errorf("reading earlier decisions: %w", err)
	case sameDecisions > 0:
		return nil
	case outcome == "":
		outcome = string(post.TargetSending)
	}
	return apierr.BadState(outcome, "You can record an outcome only for an unconfirmed account.")
}
