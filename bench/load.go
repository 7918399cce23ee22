package main

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// closedLoop sends one call to one server, over connections that remain open between rounds. Each connection sends a
// request as soon as it has received the response to the last one.
type closedLoop struct {
	target      *process
	want        int // expected HTTP status
	conns       []*conn
	nextRequest []requestFunc // one per connection

	// The results have one value per round: requests per second, response times in milliseconds, and the server's CPU
	// time per request in microseconds.
	perSecond, p50, p99, cpu []float64
}

// newClosedLoop opens the connections and pauses the server. It sends a request on each connection, because the server
// would close an unused connection.
func newClosedLoop(target *process, c call, conns int) (*closedLoop, error) {
	if err := target.resume(); err != nil {
		return nil, err
	}
	s := &closedLoop{target: target, want: c.want}
	for i := range conns {
		one, err := dial(target.addr)
		if err != nil {
			s.close()
			return nil, err
		}
		s.conns, s.nextRequest = append(s.conns, one), append(s.nextRequest, c.newRequests(target, i))
		if _, _, err := one.do(s.nextRequest[i](nil), false); err != nil {
			s.close()
			return nil, fmt.Errorf("%s: %w", target.name, err)
		}
	}
	return s, target.pause()
}

func (l *closedLoop) close() {
	for _, c := range l.conns {
		c.close()
	}
}

// round sends requests during the warm-up and then for the given length of time, and records the results. Throughput
// and response times exclude the warm-up. The CPU time per request includes it.
func (l *closedLoop) round(warmUp, length time.Duration) error {
	if err := l.target.resume(); err != nil {
		return err
	}
	var (
		wg        sync.WaitGroup
		durations = make([][]time.Duration, len(l.conns))
		errs      = make([]error, len(l.conns))
		sent      atomic.Int64
		start     = time.Now().Add(warmUp)
		end       = start.Add(length)
	)
	cpuBefore, err := l.target.cpu()
	if err != nil {
		return err
	}
	for i := range l.conns {
		wg.Go(func() { durations[i], errs[i] = l.sendUntil(i, start, end, &sent) })
	}
	wg.Wait()
	wall := time.Since(start)
	cpuAfter, err := l.target.cpu()
	if err = errors.Join(append(errs, err)...); err != nil {
		return fmt.Errorf("%s: %w", l.target.name, err)
	}
	all := slices.Concat(durations...)
	slices.Sort(all)
	l.perSecond = append(l.perSecond, float64(len(all))/wall.Seconds())
	l.p50 = append(l.p50, milliseconds(percentile(all, 0.50)))
	l.p99 = append(l.p99, milliseconds(percentile(all, 0.99)))
	l.cpu = append(l.cpu, ratio(float64(cpuAfter-cpuBefore)/float64(time.Microsecond), float64(sent.Load())))
	return l.target.pause()
}

// sendUntil sends requests over one connection until the round ends, and returns their response times.
func (l *closedLoop) sendUntil(i int, start, end time.Time, sent *atomic.Int64) ([]time.Duration, error) {
	c, next := l.conns[i], l.nextRequest[i]
	if err := c.net.SetDeadline(end.Add(responseTimeout)); err != nil {
		return nil, fmt.Errorf("setting a deadline: %w", err)
	}
	durations := make([]time.Duration, 0, 4096)
	for {
		c.request = next(c.request[:0])
		began := time.Now()
		if !began.Before(end) {
			return durations, nil
		}
		status, _, err := c.do(c.request, false)
		if err != nil {
			return nil, err
		}
		if status != l.want {
			return nil, fmt.Errorf("status %d, want %d, for %.60q", status, l.want, c.request)
		}
		sent.Add(1)
		if !began.Before(start) {
			durations = append(durations, time.Since(began))
		}
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
