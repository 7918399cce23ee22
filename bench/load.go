package main

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// closedLoop sends one call to one server, over connections that stay open between rounds.
type closedLoop struct {
	target *process
	want   int // expected HTTP status
	conns  []*conn
	makers []requestFunc // one per connection

	// One value per round: requests per second, milliseconds, and the server's CPU time per request in microseconds.
	perSecond, p50, p99, cpu []float64
}

// newClosedLoop opens the connections and pauses the server. It sends a request on each connection, because a server
// closes unused connections.
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
		s.conns, s.makers = append(s.conns, one), append(s.makers, c.maker(target, i))
		if _, _, err := one.do(s.makers[i](nil), false); err != nil {
			s.close()
			return nil, fmt.Errorf("%s: %w", target.name, err)
		}
	}
	return s, target.pause()
}

func (s *closedLoop) close() {
	for _, c := range s.conns {
		c.close()
	}
}

// round sends requests during the warm-up and then for a length of time, and records the results. Throughput and
// response times exclude the warm-up. The CPU time per request includes it.
func (s *closedLoop) round(warm, length time.Duration) error {
	if err := s.target.resume(); err != nil {
		return err
	}
	var (
		group  sync.WaitGroup
		took   = make([][]time.Duration, len(s.conns))
		failed = make([]error, len(s.conns))
		sent   atomic.Int64
		from   = time.Now().Add(warm)
		until  = from.Add(length)
	)
	before, err := s.target.cpu()
	if err != nil {
		return err
	}
	for i := range s.conns {
		group.Go(func() { took[i], failed[i] = s.work(i, from, until, &sent) })
	}
	group.Wait()
	wall := time.Since(from)
	after, err := s.target.cpu()
	if err = errors.Join(append(failed, err)...); err != nil {
		return fmt.Errorf("%s: %w", s.target.name, err)
	}
	all := slices.Concat(took...)
	slices.Sort(all)
	s.perSecond = append(s.perSecond, float64(len(all))/wall.Seconds())
	s.p50 = append(s.p50, milliseconds(percentile(all, 0.50)))
	s.p99 = append(s.p99, milliseconds(percentile(all, 0.99)))
	s.cpu = append(s.cpu, ratio(float64(after-before)/float64(time.Microsecond), float64(sent.Load())))
	return s.target.pause()
}

// work sends requests over one connection until the round ends, and returns their response times.
func (s *closedLoop) work(i int, from, until time.Time, sent *atomic.Int64) ([]time.Duration, error) {
	c, next := s.conns[i], s.makers[i]
	if err := c.net.SetDeadline(until.Add(answerWithin)); err != nil {
		return nil, fmt.Errorf("setting a deadline: %w", err)
	}
	took := make([]time.Duration, 0, 4096)
	for {
		c.request = next(c.request[:0])
		began := time.Now()
		if !began.Before(until) {
			return took, nil
		}
		status, _, err := c.do(c.request, false)
		if err != nil {
			return nil, err
		}
		if status != s.want {
			return nil, fmt.Errorf("status %d, want %d, for %.60q", status, s.want, c.request)
		}
		sent.Add(1)
		if !began.Before(from) {
			took = append(took, time.Since(began))
		}
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
