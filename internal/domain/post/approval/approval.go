// Package approval implements the approval of posts by clients. A client opens a signed link to one or more posts,
// decides on the current versions, and adds comments.
package approval

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
)

// Path is the path prefix of approval pages, under the public URL. A link's token follows it.
const Path = "/approval/"

const (
	linkLifetime  = 30 * 24 * time.Hour // how long an approval link works
	maxClientName = 200                 // characters of a client's name
	// MaxComment is the longest comment, in characters.
	MaxComment = 2000
)

// Service manages approval requests, decisions and comments.
type Service struct {
	Options

	links tokencrypt.Signer
}

// Options are the dependencies of the service.
type Options struct {
	DB        *db.DB
	Posts     *post.Service
	Sealer    *tokencrypt.Sealer
	PublicURL string                             // public URL of the installation, without a trailing slash
	Send      func(context.Context, Email) error // sends an email; nil if there is no mail server
}

// New returns a Service.
func New(opts Options) *Service {
	return &Service{opts, opts.Sealer.Signer("approval links")}
}

// Page is the content of an approval page.
type Page struct {
	TeamName  string
	Zone      *time.Location
	By        string    // name of the person who created the link; empty if unknown
	Message   string    // from the team to the client; may be empty
	Ends      time.Time // when the link expires
	Proposals []Proposal
}

// Proposal is the version of a post that a client decides on.
type Proposal struct {
	post.Record

	TeamName  string
	Zone      *time.Location
	Client    string    // name of the deciding client, as entered; empty before the decision
	Decided   time.Time // time of the decision
	Schedules bool      // whether approving the post also schedules it
	// Hidden is the reason why the link does not show the post: changed or revoked. If it is set, the proposal has only
	// an ID.
	Hidden string
}

// Show returns the approval page of a link. It returns not_found for an invalid link and for posts that do not need
// approval. It returns wrong_state if the link expired or was revoked, or if no post of the link can be shown.
func (s *Service) Show(ctx context.Context, token string) (Page, error) {
	l, err := s.read(ctx, token)
	if err != nil {
		return Page{}, err
	}
	out := Page{Message: l.message, Ends: l.expiresAt}
	var hiddenErr error
	for _, linked := range l.posts {
		p, err := s.proposal(ctx, linked)
		apiErr := apierr.FromError(err)
		switch {
		case err == nil:
			out.TeamName, out.Zone = p.TeamName, p.Zone
		case apiErr.IsServerError():
			return out, err
		default:
			if hiddenErr == nil {
				hiddenErr = err
			}
			p = Proposal{Record: post.Record{ID: linked.post}}
			if p.Hidden, _ = apiErr.Context["state"].(string); p.Hidden == "" {
				continue // The post was deleted.
			}
		}
		out.Proposals = append(out.Proposals, p)
	}
	if out.Zone == nil {
		return out, hiddenErr
	}
	out.Ends = out.Ends.In(out.Zone)
	out.By, err = s.personName(ctx, l.personID)
	return out, err
}

// personName returns the name of a person, or "" if the person's account was deleted.
func (s *Service) personName(ctx context.Context, person int64) (string, error) {
	var name string
	err := s.DB.QueryRow(ctx, `SELECT name FROM people WHERE id = ?`, person).Scan(&name)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("reading the name of a person: %w", err)
	}
	return name, nil
}

