package storm

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// book records the responses that clients got. The verification compares the final state with these responses.
type book struct {
	mu         sync.Mutex
	posts      map[string]*posted // by mark
	paid       []*paid
	sent       []*sentFile
	keys       []*madeKey
	writes     map[string]int // number of accepted writes, by kind of event and subject
	free       map[*crew]int  // number of accepted free calls
	lists      []*madeList
	asked      map[string]int // number of calls, by operation
	answers    map[string]int // number of responses, by operation and outcome
	faults     map[string]int
	waits      map[string][]time.Duration // latencies of calls answered at the first attempt
	complaints []complaint
}

func newBook() *book {
	return &book{
		posts: map[string]*posted{}, writes: map[string]int{}, free: map[*crew]int{}, asked: map[string]int{},
		answers: map[string]int{}, faults: map[string]int{}, waits: map[string][]time.Duration{},
	}
}

// complaint is an error that was found.
type complaint struct{ kind, text string }

func (c complaint) String() string { return c.kind + ": " + c.text }

// posted is a post that a client has created.
type posted struct {
	mark       string // unique part of its text
	team       *crew
	targets    map[int64]string // platforms by account
	id         string           // empty while unknown
	isAnswered bool             // whether the client got a response
	state      postState
	bad        bool // whether networks always reject its text
	busy       bool // whether networks always rate limit its text
	parts      int  // of its thread, after the post itself
	commented  bool // whether it has a first comment
	retried    int
}

// postState is the last known state of a post.
type postState string

const (
	drafted   postState = "drafted"   // a draft, or unscheduled
	scheduled postState = "scheduled" // to be published at its time
	submitted postState = "submitted"
	unclear   postState = "unclear" // the last call without an Idempotency-Key got no response
)

// paid is a paid call that was accepted.
type paid struct {
	team    *crew
	key     *apiKey
	idem    string
	tool    string
	subject string // item that is charged only once; may be empty
	charged int64
	job     string
}

// sentFile is a file that was uploaded with an upload link.
type sentFile struct {
	team   *crew
	digest string // digest of the stored file, without trailing data
	bytes  int    // number of bytes sent
	media  int64
	job    string
}

// madeKey is an API key created in the app.
type madeKey struct {
	team    *crew
	name    string
	value   string // empty if the response was lost
	revoked bool
}

// madeList is a hashtag list that a client has created.
type madeList struct {
	team        *crew
	name        string
	isConfirmed bool // whether its creation was confirmed
	once        bool // whether it was created with an Idempotency-Key
}

func (b *book) complainf(kind, format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = append(b.complaints, complaint{kind, fmt.Sprintf(format, args...)})
}

// fault counts an injected fault.
func (b *book) fault(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults[what]++
}

// write records an accepted write by the event that the write must cause.
func (b *book) write(kind, subject string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writes[kind+" "+subject]++
}

// recordAnswer records the outcome of a call, and the latency of a call that was answered at the first attempt.
func (b *book) recordAnswer(what, outcome string, tries int, took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answers[what+": "+outcome]++
	b.asked[what] += tries
	if tries == 1 {
		b.waits[what] = append(b.waits[what], took)
	}
}

// change runs work while the book is locked.
func (b *book) change(work func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	work()
}

// percentile returns the smallest latency that is at least as long as a share of the latencies, in thousandths.
func percentile(waits []time.Duration, part int) time.Duration {
	if len(waits) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(waits))
	return sorted[min(len(sorted)-1, len(sorted)*part/1000)].Round(100 * time.Microsecond)
}
