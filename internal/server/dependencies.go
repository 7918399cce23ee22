package server

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"pressroom/internal/platform/db"
)

const (
	checkEvery  = 15 * time.Second
	checkWithin = 5 * time.Second // longer is no answer
)

// dependencies are what this node needs others for. They are asked in the background, so that whoever reads /metrics
// waits for none of them.
type dependencies struct {
	ask map[string]func(context.Context) error
	log *slog.Logger

	mu   sync.Mutex
	last map[string]answer
}

type answer struct {
	up    bool
	took  time.Duration
	since time.Time // that it does not answer
}

var errSilent = errors.New("it does not answer")

func (s *Server) dependencies() *dependencies {
	d := &dependencies{
		last: map[string]answer{}, log: s.cfg.Log,
		ask: map[string]func(context.Context) error{"database": s.db.Ping, "files": s.blobs.Ping},
	}
	if s.cfg.Redis != "" {
		d.ask["redis"] = func(ctx context.Context) error {
			if _, answering := s.rates.Shared(ctx); !answering {
				return errSilent
			}
			return nil
		}
	}
	return d
}

func (d *dependencies) run(ctx context.Context) {
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for {
		d.check(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// check asks all of them, side by side: one that hangs holds no other up.
func (d *dependencies) check(ctx context.Context) {
	within, cancel := context.WithTimeout(ctx, checkWithin)
	defer cancel()
	var all sync.WaitGroup
	for name, ask := range d.ask {
		all.Go(func() {
			began := time.Now()
			if err := ask(within); ctx.Err() == nil { // else this node ends
				d.note(name, began, err)
			}
		})
	}
	all.Wait()
}

// note keeps what one answered, and tells the log where that is another answer than before.
func (d *dependencies) note(name string, began time.Time, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	last, asked := d.last[name]
	now := answer{up: err == nil, took: time.Since(began)}
	switch {
	case !now.up && (!asked || last.up):
		now.since = began
		d.log.Warn("what this node depends on does not answer", "dependency", name, "error", err)
	case !now.up:
		now.since = last.since
	case asked && !last.up:
		d.log.Info("what this node depends on answers again", "dependency", name, "after", time.Since(last.since).
			Round(time.Second).String())
	}
	d.last[name] = now
}

var (
	dependencyUp = told("dependency_up",
		"1 where what this node depends on answered when it was asked last: the database, the store of files, Redis "+
			"where one is set.", "dependency")
	dependencyTook = told("dependency_check_seconds", "How long it took to answer that.", "dependency")
)

// Describe names what Collect tells.
func (*dependencies) Describe(out chan<- *prometheus.Desc) {
	out <- dependencyUp
	out <- dependencyTook
}

// Collect tells what each answered last; nothing before it was asked.
func (d *dependencies) Collect(out chan<- prometheus.Metric) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, last := range d.last {
		up := 0.0
		if last.up {
			up = 1
		}
		out <- prometheus.MustNewConstMetric(dependencyUp, prometheus.GaugeValue, up, name)
		out <- prometheus.MustNewConstMetric(dependencyTook, prometheus.GaugeValue, last.took.Seconds(), name)
	}
}

// poolState is what Prometheus reads of the connections to the database as it asks.
type poolState struct{ db *db.DB }

var (
	poolConnections = told("database_connections",
		"Connections to the database, by pool and whether they are in_use or idle.", "pool", "state")
	poolMost   = told("database_connections_max", "How many connections a pool may have.", "pool")
	poolWaits  = told("database_connection_waits_total", "How often somebody had to wait for a connection.", "pool")
	poolWaited = told("database_connection_wait_seconds_total", "How long they waited in all.", "pool")
)

// Describe names what Collect tells.
func (*poolState) Describe(out chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{poolConnections, poolMost, poolWaits, poolWaited} {
		out <- desc
	}
}

// Collect tells how the pools stand.
func (p *poolState) Collect(out chan<- prometheus.Metric) {
	for pool, stats := range p.db.Pools() {
		out <- prometheus.MustNewConstMetric(poolConnections, prometheus.GaugeValue, float64(stats.InUse), pool,
			"in_use")
		out <- prometheus.MustNewConstMetric(poolConnections, prometheus.GaugeValue, float64(stats.Idle), pool, "idle")
		out <- prometheus.MustNewConstMetric(poolMost, prometheus.GaugeValue, float64(stats.MaxOpenConnections), pool)
		out <- prometheus.MustNewConstMetric(poolWaits, prometheus.CounterValue, float64(stats.WaitCount), pool)
		out <- prometheus.MustNewConstMetric(poolWaited, prometheus.CounterValue, stats.WaitDuration.Seconds(), pool)
	}
}
