package storm

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// book is what the clients were told, and what befell them. What stands in the end is held against it.
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

// complaint is something that must not be.
type complaint struct{ kind, text string }

func (c complaint) String() string { return c.kind + ": " + c.text }

// posted is a post that a client has asked for.
type posted struct {
	mark    string // stands in its text, and in no other
	team    *crew
	targets map[int64]string // platforms by account
	id      string           // empty while nobody has told it
	certain bool             // the client got a response
	fate    postFate
	bad     bool // its text is refused, always
	busy    bool // its text is refused as too frequent, always
	retried int
}

// postFate is what a client was told of a post last.
type postFate string

const (
	drafted   postFate = "drafted"   // or cancelled: it stands nowhere
	scheduled postFate = "scheduled" // it goes out at its time
	handed    postFate = "handed over"
	unclear   postFate = "unclear" // the last call without an Idempotency-Key was not answered
)

// paid is a paid call that was accepted.
type paid struct {
	team    *crew
	key     *apiKey
	idem    string
	tool    string
	subject string // what is paid for once, where that is so
	charged int64
	job     string
}

// sentFile is a file that was sent by an upload link.
type sentFile struct {
	team   *crew
	digest string // of what is stored: the picture without what follows it
	bytes  int    // that were sent
	media  int64
	job    string
}

// madeKey is an API key that somebody made in the app.
type madeKey struct {
	team    *crew
	name    string
	value   string // empty where its page did not arrive
	revoked bool
}

// madeList is a hashtag list that a client has asked for.
type madeList struct {
	team *crew
	name string
	told bool // it is there: the call was answered so
	once bool // it was asked for by an Idempotency-Key, so that an answer came
}

func (b *book) complainf(kind, format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = append(b.complaints, complaint{kind, fmt.Sprintf(format, args...)})
}

// fault counts something that befell the program or its clients.
func (b *book) fault(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults[what]++
}

// write notes that a write was accepted, by the event that it leaves.
func (b *book) write(kind, subject string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writes[kind+" "+subject]++
}

// recordAnswer notes how a call ended. What was tried once tells how quick the program is.
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
