package loadshed

import "time"

// Overdue ends the time of the longest waiting call without its timer, as on a busy machine.
func Overdue(r *Limiter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := r.waiting.Front()
	w := first.Value.(waiter)
	w.until = time.Now().Add(-time.Nanosecond)
	first.Value = w
}
