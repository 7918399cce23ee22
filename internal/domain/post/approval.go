package post

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/tokencrypt"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/network"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

// ApprovalPath is the path of the approval page, below the public URL.
const ApprovalPath = "/approval/"

const (
	approvalLinkLifetime = 30 * 24 * time.Hour // how long an approval link works
	maxClientName        = 200                 // characters of a client's name
	// MaxComment is the longest comment of a client, in characters.
	MaxComment = 2000
)

// codeMissedApproval is the error code of accounts whose post was not approved in time.
const codeMissedApproval = "missed_waiting_approval"

// PassedUnapproved reports whether the post's time passed before its client approved it. It was not sent then,
// and is never sent automatically.
func (p Record) PassedUnapproved() bool {
	return slices.ContainsFunc(p.Targets, func(t Target) bool {
		return t.State == TargetFailed && t.ErrorCode == codeMissedApproval
	})
}

// ListAwaitingApproval returns a team's posts that wait for the client, the newest first, including those whose
// time has passed. A post without a time has a zero At.
func (s *Service) ListAwaitingApproval(ctx context.Context, team int64, most int) ([]Slot, error) {
	slots, err := db.All(ctx, s.db, func(rows *sql.Rows, slot *Slot) error {
		var at int64
		err := rows.Scan(&slot.PostID, &slot.Status, &slot.Excerpt, &at)
		slot.At, slot.Client = db.Time(at), Waiting
		return err
	}, awaitingApprovalQuery, team, codeMissedApproval, most)
	if err != nil {
		return nil, fmt.Errorf("listing posts that await approval in team %d: %w", team, err)
	}
	spans := []Span{{Slots: slots}}
	return spans[0].Slots, s.addAccounts(ctx, team, spans)
}

// awaitingApprovalQuery walks the index of states. Of the failed posts it selects only those that were not
// approved in time.
const awaitingApprovalQuery = `SELECT p.id, p.status, p.excerpt, p.slot_at FROM posts p WHERE p.team_id = ?
	AND p.status IN ('draft', 'scheduled', 'failed')
	AND p.approval = 'waiting' AND p.is_template = 0
	AND (p.status <> 'failed' OR EXISTS (SELECT 1 FROM post_targets t WHERE t.post_id = p.id AND t.error_code = ?))
	ORDER BY p.id DESC LIMIT ?`

// Approvals lets clients approve posts on a page, by a signed link without sign-in.
type Approvals struct {
	ApprovalsOptions

	links tokencrypt.Signer
}

// ApprovalsOptions are the dependencies of Approvals.
type ApprovalsOptions struct {
	Posts     *Service
	Sealer    *tokencrypt.Sealer
	PublicURL string // public URL of the service, without a final slash
}

// NewApprovals returns Approvals.
func NewApprovals(opts ApprovalsOptions) *Approvals {
	return &Approvals{opts, opts.Sealer.Signer("approval links")}
}

// RequestApproval sends a post to the client and returns a link to the page where the client decides on this
// version. The link works for 30 days. A scheduled post stays scheduled but is not sent before the approval. A
// post that already waits gets another link.
//
// It returns not_found for people who may not write in the post's team, and wrong_state for a post that is
// approved, submitted or the template of a series.
func (a *Approvals) RequestApproval(ctx context.Context, person int64, postID string) (string, error) {
	var generation int64
	p, err := a.Posts.updateAs(ctx, person, postID, access.Write, "post.ask_approval",
		func(ctx context.Context, tx *db.Tx, call operation.Call, p *Record) error {
			if err := p.checkApprovalRequest(); err != nil {
				return err
			}
			if p.Approval != Waiting || p.Round == 0 {
				if err := openRound(ctx, tx, p); err != nil {
					return err
				}
			}
			if err := update(ctx, tx, p); err != nil {
				return err
			}
			var err error
			if generation, err = recordLink(ctx, tx, *p); err != nil {
				return err
			}
			return auditlog.Record(ctx, tx, p.TeamID, auditlog.By(call), "post.approval_asked", p.ID,
				map[string]any{"round": p.Round})
		})
	if err != nil {
		return "", err
	}
	return a.PublicURL + ApprovalPath + a.token(approvalLink{p.ID, p.Round,
		a.Posts.db.Now().Add(approvalLinkLifetime), generation}), nil
}

// Values of posts.approval_sent for the latest version; 0 if it has no link.
const (
	linkMade     = 1
	linksRevoked = 2
)

// recordLink records that the current version has a link, and returns the generation of the post's links.
func recordLink(ctx context.Context, tx *db.Tx, p Record) (int64, error) {
	var generation int64
	err := tx.QueryRow(ctx, `UPDATE posts SET approval_sent = ? WHERE id = ? AND team_id = ? RETURNING approval_links`,
		linkMade, p.ID, p.TeamID).Scan(&generation)
	if err != nil {
		return 0, fmt.Errorf("recording an approval link: %w", err)
	}
	return generation, nil
}

// RevokeLinks revokes all approval links of a post. Decisions stay. It returns not_found for people who may not
// write in the post's team, and wrong_state for a post without links.
func (a *Approvals) RevokeLinks(ctx context.Context, person int64, postID string) error {
	_, err := a.Posts.updateAs(ctx, person, postID, access.Write, "post.revoke_links",
		func(ctx context.Context, tx *db.Tx, call operation.Call, p *Record) error {
			if p.Approval == NotNeeded {
				return apierr.BadState(string(p.Approval),
					"The post has never been sent to a client, so it has no links.")
			}
			var generation int64
			err := tx.QueryRow(ctx, `UPDATE posts SET approval_links = approval_links + 1,
			approval_sent = CASE approval_sent WHEN 0 THEN 0 ELSE ? END WHERE id = ? AND team_id = ?
			RETURNING approval_links`,
				linksRevoked, p.ID, p.TeamID).Scan(&generation)
			if err != nil {
				return fmt.Errorf("revoking approval links: %w", err)
			}
			return auditlog.Record(ctx, tx, p.TeamID, auditlog.By(call), "post.approval_links_revoked", p.ID,
				map[string]any{"revocations": generation})
		})
	return err
}

