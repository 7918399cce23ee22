package loadshed

import "sync"

// KeyLimiter limits the number of concurrent calls per key, so that one client cannot use up a whole Limiter. Its
// methods may be called concurrently.
type KeyLimiter struct {
	limit int

	mu      sync.Mutex
	running map[string]int // number of running calls by key
}

// NewKeyLimiter returns a KeyLimiter that allows limit calls per key.
func NewKeyLimiter(limit int) *KeyLimiter {
	return &KeyLimiter{limit: limit, running: map[string]int{}}
}

// TryAcquire begins a call and reports whether the key's limit allows it. If it returns true, the caller must call
// Release at the end of the call.
func (l *KeyLimiter) TryAcquire(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running[key] >= l.limit {
		return false
	}
	l.running[key]++
	return true
}

// Release ends a call.
func (l *KeyLimiter) Release(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running[key]--; l.running[key] == 0 {
		delete(l.running, key)
	}
}
