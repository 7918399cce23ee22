// Package delivery hands posts to networks: once, whatever ends the process on the way.
//
// One delivery is one account of one submission. It goes through phases, each written before the call that it
// is about: planned (nothing fixed yet), prepared (the request is fixed and may be committed), committing (the
// one call that makes the post visible was begun) and ended. A delivery found committing is never committed
// again blindly: the network is asked first. Whoever works on a delivery holds a lease with an epoch that fences
// off a holder that comes too late. The queue only wakes the work up; wake_at in the record makes sure that a
// lost wake is sent again. What is woken waits in memory for its turn, by network and team; a network that fails is
// given nothing until a single delivery has found it well.
package delivery

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"pressroom/internal/domain/account"
	"pressroom/internal/domain/job"
	"pressroom/internal/domain/post"
	"pressroom/internal/network"
	"pressroom/internal/platform/db"
)

type phase string

const (
	planned    phase = "planned"
	prepared   phase = "prepared"
	committing phase = "committing"
	ended      phase = "ended"
	// doubtful has ended for its job, unconfirmed, and is looked at again now and then.
	doubtful phase = "doubtful"
	// linking has ended for its job, published, and asks the network where the post stands.
	linking phase = "linking"
)

// Work is the queue's name for a delivery.
const Work = "delivery"

// Options are the operator's figures.
type Options struct {
	Lease      time.Duration // how long a node that died holds a delivery up
	Flights    int           // deliveries that a node works on at once
	PerNetwork int           // of these to one network; where 0, half of them and at least 2
	// Called learns of each call to a network: its platform, what was called, and ok, the class of its error, or failed
	// where the fault was ours. Late learns how long after a post was due it stood. Nobody does where nil.
	Called func(platform, call, result string)
	Late   func(time.Duration)
	// Hosts are where posts stand beside the networks' own hosts, by platform: those of networks that the operator names
	// the addresses of.
	Hosts map[string][]string
}

// DefaultOptions are the shipped figures.
var DefaultOptions = Options{Lease: 10 * time.Second, Flights: 16}

func (o Options) perNetwork() int {
	if o.PerNetwork > 0 {
		return o.PerNetwork
	}
	return max(2, o.Flights/2)
}

// Service delivers.
type Service struct {
	db       *db.DB
	posts    *post.Service
	accounts *account.Service
	queue    *job.Queue
	library  Library
	pace     *pace
	circuits *circuits
	owner    string // this process
	opts     Options
	log      *slog.Logger
}

// Library has the media that posts show.
type Library interface {
	Files(team int64) network.Files
}

// New makes the service and makes it the one that posts are handed to.
func New(d *db.DB, posts *post.Service, accounts *account.Service, library Library, queue *job.Queue, opts Options, log *slog.Logger) *Service {
	s := &Service{db: d, posts: posts, accounts: accounts, library: library, queue: queue, owner: uuid.NewString(), opts: opts, log: log,
		pace: newPace(opts.Flights, opts.perNetwork()), circuits: newCircuits(d.Now)}
	posts.Deliver(s)
	queue.Handle(Work, s.admit)
	return s
}

// rewake is how long the waker leaves the queue to bring a wake to somebody.
const rewake = 10 * time.Second

