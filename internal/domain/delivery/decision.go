package delivery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/post"
	"pressroom/internal/network"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

// UnconfirmedDelivery is an account of a post of which nobody knows whether it stands.
type UnconfirmedDelivery struct {
	TeamID    int64         `json:"team_id"`
	PostID    string        `json:"post_id"`
	AccountID int64         `json:"account_id"`
	Platform  string        `json:"platform"`
	Username  string        `json:"username"` // at the network
	Excerpt   string        `json:"excerpt"`  // the start of the post's text
	Since     time.Time     `json:"since"`    // when it was found in doubt
	Attempts  []AttemptLine `json:"attempts"`
}

const maxUnconfirmed = 200 // that are listed at once

// ListUnconfirmed lists what a person may decide, the oldest first and 200 at most: of a team, or for the operator of all
// teams where team is 0.
func (s *Service) ListUnconfirmed(ctx context.Context, team int64) ([]UnconfirmedDelivery, error) {
	ids := []string{}
	doubts, err := db.All(ctx, s.db, func(rows *sql.Rows, d *UnconfirmedDelivery) error {
		var id string
		var since int64
		err := rows.Scan(&id, &d.TeamID, &d.PostID, &d.AccountID, &d.Platform, &d.Username, &d.Excerpt, &since)
		ids, d.Since = append(ids, id), db.Time(since)
		return err
	}, `SELECT d.id, d.team_id, d.post_id, d.account_id, a.platform, a.username, p.excerpt, d.ended_at
		FROM deliveries d JOIN social_accounts a ON a.id = d.account_id JOIN posts p ON p.id = d.post_id
		WHERE d.outcome = ? AND (d.team_id = ? OR ? = 0) ORDER BY d.ended_at, d.id LIMIT ?`, string(post.TargetUnconfirmed), team, team, maxUnconfirmed)
	if err != nil {
		return nil, fmt.Errorf("listing unconfirmed accounts: %w", err)
	}
	for i, id := range ids {
		if doubts[i].Attempts, err = listAttempts(ctx, s.db, `d.id = ?`, id); err != nil {
			return nil, err
		}
	}
	return doubts, nil
}

// Decision is what a person found at the network.
type Decision struct {
	Published bool
	Permalink string // where the post stands, at the network, where published and known
}

func (d Decision) result() string {
	if d.Published {
		return "published"
	}
	return "not_published"
}

const maxPermalink = 2000 // characters

func (d Decision) validate() error {
	if d.Permalink == "" {
		return nil
	}
	u, err := url.Parse(d.Permalink)
	switch {
	case !d.Published:
		return apierr.Invalid(apierr.NotAllowedValue, "permalink", "If it is not there, leave the address empty. If you have its address, say that it is there.")
	case len(d.Permalink) > maxPermalink:
		return apierr.Invalid(apierr.TooLong, "permalink", "The address is too long.")
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return apierr.Invalid(apierr.Malformed, "permalink", "The address of the post has to be a whole one, such as https://….")
	}
	return nil
}

const (
	decideTimeout  = 30 * time.Second       // how long a decision waits for a look at the network that is under way
	decideInterval = 250 * time.Millisecond // how often it tries meanwhile
)

// errLookupRunning says that the network is being asked about the account right now.
var errLookupRunning = errors.New("the network is being asked")

// Decide settles an unconfirmed account by what a person found at the network; person is 0 for the operator, and so
// may team be, for any team. Published is never sent again; what is not may be retried. The same decision twice is one.
// A post or account that is not there is not_found, and one that is not unconfirmed a wrong_state. A look at the
// network that is under way ends first: what it tells goes before what a person saw earlier.
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
			return apierr.BadState(string(post.TargetUnconfirmed), "The network is being asked about this account. Decide once it has answered.").After(decideTimeout)
		case <-tick.C:
		}
	}
}

// newestDelivery names the delivery by which an account of a post stands.
const newestDelivery = `id = (SELECT id FROM deliveries WHERE post_id = ? AND account_id = ? AND (team_id = ? OR ? = 0) ORDER BY created_at DESC, id DESC LIMIT 1)`