// checkApprovalRequest returns why a post cannot be sent to the client.
func (p Record) checkApprovalRequest() error {
	switch {
	case p.IsTemplate: // its occurrences share its approval
		return apierr.BadState("recurring_template",
			"Approval must be requested before a series starts. End the series first.")
	case p.Status != Draft && p.Status != Scheduled && (p.Approval != Waiting || !p.PassedUnapproved()):
		return apierr.BadState(string(p.Status), "The post has already been submitted.")
	case p.Approval == Approved:
		return apierr.BadState(string(p.Approval), "The client has already approved the post.")
	}
	return nil
}

// openRound makes the current version the one that the client decides on. The caller stores the post.
func openRound(ctx context.Context, tx *db.Tx, p *Record) error {
	p.Approval, p.Round = Waiting, p.Round+1
	if _, err := tx.Exec(ctx, `INSERT INTO post_approvals (post_id, round, opened_at) VALUES (?, ?, ?)`, p.ID,
		p.Round, db.Micros(tx.Now())); err != nil {
		return fmt.Errorf("opening a round of approval: %w", err)
	}
	if _, err := tx.Exec(ctx, `UPDATE posts SET approval_sent = 0 WHERE id = ? AND team_id = ?`, p.ID,
		p.TeamID); err != nil {
		return fmt.Errorf("resetting approval links: %w", err)
	}
	return nil
}

// reopenApproval sends a changed post back to its client and returns the kind of the event. The caller stores
// the post.
func reopenApproval(ctx context.Context, tx *db.Tx, p *Record) (string, error) {
	kind := "post.changed"
	switch p.Approval {
	case NotNeeded:
		return kind, nil
	case Approved, Rejected:
		kind = "post.returned"
	case Waiting:
	}
	return kind, openRound(ctx, tx, p)
}

// Proposal is the version of a post that a client is shown.
type Proposal struct {
	Record

	TeamName string
	Zone     *time.Location
	Client   string    // name of who decided, as entered; empty before the decision
	Decided  time.Time // time of the decision
}

// Proposal returns what a link shows. It returns not_found for an invalid link or a post without approval, and
// wrong_state for a link that has expired, was revoked or belongs to an earlier version.
func (a *Approvals) Proposal(ctx context.Context, token string) (Proposal, error) {
	l, err := a.parse(token)
	if err != nil {
		return Proposal{}, err
	}
	return a.proposal(ctx, l)
}

func (a *Approvals) proposal(ctx context.Context, l approvalLink) (Proposal, error) {
	s := a.Posts
	var out Proposal
	var team, decided, generation int64
	var zone string
	err := s.db.QueryRow(ctx, `SELECT t.id, t.name, t.timezone, p.approval_links, r.client_name, r.decided_at
		FROM posts p JOIN teams t ON t.id = p.team_id
		JOIN post_approvals r ON r.post_id = p.id AND r.round = p.approval_round
		WHERE p.id = ? AND p.approval <> 'not_needed' AND t.closed_at = 0`, l.post).Scan(&team, &out.TeamName, &zone,
		&generation, &out.Client, &decided)
	if errors.Is(err, sql.ErrNoRows) {
		return out, apierr.Missing()
	}
	if err != nil {
		return out, fmt.Errorf("reading a proposal: %w", err)
	}
	if generation != l.generation {
		return out, errApprovalRevoked
	}
	out.Decided = db.Time(decided)
	if out.Zone, err = time.LoadLocation(zone); err != nil {
		return out, fmt.Errorf("reading the zone of team %d: %w", team, err)
	}
	if out.Record, err = s.read(ctx, s.db, team, l.post, ""); err != nil || out.Round == l.round {
		return out, err
	}
	changed, err := a.changedSince(ctx, out.Record, l.round)
	if err == nil && changed {
		err = errApprovalChanged
	}
	return out, err
}

// changedSince reports whether a post differs from an earlier round. A round that only requests approval again,
// for example after a rejection, has the same content: it was opened in the transaction that recorded the
// request.
func (a *Approvals) changedSince(ctx context.Context, p Record, round int64) (bool, error) {
	var n int64
	err := a.Posts.db.QueryRow(ctx, `SELECT COUNT(*) FROM post_approvals r WHERE r.post_id = ? AND r.round > ?
		AND r.round <= ?
		AND NOT EXISTS (SELECT 1 FROM events e WHERE e.team_id = ? AND e.kind = 'post.approval_asked'
		AND e.subject = r.post_id AND e.at = r.opened_at
			AND e.detail = '{"round":' || CAST(r.round AS TEXT) || '}')`,
		p.ID, round, p.Round, p.TeamID).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("checking whether a post has changed: %w", err)
	}
	return n > 0, nil
}

// FindMedia returns a medium of the post or of one of its accounts.
func (p Proposal) FindMedia(id int64) (network.Media, bool) {
	all := slices.Clone(p.Media)
	for _, t := range p.Targets {
		all = append(all, t.Media...)
	}
	i := slices.IndexFunc(all, func(m network.Media) bool { return m.ID == id })
	if i < 0 {
		return network.Media{}, false
	}
	return all[i], true
}
