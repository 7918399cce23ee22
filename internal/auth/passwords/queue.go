package passwords

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/loadshed"
)

// Package loadshed lets a node serve 128 page requests per processor concurrently, including those that wait for a
// password hash. The limits below leave most of that capacity to other pages. Each limit counts requests that wait
// and requests that hash.
const (
	maxStrangers = 16 // requests from browsers that are not known for the account
	maxPerClient = 8  // of these, requests from one client
	maxKnown     = 16 // requests of known people
	maxPerPerson = 4  // of these, requests of one person
)

// Queue limits the number of concurrent password hashes, each of which needs 19 MiB and a core, and of requests that
// wait for one. Known people wait in a separate line, and one of the concurrent hashes is reserved for them.
type Queue struct {
	open, reserved   chan struct{}
	strangers, known line
	wait             time.Duration // how long a request waits for a hash
}

// NewQueue returns a Queue. Requests wait for a hash for at most the given time.
func NewQueue(wait time.Duration) *Queue {
	return &Queue{
		open: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1)), reserved: make(chan struct{}, 1),
		strangers: newLine(maxStrangers, maxPerClient), known: newLine(maxKnown, maxPerPerson),
		wait: wait,
	}
}

// Caller identifies who requests a password hash.
type Caller struct {
	Key   string // a client, an invitation or a person
	Known bool   // signed in, in a browser that is known for the account, or with a recovery link
}

// ClientCaller is a client that has not signed in, at the IP address from.
func ClientCaller(from string) Caller { return Caller{Key: "client " + loadshed.SitePrefix(from)} }

// InvitationCaller is a person with an invitation.
func InvitationCaller(id int64) Caller { return Caller{Key: fmt.Sprint("invitation ", id)} }

// PersonCaller is a person who is signed in, in a known browser, or with a recovery link.
func PersonCaller(id int64) Caller { return Caller{Key: fmt.Sprint("person ", id), Known: true} }

// Do runs a function that hashes a password. It returns rate_limited, without running the function, if too many
// requests wait already or the wait takes too long.
func (q *Queue) Do(ctx context.Context, a Caller, work func() error) error {
	waiting, reserved := q.strangers, chan struct{}(nil)
	if a.Known {
		waiting, reserved = q.known, q.reserved
	}
	if !waiting.enter(a.Key) {
		return errBusy()
	}
	defer waiting.leave(a.Key)
	ctx, cancel := context.WithTimeout(ctx, q.wait)
	defer cancel()
	select {
	case q.open <- struct{}{}:
		defer func() { <-q.open }()
	case reserved <- struct{}{}: // for others, reserved is nil: a send on a nil channel blocks forever
		defer func() { <-reserved }()
	case <-ctx.Done():
		return errBusy()
	}
	return work()
}

func errBusy() error {
	const text = "Too many people are signing in right now. Wait a few seconds, then try again."
	return apierr.New(apierr.RateLimited, text).With("scope", "sign_in").WithRetryAfter(loadshed.RetryAfter())
}

// line limits the requests that hash or wait, in total and per key.
type line struct {
	all  chan struct{}
	each *loadshed.KeyLimiter
}

func newLine(limit, each int) line {
	return line{make(chan struct{}, limit), loadshed.NewKeyLimiter(each)}
}

func (l line) enter(key string) bool {
	if !l.each.TryAcquire(key) {
		return false
	}
	select {
	case l.all <- struct{}{}:
		return true
	default:
		l.each.Release(key)
		return false
	}
}

func (l line) leave(key string) {
	<-l.all
	l.each.Release(key)
}

// Hold blocks all hashes of unknown people until the returned function is called. Only tests use it.
func (q *Queue) Hold() func() {
	for range cap(q.open) {
		q.open <- struct{}{}
	}
	return func() {
		for range cap(q.open) {
			<-q.open
		}
	}
}
