package money

import (
	"context"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/test/money/standin"
)

// runJob runs a job, possibly one that has already ended.
func (m *machine) runJob(t *rapid.T) {
	team := m.anyTeam(t)
	if len(team.searches) == 0 {
		t.Skip("no job")
	}
	c := rapid.SampledFrom(team.searches).Draw(t, "work")
	f := m.anyFault(t)
	if f.point != "" {
		f.point = "stand_in.settled"
	}
	ctx, done := f.inject(apiCall{})
	err := m.nodes[m.anyNode(t)].runJob(ctx, c.job)
	done()
	m.selectDay(t, team)
	m.days[team].allowLostRefund(f, c.order)
	switch {
	case c.ended:
		m.mustEndWith(t, c, err, m.db.Postgres() && f.disconnected)
	case f.disconnected:
		m.mustEndWith(t, c, err, true)
	case c.order.scenario().End == standin.Later && !c.tried:
		c.tried = true
		m.mustEndWith(t, c, err, true)
	case m.rejectionOf(f, apiCall{key: "x"}, "stand_in.settled") != "":
		m.mustEndWith(t, c, err, true)
	default:
		m.mustEndWith(t, c, err, false)
		team.end(c)
	}
}

// runJobTwice runs a job with two workers. The first worker ends the job after the second has read it.
func (m *machine) runJobTwice(t *rapid.T) {
	team := m.anyTeam(t)
	open := slices.DeleteFunc(slices.Clone(team.searches), func(c *charge) bool {
		return c.ended || c.order.scenario().End == standin.Later && !c.tried
	})
	if len(open) == 0 {
		t.Skip("no job")
	}
	c := rapid.SampledFrom(open).Draw(t, "work")
	first := m.nodes[m.anyNode(t)]
	ctx := standin.WithInjector(context.Background(), func(_ context.Context, _ *db.Tx, at string) error {
		if at == "stand_in.read" {
			return first.runJob(context.Background(), c.job)
		}
		return nil
	})
	m.mustEndWith(t, c, m.nodes[m.anyNode(t)].runJob(ctx, c.job), false)
	m.selectDay(t, team)
	team.end(c)
}

// runJob runs a job and, like the queue, converts a panic into an error.
func (n *node) runJob(ctx context.Context, id string) error {
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

func (m *machine) mustEndWith(t *rapid.T, c *charge, err error, failed bool) {
	if (err != nil) != failed {
		t.Fatalf("the job of %+v: error %v, want an error: %v", c.order, err, failed)
	}
}
