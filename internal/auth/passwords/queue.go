package passwords

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/loadshed"
)

// Package loadshed lets a node serve 128 page requests per processor concurrently, including requests that wait for a
// password hash. The limits below leave most of that capacity to other pages. Each limit counts both the requests that
// wait and the requests that hash.
const (
	maxUnknownCallers = 16 // requests from browsers in which the person has not signed in before
	maxPerClient      = 8  // unknown requests per client
	maxKnownCallers   = 16 // requests from known people
	maxPerPerson      = 4  // known requests per person
)

// Queue limits the number of concurrent password hashes, each of which needs 19 MiB and a core. It also limits the
// number of requests that wait for a hash. Known people wait in a separate queue, and one slot for hashing is reserved
// for them.
type Queue struct {
	sharedSlots, reservedSlots   chan struct{}
	unknownCallers, knownCallers waitQueue
	maxWait                      time.Duration // how long a request may wait for a slot
}

// NewQueue returns a Queue. A request waits at most the given time for a slot.
func NewQueue(wait time.Duration) *Queue {
	return &Queue{
		sharedSlots: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1)), reservedSlots: make(chan struct{}, 1),
		unknownCallers: newWaitQueue(maxUnknownCallers, maxPerClient), knownCallers: newWaitQueue(maxKnownCallers, maxPerPerson),
		maxWait: wait,
	}
}

// Caller identifies who requests a password hash.
type Caller struct {
	Key   string // a client, an invitation or a person
	Known bool   // the person is signed in, uses a known browser, or has a recovery link
}

// ClientCaller returns the Caller for a client that has not signed in. from is the client's IP address.
func ClientCaller(from string) Caller { return Caller{Key: "client " + loadshed.SitePrefix(from)} }

// InvitationCaller returns the Caller for a person with an invitation.
func InvitationCaller(id int64) Caller { return Caller{Key: fmt.Sprint("invitation ", id)} }

// PersonCaller returns the Caller for a person who is signed in, uses a known browser, or has a recovery link.
func PersonCaller(id int64) Caller { return Caller{Key: fmt.Sprint("person ", id), Known: true} }

// Do runs fn, which hashes a password. If too many requests are already waiting or the wait takes too long, Do
// returns rate_limited and does not run fn.
func (q *Queue) Do(ctx context.Context, caller Caller, fn func() error) error {
	queue, reserved := q.unknownCallers, chan struct{}(nil)
	if caller.Known {
		queue, reserved = q.knownCallers, q.reservedSlots
	}
	if !queue.enter(caller.Key) {
		return errBusy()
	}
	defer queue.leave(caller.Key)
	ctx, cancel := context.WithTimeout(ctx, q.maxWait)
	defer cancel()
	select {
	case q.sharedSlots <- struct{}{}:
		defer func() { <-q.sharedSlots }()
	case reserved <- struct{}{}: // reserved is nil for unknown callers, and sending on a nil channel blocks forever
		defer func() { <-reserved }()
	case <-ctx.Done():
		return errBusy()
	}
	return fn()
}

func errBusy() error {
	const text = "Too many people are signing in right now. Wait a few seconds, then try again."
	return apierr.New(apierr.RateLimited, text).With("scope", "sign_in").WithRetryAfter(loadshed.RetryAfter())
}

// waitQueue limits the number of requests that wait or hash, in total and per key.
type waitQueue struct {
	slots  chan struct{}
	perKey *loadshed.KeyLimiter
}

func newWaitQueue(limit, perKey int) waitQueue {
	return waitQueue{make(chan struct{}, limit), loadshed.NewKeyLimiter(perKey)}
}

func (q waitQueue) enter(key string) bool {
	if !q.perKey.TryAcquire(key) {
		return false
	}
	select {
	case q.slots <- struct{}{}:
		return true
	default:
		q.perKey.Release(key)
		return false
	}
}

func (q waitQueue) leave(key string) {
	<-q.slots
	q.perKey.Release(key)
}

// Hold blocks all hashes for unknown callers until the returned function is called. Only tests use it.
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
