// Package approval lets clients approve posts: signed links to one or several posts, the versions that they decide on,
// decisions, and comments.
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
	"pressroom/internal/domain/post"
	"pressroom/internal/network"
	"pressroom/internal/platform/db"
)

// Path is the path of the approval page, below the public URL.
const Path = "/approval/"

const (
	linkLifetime  = 30 * 24 * time.Hour // how long an approval link works
	maxClientName = 200                 // characters of a client's name
	// MaxComment is the longest comment, in characters.
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
	PublicURL string                              // public URL of the service, without a final slash
	Send      func(context.Context, Letter) error // mails a link; nil if there is no mail server
}

// New returns the service.
func New(opts Options) *Service {
	return &Service{opts, opts.Sealer.Signer("approval links")}
}

// Page is what a link shows.
type Page struct {
	TeamName  string
	Zone      *time.Location
	By        string    // who made the link; empty if that is unknown
	Client    string    // name last entered on the page
	Ends      time.Time // when the link expires
	Proposals []Proposal
}

// Proposal is the version of a post that a client is shown.
type Proposal struct {
	post.Record

	TeamName  string
	Zone      *time.Location
	Client    string    // name of who decided, as entered; empty before the decision
	Decided   time.Time // time of the decision
	Schedules bool      // it is scheduled once it is approved
	// Hidden is why the link does not show the version: changed or revoked; empty if it does. The proposal then has
	// only its ID.
	Hidden string
}

// Show returns what a link shows. It returns not_found for an invalid link or one to posts without approval, and
// wrong_state for a link that has expired or was revoked, or whose posts have all changed or been revoked.
func (s *Service) Show(ctx context.Context, token string) (Page, error) {
	l, err := s.read(ctx, token)
	if err != nil {
		return Page{}, err
	}
	out := Page{Client: l.client, Ends: l.ends}
	var first error
	for _, one := range l.posts {
		p, err := s.proposal(ctx, one)
		found := apierr.Of(err)
		switch {
		case err == nil:
			out.TeamName, out.Zone = p.TeamName, p.Zone
		case found.IsServerError():
			return out, err
		default:
			if first == nil {
				first = err
			}
			p = Proposal{Record: post.Record{ID: one.post}}
			if p.Hidden, _ = found.Context["state"].(string); p.Hidden == "" {
				continue // there is nothing to say about it
			}
		}
		out.Proposals = append(out.Proposals, p)
	}
	if out.Zone == nil {
		return out, first
	}
	out.Ends = out.Ends.In(out.Zone)
	out.By, err = s.nameOf(ctx, l.person)
	return out, err
}

// nameOf returns the name of a person; empty if the account was deleted.
func (s *Service) nameOf(ctx context.Context, person int64) (string, error) {
	var name string
	err := s.DB.QueryRow(ctx, `SELECT name FROM people WHERE id = ?`, person).Scan(&name)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("reading the name of a person: %w", err)
	}
	return name, nil
}

func (s *Service) proposal(ctx context.Context, l shown) (Proposal, error) {
	var out Proposal
	var team, decided, generation, scheduler int64
	var zone string
	err := s.DB.QueryRow(ctx, `SELECT t.id, t.name, t.timezone, p.approval_links, r.client_name, r.decided_at,
		r.schedule_as
		FROM posts p JOIN teams t ON t.id = p.team_id
		JOIN post_approvals r ON r.post_id = p.id AND r.round = p.approval_round
		WHERE p.id = ? AND p.approval <> 'not_needed' AND t.closed_at = 0`, l.post).Scan(&team, &out.TeamName, &zone,
		&generation, &out.Client, &decided, &scheduler)
	if errors.Is(err, sql.ErrNoRows) {
		return out, apierr.Missing()
	}
	if err != nil {
		return out, fmt.Errorf("reading a proposal: %w", err)
	}
	if generation != l.generation {
		return out, errRevoked
	}
	out.Decided, out.Schedules = db.Time(decided), scheduler > 0
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

// File returns a medium that a link shows, and the team that it belongs to. It returns not_found for others.
func (s *Service) File(ctx context.Context, token string, id int64) (int64, network.Media, error) {
	found, err := s.showing(ctx, token, id, `SELECT post_id FROM post_media WHERE media_id = ?
		UNION SELECT post_id FROM post_target_media WHERE media_id = ?`)
	for _, p := range found {
		if m, ok := p.findMedia(id); ok {
			return p.TeamID, m, nil
		}
	}
	if err == nil {
		err = apierr.Missing()
	}
	return 0, network.Media{}, err
}

// Account returns the team of an account that a post of a link goes to. It returns not_found for others.
func (s *Service) Account(ctx context.Context, token string, id int64) (int64, error) {
	found, err := s.showing(ctx, token, id, `SELECT post_id FROM post_targets WHERE account_id = ? OR account_id = ?`)
	for _, p := range found {
		if slices.ContainsFunc(p.Targets, func(t post.Target) bool { return t.AccountID == id }) {
			return p.TeamID, nil
		}
	}
	if err == nil {
		err = apierr.Missing()
	}
	return 0, err
}

// showing returns the posts of a link that a query selects, which takes an ID twice. If the link shows none of them, it
// returns why.
func (s *Service) showing(ctx context.Context, token string, id int64, query string) ([]Proposal, error) {
	l, err := s.read(ctx, token)
	if err != nil {
		return nil, err
	}
	ids := make([]any, 0, len(l.posts)+2)
	ids = append(ids, id, id)
	for _, one := range l.posts {
		ids = append(ids, one.post)
	}
	with, err := db.All(ctx, s.DB, func(rows *sql.Rows, id *string) error { return rows.Scan(id) },
		`SELECT x.post_id FROM (`+query+`) x WHERE x.post_id IN (`+db.Placeholders(len(l.posts))+`)`, ids...)
	if err != nil {
		return nil, fmt.Errorf("looking what a link shows: %w", err)
	}
	var out []Proposal
	var hidden error
	for _, postID := range with {
		one, err := l.find(postID)
		if err != nil {
			return nil, err
		}
		p, err := s.proposal(ctx, one)
		switch {
		case err == nil:
			out = append(out, p)
		case apierr.Of(err).IsServerError():
			return nil, err
		default:
			hidden = err
		}
	}
	return out, hidden
}

// findMedia returns a medium of the post or of one of its accounts.
func (p Proposal) findMedia(id int64) (network.Media, bool) {
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
