package storm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/sandbox"
	"pressroom.example/pressroom/internal/testkit/must"
)

// calmUse is how long clients use the program before errors are planted.
const calmUse = 5 * time.Second

// TestFindsPlantedErrors checks that the verification finds nothing after normal use, and detects each planted error.
func TestFindsPlantedErrors(t *testing.T) {
	if testing.Short() {
		t.Skip("clients use the program for a while first")
	}
	s := newSite(t, false, 1)
	t.Parallel()
	s.start()
	s.addContent()
	s.use(calmUse, 1, false)
	s.waitIdle(stuckAfter)
	known := s.verify()
	for _, c := range known {
		t.Errorf("without planted errors: %v", c)
	}
	for _, p := range s.plantedErrors() {
		p.plant()
		now := s.verify()
		fresh := slices.DeleteFunc(slices.Clone(now), func(c complaint) bool { return slices.Contains(known, c) })
		for _, kind := range p.found {
			if !slices.ContainsFunc(fresh, func(c complaint) bool { return c.kind == kind }) {
				t.Errorf("%s: no complaint %q among %v", p.name, kind, fresh)
			}
		}
		if p.undo != nil {
			p.undo()
		}
		known = append(known, fresh...)
	}
}

// plantedError is an error with the expected complaint.
type plantedError struct {
	name        string
	found       []string
	plant, undo func()
}

// plantedErrors returns an error of every kind that the verification must detect.
func (s *site) plantedErrors() []plantedError {
	published, cancelled, failed := s.findPost(func(p *posted) bool {
		return p.state == submitted && p.parts == 0 && slices.Contains(platforms(p), "bluesky") && s.isPublished(p)
	}), s.findPost(func(p *posted) bool {
		return p.state == drafted && p.id != "" && slices.Contains(platforms(p), "bluesky")
	}), s.findPost(func(p *posted) bool { return p.bad && p.state == submitted })
	file, bought := s.book.sent[0],
		s.text(`SELECT CAST(id AS TEXT) FROM reservations WHERE state = 'settled' AND charged > 1 AND key_id > 0 LIMIT 1`)
	return []plantedError{
		{"an accepted post is missing", []string{"lost"}, s.sql(`UPDATE posts SET team_id = 3 WHERE id = '%s'`,
			published.id), s.sql(`UPDATE posts SET team_id = %d WHERE id = '%s'`, published.team.ID, published.id)},
		{"a submitted post is a draft", []string{
			"lost",
		}, s.sql(`UPDATE posts SET status = 'draft' WHERE id = '%s'`, published.id),
			s.sql(`UPDATE posts SET status = 'published' WHERE id = '%s'`, published.id)},
		{"a published account is shown as failed", []string{
			"misreported",
		}, s.sql(`UPDATE post_targets SET state = 'failed' WHERE post_id = '%s'`, published.id),
			s.sql(`UPDATE post_targets SET state = 'published' WHERE post_id = '%s'`, published.id)},
		{"a network has a post twice", []string{"doubled"}, s.addUnknownPost("bluesky", published.mark), nil},
		{"a network holds a draft", []string{"misreported"}, s.addUnknownPost("bluesky", cancelled.mark), nil},
		{"a network has an unknown post", []string{"sent"}, s.addUnknownPost("bluesky", "storm post 999999."), nil},
		{"an unpublished account is shown as published", []string{
			"lost",
		}, s.sql(`UPDATE post_targets SET state = 'published' WHERE post_id = '%s'`, failed.id),
			s.sql(`UPDATE post_targets SET state = 'failed' WHERE post_id = '%s'`, failed.id)},
		{"a post has another text", []string{
			"changed",
		}, s.sql(`UPDATE posts SET caption = 'x' || caption WHERE id = '%s'`, published.id), nil},
		{"a call is charged too little", []string{
			"charge", "audit",
		}, s.sql(`UPDATE reservations SET charged = charged - 1 WHERE id = %s`, bought),
			s.sql(`UPDATE reservations SET charged = charged + 1 WHERE id = %s`, bought)},
		{"an accepted call has no charge", []string{
			"charge",
		}, s.sql(`UPDATE reservations SET idempotency_key = 'another' WHERE id = %s`, bought), nil},
		{"a reservation is never settled", []string{
			"stuck", "audit",
		}, s.sql(`UPDATE reservations SET state = 'open' WHERE id = %s`, bought),
			s.sql(`UPDATE reservations SET state = 'settled' WHERE id = %s`, bought)},
		{"a wallet has lost credits", []string{
			"charge", "audit",
		}, s.sql(`UPDATE wallets SET available = available - 1 WHERE team_id = 1`),
			s.sql(`UPDATE wallets SET available = available + 1 WHERE team_id = 1`)},
		{"a key has exceeded its daily limit", []string{
			"limit",
		}, s.sql(`UPDATE reservations SET amount = 1000, charged = 1000 WHERE id = (SELECT MAX(id) FROM reservations
		WHERE team_id = 2)`), nil},
		{"a job never ends", []string{
			"stuck",
		}, s.sql(`UPDATE jobs SET finished_at = 0, wake_at = 0, lease_until = 0 WHERE id = (SELECT MIN(id) FROM jobs)`), nil},
		{"a delivery never ends", []string{
			"stuck",
		}, s.sql(`UPDATE deliveries SET phase = 'prepared', wake_at = 0, not_before = %d WHERE id = (SELECT MIN(id)
		FROM deliveries)`, time.Now().Add(time.Hour).UnixMicro()), nil},
		{"a link is open for good", []string{
			"stuck",
		}, s.sql(`UPDATE upload_files SET state = 'waiting' WHERE id = (SELECT MIN(id) FROM upload_files)`), nil},
		{"a file has other bytes", []string{"bytes"}, s.corrupt(file), nil},
		{"a file is gone", []string{"lost"}, s.sql(`UPDATE media SET team_id = 3 WHERE id = %d`, file.media), nil},
		{"an event is gone", []string{
			"event",
		}, s.sql(
			`DROP TRIGGER events_are_not_deleted; DELETE FROM events WHERE kind = 'post.created' AND subject = '%s'`, published.id), nil},
		{"an event has no write", []string{
			"event",
		}, s.sql(`INSERT INTO events (team_id, at, key_id, kind, subject) VALUES (1, 1, 1, 'post.handed_over', '%s')`, cancelled.id), nil},
		{"a key is there twice", []string{
			"doubled",
		}, s.sql(`UPDATE api_keys SET name = '%s' WHERE id IN (SELECT id FROM api_keys
		WHERE team_id = %d AND name LIKE 'storm key%%' LIMIT 2)`, s.book.keys[0].name, s.book.keys[0].team.ID), nil},
		{"a program ends by itself", []string{"died"}, s.crash, nil},
		{"a call is never answered", []string{"unanswered"}, s.callAndLeave, nil},
	}
}

