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

	"pressroom.example/pressroom/internal/platform/loadshed"
)

const (
	overloadFactor = 2           // request rate, as a multiple of the rate that a full node serves
	overloadConns  = 1024        // enough connections that no request waits for one
	overloadWarmUp = time.Second // a node sheds load only after its queue has been long for some time

	acceptedTarget = 3   // maximum ratio of an overloaded node's p99 for accepted requests to a full node's p99
	servedTarget   = 0.5 // minimum rate that an overloaded node serves, as a share of a full node's rate
	peakTarget     = 256 // maximum memory in MiB
)

// longPage needs far more CPU time in the node than in the client, which runs on the same machine.
var longPage = call{"long_page", 200, 0, nil, func(p *process, _ int) requestFunc {
	return repeatRequest(get(p, "/api/v1/posts?limit=50"))
}}

// measureOverload sends a node more requests than it can serve, at a rate that does not depend on its responses, and
// measures the requests that the node accepts.
func (b *bench) measureOverload(ctx context.Context, tb *testbed, s storage, posts int) error {
	name := s.name() + "/overload/" + sizeName(posts)
	node, err := tb.startPressroom(ctx, b.binary, s, posts)
	if err != nil {
		return err
	}
	closedLoad, err := newClosedLoop(node, longPage, loadshed.DefaultLimit())
	if err != nil {
		return err
	}
	defer closedLoad.close()
	openLoad, err := newOpenLoop(node, longPage)
	if err != nil {
		return err
	}
	defer openLoad.close()
	for range b.rounds {
		if err := errors.Join(ctx.Err(), closedLoad.round(b.warmUp, b.roundLength)); err != nil {
			return err
		}
		rate := overloadFactor * closedLoad.perSecond[len(closedLoad.perSecond)-1]
		if err := openLoad.round(ctx, rate, overloadWarmUp+b.roundLength, overloadWarmUp); err != nil {
			return err
		}
	}
	peak, err := node.peak()
	if err != nil {
		return err
	}
	accepted := newRelativeEntry(name+"/accepted_p99_ms", lowerIsBetter, median(openLoad.p99), median(closedLoad.p99), acceptedTarget)
	served := newRelativeEntry(name+"/accepted_a_second", higherIsBetter, median(openLoad.perSecond),
		median(closedLoad.perSecond), servedTarget)
	accepted.noise, served.noise = spread(closedLoad.p99), spread(closedLoad.perSecond)
	b.report.add(accepted, served, newAbsoluteEntry(name+"/refused_share", median(openLoad.rejected), 0),
		newAbsoluteEntry(name+"/refused_p99_ms", median(openLoad.rejectedP99), 0), newAbsoluteEntry(name+"/peak_mib", peak, peakTarget))
	return nil
}

// openLoop sends requests at a fixed rate. It measures a response time from when the request was due, even if the
// request was sent later.
type openLoop struct {
	target *process
	conns  []*conn
	makers []requestFunc

	// The results have one value per round.
	perSecond, p99, rejected, rejectedP99 []float64
}

func newOpenLoop(target *process, c call) (*openLoop, error) {
	r := &openLoop{target: target}
	for i := range overloadConns {
		one, err := dial(target.addr)
		if err != nil {
			r.close()
			return nil, err
		}
		r.conns, r.makers = append(r.conns, one), append(r.makers, c.newRequests(target, i))
	}
	return r, nil
}

func (l *openLoop) close() {
	for _, c := range l.conns {
		c.close()
	}
}

// latencies holds the response times on one connection in a round.
type latencies struct{ accepted, rejected []time.Duration }

// round sends requests at a fixed rate. It does not count requests that are due during the warm-up.
func (l *openLoop) round(ctx context.Context, rate float64, length, warmUp time.Duration) error {
	if err := l.target.resume(); err != nil {
		return err
	}
	var (
		wg      sync.WaitGroup
		next    atomic.Int64
		began   = time.Now()
		results = make([]latencies, len(l.conns))
		errs    = make([]error, len(l.conns))
		due     = func() time.Duration { return time.Duration(float64(next.Add(1)) / rate * float64(time.Second)) }
	)
	for i := range l.conns {
		wg.Go(func() {
			for at := due(); at < length && errs[i] == nil; at = due() {
				pause(ctx, time.Until(began.Add(at)))
				errs[i] = l.send(i, began.Add(at), at >= warmUp, &results[i])
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	l.record(results, length-warmUp)
	return l.target.pause()
}

func (l *openLoop) send(i int, due time.Time, recorded bool, result *latencies) error {
	c := l.conns[i]
	c.request = l.makers[i](c.request[:0])
	if err := c.net.SetDeadline(time.Now().Add(responseTimeout)); err != nil {
		return fmt.Errorf("setting a deadline: %w", err)
	}
	status, _, err := c.do(c.request, false)
	switch took := time.Since(due); {
	case err != nil:
		return fmt.Errorf("%s under overload: %w", l.target.name, err)
	case status != http.StatusOK && status != http.StatusServiceUnavailable:
		return fmt.Errorf("%s returned status %d under overload", l.target.name, status)
	case !recorded:
	case status == http.StatusOK:
		result.accepted = append(result.accepted, took)
	default:
		result.rejected = append(result.rejected, took)
	}
	return nil
}

func (l *openLoop) record(results []latencies, length time.Duration) {
	var accepted, rejected []time.Duration
	for _, a := range results {
		accepted, rejected = append(accepted, a.accepted...), append(rejected, a.rejected...)
	}
	slices.Sort(accepted)
	slices.Sort(rejected)
	l.perSecond = append(l.perSecond, float64(len(accepted))/length.Seconds())
	l.p99 = append(l.p99, milliseconds(percentile(accepted, 0.99)))
	l.rejected = append(l.rejected, ratio(float64(len(rejected)), float64(len(accepted)+len(rejected))))
	l.rejectedP99 = append(l.rejectedP99, milliseconds(percentile(rejected, 0.99)))
}
