// Package approval lets clients approve posts: signed links, the version that they decide on, and decisions.
package approval

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
	"pressroom/internal/domain/post"
	"pressroom/internal/network"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

// Path is the path of the approval page, below the public URL.
const Path = "/approval/"

const (
	linkLifetime  = 30 * 24 * time.Hour // how long an approval link works
	maxClientName = 200                 // characters of a client's name
	// MaxComment is the longest comment of a client, in characters.
	MaxComment = 2000
)

// Service lets clients approve posts on a page, by a signed link without sign-in.
type Service struct {
	Options

	links tokencrypt.Signer
}

// Options are the dependencies of the service.
type Options struct {
	DB        *db.DB
	Posts     *post.Service
	Sealer    *tokencrypt.Sealer
	PublicURL string // public URL of the service, without a final slash
}

// New returns the service.
func New(opts Options) *Service {
	return &Service{opts, opts.Sealer.Signer("approval links")}
}

// Request sends a post to the client and returns a link to the page where the client decides on this
// version. The link works for 30 days. A scheduled post stays scheduled but is not sent before the approval. A
// post that already waits gets another link.
//
// It returns not_found for people who may not write in the post's team, and wrong_state for a post that is
// approved, submitted or the template of a series.
func (s *Service) Request(ctx context.Context, person int64, postID string) (string, error) {
	var generation int64
	p, err := s.Posts.UpdateAs(ctx, person, postID, access.Write, "post.ask_approval",
		func(ctx context.Context, tx *db.Tx, call operation.Call, p *post.Record) error {
			if err := checkRequest(*p); err != nil {
				return err
			}
			if p.Approval != post.Waiting || p.Round == 0 {
				if err := post.OpenRound(ctx, tx, p); err != nil {
					return err
				}
			}
			if err := post.Update(ctx, tx, p); err != nil {
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
	return s.PublicURL + Path + s.token(link{p.ID, p.Round,
		s.DB.Now().Add(linkLifetime), generation}), nil
}

// Values of posts.approval_sent for the latest version; 0 if it has no link.
const (
	linkMade     = 1
	linksRevoked = 2
)

// recordLink records that the current version has a link, and returns the generation of the post's links.
func recordLink(ctx context.Context, tx *db.Tx, p post.Record) (int64, error) {
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
func (s *Service) RevokeLinks(ctx context.Context, person int64, postID string) error {
	_, err := s.Posts.UpdateAs(ctx, person, postID, access.Write, "post.revoke_links",
		func(ctx context.Context, tx *db.Tx, call operation.Call, p *post.Record) error {
			if p.Approval == post.NotNeeded {
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

// checkRequest returns why a post cannot be sent to the client.
func checkRequest(p post.Record) error {
	switch {
	case p.IsTemplate: // its occurrences share its approval
		return apierr.BadState("recurring_template",
			"Approval must be requested before a series starts. End the series first.")
	case p.Status != post.Draft && p.Status != post.Scheduled && (p.Approval != post.Waiting || !p.PassedUnapproved()):
		return apierr.BadState(string(p.Status), "The post has already been submitted.")
	case p.Approval == post.Approved:
		return apierr.BadState(string(p.Approval), "The client has already approved the post.")
	}
	return nil
}

// Proposal is the version of a post that a client is shown.
type Proposal struct {
	post.Record

	TeamName string
	Zone     *time.Location
	Client   string    // name of who decided, as entered; empty before the decision
	Decided  time.Time // time of the decision
}

// Proposal returns what a link shows. It returns not_found for an invalid link or a post without approval, and
// wrong_state for a link that has expired, was revoked or belongs to an earlier version.
func (s *Service) Proposal(ctx context.Context, token string) (Proposal, error) {
	l, err := s.parse(token)
	if err != nil {
		return Proposal{}, err
	}
	return s.proposal(ctx, l)
}

func (s *Service) proposal(ctx context.Context, l link) (Proposal, error) {
	var out Proposal
	var team, decided, generation int64
	var zone string
	err := s.DB.QueryRow(ctx, `SELECT t.id, t.name, t.timezone, p.approval_links, r.client_name, r.decided_at
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
		return out, errRevoked
	}
	out.Decided = db.Time(decided)
	if out.Zone, err = time.LoadLocation(zone); err != nil {
		return out, fmt.Errorf("reading the zone of team %d: %w", team, err)
	}
	if out.Record, err = s.Posts.Load(ctx, team, l.post); err != nil || out.Round == l.round {
		return out, err
	}
	changed, err := s.changedSince(ctx, out.Record, l.round)
	if err == nil && changed {
		err = errChanged
	}
	return out, err
}

// changedSince reports whether a post differs from an earlier round. A round that only requests approval again,
// for example after a rejection, has the same content: it was opened in the transaction that recorded the
// request.
func (s *Service) changedSince(ctx context.Context, p post.Record, round int64) (bool, error) {
	var n int64
	err := s.DB.QueryRow(ctx, `SELECT COUNT(*) FROM post_approvals r WHERE r.post_id = ? AND r.round > ?
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
