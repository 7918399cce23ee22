package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// bench measures one kind of database after the other.
type bench struct {
	scope
	dir    string // for what is seeded
	data   string // for what is measured; empty: memory
	binary string
	keep   bool // databases filled with years stay
	only   *regexp.Regexp
	report *report
}

// wants tells whether figures that begin with this name were asked for.
func (b *bench) wants(name string) bool { return b.only == nil || b.only.MatchString(name) }

// measure measures everything on one kind of database.
func (b *bench) measure(ctx context.Context, s storage) error {
	if err := b.alone(ctx, s, b.sizes[s.name()][0]); err != nil {
		return fmt.Errorf("%s: %w", s.name(), err)
	}
	if err := b.beside(ctx, s); err != nil {
		return fmt.Errorf("%s beside reports: %w", s.name(), err)
	}
	for _, posts := range b.sizes[s.name()] {
		if err := b.compare(ctx, s, posts); err != nil {
			return fmt.Errorf("%s with %s posts: %w", s.name(), sizeName(posts), err)
		}
	}
	for what, measure := range map[string]func(context.Context, storage, int) error{"too much load": b.overload, "two nodes": b.pair} {
		if err := measure(ctx, s, b.sizes[s.name()][0]); err != nil {
			return fmt.Errorf("%s under %s: %w", s.name(), what, err)
		}
	}
	if name := s.name() + "/list_posts/growth"; len(b.growth) == 2 && b.wants(name) {
		if err := b.grow(ctx, s, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// group is some calls measured in turn, ours and the floor's one after the other.
type group struct {
	database string
	size     string
	conns    int
	calls    []call
}

func (g group) name(c call) string {
	return g.database + "/" + c.name + "/" + g.size + "/" + strconv.Itoa(g.conns)
}

// compare holds ours against the floor with so many posts: reads first, as writes change what there is to read.
func (b *bench) compare(ctx context.Context, s storage, posts int) error {
	var groups []group
	for _, calls := range [][]call{reads, {create}} {
		for _, conns := range b.conns {
			g := group{database: s.name(), size: sizeName(posts), conns: conns}
			for _, c := range calls {
				if b.wants(g.name(c)) {
					g.calls = append(g.calls, c)
				}
			}
			if len(g.calls) > 0 {
				groups = append(groups, g)
			}
		}
	}
	if len(groups) == 0 {
		return nil
	}
	var st stage
	return errors.Join(b.compareOn(ctx, &st, s, posts, groups), st.close())
}

func (b *bench) compareOn(ctx context.Context, st *stage, s storage, posts int, groups []group) error {
	ours, err := st.ours(ctx, b.binary, s, posts)
	if err != nil {
		return err
	}
	floor, err := st.floor(ctx, s, posts)
	if err != nil {
		return err
	}
	for _, g := range groups {
		if err := b.load(ctx, g, ours, floor); err != nil {
			return err
		}
	}
	return b.loaded(s.name()+"/memory/loaded_mib/"+sizeName(posts), ours, floor)
}

// contest is one call on both sides.
type contest struct {
	call        call
	ours, floor *side
}

// load measures a group: in every round each call on both sides, and once the constant. Which side goes first
// changes from round to round, so that a machine that grows slower or faster favours neither.
func (b *bench) load(ctx context.Context, g group, ours, floor *process) error {
	ceiling, err := newSide(floor, constant, g.conns)
	if err != nil {
		return err
	}
	defer ceiling.close()
	contests := make([]contest, len(g.calls))
	for i, c := range g.calls {
		contests[i].call = c
		if contests[i].ours, err = newSide(ours, c, g.conns); err != nil {
			return err
		}
		defer contests[i].ours.close()
		if contests[i].floor, err = newSide(floor, c, g.conns); err != nil {
			return err
		}
		defer contests[i].floor.close()
	}
	for round := range b.rounds {
		sides := []*side{ceiling}
		for _, c := range contests {
			both := []*side{c.ours, c.floor}
			if round%2 == 1 {
				slices.Reverse(both)
			}
			sides = append(sides, both...)
		}
		for _, s := range sides {
			if err := errors.Join(ctx.Err(), s.round(b.warm, b.round)); err != nil {
				return err
			}
		}
	}
	for _, c := range contests {
		b.tell(g, c, ceiling)
	}
	return nil
}

// tell reports what the rounds of one call came to.
func (b *bench) tell(g group, c contest, ceiling *side) {
	name := g.name(c.call)
	throughput := against(name+"/throughput", more, median(c.ours.perSecond), median(c.floor.perSecond), c.call.target)
	p50 := against(name+"/p50_ms", less, median(c.ours.p50), median(c.floor.p50), 0)
	p99 := against(name+"/p99_ms", less, median(c.ours.p99), median(c.floor.p99), 0)
	cpu := against(name+"/cpu_us", less, median(c.ours.cpu), median(c.floor.cpu), 0)
	throughput.noise, p50.noise, p99.noise, cpu.noise = spread(c.floor.perSecond), spread(c.floor.p50),
		spread(c.floor.p99), spread(c.floor.cpu)
	// Here the floor stands in the place of ours, and the constant in that of the floor.
	ofConstant := against(name+"/floor_of_constant", more, median(c.floor.perSecond), median(ceiling.perSecond),
		c.call.ofConstant[g.database])
	ofConstant.noise = spread(ceiling.perSecond)
	b.report.add(throughput, p50, p99, cpu, ofConstant)
}

// grow tells whether a page costs more in a large table than in a small one: the median of some ratios of p99.
func (b *bench) grow(ctx context.Context, s storage, name string) error {
	var st stage
	return errors.Join(b.growOn(ctx, &st, s, name), st.close())
}

func (b *bench) growOn(ctx context.Context, st *stage, s storage, name string) error {
	var sides []*side
	for _, posts := range b.growth {
		p, err := st.ours(ctx, b.binary, s, posts)
		if err != nil {
			return err
		}
		one, err := newSide(p, listPosts, b.conns[0])
		if err != nil {
			return err
		}
		defer one.close()
		sides = append(sides, one)
	}
	for range b.ratios {
		for _, one := range sides {
			if err := errors.Join(ctx.Err(), one.round(b.warm, b.growFor)); err != nil {
				return err
			}
		}
	}
	all := ratios(sides[1].p99, sides[0].p99)
	e := absolute(name+"/p99_"+sizeName(b.growth[1])+"_over_"+sizeName(b.growth[0]), median(all), growthTarget)
	e.noise = spread(all)
	b.report.add(e)
	return nil
}

// alone measures what the program takes by itself: the time to its first answer, and its memory at rest.
func (b *bench) alone(ctx context.Context, s storage, posts int) error {
	start, idle := s.name()+"/start/first_answer_s", s.name()+"/memory/idle_mib"
	if !b.wants(start) && !b.wants(idle) {
		return nil
	}
	var st stage
	return errors.Join(b.aloneOn(ctx, &st, s, posts, start, idle), st.close())
}

const idleRequests = 200 // how many requests the program has answered when its memory is read

func (b *bench) aloneOn(ctx context.Context, st *stage, s storage, posts int, start, idle string) error {
	url, data, err := st.database(ctx, s, posts, "alone")
	if err != nil {
		return err
	}
	var took []float64
	for i := range b.starts {
		p, err := startOurs(ctx, b.binary, url, data)
		if err != nil {
			return err
		}
		took = append(took, p.started.Seconds())
		if i == b.starts-1 {
			err = b.rest(ctx, p, idle)
		}
		if err = errors.Join(err, p.stop()); err != nil {
			return err
		}
	}
	e := absolute(start, median(took), startTarget)
	e.noise = spread(took)
	b.report.add(e)
	return nil
}

// rest asks a little, lets the program be and reads its memory.
func (b *bench) rest(ctx context.Context, p *process, name string) error {
	for range idleRequests {
		if err := p.ask(get(p, "/api/v1/posts?limit=20")); err != nil {
			return err
		}
	}
	pause(ctx, b.idle)
	mib, err := p.resident()
	if err != nil {
		return err
	}
	own, err := p.own()
	if err != nil {
		return err
	}
	b.report.add(absolute(name, mib, residentTarget), absolute(strings.Replace(name, "/idle_", "/idle_own_", 1), own, 0))
	return nil
}

// loaded tells the memory after all the load; nothing is asked of it.
func (b *bench) loaded(name string, ours, floor *process) error {
	mine, err := ours.resident()
	if err != nil {
		return err
	}
	its, err := floor.resident()
	if err != nil {
		return err
	}
	b.report.add(against(name, less, mine, its, 0))
	return nil
}
