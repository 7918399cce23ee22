package delivery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/network"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/tracing"
)

// calls begins the part of a way that a call to the network is.
func (f *flight) calls(ctx context.Context, name string) (context.Context, tracing.Span) {
	ctx, span := tracing.Start(ctx, name)
	span.Set("pressroom.platform", f.grant.Platform)
	return ctx, span
}

func endCall(span tracing.Span, err error) {
	if said, ok := errors.AsType[*network.Error](err); ok {
		span.Set("pressroom.result", string(said.Class))
	}
	span.End(err)
}

// called tells the operator's figures and the circuit how a call went. Only what could show a post says that a network
// is well: one may read and yet take nothing.
func (f *flight) called(ctx context.Context, call string, err error) {
	if ctx.Err() != nil {
		return // we cut it off ourselves
	}
	if f.s.opts.Called != nil {
		f.s.opts.Called(f.grant.Platform, call, resultOf(err))
	}
	e, said := errors.AsType[*network.Error](err)
	shows := call == "commit"
	switch {
	case said && e.Class == network.Barred, errors.Is(err, errStoodStill): // it was never asked
	case said && (e.Class == network.Transient || e.Class == network.Uncertain && !e.Answered()):
		if shows || call == "prepare" {
			f.s.circuits.failed(f.server, f.d.ID)
		}
	case shows && (said || err == nil):
		f.s.circuits.answered(f.server)
	}
}

// resultOf is how the operator's figures name what came of a call.
func resultOf(err error) string {
	if e, said := errors.AsType[*network.Error](err); said {
		return string(e.Class)
	}
	if err != nil {
		return "failed"
	}
	return "ok"
}

// said is what an attempt met with: its result, and the network's own code and text. What was answered without a code
// has that of HTTP; only the want of an answer has none.
func said(cause error) (string, string, string) {
	if e, ok := errors.AsType[*network.Error](cause); ok {
		code := e.Code
		if code == "" && e.Status > 0 {
			code = fmt.Sprintf("HTTP %d", e.Status)
		}
		return string(e.Class), code, e.Message
	}
	return "answered", "", ""
}

// note keeps what an attempt met with, for whoever looks into the post. Losing the note changes nothing.
func (f *flight) note(ctx context.Context, attempt int64, cause error) {
	result, code, text := said(cause)
	err := f.s.db.InTx(ctx, "delivery.note", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE delivery_attempts SET ended_at = ?, result = ?, network_code = ?, network_text = ? WHERE id = ?`, db.Micros(tx.Now()), result, code, text, attempt)
		return err
	})
	if err != nil {
		f.s.log.WarnContext(ctx, "what an attempt met with was not kept", "delivery", f.d.ID, "error", err)
	}
}

// keep is note for a call of which nothing was written before, as it shows nothing.
func (f *flight) keep(ctx context.Context, call string, began time.Time, cause error) {
	result, code, text := said(cause)
	err := f.s.db.InTx(ctx, "delivery.note", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO delivery_attempts (delivery_id, epoch, call, started_at, ended_at, result, network_code, network_text) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			f.d.ID, f.d.Epoch, call, db.Micros(began), db.Micros(tx.Now()), result, code, text)
		return err
	})
	if err != nil {
		f.s.log.WarnContext(ctx, "what an attempt met with was not kept", "delivery", f.d.ID, "error", err)
	}
}

// AttemptLine is one thing that was done to bring a post to an account.
type AttemptLine struct {
	AccountID int64     `json:"account_id"`
	At        time.Time `json:"at"`
	EndedAt   time.Time `json:"ended_at,omitzero"` // zero where the end is not known
	// Call is prepare (where it failed), commit or resolve, for calls to the network; rest, while nothing was called as the
	// network failed; and decide, where a person said what became of the post.
	Call string `json:"call"`
	// Result is published; answered, where the network told something else; a network.Class; network_fails or
	// patience_is_over of a rest; published or not_published of a decision; empty while it is not known.
	Result      string `json:"result"`
	By          string `json:"by,omitempty"`           // who decided; empty for the operator, and for what is no decision
	NetworkCode string `json:"network_code,omitempty"` // the network's own: untrusted
	NetworkText string `json:"network_text,omitempty"` // the network's own: untrusted
}

const storyLines = 500 // of the newest attempts that a story tells

// Story tells what was done to bring a team's post to its accounts, the oldest first: the last 500 attempts. A post
// that the team does not have is not_found.
func (s *Service) Story(ctx context.Context, team int64, postID string) ([]AttemptLine, error) {
	var one int
	err := s.db.QueryRow(ctx, `SELECT 1 FROM posts WHERE id = ? AND team_id = ?`, postID, team).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, apierr.Missing()
	}
	if err != nil {
		return nil, fmt.Errorf("looking for a post: %w", err)
	}
	return attempts(ctx, s.db, `d.team_id = ? AND d.post_id = ?`, team, postID)
}

// AccountStory is the Story of one account of a post. It is not_found for an account that is not the post's.
func (s *Service) AccountStory(ctx context.Context, team int64, postID string, account int64) ([]AttemptLine, error) {
	var one int
	err := s.db.QueryRow(ctx, `SELECT 1 FROM posts p JOIN post_targets t ON t.post_id = p.id WHERE p.id = ? AND p.team_id = ? AND t.account_id = ?`, postID, team, account).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, apierr.Missing()
	}
	if err != nil {
		return nil, fmt.Errorf("looking for an account of a post: %w", err)
	}
	return attempts(ctx, s.db, `d.team_id = ? AND d.post_id = ? AND d.account_id = ?`, team, postID, account)
}

func attempts(ctx context.Context, q db.Querier, where string, args ...any) ([]AttemptLine, error) {
	lines, err := db.All(ctx, q, func(rows *sql.Rows, l *AttemptLine) error {
		var at, ended int64
		err := rows.Scan(&l.AccountID, &at, &ended, &l.Call, &l.Result, &l.NetworkCode, &l.NetworkText, &l.By)
		l.At, l.EndedAt = db.Time(at), db.Time(ended)
		return err
	}, `SELECT d.account_id, t.started_at, t.ended_at, t.call, t.result, t.network_code, t.network_text, COALESCE(x.name, '')
		FROM delivery_attempts t JOIN deliveries d ON d.id = t.delivery_id LEFT JOIN people x ON x.id = t.person_id WHERE `+where+` ORDER BY t.id DESC LIMIT ?`, append(args, storyLines)...)
	if err != nil {
		return nil, fmt.Errorf("reading the attempts at a post: %w", err)
	}
	slices.Reverse(lines)
	return lines, nil
}
