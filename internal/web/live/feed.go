// Package live notifies open pages of changes with server-sent events (HTML Living Standard, section 9.2).
//
// Once a second, each node reads the changes that all nodes have recorded in the database, and sends them to its open
// streams. A node without open streams does not read any changes.
package live

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

const (
	pollInterval        = time.Second
	checkInterval       = 15 * time.Second // maximum time until a stream ends after its session or membership
	maxStreams          = 4096             // streams per node
	maxStreamsPerPerson = 12               // streams per person and node
	maxPendingChanges   = 50               // pending changes of a stream; if there are more, a single Any replaces them
)

// The topics of changes.
const (
	Post   = "post"   // a post or series of the team
	Job    = "job"    // a job of the team
	Notice = "notice" // a notification of the person
	Any    = "any"    // the stream has missed changes
)

// Change is a change of something that a page may show.
type Change struct {
	Topic string
	ID    string // empty if unknown
}

// Subscriber identifies the session, person and team that a stream is for.
type Subscriber struct {
	Session      string // hash of the session token
	Person, Team int64
	Epoch        int64 // epoch of the person's sessions
}

var errTooManyStreams = errors.New("too many streams")

// Feed sends changes to the streams of this node.
type Feed struct {
	db *db.DB

	mu      sync.Mutex
	streams map[*stream]struct{}
	closed  bool // the node is shutting down

	tailMu          sync.Mutex // guards the tails
	events, notices tail
	jobs            jobTail
}

// NewFeed returns a feed that sends changes while Run is running.
func NewFeed(d *db.DB) *Feed {
	return &Feed{
		db: d, streams: map[*stream]struct{}{},
		events: tail{query: `SELECT id, team_id, kind, subject FROM events`,
			lastQuery: `SELECT COALESCE(MAX(id), 0) FROM events`},
		notices: tail{query: `SELECT id, person_id, '', '' FROM notices`,
			lastQuery: `SELECT COALESCE(MAX(id), 0) FROM notices`},
	}
}

// stream is an open stream.
type stream struct {
	Subscriber

	mu      sync.Mutex
	pending []Change
	wake    chan struct{} // contains a value while changes are pending
	done    chan struct{} // closed when the stream must end
	end     sync.Once
}

func (s *stream) close() { s.end.Do(func() { close(s.done) }) }

// add adds a change to the pending changes. If there are too many, it replaces them with a single Any.
func (s *stream) add(c Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.pending {
		if other == c || other.Topic == Any {
			return
		}
	}
	if s.pending = append(s.pending, c); len(s.pending) > maxPendingChanges {
		s.pending = []Change{{Topic: Any}}
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// take returns the pending changes and removes them from the stream.
func (s *stream) take() []Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.pending
	s.pending = nil
	return out
}

// open adds a stream. It returns errTooManyStreams if a limit is reached or the feed is closed.
func (f *Feed) open(sub Subscriber) (*stream, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	count := 0
	for s := range f.streams {
		if s.Person == sub.Person {
			count++
		}
	}
	if f.closed || count >= maxStreamsPerPerson || len(f.streams) >= maxStreams {
		return nil, errTooManyStreams
	}
	s := &stream{Subscriber: sub, wake: make(chan struct{}, 1), done: make(chan struct{})}
	f.streams[s] = struct{}{}
	return s, nil
}

func (f *Feed) remove(s *stream) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.streams, s)
	s.close()
}

// Close ends all streams and rejects new streams, because the node is shutting down. Browsers reconnect to another
// node.
func (f *Feed) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for s := range f.streams {
		s.close()
	}
}

// Streams returns the number of open streams.
func (f *Feed) Streams() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.streams)
}

// Run sends changes until the context ends. It passes errors to report and continues.
func (f *Feed) Run(ctx context.Context, report func(error)) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	var checkedAt time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		ended, err := f.poll(ctx)
		if ended || time.Since(checkedAt) >= checkInterval {
			checkedAt = time.Now()
			err = errors.Join(err, f.endStale(ctx))
		}
		if err != nil && ctx.Err() == nil {
			report(err)
		}
	}
}

