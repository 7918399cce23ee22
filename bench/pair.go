package main

import (
	"context"
	"errors"
	"sync"
)

const pairTarget = 1.1 // processor time of a request with two nodes on one database over that with one

// pair tells what a second node on the same database costs: the processor time of a request on one node, and on two with as many
// connections together.
func (b *bench) pair(ctx context.Context, s storage, posts int) error {
	name := s.name() + "/nodes/" + sizeName(posts)
	if s.name() != "postgres" || !b.wants(name) { // an SQLite file has one node
		return nil
	}
	var st stage
	return errors.Join(b.pairOn(ctx, &st, s, posts, name), st.close())
}

func (b *bench) pairOn(ctx context.Context, st *stage, s storage, posts int, name string) error {
	url, data, err := st.database(ctx, s, posts, "pair")
	if err != nil {
		return err
	}
	first, err := startOurs(ctx, b.binary, url, data)
	if err != nil {
		return err
	}
	st.ends = append(st.ends, first.stop)
	first.rests = false // one that is stopped in a transaction would hold up the other
	calls := []call{reads[1], listPosts, create}
	one, two := make([][]float64, len(calls)), make([][]float64, len(calls))
	measure := func(into [][]float64, nodes ...*process) error {
		for i, c := range calls {
			spent, err := b.together(ctx, c, nodes...)
			if err != nil {
				return err
			}
			into[i] = append(into[i], spent...)
		}
		return nil
	}
	if err := measure(one, first); err != nil {
		return err
	}
	second, err := startOurs(ctx, b.binary, url, data)
	if err != nil {
		return err
	}
	second.rests = false
	if err := errors.Join(measure(two, first, second), second.stop()); err != nil {
		return err
	}
	if err := measure(one, first); err != nil { // before and after, as the machine and the database change
		return err
	}
	for i, c := range calls {
		e := against(name+"/"+c.name+"/cpu_us", less, median(two[i]), median(one[i]), pairTarget)
		e.noise = spread(one[i])
		b.report.add(e)
	}
	return nil
}

// together is the processor time of a request in each round of a call, in microseconds, with the connections shared out to the nodes.
func (b *bench) together(ctx context.Context, c call, nodes ...*process) ([]float64, error) {
	sides := make([]*side, len(nodes))
	for i, node := range nodes {
		var err error
		if sides[i], err = newSide(node, c, b.conns[len(b.conns)-1]/len(nodes)); err != nil {
			return nil, err
		}
		defer sides[i].close()
	}
	spent := make([]float64, b.rounds)
	for round := range spent {
		var group sync.WaitGroup
		failed := make([]error, len(sides))
		for i, s := range sides {
			group.Go(func() { failed[i] = s.round(b.warm, b.round) })
		}
		group.Wait()
		if err := errors.Join(errors.Join(failed...), ctx.Err()); err != nil {
			return nil, err
		}
		answered := 0.0
		for _, s := range sides {
			spent[round] += s.cpu[round] * s.perSecond[round]
			answered += s.perSecond[round]
		}
		spent[round] /= answered
	}
	return spent, nil
}
