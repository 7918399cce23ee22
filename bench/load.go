package main

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// side is one server under one kind of request: a set of connections that stay open from round to round.
type side struct {
	target *process
	want   int // the status of a success
	conns  []*conn
	makers []maker // one for each connection

	// A figure a round: requests a second, milliseconds, and microseconds of the server's processor time a request.
	perSecond, p50, p99, cpu []float64
}

// newSide opens the connections and asks once on each: a server closes one on which nothing was asked for long, and
// its turn may come late.
func newSide(target *process, c call, conns int) (*side, error) {
	if err := target.resume(); err != nil {
		return nil, err
	}
	s := &side{target: target, want: c.want}
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

func (s *side) close() {
	for _, c := range s.conns {
		c.close()
	}
}

// round loads the server for a while and notes the figures. What is answered while it warms up does not count.
func (s *side) round(warm, length time.Duration) error {
	if err := s.target.resume(); err != nil {
		return err
	}
	var (
		group  sync.WaitGroup
		took   = make([][]time.Duration, len(s.conns))
		failed = make([]error, len(s.conns))
		asked  atomic.Int64
		from   = time.Now().Add(warm)
		until  = from.Add(length)
	)
	before, err := s.target.cpu()
	if err != nil {
		return err
	}
	for i := range s.conns {
		group.Go(func() { took[i], failed[i] = s.work(i, from, until, &asked) })
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
	s.cpu = append(s.cpu, ratio(float64(after-before)/float64(time.Microsecond), float64(asked.Load())))
	return s.target.pause()
}

// work sends one request after the other over one connection.
func (s *side) work(i int, from, until time.Time, asked *atomic.Int64) ([]time.Duration, error) {
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
			return nil, fmt.Errorf("answered %d, not %d, to %.60q", status, s.want, c.request)
		}
		asked.Add(1)
		if !began.Before(from) {
			took = append(took, time.Since(began))
		}
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