func (s *Service) proposal(ctx context.Context, linked linkedPost) (Proposal, error) {
	var out Proposal
	var team, decided, generation, scheduler int64
	var zone string
	err := s.DB.QueryRow(ctx, `SELECT t.id, t.name, t.timezone, p.approval_links, r.client_name, r.decided_at,
		r.schedule_as
		FROM posts p JOIN teams t ON t.id = p.team_id
		JOIN post_approvals r ON r.post_id = p.id AND r.round = p.approval_round
		WHERE p.id = ? AND p.approval <> 'not_needed' AND t.closed_at = 0`, linked.post).Scan(&team, &out.TeamName, &zone,
		&generation, &out.Client, &decided, &scheduler)
	if errors.Is(err, sql.ErrNoRows) {
		return out, apierr.ItemNotFound()
	}
	if err != nil {
		return out, fmt.Errorf("reading a proposal: %w", err)
	}
	if generation != linked.generation {
		return out, errRevoked
	}
	out.Decided, out.Schedules = db.Time(decided), scheduler > 0
	if out.Zone, err = time.LoadLocation(zone); err != nil {
		return out, fmt.Errorf("reading the zone of team %d: %w", team, err)
	}
	if out.Record, err = s.Posts.Load(ctx, team, linked.post); err != nil || out.Round == linked.round {
		return out, err
	}
	changed, err := s.changedSince(ctx, out.Record, linked.round)
	if err == nil && changed {
		err = errChanged
	}
	return out, err
}

// changedSince reports whether the content of a post has changed since an earlier round. A later round has the same
// content if a request for approval opened it, for example after a rejection. Such a round was opened in the same
// transaction as an event post.approval_asked.
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

// File returns a media file of a link's posts and the team that owns it. It returns not_found for other media.
func (s *Service) File(ctx context.Context, token string, id int64) (int64, network.Media, error) {
	found, err := s.visibleProposals(ctx, token, id, `SELECT post_id FROM post_media WHERE media_id = ?
		UNION SELECT post_id FROM post_target_media WHERE media_id = ?`)
	for _, p := range found {
		if m, ok := p.findMedia(id); ok {
			return p.TeamID, m, nil
		}
	}
	if err == nil {
		err = apierr.ItemNotFound()
	}
	return 0, network.Media{}, err
}

// AccountTeam returns the team of an account that one of a link's posts is published to. It returns not_found for other
// accounts.
func (s *Service) AccountTeam(ctx context.Context, token string, id int64) (int64, error) {
	found, err := s.visibleProposals(ctx, token, id, `SELECT post_id FROM post_targets WHERE account_id = ? OR account_id = ?`)
	for _, p := range found {
		if slices.ContainsFunc(p.Targets, func(t post.Target) bool { return t.AccountID == id }) {
			return p.TeamID, nil
		}
	}
	if err == nil {
		err = apierr.ItemNotFound()
	}
	return 0, err
}

// visibleProposals returns the posts of a link that a query selects. The query has two placeholders for id and returns
// post IDs. If the link cannot show a selected post, visibleProposals also returns the reason as an error.
func (s *Service) visibleProposals(ctx context.Context, token string, id int64, query string) ([]Proposal, error) {
	l, err := s.read(ctx, token)
	if err != nil {
		return nil, err
	}
	args := make([]any, 0, len(l.posts)+2)
	args = append(args, id, id)
	for _, linked := range l.posts {
		args = append(args, linked.post)
	}
	postIDs, err := db.All(ctx, s.DB, func(rows *sql.Rows, id *string) error { return rows.Scan(id) },
		`SELECT x.post_id FROM (`+query+`) x WHERE x.post_id IN (`+db.Placeholders(len(l.posts))+`)`, args...)
	if err != nil {
		return nil, fmt.Errorf("finding the posts of an approval link: %w", err)
	}
	var out []Proposal
	var hidden error
	for _, postID := range postIDs {
		linked, err := l.find(postID)
		if err != nil {
			return nil, err
		}
		p, err := s.proposal(ctx, linked)
		switch {
		case err == nil:
			out = append(out, p)
		case apierr.FromError(err).IsServerError():
			return nil, err
		default:
			hidden = err
		}
	}
	return out, hidden
}

// findMedia finds a media item by ID in all parts of the post and in its overrides.
func (p Proposal) findMedia(id int64) (network.Media, bool) {
	all := p.AllMedia()
	i := slices.IndexFunc(all, func(m network.Media) bool { return m.ID == id })
	if i < 0 {
		return network.Media{}, false
	}
	return all[i], true
}
