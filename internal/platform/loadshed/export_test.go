package loadshed

import "time"

// Overdue lets the time of whoever has waited longest be over, as it is where the processor gets to their timer late.
func Overdue(r *Room) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := r.waiting.Front()
	w := first.Value.(waiter)
	w.until = time.Now().Add(-time.Nanosecond)
	first.Value = w
}
