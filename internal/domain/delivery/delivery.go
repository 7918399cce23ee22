// Package delivery publishes posts on networks exactly once, even if the process ends at any point.
//
// A delivery sends one post, or one part of a thread, to one account. It moves through phases. Each phase is committed
// to the database before the network call that it describes:
//
//   - planned: the request is not fixed yet.
//   - prepared: the request is fixed.
//   - committing: the call that publishes the post was started.
//   - ended: the result is recorded.
//
// After the result is recorded, a delivery can be in the phases unconfirmed, linking or finishing. The publishing call
// is repeated only if the network rejected it, or if a lookup on the network found no post.
//
// An attempt is the work of one lease holder on a delivery. worker_pool.go and fair_queue.go start attempts. attempt.go
// claims the delivery and runs its phases. prepare.go, lookup.go, commit.go and permalink.go make network calls.
// poll.go and retry.go handle waits and failures. record.go stores results, and lease.go manages the lease. Every write
// checks the lease's epoch, so that a holder that lost its lease cannot write. The job queue only wakes deliveries. If
// a wake is lost, the waker repeats it at the stored time wake_at.
package delivery

import (
	"log/slog"
	"time"

	"github.com/google/uuid"

	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
)

// phase is the progress of a delivery.
type phase string

// The phases of a delivery.
const (
	phasePlanned    phase = "planned"
	phasePrepared   phase = "prepared"
	phaseCommitting phase = "committing"
	phaseEnded      phase = "ended"
	// phaseUnconfirmed means that the delivery ended with an unknown outcome, which is looked up from time to time.
	phaseUnconfirmed phase = "doubtful"
	// phaseLinking means that the delivery ended as published and waits for its permalink.
	phaseLinking phase = "linking"
	// phaseFinishing means that the delivery ended as published and makes further calls for the post, for example to
	// set a thumbnail.
	phaseFinishing phase = "finishing"
)

// WorkKind is the name of deliveries in the job queue.
const WorkKind = "delivery"

// Options configure the service.
type Options struct {
	Lease      time.Duration // duration of a lease; also how long a crash of the node delays a delivery
	Workers    int           // concurrent deliveries on a node
	PerNetwork int           // concurrent deliveries per network; 0 means half of Workers, but at least 2
	// OnCall is called after each network call. The result is ok, the class of the network's error, or failed for an
	// internal error. OnPublished is called with the time from the due time to the publication. Both may be nil.
	OnCall      func(platform, call, result string)
	OnPublished func(time.Duration)
	// Hosts lists additional hosts that permalinks can have, by platform.
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
	pending  *fairQueue
	breakers *breakers
	owner    string // unique ID of this process
	opts     Options
	log      *slog.Logger
}

// Library opens the media of posts.
type Library interface {
	Files(team int64) network.Files
}

// New returns a Service and registers it with the queue. The post service must use a [Submitter] with the same queue.
func New(d *db.DB, posts *post.Service, accounts *account.Service, library Library, queue *job.Queue, opts Options,
	log *slog.Logger) *Service {
	s := &Service{db: d, posts: posts, accounts: accounts, library: library, queue: queue, owner: uuid.NewString(),
		opts: opts, log: log,
		pending: newFairQueue(opts.Workers, opts.perNetwork()), breakers: newBreakers(d.Now)}
	queue.Handle(WorkKind, s.enqueue)
	return s
}

// delivery is a stored delivery of one part of a post to one account.
type delivery struct {
	ID               string
	TeamID           int64
	PostID           string
	AccountID        int64
	Part             int // of the thread; 0 is the post itself, comment.Part the first comment
	JobID            string
	Phase            phase
	Draft            network.Draft
	Tries            int // failed calls that were or will be repeated
	Lookups          int // inconclusive lookups in a row
	Epoch            int64
	NetworkID        string    // the network's ID of the published post
	FirstSubmittedAt time.Time // first submission of this post to this account
	CreatedAt        time.Time
	DueAt            time.Time // scheduled time for the first delivery of a due post; otherwise CreatedAt
	Trace            string    // trace of the request that caused the delivery; see package tracing
}