// findPost returns a post that matches a condition.
func (s *site) findPost(matches func(*posted) bool) *posted {
	s.t.Helper()
	for _, p := range s.book.posts {
		if matches(p) {
			return p
		}
	}
	s.t.Fatal("no matching post")
	return nil
}

// isPublished reports whether a post was published to every account.
func (s *site) isPublished(p *posted) bool {
	return s.text(`SELECT status FROM posts WHERE id = '`+p.id+`'`) == "published"
}

func (s *site) text(query string) string {
	s.t.Helper()
	var text string
	must.NoError(s.t, s.db.QueryRow(context.Background(), query).Scan(&text))
	return text
}

// sql returns a function that changes the database directly.
func (s *site) sql(statements string, args ...any) func() {
	return func() {
		s.t.Helper()
		for statement := range strings.SplitSeq(fmt.Sprintf(statements, args...), "; ") {
			must.NoError(s.t, s.db.InTx(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
				n, err := tx.Exec(ctx, statement)
				if err == nil && n == 0 && !strings.HasPrefix(statement, "DROP") {
					err = fmt.Errorf("no row changed by %s", statement)
				}
				return err
			}))
		}
	}
}

// addUnknownPost returns a function that adds a post to a network without the program.
func (s *site) addUnknownPost(platform, text string) func() {
	return func() {
		s.t.Helper()
		handle := s.text(`SELECT username FROM social_accounts WHERE platform = '` + platform + `' LIMIT 1`)
		must.NoError(s.t, s.box.AddPriorPosts(context.Background(), platform, handle, []sandbox.PriorPost{{Text: text, At: time.Now()}}))
	}
}

// corrupt returns a function that changes the bytes of a stored file.
func (s *site) corrupt(f *sentFile) func() {
	return func() {
		s.t.Helper()
		path := filepath.Join(strings.TrimPrefix(s.blobs, "file:"), s.text(fmt.Sprintf(`SELECT blob FROM media WHERE id = %d`, f.media)))
		raw := must.Get(os.ReadFile(path))(s.t)
		raw[len(raw)/2] ^= 1
		must.NoError(s.t, os.Chmod(path, 0o600))
		must.NoError(s.t, os.WriteFile(path, raw, 0o600))
	}
}

// crash kills a node unexpectedly and waits until it is ready again.
func (s *site) crash() {
	n := s.nodes[0]
	s.wait("the program to respond", time.Minute, func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.served
	})
	must.NoError(s.t, n.cmd.Process.Kill())
	s.wait("the crash to be recorded", time.Minute, func() bool {
		s.book.mu.Lock()
		defer s.book.mu.Unlock()
		return slices.ContainsFunc(s.book.complaints, func(c complaint) bool { return c.kind == "died" })
	})
	s.wait("the program to respond again", time.Minute, n.isReady)
}

// callAndLeave makes a call and disconnects.
func (s *site) callAndLeave() {
	over, end := context.WithCancel(context.Background())
	end()
	c := s.client(over, s.teams[0], 1)
	c.do(call{tool: "create_post", method: "POST", path: "/posts", body: map[string]any{}, key: s.teams[0].keys[0], idem: newIdem()})
}
