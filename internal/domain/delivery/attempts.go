package delivery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/db"
)

// AttemptLine is an entry in the history of a delivery.
type AttemptLine struct {
	AccountID int64     `json:"account_id"`
	At        time.Time `json:"at"`
	EndedAt   time.Time `json:"ended_at,omitzero"` // zero if the end is unknown
	// For a network call, Call is prepare, commit, resolve or a step of a network.Finisher. It is rest for a wait while
	// the network fails, and decide for a person's decision. A prepare call is recorded only if it fails.
	Call string `json:"call"`
	// For a network call, Result is published, answered (any other response) or a network.ErrorClass. For a wait, it is
	// network_fails or patience_is_over. For a decision, it is published or not_published. It is empty while the result
	// is unknown.
	Result      string `json:"result"`
	By          string `json:"by,omitempty"`           // name of the person who decided; empty for the operator and for other calls
	NetworkCode string `json:"network_code,omitempty"` // from the network; untrusted
	NetworkText string `json:"network_text,omitempty"` // from the network; untrusted
}

// maxAttempts is the maximum number of attempts in a history.
const maxAttempts = 500

// Attempts returns the last 500 attempts to publish a team's post, oldest first. It returns not_found if the team has
// no such post.
func (s *Service) Attempts(ctx context.Context, team int64, postID string) ([]AttemptLine, error) {
	var n int
	err := s.db.QueryRow(ctx, `SELECT 1 FROM posts WHERE id = ? AND team_id = ?`, postID, team).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, apierr.ItemNotFound()
	}
	if err != nil {
		return nil, fmt.Errorf("finding a post: %w", err)
	}
	return listAttempts(ctx, s.db, `d.team_id = ? AND d.post_id = ?`, team, postID)
}

// AccountAttempts returns the last 500 attempts to publish a post on one account, oldest first. It returns not_found if
// the post has no such account.
func (s *Service) AccountAttempts(ctx context.Context, team int64, postID string,
	account int64) ([]AttemptLine, error) {
	var n int
	err := s.db.QueryRow(ctx, `SELECT 1 FROM posts p JOIN post_targets t ON t.post_id = p.id WHERE p.id = ?
		AND p.team_id = ? AND t.account_id = ?`, postID, team, account).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, apierr.ItemNotFound()
	}
	if err != nil {
		return nil, fmt.Errorf("finding an account of a post: %w", err)
	}
	return listAttempts(ctx, s.db, `d.team_id = ? AND d.post_id = ? AND d.account_id = ?`, team, postID, account)
}

func listAttempts(ctx context.Context, q db.Querier, where string, args ...any) ([]AttemptLine, error) {
	attempts, err := db.All(ctx, q, func(rows *sql.Rows, l *AttemptLine) error {
		var at, ended int64
		err := rows.Scan(&l.AccountID, &at, &ended, &l.Call, &l.Result, &l.NetworkCode, &l.NetworkText, &l.By)
		l.At, l.EndedAt = db.Time(at), db.Time(ended)
		return err
	}, `SELECT d.account_id, t.started_at, t.ended_at, t.call, t.result, t.network_code, t.network_text,
		COALESCE(x.name, '')
		FROM delivery_attempts t JOIN deliveries d ON d.id = t.delivery_id LEFT JOIN people x ON x.id = t.person_id
		WHERE `+where+` ORDER BY t.id DESC LIMIT ?`, append(args, maxAttempts)...)
	if err != nil {
		return nil, fmt.Errorf("reading the attempts at a post: %w", err)
	}
	slices.Reverse(attempts)
	return attempts, nil
}
