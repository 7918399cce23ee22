package web

import "sync"

// maxLinkFiles is how many files of one approval link are sent at once: more than a post has, and a part of a node's places.
const maxLinkFiles = 48

// inFlight bounds how many requests of one key are under way on this node.
type inFlight struct {
	most int

	mu  sync.Mutex
	now map[string]int // by key
}

func newInFlight(most int) *inFlight { return &inFlight{most: most, now: map[string]int{}} }

// enter counts a request, unless there are too many of its key. It reports whether the caller has to call leave.
func (f *inFlight) enter(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now[key] >= f.most {
		return false
	}
	f.now[key]++
	return true
}

func (f *inFlight) leave(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now[key]--; f.now[key] == 0 {
		delete(f.now, key)
	}
}
