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
	Workers    int           // deliveries that a node works on at once
	PerNetwork int           // of these to one network; where 0, half of them and at least 2
	// OnCall learns of each call to a network: its platform, what was called, and ok, the class of its error, or failed
	// where the fault was ours. Late learns how long after a post was due it stood. Nobody does where nil.
	OnCall      func(platform, call, result string)
	OnPublished func(time.Duration)
	// Hosts are where posts stand beside the networks' own hosts, by platform: those of networks that the operator names
	// the addresses of.
	Hosts map[string][]string
}

// DefaultOptions are the shipped figures.
var DefaultOptions = Options{Lease: 10 * time.Second, Workers: 16}

func (o Options) perNetwork() int {
	if o.PerNetwork > 0 {
		return o.PerNetwork
	}
	return max(2, o.Workers/2)
}

// Service delivers.
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

// Library has the media that posts show.
type Library interface {
	Files(team int64) network.Files
}

// New makes the service and makes it the one that posts are handed to.
func New(d *db.DB, posts *post.Service, accounts *account.Service, library Library, queue *job.Queue, opts Options, log *slog.Logger) *Service {
	s := &Service{db: d, posts: posts, accounts: accounts, library: library, queue: queue, owner: uuid.NewString(), opts: opts, log: log,
		waiting: newFairQueue(opts.Workers, opts.perNetwork()), circuits: newCircuits(d.Now)}
	posts.Deliver(s)
	queue.Handle(Work, s.admit)
	return s
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
	Lookups   int // times the network was asked and could not say
	Epoch     int64
	NetworkID string    // what the network knows the publication by, once it stands
	FirstAt   time.Time // of the first submission of this post to this account
	CreatedAt time.Time
	DueAt     time.Time // when the post was to go out
	Trace     string    // of the request that it comes of; see package trace
}