// Submit writes down what is to be sent, in the transaction of the post's change, and wakes it. A retry keeps
// the time of the first submission, by which the network knows the publication.
func (s *Service) Submit(ctx context.Context, tx *db.Tx, o post.Order) error {
	made := make([]delivery, len(o.Targets))
	ids := make([]string, len(o.Targets))
	for i, t := range o.Targets {
		first, err := firstSubmission(ctx, tx, o.Post, t.AccountID)
		if err != nil {
			return err
		}
		d := delivery{ID: uuid.Must(uuid.NewV7()).String(), TeamID: o.Post.TeamID, PostID: o.Post.ID, AccountID: t.AccountID, JobID: o.Job.ID, Phase: planned}
		_, err = tx.Exec(ctx, `INSERT INTO deliveries (id, team_id, post_id, account_id, job_id, phase, first_at, wake_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			d.ID, d.TeamID, d.PostID, d.AccountID, d.JobID, string(planned), first, db.Micros(tx.Now().Add(rewake)), db.Micros(tx.Now()))
		if err != nil {
			return fmt.Errorf("writing a delivery: %w", err)
		}
		made[i], ids[i] = d, d.ID
	}
	if o.Refused == "" {
		return s.queue.Wake(ctx, tx, Work, ids...)
	}
	for _, d := range made {
		if err := s.conclude(ctx, tx, d, ended, failure(o.Refused, "")); err != nil {
			return err
		}
	}
	return nil
}

// firstSubmission is the time by which the network knows a publication. That of a post whose time has come is this time,
// so that every copy of the database makes it the same.
func firstSubmission(ctx context.Context, tx *db.Tx, p post.Post, account int64) (int64, error) {
	var first int64
	err := tx.QueryRow(ctx, `SELECT COALESCE(MIN(first_at), 0) FROM deliveries WHERE post_id = ? AND account_id = ?`, p.ID, account).Scan(&first)
	if err != nil {
		return 0, fmt.Errorf("reading the first delivery: %w", err)
	}
	if at := db.Micros(p.ScheduledAt); first == 0 && at > 0 && at <= db.Micros(tx.Now()) {
		first = at
	}
	if first == 0 {
		first = db.Micros(tx.Now())
	}
	return first, nil
}

// delivery is one account of one submission, as it is stored.
type delivery struct {
	ID        string
	TeamID    int64
	PostID    string
	AccountID int64
	JobID     string
	Phase     phase
	Draft     network.Draft
	Tries     int // calls that failed and may be repeated
	Looks     int // times the network was asked and could not say
	Epoch     int64
	NetworkID string    // what the network knows the publication by, once it stands
	FirstAt   time.Time // of the first submission of this post to this account
	CreatedAt time.Time
	DueAt     time.Time // when the post was to go out
	Trace     string    // of the request that it comes of; see package trace
}

func failure(code, networkText string) post.Result {
	return post.Result{State: post.NotSent, ErrorCode: code, NetworkText: networkText}
}

// conclude ends a delivery with its result: in the post, and in the job once it was the last one.
func (s *Service) conclude(ctx context.Context, tx *db.Tx, d delivery, into phase, r post.Result) error {
	now := db.Micros(tx.Now())
	wake := int64(0)
	switch into {
	case doubtful:
		wake = db.Micros(tx.Now().Add(laterLook(d.Looks)))
	case linking:
		d.Looks, wake = 0, db.Micros(tx.Now().Add(firstLink))
	case planned, prepared, committing, ended:
	}
	n, err := tx.Exec(ctx, `UPDATE deliveries SET phase = ?, outcome = ?, error_code = ?, network_text = ?, permalink = ?, network_id = ?, looks = ?, owner = '', lease_until = 0, wake_at = ?,
		ended_at = CASE WHEN ended_at = 0 THEN ? ELSE ended_at END WHERE id = ? AND epoch = ?`,
		string(into), string(r.State), r.ErrorCode, r.NetworkText, r.Permalink, r.NetworkID, d.Looks, wake, now, d.ID, d.Epoch)
	if err != nil {
		return fmt.Errorf("ending delivery %s: %w", d.ID, err)
	}
	if n == 0 {
		return errFenced
	}
	if err := s.posts.Settle(ctx, tx, d.TeamID, d.PostID, d.AccountID, r); err != nil {
		return err
	}
	return endJob(ctx, tx, d.JobID)
}

// endJob ends a job once all its deliveries have, and corrects it when a later look changed one.
func endJob(ctx context.Context, tx *db.Tx, id string) error {
	type part struct {
		state post.TargetState
		code  string
		ended int64
	}
	parts, err := db.All(ctx, tx, func(rows *sql.Rows, p *part) error {
		return rows.Scan(&p.state, &p.code, &p.ended)
	}, `SELECT outcome, error_code, ended_at FROM deliveries WHERE job_id = ? ORDER BY created_at, id`, id)
	if err != nil {
		return fmt.Errorf("reading the deliveries of a job: %w", err)
	}
	states, code, done := []post.TargetState{}, "", 0
	for _, p := range parts {
		states = append(states, p.state)
		if p.ended != 0 {
			done++
		}
		if code == "" || p.code == "not_confirmed" {
			code = p.code
		}
	}
	if done < len(parts) {
		return job.Advance(ctx, tx, id, done)
	}
	if err := job.Finish(ctx, tx, id, post.JobState(states), code); err != nil {
		return err
	}
	return job.Correct(ctx, tx, id, post.JobState(states), code)
}
