package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pressroom/internal/platform/loadshed"
)

const (
	overloaded    = 2           // times what a full node serves
	overloadConns = 1024        // so many requests can be under way that none waits for a connection while the node keeps its bounds
	settling      = time.Second // the queue has to have stood for a while before a node sends callers away soon

	acceptedTarget = 3   // p99 of what an overloaded node accepts over that of a full one
	servedTarget   = 0.5 // what an overloaded node serves, of what a full one does
	peakTarget     = 256 // MiB
)

// longPage costs the node a good deal more than it costs to ask for it: the client has the same processors.
var longPage = call{"long_page", 200, 0, nil, func(p *process, _ int) maker { return same(get(p, "/api/v1/posts?limit=50")) }}

// overload asks a node for a multiple of what it can serve, at moments that do not depend on its answers, and tells
// what becomes of what it accepts.
func (b *bench) overload(ctx context.Context, s storage, posts int) error {
	name := s.name() + "/overload/" + sizeName(posts)
	if !b.wants(name) {
		return nil
	}
	var st stage
	return errors.Join(b.overloadOn(ctx, &st, s, posts, name), st.close())
}

func (b *bench) overloadOn(ctx context.Context, st *stage, s storage, posts int, name string) error {
	node, err := st.ours(ctx, b.binary, s, posts)
	if err != nil {
		return err
	}
	full, err := newSide(node, longPage, loadshed.Places())
	if err != nil {
		return err
	}
	defer full.close()
	crowd, err := newRush(node, longPage)
	if err != nil {
		return err
	}
	defer crowd.close()
	for range b.rounds {
		if err := errors.Join(ctx.Err(), full.round(b.warm, b.round)); err != nil {
			return err
		}
		rate := overloaded * full.perSecond[len(full.perSecond)-1]
		if err := crowd.round(ctx, rate, settling+b.round, settling); err != nil {
			return err
		}
	}
	peak, err := node.peak()
	if err != nil {
		return err
	}
	accepted := against(name+"/accepted_p99_ms", less, median(crowd.p99), median(full.p99), acceptedTarget)
	served := against(name+"/accepted_a_second", more, median(crowd.perSecond), median(full.perSecond), servedTarget)
	accepted.noise, served.noise = spread(full.p99), spread(full.perSecond)
	b.report.add(accepted, served, absolute(name+"/refused_share", median(crowd.refused), 0),
		absolute(name+"/refused_p99_ms", median(crowd.refusedP99), 0), absolute(name+"/peak_mib", peak, peakTarget))
	return nil
}

// rush asks at a rate of its own. The time of an answer counts from when its question was due, so that a node that is
// late with one is late with those behind it too.
type rush struct {
	target *process
	conns  []*conn
	makers []maker

	// A figure a round.
	perSecond, p99, refused, refusedP99 []float64
}

func newRush(target *process, c call) (*rush, error) {
	r := &rush{target: target}
	for i := range overloadConns {
		one, err := dial(target.addr)
		if err != nil {
			r.close()
			return nil, err
		}
		r.conns, r.makers = append(r.conns, one), append(r.makers, c.maker(target, i))
	}
	return r, nil
}

func (r *rush) close() {
	for _, c := range r.conns {
		c.close()
	}
}

// answers are the times that it took a round's answers to come, by whether they were refusals.
type answers struct{ accepted, refused []time.Duration }

// round asks at a rate for a while; what is due before it has settled does not count.
func (r *rush) round(ctx context.Context, rate float64, length, settled time.Duration) error {
	if err := r.target.resume(); err != nil {
		return err
	}
	var (
		group  sync.WaitGroup
		next   atomic.Int64
		began  = time.Now()
		of     = make([]answers, len(r.conns))
		failed = make([]error, len(r.conns))
		due    = func() time.Duration { return time.Duration(float64(next.Add(1)) / rate * float64(time.Second)) }
	)
	for i := range r.conns {
		group.Go(func() {
			for at := due(); at < length && failed[i] == nil; at = due() {
				pause(ctx, time.Until(began.Add(at)))
				failed[i] = r.ask(i, began.Add(at), at >= settled, &of[i])
			}
		})
	}
	group.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	r.note(of, length-settled)
	return r.target.pause()
}

func (r *rush) ask(i int, due time.Time, counts bool, to *answers) error {
	c := r.conns[i]
	c.request = r.makers[i](c.request[:0])
	if err := c.net.SetDeadline(time.Now().Add(answerWithin)); err != nil {
		return fmt.Errorf("setting a deadline: %w", err)
	}
	status, _, err := c.do(c.request, false)
	switch took := time.Since(due); {
	case err != nil:
		return fmt.Errorf("%s under too much load: %w", r.target.name, err)
	case status != http.StatusOK && status != http.StatusServiceUnavailable:
		return fmt.Errorf("%s answered %d under too much load", r.target.name, status)
	case !counts:
	case status == http.StatusOK:
		to.accepted = append(to.accepted, took)
	default:
		to.refused = append(to.refused, took)
	}
	return nil
}

func (r *rush) note(of []answers, length time.Duration) {
	var accepted, refused []time.Duration
	for _, a := range of {
		accepted, refused = append(accepted, a.accepted...), append(refused, a.refused...)
	}
	slices.Sort(accepted)
	slices.Sort(refused)
	r.perSecond = append(r.perSecond, float64(len(accepted))/length.Seconds())
	r.p99 = append(r.p99, milliseconds(percentile(accepted, 0.99)))
	r.refused = append(r.refused, ratio(float64(len(refused)), float64(len(accepted)+len(refused))))
	r.refusedP99 = append(r.refusedP99, milliseconds(percentile(refused, 0.99)))
}
