package team

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/platform/loadshed"
)

// A request that waits for a password hash holds a place among pages, of which a node has 128 for each processor. These
// bounds keep most of the places free. They include the requests that are hashing.
const (
	strangersHashing = 16 // requests from browsers that are not known for the account
	perClientHashing = 8  // of these, from one client
	knownHashing     = 16 // requests of people who are known
	perPersonHashing = 4  // of these, for one person

	turnWithin = 5 * time.Second // how long a request waits
)

// hashQueue bounds the password hashes under way, each of which takes 19 MiB and a core, and the requests that wait for
// one. Strangers leave one hash and a queue to people who are known.
type hashQueue struct {
	open, reserved   chan struct{}
	strangers, known hashLine
	wait             time.Duration // how long a request waits for a hash
}

func newHashQueue() *hashQueue {
	return &hashQueue{
		open: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1)), reserved: make(chan struct{}, 1),
		strangers: newHashLine(strangersHashing, perClientHashing), known: newHashLine(knownHashing, perPersonHashing),
		wait: turnWithin,
	}
}

// asker is who asks for a password hash.
type asker struct {
	key   string // a client, an invitation or a person
	known bool   // signed in, in a browser that is known for the account, or with a recovery link
}

func askingClient(from string) asker { return asker{key: "client " + siteOf(from)} }

func askingInvitation(invitation int64) asker {
	return asker{key: fmt.Sprint("invitation ", invitation)}
}

func askingPerson(person int64) asker {
	return asker{key: fmt.Sprint("person ", person), known: true}
}

// do runs a function that hashes a password. It returns rate_limited, without running the function, if too many
// requests wait already or the wait takes too long.
func (q *hashQueue) do(ctx context.Context, a asker, work func() error) error {
	line, reserved := q.strangers, chan struct{}(nil)
	if a.known {
		line, reserved = q.known, q.reserved
	}
	if !line.enter(a.key) {
		return errHashing()
	}
	defer line.leave(a.key)
	ctx, cancel := context.WithTimeout(ctx, q.wait)
	defer cancel()
	select {
	case q.open <- struct{}{}:
		defer func() { <-q.open }()
	case reserved <- struct{}{}: // a nil channel never receives
		defer func() { <-reserved }()
	case <-ctx.Done():
		return errHashing()
	}
	return work()
}

func errHashing() error {
	const text = "Too many people are signing in right now. Wait a few seconds, then try again."
	return apierr.New(apierr.RateLimited, text).With("scope", "sign_in").After(loadshed.RetryAfter())
}

// hashLine bounds the requests that hash or wait, in all and by key.
type hashLine struct {
	all  chan struct{}
	each *loadshed.KeyLimiter
}

func newHashLine(most, each int) hashLine {
	return hashLine{make(chan struct{}, most), loadshed.NewKeyLimiter(each)}
}

func (l hashLine) enter(key string) bool {
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

func (l hashLine) leave(key string) {
	<-l.all
	l.each.Release(key)
}

// siteOf returns the /48 that a client with IPv6 is in: providers give that much to one customer. Other clients are
// returned as they are.
func siteOf(from string) string {
	if !strings.Contains(from, ":") {
		return from
	}
	return loadshed.NetworkOf(from)
}
