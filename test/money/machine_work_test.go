package money

import (
	"context"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"pressroom/internal/platform/db"
	"pressroom/test/money/standin"
)

// work ends a job, or tries to; now and then one that has ended.
func (m *machine) work(t *rapid.T) {
	team := m.anyTeam(t)
	if len(team.searches) == 0 {
		t.Skip("no work")
	}
	c := rapid.SampledFrom(team.searches).Draw(t, "work")
	f := m.anyFault(t)
	if f.at != "" {
		f.at = "stand_in.settled"
	}
	ctx, done := f.into(order{})
	err := m.nodes[m.anyNode(t)].do(ctx, c.job)
	done()
	m.today(t, team)
	m.days[team].losing(f, c.order)
	switch {
	case c.ended:
		m.mustEnd(t, c, err, m.db.Postgres() && f.gone)
	case f.gone:
		m.mustEnd(t, c, err, true)
	case c.order.words().End == standin.Later && !c.tried:
		c.tried = true
		m.mustEnd(t, c, err, true)
	case m.failing(f, order{idem: "x"}, "stand_in.settled") != "":
		m.mustEnd(t, c, err, true)
	default:
		m.mustEnd(t, c, err, false)
		team.end(c)
	}
}

// workTwice has two workers process the same job: the second has read the job when the first ends it.
func (m *machine) workTwice(t *rapid.T) {
	team := m.anyTeam(t)
	open := slices.DeleteFunc(slices.Clone(team.searches), func(c *charge) bool {
		return c.ended || c.order.words().End == standin.Later && !c.tried
	})
	if len(open) == 0 {
		t.Skip("no work")
	}
	c := rapid.SampledFrom(open).Draw(t, "work")
	first := m.nodes[m.anyNode(t)]
	ctx := standin.WithInjector(context.Background(), func(_ context.Context, _ *db.Tx, at string) error {
		if at == "stand_in.read" {
			return first.do(context.Background(), c.job)
		}
		return nil
	})
	m.mustEnd(t, c, m.nodes[m.anyNode(t)].do(ctx, c.job), false)
	m.today(t, team)
	team.end(c)
}

// do does a piece of work as the queue does: a panic is an error.
func (n *node) do(ctx context.Context, id string) error {
	var err error
	func() {
		defer func() {
			if cause := recover(); cause != nil {
				err = fmt.Errorf("panic: %v", cause)
			}
		}()
		err = n.work.Do(ctx, id)
	}()
	return err
}

func (m *machine) mustEnd(t *rapid.T, c *charge, err error, failed bool) {
	if (err != nil) != failed {
		t.Fatalf("the work of %+v: %v", c.order, err)
	}
}