// start makes the feed read changes from now on, unless it already does. The caller must have opened a stream.
func (f *Feed) start(ctx context.Context) error {
	f.tailMu.Lock()
	defer f.tailMu.Unlock()
	if f.events.seen != nil {
		return nil
	}
	_, err := f.read(ctx)
	return err
}

// poll sends the changes since the last poll. It reports whether one of them may have ended the access of a stream's
// subscriber. If there are no streams, it forgets its position and does not read changes.
func (f *Feed) poll(ctx context.Context) (bool, error) {
	f.tailMu.Lock()
	defer f.tailMu.Unlock()
	if f.Streams() == 0 {
		f.events.seen, f.notices.seen, f.jobs.jobs = nil, nil, nil
		return false, nil
	}
	return f.read(ctx)
}

// read sends the new changes. It returns the same results as poll.
func (f *Feed) read(ctx context.Context) (bool, error) {
	events, err := f.events.next(ctx, f.db)
	accessChanged := false
	for _, e := range events {
		topic, _, _ := strings.Cut(e.kind, ".")
		switch topic {
		case "post":
			f.send(Change{Post, e.subject}, func(s *stream) bool { return s.Team == e.owner })
		case "series":
			f.send(Change{Topic: Post}, func(s *stream) bool { return s.Team == e.owner })
		case "member", "person", "team":
			accessChanged = true
		}
	}
	notices, noticesErr := f.notices.next(ctx, f.db)
	for _, n := range notices {
		f.send(Change{Topic: Notice}, func(s *stream) bool { return s.Person == n.owner })
	}
	jobs, jobsErr := f.jobs.next(ctx, f.db)
	for _, j := range jobs {
		f.send(Change{Job, j.id}, func(s *stream) bool { return s.Team == j.team })
	}
	return accessChanged, errors.Join(err, noticesErr, jobsErr)
}

// send adds a change to the streams for which matches returns true.
func (f *Feed) send(c Change, matches func(*stream) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.streams {
		if matches(s) {
			s.add(c)
		}
	}
}

// checkBatchSize is the maximum number of streams that one query checks.
const checkBatchSize = 500

// endStale ends the streams of sessions that have ended, and of people who were suspended or have left the team.
func (f *Feed) endStale(ctx context.Context) error {
	f.mu.Lock()
	streams := make([]*stream, 0, len(f.streams))
	for s := range f.streams {
		streams = append(streams, s)
	}
	f.mu.Unlock()
	for len(streams) > 0 {
		n := min(len(streams), checkBatchSize)
		if err := f.endStaleBatch(ctx, streams[:n]); err != nil {
			return err
		}
		streams = streams[n:]
	}
	return nil
}

func (f *Feed) endStaleBatch(ctx context.Context, streams []*stream) error {
	args := []any{db.Micros(f.db.Now())}
	for _, s := range streams {
		args = append(args, []byte(s.Session))
	}
	valid := map[Subscriber]bool{}
	_, err := db.All(ctx, f.db, func(rows *sql.Rows, _ *struct{}) error {
		var sub Subscriber
		var session []byte
		err := rows.Scan(&session, &sub.Person, &sub.Epoch, &sub.Team)
		sub.Session = string(session)
		valid[sub] = true
		return err
	}, `SELECT s.token_hash, p.id, p.epoch, m.team_id FROM sessions s JOIN people p ON p.id = s.person_id
		JOIN memberships m ON m.person_id = p.id WHERE s.expires_at > ? AND p.held_at = 0
		AND s.token_hash IN (`+db.Placeholders(len(streams))+`)`, args...)
	if err != nil {
		return fmt.Errorf("checking the subscribers of streams: %w", err)
	}
	for _, s := range streams {
		if !valid[s.Subscriber] {
			s.close()
		}
	}
	return nil
}
