package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// bench runs the measurements on each kind of database in turn.
type bench struct {
	scope
	binary string
	report *report
}

// measurement is one part of the benchmarks. It runs on a database with the given number of posts.
type measurement struct {
	name  string
	posts int
	run   func(ctx context.Context, tb *testbed, s storage, posts int) error
}

// measure runs every measurement on one database.
func (b *bench) measure(ctx context.Context, s storage) error {
	sizes := b.sizes[s.name()]
	measurements := []measurement{{"start and memory", sizes[0], b.measureStart}, {"reads during reports", sizes[0],
		b.measureReports}}
	for _, posts := range sizes {
		measurements = append(measurements, measurement{"calls", posts, b.compare})
	}
	measurements = append(measurements, measurement{"overload", sizes[0], b.measureOverload})
	if s.name() == "postgres" { // only one node can serve an SQLite file
		measurements = append(measurements, measurement{"two nodes", sizes[0], b.measureNodes})
	}
	if len(b.growth) == 2 {
		measurements = append(measurements, measurement{"growth", b.growth[0], b.measureGrowth})
	}
	for _, m := range measurements {
		if err := withTestbed(func(tb *testbed) error { return m.run(ctx, tb, s, m.posts) }); err != nil {
			return fmt.Errorf("%s: %s with %s posts: %w", s.name(), m.name, sizeName(m.posts), err)
		}
	}
	return nil
}

// group is a set of calls that are measured in turn, on pressroom and on the floor.
type group struct {
	database string
	size     string
	conns    int
	calls    []call
}

func (g group) name(c call) string {
	return g.database + "/" + c.name + "/" + g.size + "/" + strconv.Itoa(g.conns)
}

// compare measures pressroom and the floor. It measures reads first, because writes change the data.
func (b *bench) compare(ctx context.Context, tb *testbed, s storage, posts int) error {
	pressroom, err := tb.startPressroom(ctx, b.binary, s, posts)
	if err != nil {
		return err
	}
	floor, err := tb.startFloor(ctx, s, posts)
	if err != nil {
		return err
	}
	for _, calls := range [][]call{readCalls, {createCall}} {
		for _, conns := range b.conns {
			if err := b.load(ctx, group{s.name(), sizeName(posts), conns, calls}, pressroom, floor); err != nil {
				return err
			}
		}
	}
	return b.reportMemory(s.name()+"/memory/loaded_mib/"+sizeName(posts), pressroom, floor)
}

// comparison measures one call on pressroom and on the floor.
type comparison struct {
	call             call
	pressroom, floor *closedLoop
}

// load measures a group. Each round measures every call on both servers, and the constant response once. The order of
// the servers alternates, so that changes in the machine's speed affect both.
func (b *bench) load(ctx context.Context, g group, pressroom, floor *process) error {
	ceiling, err := newClosedLoop(floor, constantCall, g.conns)
	if err != nil {
		return err
	}
	defer ceiling.close()
	comparisons := make([]comparison, len(g.calls))
	for i, c := range g.calls {
		comparisons[i].call = c
		if comparisons[i].pressroom, err = newClosedLoop(pressroom, c, g.conns); err != nil {
			return err
		}
		defer comparisons[i].pressroom.close()
		if comparisons[i].floor, err = newClosedLoop(floor, c, g.conns); err != nil {
			return err
		}
		defer comparisons[i].floor.close()
	}
	for round := range b.rounds {
		sides := []*closedLoop{ceiling}
		for _, c := range comparisons {
			both := []*closedLoop{c.pressroom, c.floor}
			if round%2 == 1 {
				slices.Reverse(both)
			}
			sides = append(sides, both...)
		}
		for _, s := range sides {
			if err := errors.Join(ctx.Err(), s.round(b.warmUp, b.roundLength)); err != nil {
				return err
			}
		}
	}
	for _, c := range comparisons {
		b.reportCall(g, c, ceiling)
	}
	return nil
}

