package main

import (
	"context"
	"errors"
	"sync"
)

const (
	pairTarget = 1.1 // maximum ratio of the CPU time per request with two nodes to the CPU time with one node
	pairRounds = 2   // factor for the number of rounds; CPU time varies by more than the difference to measure
)

// measureNodes measures the cost of a second node. It compares the CPU time per request in two cases: both nodes
// receive requests, or one node receives all of them. The number of connections is the same.
func (b *bench) measureNodes(ctx context.Context, tb *testbed, s storage, posts int) error {
	name := s.name() + "/nodes/" + sizeName(posts)
	url, data, err := tb.copyDatabase(ctx, s, posts, "pair")
	if err != nil {
		return err
	}
	nodes := make([]*process, 2)
	for i := range nodes {
		if nodes[i], err = startPressroom(ctx, b.binary, url, data); err != nil {
			return err
		}
		tb.cleanups = append(tb.cleanups, nodes[i].stop)
		nodes[i].pausedWhenIdle = false // a node that is paused in a transaction would block the other node
	}
	for _, c := range []call{readCalls[1], listPosts, createCall} {
		var singleCPU, pairCPU []float64
		for range pairRounds * b.rounds { // alternate, because the speed of the machine and the database changes
			for _, m := range []struct {
				into  *[]float64
				nodes []*process
			}{{&singleCPU, nodes[:1]}, {&pairCPU, nodes}} {
				spent, err := b.sharedRound(ctx, c, m.nodes...)
				if err != nil {
					return err
				}
				*m.into = append(*m.into, spent)
			}
		}
		e := newRelativeEntry(name+"/"+c.name+"/cpu_us", lowerIsBetter, median(pairCPU), median(singleCPU), pairTarget)
		e.noise = spread(singleCPU)
		b.report.add(e)
	}
	return nil
}

// sharedRound runs a round of a call with the connections distributed among nodes. It returns the CPU time per
// request in microseconds.
func (b *bench) sharedRound(ctx context.Context, c call, nodes ...*process) (float64, error) {
	sides := make([]*closedLoop, len(nodes))
	for i, node := range nodes {
		var err error
		if sides[i], err = newClosedLoop(node, c, b.conns[len(b.conns)-1]/len(nodes)); err != nil {
			return 0, err
		}
		defer sides[i].close()
	}
	var wg sync.WaitGroup
	errs := make([]error, len(sides))
	for i, s := range sides {
		wg.Go(func() { errs[i] = s.round(b.warmUp, b.roundLength) })
	}
	wg.Wait()
	if err := errors.Join(errors.Join(errs...), ctx.Err()); err != nil {
		return 0, err
	}
	cpuTime, requests := 0.0, 0.0
	for _, s := range sides {
		cpuTime += s.cpu[0] * s.perSecond[0]
		requests += s.perSecond[0]
	}
	return cpuTime / requests, nil
}
