package loadshed

import "time"

// ExpireFirst makes the call that has waited longest time out without its timer firing, like on a busy machine.
func ExpireFirst(r *Limiter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := r.waiting.Front()
	w := first.Value.(waiter)
	w.until = time.Now().Add(-time.Nanosecond)
	first.Value = w
}
