package storm

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// book records the responses that clients got. The verification compares the final state with it.
type book struct {
	mu         sync.Mutex
	posts      map[string]*posted // by the mark in their text
	paid       []*paid
	sent       []*sentFile
	keys       []*madeKey
	writes     map[string]int // accepted, by kind of event and subject
	free       map[*crew]int  // calls that were accepted and are counted by the day
	lists      []*madeList
	asked      map[string]int // calls, by operation
	answers    map[string]int // by operation and outcome
	faults     map[string]int
	waits      map[string][]time.Duration // of calls that were answered at once
	complaints []complaint
}

func newBook() *book {
	return &book{
		posts: map[string]*posted{}, writes: map[string]int{}, free: map[*crew]int{}, asked: map[string]int{},
		answers: map[string]int{}, faults: map[string]int{}, waits: map[string][]time.Duration{},
	}
}

// complaint is an error found.
type complaint struct{ kind, text string }

func (c complaint) String() string { return c.kind + ": " + c.text }

// posted is a post that a client has created.
type posted struct {
	mark    string // unique part of its text
	team    *crew
	targets map[int64]string // platforms by account
	id      string           // empty while unknown
	certain bool             // the client got a response
	state   postState
	bad     bool // its text is refused, always
	busy    bool // its text is refused as too frequent, always
	retried int
}

// postState is the last known state of a post.
type postState string

const (
	drafted   postState = "drafted"   // or cancelled: not published
	scheduled postState = "scheduled" // published at its time
	handed    postState = "handed over"
	unclear   postState = "unclear" // the last call without an Idempotency-Key was not answered
)

// paid is a paid call that was accepted.
type paid struct {
	team    *crew
	key     *apiKey
	idem    string
	tool    string
	subject string // what is paid once, if it is
	charged int64
	job     string
}

// sentFile is a file that was sent by an upload link.
type sentFile struct {
	team   *crew
	digest string // of the stored file, without trailing data
	bytes  int    // that were sent
	media  int64
	job    string
}

// madeKey is an API key created in the app.
type madeKey struct {
	team    *crew
	name    string
	value   string // empty where its page did not arrive
	revoked bool
}

// madeList is a hashtag list that a client has created.
type madeList struct {
	team *crew
	name string
	told bool // its creation was confirmed
	once bool // created with an Idempotency-Key, so there was an answer
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

// write records an accepted write by the event that it causes.
func (b *book) write(kind, subject string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writes[kind+" "+subject]++
}

// recordAnswer notes the result of a call. Calls answered at the first attempt measure latency.
func (b *book) recordAnswer(what, outcome string, tries int, took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answers[what+": "+outcome]++
	b.asked[what] += tries
	if tries == 1 {
		b.waits[what] = append(b.waits[what], took)
	}
}

// change changes the book.
func (b *book) change(work func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	work()
}

// under returns the duration that a share of the waits (in thousandths) did not exceed.
func under(waits []time.Duration, part int) time.Duration {
	if len(waits) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(waits))
	return sorted[min(len(sorted)-1, len(sorted)*part/1000)].Round(100 * time.Microsecond)
}