func (s *Service) decide(ctx context.Context, tx *db.Tx, person, team int64, postID string, accountID int64, decision Decision) error {
	d := delivery{PostID: postID, AccountID: accountID}
	now := db.Micros(tx.Now())
	// The new epoch fences off whoever held it last.
	err := tx.QueryRow(ctx, `UPDATE deliveries SET epoch = epoch + 1 WHERE `+newestDelivery+` AND outcome = ? AND lease_until < ? RETURNING id, team_id, job_id, epoch, network_id`,
		postID, accountID, team, team, string(post.TargetUnconfirmed), now).Scan(&d.ID, &d.TeamID, &d.JobID, &d.Epoch, &d.NetworkID)
	if errors.Is(err, sql.ErrNoRows) {
		return undecidableError(ctx, tx, team, postID, accountID, decision)
	}
	if err != nil {
		return fmt.Errorf("taking an unconfirmed delivery: %w", err)
	}
	_, err = tx.Exec(ctx, `INSERT INTO delivery_attempts (delivery_id, epoch, call, started_at, ended_at, result, person_id) VALUES (?, ?, 'decide', ?, ?, ?, ?)`, d.ID, d.Epoch, now, now, decision.result(), person)
	if err != nil {
		return fmt.Errorf("noting a decision: %w", err)
	}
	result, err := s.decisionResult(ctx, tx, d, decision)
	if err != nil {
		return err
	}
	if err := s.recordResult(ctx, tx, d, ended, result); err != nil {
		return err
	}
	return auditlog.Record(ctx, tx, d.TeamID, auditlog.Actor{PersonID: person}, "post.account_decided", postID, map[string]any{"account": accountID, "decision": decision.result()})
}

// decisionResult is the result that a decision makes. It went out when it was committed last, as far as anybody knows.
func (s *Service) decisionResult(ctx context.Context, tx *db.Tx, d delivery, decision Decision) (post.Result, error) {
	if !decision.Published {
		r := failedResult("network_error", "")
		r.Decided = true
		return r, nil
	}
	if err := s.checkPermalink(ctx, tx, d, decision.Permalink); err != nil {
		return post.Result{}, err
	}
	var at int64
	err := tx.QueryRow(ctx, `SELECT COALESCE(MAX(started_at), 0) FROM delivery_attempts WHERE delivery_id = ? AND call = 'commit'`, d.ID).Scan(&at)
	if err != nil {
		return post.Result{}, fmt.Errorf("reading when %s was committed: %w", d.ID, err)
	}
	return post.Result{State: post.TargetPublished, PublishedAt: db.Time(at), Permalink: decision.Permalink, NetworkID: d.NetworkID, Decided: true}, nil
}

// checkPermalink refuses an address that is none of the network's: all of the team are led there.
func (s *Service) checkPermalink(ctx context.Context, tx *db.Tx, d delivery, address string) error {
	if address == "" {
		return nil
	}
	var platform string
	if err := tx.QueryRow(ctx, `SELECT platform FROM social_accounts WHERE id = ? AND team_id = ?`, d.AccountID, d.TeamID).Scan(&platform); err != nil {
		return fmt.Errorf("reading the network of account %d: %w", d.AccountID, err)
	}
	if network.Holds(platform, address, s.opts.Hosts[platform]) {
		return nil
	}
	return apierr.Invalid(apierr.NotAllowedValue, "permalink", "This is no address of a post at that network: they begin with https:// and stand at "+network.Host(platform)+". You may leave it out.")
}

// undecidableError says why there is nothing to decide; nil where the same was decided before.
func undecidableError(ctx context.Context, tx *db.Tx, team int64, postID string, accountID int64, decision Decision) error {
	var id, outcome string
	err := tx.QueryRow(ctx, `SELECT id, outcome FROM deliveries WHERE `+newestDelivery, postID, accountID, team, team).Scan(&id, &outcome)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return apierr.Missing()
	case err != nil:
		return fmt.Errorf("reading a delivery to decide: %w", err)
	case outcome == string(post.TargetUnconfirmed):
		return errLookupRunning
	}
	var same int
	err = tx.QueryRow(ctx, `SELECT COUNT(*) FROM delivery_attempts WHERE delivery_id = ? AND call = 'decide' AND result = ?`, id, decision.result()).Scan(&same)
	switch {
	case err != nil:
		return fmt.Errorf("reading whether it was decided: %w", err)
	case same > 0:
		return nil
	case outcome == "":
		outcome = string(post.TargetSending)
	}
	return apierr.BadState(outcome, "Only an account that is unconfirmed is decided: this one is not, or not any more.")
}
