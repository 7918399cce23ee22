package loadshed

import "sync"

// Shares bounds how many calls of each key are under way, so that nobody takes all places of a Room. Its methods may be
// called at the same time.
type Shares struct {
	most int

	mu  sync.Mutex
	now map[string]int // by key
}

// NewShares returns Shares that let at most so many calls of a key be under way.
func NewShares(most int) *Shares { return &Shares{most: most, now: map[string]int{}} }

// Enter counts a call of a key. It reports false if the key has all its calls under way; otherwise the caller calls
// Leave.
func (s *Shares) Enter(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now[key] >= s.most {
		return false
	}
	s.now[key]++
	return true
}

// Leave ends a call that Enter has counted.
func (s *Shares) Leave(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now[key]--; s.now[key] == 0 {
		delete(s.now, key)
	}
}
