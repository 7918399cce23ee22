// Package delivery publishes posts on networks exactly once, even if the process ends at any point.
//
// A delivery is one account of one submission. It moves through phases, each of which is committed to the database
// before the network call that it describes: planned (the request is not fixed), prepared (the request is fixed),
// committing (the call that publishes the post was started) and ended. A delivery in phase committing is only committed
// again after a lookup.
//
// The files follow an attempt, and each calls only later ones: worker_pool.go and fair_queue.go start it, attempt.go
// claims the delivery and goes from phase to phase, prepare.go, lookup.go, commit.go and permalink.go make the calls,
// poll.go and retry.go decide about waits and failures, record.go writes what happened, and lease.go holds the lease.
// An epoch in every write keeps out a holder that lost its lease. The job queue only wakes deliveries; wake_at in the
// record makes sure that a lost wake is repeated.
package delivery

import (
	"log/slog"
	"time"

	"github.com/google/uuid"

	"pressroom/internal/domain/account"
	"pressroom/internal/domain/job"
	"pressroom/internal/domain/post"
	"pressroom/internal/network"
	"pressroom/internal/platform/db"
)

// phase is the progress of a delivery.
type phase string

// The phases of a delivery.
const (
	planned    phase = "planned"
	prepared   phase = "prepared"
	committing phase = "committing"
	ended      phase = "ended"
	// doubtful has ended as unconfirmed and is looked up from time to time.
	doubtful phase = "doubtful"
	// linking has ended as published and waits for its permalink.
	linking phase = "linking"
	// finishing has ended as published and makes further calls for the post, such as one that sets a thumbnail.
	finishing phase = "finishing"
)

// Work is the queue's name of deliveries.
const Work = "delivery"

// Options configure the service.
type Options struct {
	Lease      time.Duration // how long a dead node delays a delivery
	Workers    int           // concurrent deliveries on a node
	PerNetwork int           // of these for one network; 0 means half, at least 2
	// OnCall observes each network call: its platform, the call and its result, which is ok, the class of the error,
	// or failed for an internal fault. OnPublished observes how late a post was published. Both may be nil.
	OnCall      func(platform, call, result string)
	OnPublished func(time.Duration)
	// Hosts are additional hosts of permalinks, by platform.
	Hosts map[string][]string
}

// DefaultOptions are the default settings.
var DefaultOptions = Options{Lease: 10 * time.Second, Workers: 16}

func (o Options) perNetwork() int {
	if o.PerNetwork > 0 {
		return o.PerNetwork
	}
	return max(2, o.Workers/2)
}

// Service delivers posts to networks.
type Service struct {
	db       *db.DB
	posts    *post.Service
	accounts *account.Service
	queue    *job.Queue
	library  Library
	waiting  *fairQueue
	circuits *circuits
	owner    string // this process
	opts     Options
	log      *slog.Logger
}

// Library opens the media of posts.
type Library interface {
	Files(team int64) network.Files
}

// New returns the service and registers it with the queue. Posts must submit to a [Submitter] of the same queue.
func New(d *db.DB, posts *post.Service, accounts *account.Service, library Library, queue *job.Queue, opts Options,
	log *slog.Logger) *Service {
	s := &Service{db: d, posts: posts, accounts: accounts, library: library, queue: queue, owner: uuid.NewString(),
		opts: opts, log: log,
		waiting: newFairQueue(opts.Workers, opts.perNetwork()), circuits: newCircuits(d.Now)}
	queue.Handle(Work, s.admit)
	return s
}

// delivery is one account of one submission, as stored.
type delivery struct {
	ID        string
	TeamID    int64
	PostID    string
	AccountID int64
	JobID     string
	Phase     phase
	Draft     network.Draft
	Tries     int // failed calls that may be repeated
	Lookups   int // inconclusive lookups
	Epoch     int64
	NetworkID string    // the network's ID of the published post
	FirstAt   time.Time // of the first submission of this post to this account
	CreatedAt time.Time
	DueAt     time.Time // when the post is due
	Trace     string    // of the request that caused it; see package tracing
}
