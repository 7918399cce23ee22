package floor

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

const (
	maxBody    = 1 << 20
	maxCaption = 10_000 // characters
	excerptLen = 140    // characters
	remembered = 24 * time.Hour
)

type draft struct {
	Caption    string  `json:"caption"`
	AccountIDs []int64 `json:"account_ids"`
}

// kept is what an idempotency record holds of an answer.
type kept struct {
	Data     any    `json:"data"`
	App      string `json:"app"`
	Location string `json:"location"`
	Said     string `json:"said"`
}

// createPost drafts a post once for an Idempotency-Key.
func (f *Floor) createPost(x *request) error {
	c, err := f.authenticate(x)
	if err != nil {
		return err
	}
	key := x.Header.Get("Idempotency-Key")
	raw, err := io.ReadAll(http.MaxBytesReader(x.w, x.Body, maxBody))
	if err != nil || key == "" {
		return errInvalid
	}
	var in draft
	if err := json.Unmarshal(raw, &in); err != nil || len(in.AccountIDs) == 0 || utf8.RuneCountInString(in.Caption) > maxCaption {
		return errInvalid
	}
	out, err := f.newPost(x, c, in)
	if err != nil {
		return err
	}
	first := kept{Data: out, App: "/posts/" + out.ID, Location: "/posts/" + out.ID, Said: out.ID + " is draft."}
	if first, err = f.once(x, c, key, in, first); err != nil {
		return err
	}
	f.location(x.w, first.Location)
	return f.answer(x, c.zone, http.StatusCreated, inTeam(first.App, c.team), first.Data, nil)
}

// newPost is the draft as it will be answered, and kept.
func (f *Floor) newPost(x *request, c caller, in draft) (post, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return post{}, fmt.Errorf("making an id: %w", err)
	}
	at := show(x.now, c.zone)
	out := post{
		ID: id.String(), Status: "draft", Caption: in.Caption, Media: []struct{}{}, Approval: "not_needed", CreatedAt: at, UpdatedAt: at,
	}
	out.Accounts = make([]target, len(in.AccountIDs))
	args := append(make([]any, 0, 1+len(in.AccountIDs)), c.team)
	for i, id := range in.AccountIDs {
		out.Accounts[i] = target{ID: id, State: "pending", RetriesLeft: retries}
		args = append(args, id)
	}
	with, err := f.db.forSeveral(x.ctx, len(in.AccountIDs))
	if err != nil {
		return post{}, err
	}
	rows, err := with.accounts.QueryContext(x.ctx, args...)
	if err != nil {
		return post{}, fmt.Errorf("reading accounts: %w", err)
	}
	defer rows.Close()
	found := 0
	for ; rows.Next(); found++ {
		var a account
		if err := rows.Scan(&a.ID, &a.Platform, &a.Username); err != nil {
			return post{}, fmt.Errorf("reading accounts: %w", err)
		}
		t := &out.Accounts[slices.Index(in.AccountIDs, a.ID)]
		t.Platform, t.Username = a.Platform, a.Username
	}
	if err := rows.Err(); err != nil {
		return post{}, fmt.Errorf("reading accounts: %w", err)
	}
	if found < len(in.AccountIDs) {
		return post{}, errMissing
	}
	return out, nil
}

// once writes everything in one transaction, or gives what the key's first call answered.
func (f *Floor) once(x *request, c caller, key string, in draft, first kept) (kept, error) {
	hash, err := hashOf(in)
	if err != nil {
		return kept{}, err
	}
	answer, err := json.Marshal(first)
	if err != nil {
		return kept{}, fmt.Errorf("writing the answer to keep: %w", err)
	}
	tx, err := f.db.write.BeginTx(x.ctx, nil)
	if err != nil {
		return kept{}, fmt.Errorf("beginning: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	now := x.now.UnixMicro()
	res, err := tx.StmtContext(x.ctx, f.db.claim).
		ExecContext(x.ctx, c.key, key, hash, answer, now, now+remembered.Microseconds()) //nolint:sqlclosecheck // the transaction closes it
	if err != nil {
		return kept{}, fmt.Errorf("claiming an idempotency key: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return f.repeat(x.ctx, tx, c, key, hash)
	}
	if err := f.insert(x, tx, c, first.Data.(post)); err != nil {
		return kept{}, err
	}
	if err := tx.Commit(); err != nil {
		return kept{}, fmt.Errorf("committing: %w", err)
	}
	return first, nil
}

// insert adds the post, its accounts and the event.
func (f *Floor) insert(x *request, tx *sql.Tx, c caller, p post) error {
	with, err := f.db.forSeveral(x.ctx, len(p.Accounts))
	if err != nil {
		return err
	}
	now := x.now.UnixMicro()
	targets := make([]any, 0, 3*len(p.Accounts))
	for i, t := range p.Accounts {
		targets = append(targets, p.ID, t.ID, i)
	}
	args := [][]any{
		{p.ID, c.team, c.person, c.key, p.Caption, excerpt(p.Caption), now, now},
		targets,
		{c.team, now, c.person, c.key, x.id, p.ID},
	}
	if len(with.add) == 1 {
		args = [][]any{slices.Concat(args...)}
	}
	for i, stmt := range with.add {
		if _, err := tx.StmtContext(x.ctx, stmt).ExecContext(x.ctx, args[i]...); err != nil { //nolint:sqlclosecheck // the transaction closes it
			return fmt.Errorf("adding a post: %w", err)
		}
	}
	return nil
}

// repeat gives what is kept of a key.
func (f *Floor) repeat(ctx context.Context, tx *sql.Tx, c caller, key string, hash []byte) (kept, error) {
	var before, answer []byte
	if err := tx.StmtContext(ctx, f.db.kept).QueryRowContext(ctx, c.key, key).Scan(&before, &answer); err != nil { //nolint:sqlclosecheck // the transaction closes it
		return kept{}, fmt.Errorf("reading an idempotency record: %w", err)
	}
	if !bytes.Equal(before, hash) {
		return kept{}, errReused
	}
	var out kept
	if err := json.Unmarshal(answer, &out); err != nil {
		return kept{}, fmt.Errorf("reading a kept answer: %w", err)
	}
	return out, nil
}

// hashOf is what a repeat is recognised by.
func hashOf(in draft) ([]byte, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("writing the arguments: %w", err)
	}
	sum := sha256.Sum256(append([]byte("create_post\n"), raw...))
	return sum[:], nil
}

// excerpt is the start of a caption on one line.
func excerpt(caption string) string {
	line := strings.Join(strings.Fields(strings.ToValidUTF8(caption[:min(len(caption), excerptLen*16)], "")), " ")
	if utf8.RuneCountInString(line) <= excerptLen {
		return line
	}
	return string([]rune(line)[:excerptLen-1]) + "…"
}
