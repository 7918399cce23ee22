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
	maxUnknownCallers = 16 // requests from browsers that are not known for the account
	maxPerClient      = 8  // of these, requests from one client
	maxKnownCallers   = 16 // requests of known people
	maxPerPerson      = 4  // of these, requests of one person
)

// Queue limits the number of concurrent password hashes, each of which needs 19 MiB and a core, and of requests that
// wait for one. Known people wait in a separate line, and one of the concurrent hashes is reserved for them.
type Queue struct {
	sharedSlots, reservedSlots   chan struct{}
	unknownCallers, knownCallers waitQueue
	wait                         time.Duration // how long a request waits for a hash
}

// NewQueue returns a Queue. Requests wait for a hash for at most the given time.
func NewQueue(wait time.Duration) *Queue {
	return &Queue{
		sharedSlots: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1)), reservedSlots: make(chan struct{}, 1),
		unknownCallers: newWaitQueue(maxUnknownCallers, maxPerClient), knownCallers: newWaitQueue(maxKnownCallers, maxPerPerson),
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
	queue, reserved := q.unknownCallers, chan struct{}(nil)
	if a.Known {
		queue, reserved = q.knownCallers, q.reservedSlots
	}
	if !queue.enter(a.Key) {
		return errBusy()
	}
	defer queue.leave(a.Key)
	ctx, cancel := context.WithTimeout(ctx, q.wait)
	defer cancel()
	select {
	case q.sharedSlots <- struct{}{}:
		defer func() { <-q.sharedSlots }()
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

// waitQueue limits the requests that hash or wait, in total and per key.
type waitQueue struct {
	slots  chan struct{}
	perKey *loadshed.KeyLimiter
}

func newWaitQueue(limit, each int) waitQueue {
	return waitQueue{make(chan struct{}, limit), loadshed.NewKeyLimiter(each)}
}

func (l waitQueue) enter(key string) bool {
	if !l.perKey.TryAcquire(key) {
		return false
	}
	select {
	case l.slots <- struct{}{}:
		return true
	default:
		l.perKey.Release(key)
		return false
	}
}

func (l waitQueue) leave(key string) {
	<-l.slots
	l.perKey.Release(key)
}

// Hold blocks all hashes of unknown people until the returned function is called. Only tests use it.
func (q *Queue) Hold() func() {
	for range cap(q.sharedSlots) {
		q.sharedSlots <- struct{}{}
	}
	return func() {
		for range cap(q.sharedSlots) {
			<-q.sharedSlots
		}
	}
}
