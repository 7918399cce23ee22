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
	maxBody        = 1 << 20
	maxCaption     = 10_000 // characters
	excerptLen     = 140    // characters
	idempotencyTTL = 24 * time.Hour
)

type draft struct {
	Caption    string  `json:"caption"`
	AccountIDs []int64 `json:"account_ids"`
}

// storedResponse is the response that an idempotency record contains.
type storedResponse struct {
	Data     any    `json:"data"`
	App      string `json:"app"`
	Location string `json:"location"`
	Summary  string `json:"said"`
}

// createPost creates a draft, but only once per idempotency key.
func (f *Server) createPost(x *request) error {
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
	response := storedResponse{Data: out, App: "/posts/" + out.ID, Location: "/posts/" + out.ID, Summary: out.ID + " is draft."}
	if response, err = f.insertOnce(x, c, key, in, response); err != nil {
		return err
	}
	f.location(x.w, response.Location)
	return f.respond(x, c.zone, http.StatusCreated, inTeam(response.App, c.team), response.Data, nil)
}

// newPost returns the draft in the form in which it is stored and sent.
func (f *Server) newPost(x *request, c caller, in draft) (post, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return post{}, fmt.Errorf("creating an ID: %w", err)
	}
	at := newMoment(x.now, c.zone)
	out := post{
		ID: id.String(), Status: "draft", Caption: in.Caption, Media: []struct{}{}, Approval: "not_needed", CreatedAt: at, UpdatedAt: at,
	}
	out.Accounts = make([]target, len(in.AccountIDs))
	args := append(make([]any, 0, 1+len(in.AccountIDs)), c.team)
	for i, id := range in.AccountIDs {
		out.Accounts[i] = target{ID: id, State: "pending", RetriesLeft: retries}
		args = append(args, id)
	}
	stmts, err := f.db.stmtsFor(x.ctx, len(in.AccountIDs))
	if err != nil {
		return post{}, err
	}
	rows, err := stmts.accounts.QueryContext(x.ctx, args...)
	if err != nil {
		return post{}, fmt.Errorf("reading accounts: %w", err)
	}
	defer rows.Close()
	count := 0
	for ; rows.Next(); count++ {
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
	if count < len(in.AccountIDs) {
		return post{}, errNotFound
	}
	return out, nil
}

// insertOnce writes the post in one transaction. If the idempotency key was already used, it returns the stored
// response instead.
func (f *Server) insertOnce(x *request, c caller, key string, in draft, response storedResponse) (storedResponse, error) {
	hash, err := hashOf(in)
	if err != nil {
		return storedResponse{}, err
	}
	answer, err := json.Marshal(response)
	if err != nil {
		return storedResponse{}, fmt.Errorf("encoding the response: %w", err)
	}
	tx, err := f.db.write.BeginTx(x.ctx, nil)
	if err != nil {
		return storedResponse{}, fmt.Errorf("beginning: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // no effect after a commit
	now := x.now.UnixMicro()
	res, err := tx.StmtContext(x.ctx, f.db.claim). //nolint:sqlclosecheck // closed by the transaction
							ExecContext(x.ctx, c.key, key, hash, answer, now, now+idempotencyTTL.Microseconds())
	if err != nil {
		return storedResponse{}, fmt.Errorf("claiming an idempotency key: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return f.replay(x.ctx, tx, c, key, hash)
	}
	if err := f.insert(x, tx, c, response.Data.(post)); err != nil {
		return storedResponse{}, err
	}
	if err := tx.Commit(); err != nil {
		return storedResponse{}, fmt.Errorf("committing: %w", err)
	}
	return response, nil
}

// insert inserts the post, its accounts and the event.
func (f *Server) insert(x *request, tx *sql.Tx, c caller, p post) error {
	stmts, err := f.db.stmtsFor(x.ctx, len(p.Accounts))
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
	if len(stmts.add) == 1 {
		args = [][]any{slices.Concat(args...)}
	}
	for i, stmt := range stmts.add {
		stmt := tx.StmtContext(x.ctx, stmt) //nolint:sqlclosecheck // closed by the transaction
		if _, err := stmt.ExecContext(x.ctx, args[i]...); err != nil {
			return fmt.Errorf("adding a post: %w", err)
		}
	}
	return nil
}

// replay returns the stored response for an idempotency key.
func (f *Server) replay(ctx context.Context, tx *sql.Tx, c caller, key string, hash []byte) (storedResponse, error) {
	var storedHash, answer []byte
	stmt := tx.StmtContext(ctx, f.db.storedAnswer) //nolint:sqlclosecheck // closed by the transaction
	if err := stmt.QueryRowContext(ctx, c.key, key).Scan(&storedHash, &answer); err != nil {
		return storedResponse{}, fmt.Errorf("reading an idempotency record: %w", err)
	}
	if !bytes.Equal(storedHash, hash) {
		return storedResponse{}, errKeyReused
	}
	var out storedResponse
	if err := json.Unmarshal(answer, &out); err != nil {
		return storedResponse{}, fmt.Errorf("decoding a stored response: %w", err)
	}
	return out, nil
}

// hashOf returns a hash of the arguments, by which repeated requests are recognized.
func hashOf(in draft) ([]byte, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("encoding the arguments: %w", err)
	}
	sum := sha256.Sum256(append([]byte("create_post\n"), raw...))
	return sum[:], nil
}

// excerpt returns the start of a caption on one line.
func excerpt(caption string) string {
	line := strings.Join(strings.Fields(strings.ToValidUTF8(caption[:min(len(caption), excerptLen*16)], "")), " ")
	if utf8.RuneCountInString(line) <= excerptLen {
		return line
	}
	return string([]rune(line)[:excerptLen-1]) + "…"
}
