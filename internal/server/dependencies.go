package server

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"pressroom.example/pressroom/internal/platform/db"
)

const (
	checkInterval = 15 * time.Second
	checkTimeout  = 5 * time.Second
)

// dependencies checks the services on which this node depends. It checks them in the background, so that requests for
// /metrics do not wait.
type dependencies struct {
	checks map[string]func(context.Context) error
	log    *slog.Logger

	mu          sync.Mutex
	lastResults map[string]checkResult
}

type checkResult struct {
	up        bool
	duration  time.Duration
	downSince time.Time // when the outage started
}

var errNoResponse = errors.New("no response")

func (s *Server) newDependencies() *dependencies {
	d := &dependencies{
		lastResults: map[string]checkResult{}, log: s.cfg.Log,
		checks: map[string]func(context.Context) error{"database": s.db.Ping, "files": s.blobs.Ping},
	}
	if s.cfg.Redis != "" {
		d.checks["redis"] = func(ctx context.Context) error {
			if _, up := s.rateLimiter.RedisStatus(ctx); !up {
				return errNoResponse
			}
			return nil
		}
	}
	return d
}

func (d *dependencies) run(ctx context.Context) {
	tick := time.NewTicker(checkInterval)
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

// check checks all dependencies concurrently.
func (d *dependencies) check(ctx context.Context) {
	checkCtx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	var wg sync.WaitGroup
	for name, check := range d.checks {
		wg.Go(func() {
			began := time.Now()
			if err := check(checkCtx); ctx.Err() == nil { // ignore the result if ctx has ended, because this node is then stopping
				d.record(name, began, err)
			}
		})
	}
	wg.Wait()
}

// record stores the result of a check, and logs if the state of the dependency has changed.
func (d *dependencies) record(name string, start time.Time, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	last, checked := d.lastResults[name]
	result := checkResult{up: err == nil, duration: time.Since(start)}
	switch {
	case !result.up && (!checked || last.up):
		result.downSince = start
		d.log.Warn("dependency is down", "dependency", name, "error", err)
	case !result.up:
		result.downSince = last.downSince
	case checked && !last.up:
		d.log.Info("dependency is up again", "dependency", name,
			"after", time.Since(last.downSince).Round(time.Second).String())
	}
	d.lastResults[name] = result
}

var (
	dependencyUp = newDesc("dependency_up",
		"1 if the last check of a dependency succeeded: the database, the file store, or Redis if configured.",
		"dependency")
	dependencyDuration = newDesc("dependency_check_seconds", "Duration of the last dependency check.", "dependency")
)

// Describe sends the descriptions of the metrics.
func (*dependencies) Describe(out chan<- *prometheus.Desc) {
	out <- dependencyUp
	out <- dependencyDuration
}

// Collect sends the results of the last checks.
func (d *dependencies) Collect(out chan<- prometheus.Metric) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, last := range d.lastResults {
		up := 0.0
		if last.up {
			up = 1
		}
		out <- prometheus.MustNewConstMetric(dependencyUp, prometheus.GaugeValue, up, name)
		out <- prometheus.MustNewConstMetric(dependencyDuration, prometheus.GaugeValue, last.duration.Seconds(), name)
	}
}

// poolCollector reports the state of the database's connection pools.
type poolCollector struct{ db *db.DB }

var (
	poolConnections = newDesc("database_connections",
		"Database connections by pool and state (in_use or idle).", "pool", "state")
	poolMax    = newDesc("database_connections_max", "Maximum connections of a pool.", "pool")
	poolWaits  = newDesc("database_connection_waits_total", "Number of waits for a connection.", "pool")
	poolWaited = newDesc("database_connection_wait_seconds_total", "Total time waited for a connection.", "pool")
)

// Describe sends the descriptions of the metrics.
func (*poolCollector) Describe(out chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{poolConnections, poolMax, poolWaits, poolWaited} {
		out <- desc
	}
}

// Collect sends the state of each pool.
func (p *poolCollector) Collect(out chan<- prometheus.Metric) {
	for pool, stats := range p.db.Pools() {
		out <- prometheus.MustNewConstMetric(poolConnections, prometheus.GaugeValue, float64(stats.InUse), pool,
			"in_use")
		out <- prometheus.MustNewConstMetric(poolConnections, prometheus.GaugeValue, float64(stats.Idle), pool, "idle")
		out <- prometheus.MustNewConstMetric(poolMax, prometheus.GaugeValue, float64(stats.MaxOpenConnections), pool)
		out <- prometheus.MustNewConstMetric(poolWaits, prometheus.CounterValue, float64(stats.WaitCount), pool)
		out <- prometheus.MustNewConstMetric(poolWaited, prometheus.CounterValue, stats.WaitDuration.Seconds(), pool)
	}
}
