package loadshed

import "time"

// ExpireFirst makes the longest-waiting call time out before its timer fires, as on a busy machine.
func ExpireFirst(r *Limiter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := r.waiting.Front()
	w := first.Value.(waiter)
	w.until = time.Now().Add(-time.Nanosecond)
	first.Value = w
}