// reportCall adds the results of one call to the report.
func (b *bench) reportCall(g group, c comparison, ceiling *closedLoop) {
	name := g.name(c.call)
	throughput := newRelativeEntry(name+"/throughput", higherIsBetter, median(c.pressroom.perSecond), median(c.floor.perSecond),
		c.call.minRatio)
	p50 := newRelativeEntry(name+"/p50_ms", lowerIsBetter, median(c.pressroom.p50), median(c.floor.p50), 0)
	p99 := newRelativeEntry(name+"/p99_ms", lowerIsBetter, median(c.pressroom.p99), median(c.floor.p99), 0)
	cpu := newRelativeEntry(name+"/cpu_us", lowerIsBetter, median(c.pressroom.cpu), median(c.floor.cpu), 0)
	throughput.noise, p50.noise, p99.noise, cpu.noise = spread(c.floor.perSecond), spread(c.floor.p50),
		spread(c.floor.p99), spread(c.floor.cpu)
	// The floor is compared with the constant response.
	ofConstant := newRelativeEntry(name+"/floor_of_constant", higherIsBetter, median(c.floor.perSecond), median(ceiling.perSecond),
		c.call.minRatioToConstant[g.database])
	ofConstant.noise = spread(ceiling.perSecond)
	b.report.add(throughput, p50, p99, cpu, ofConstant)
}

// measureGrowth measures how much longer a page takes in a large table than in a small table. The result is the median
// ratio of the p99 times.
func (b *bench) measureGrowth(ctx context.Context, tb *testbed, s storage, _ int) error {
	var sides []*closedLoop
	for _, posts := range b.growth {
		p, err := tb.startPressroom(ctx, b.binary, s, posts)
		if err != nil {
			return err
		}
		one, err := newClosedLoop(p, listPosts, b.conns[0])
		if err != nil {
			return err
		}
		defer one.close()
		sides = append(sides, one)
	}
	for range b.growthRounds {
		for _, one := range sides {
			if err := errors.Join(ctx.Err(), one.round(b.warmUp, b.growthRoundLength)); err != nil {
				return err
			}
		}
	}
	all := ratios(sides[1].p99, sides[0].p99)
	name := s.name() + "/list_posts/growth/p99_" + sizeName(b.growth[1]) + "_over_" + sizeName(b.growth[0])
	e := newAbsoluteEntry(name, median(all), growthTarget)
	e.noise = spread(all)
	b.report.add(e)
	return nil
}

const idleRequests = 200 // requests before the idle memory is read

// measureStart measures the time to the first response and the idle memory.
func (b *bench) measureStart(ctx context.Context, tb *testbed, s storage, posts int) error {
	url, data, err := tb.copyDatabase(ctx, s, posts, "alone")
	if err != nil {
		return err
	}
	var startTimes []float64
	for i := range b.starts {
		p, err := startPressroom(ctx, b.binary, url, data)
		if err != nil {
			return err
		}
		startTimes = append(startTimes, p.startDuration.Seconds())
		if i == b.starts-1 {
			err = b.reportIdle(ctx, p, s.name()+"/memory/idle_mib")
		}
		if err = errors.Join(err, p.stop()); err != nil {
			return err
		}
	}
	e := newAbsoluteEntry(s.name()+"/start/first_answer_s", median(startTimes), startTarget)
	e.noise = spread(startTimes)
	b.report.add(e)
	return nil
}

// reportIdle sends some requests, waits, and adds the memory that the idle server uses to the report.
func (b *bench) reportIdle(ctx context.Context, p *process, name string) error {
	for range idleRequests {
		if err := p.send(get(p, "/api/v1/posts?limit=20")); err != nil {
			return err
		}
	}
	pause(ctx, b.idle)
	mib, err := p.resident()
	if err != nil {
		return err
	}
	anonymousMiB, err := p.anonymousMemory()
	if err != nil {
		return err
	}
	b.report.add(newAbsoluteEntry(name, mib, residentTarget),
		newAbsoluteEntry(strings.Replace(name, "/idle_", "/idle_own_", 1), anonymousMiB, 0))
	return nil
}

// reportMemory adds the resident memory of both servers after the load to the report. It has no target.
func (b *bench) reportMemory(name string, pressroom, floor *process) error {
	pressroomMiB, err := pressroom.resident()
	if err != nil {
		return err
	}
	floorMiB, err := floor.resident()
	if err != nil {
		return err
	}
	b.report.add(newRelativeEntry(name, lowerIsBetter, pressroomMiB, floorMiB, 0))
	return nil
}
