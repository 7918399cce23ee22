package server

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/post/due"
	"pressroom.example/pressroom/internal/platform/clusterstats"
)

const (
	loadInterval  = 15 * time.Second
	auditInterval = 24 * time.Hour // an audit reads the whole ledger
)

// clusterDescs maps the clusterstats names of the installation's metrics to their descriptions. All nodes report the
// same values.
var clusterDescs = map[string]*prometheus.Desc{
	"posts_due": newDesc("posts_due",
		"Scheduled posts that are due but not yet submitted. held is true if the team is closed or publishing is paused.", "held"),
	"posts_due_age":  newDesc("posts_due_oldest_age_seconds", "How long the oldest due post has been due, or 0.", "held"),
	"deliveries":     newDesc("deliveries", "Unfinished deliveries by phase.", "phase"),
	"deliveries_age": newDesc("deliveries_oldest_age_seconds", "Age of the oldest unfinished delivery, or 0.", "phase"),
	"posts_unconfirmed": newDesc("posts_unconfirmed",
		"Deliveries whose outcome is unknown and must be decided by a person."),
	"posts_unconfirmed_age": newDesc("posts_unconfirmed_oldest_age_seconds",
		"How long the oldest unconfirmed delivery has been unconfirmed, or 0."),
	"jobs":                  newDesc("jobs", "Unfinished jobs by type and state.", "type", "state"),
	"jobs_age":              newDesc("jobs_oldest_age_seconds", "Age of the oldest unfinished job, or 0.", "type", "state"),
	"reservations_open":     newDesc("reservations_open", "Reservations of credits for unfinished work."),
	"reservations_open_sum": newDesc("reservations_open_credits", "Credits in open reservations."),
	"reservations_open_age": newDesc("reservations_open_oldest_age_seconds", "Age of the oldest open reservation, or 0."),
	"accounts_lost": newDesc("accounts_needing_reconnection",
		"Social accounts that a person must reconnect, by network.", "platform"),
	"pauses":                  newDesc("pauses", "Active pauses and switches by scope and action.", "scope", "action"),
	"ledger_audit_mismatches": newDesc("ledger_audit_mismatches", "Problems found by the last audit of the ledger."),
}

var measuredAge = newDesc("measured_age_seconds",
	"Age of the last measurement of the installation, by measurement: the loads or the ledger audit.", "measure")

// newDesc returns the description of a metric. It adds the prefix of pressroom's metrics to the name.
func newDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("pressroom_"+name, help, labels, nil)
}

// buildClusterStats builds the measurements of the installation and the checks of this node's dependencies.
func (s *Server) buildClusterStats() {
	s.clusterStats = clusterstats.New(s.db,
		clusterstats.Collector{Name: "loads", Interval: loadInterval, Collect: s.measureLoads},
		clusterstats.Collector{Name: "ledger", Interval: auditInterval, Collect: s.measureLedger})
	s.dependencies = s.newDependencies()
	s.metrics.registry.MustRegister(&clusterCollector{s.clusterStats, s.db.Now}, s.dependencies, &poolCollector{s.db},
		&certificateCollector{s.certs})
	s.metrics.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "pressroom_clock_ahead_seconds",
		Help: "Seconds by which the machine's clock is ahead of PostgreSQL's, which all nodes use. Negative if behind.",
	}, func() float64 { return s.db.ClockOffset().Seconds() }))
	if s.cfg.Role != RoleAPI {
		s.metrics.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "pressroom_queue_last_delivery_age_seconds",
			Help: "Seconds since the queue last delivered a heartbeat to this node. A heartbeat is sent every 5 seconds.",
		}, func() float64 { return s.db.Now().Sub(s.waker.LastHeartbeat()).Seconds() }))
	}
}

// clusterCollector reports the last measurements of the installation. It does not query the database.
type clusterCollector struct {
	stats *clusterstats.Service
	now   func() time.Time
}

// Describe sends the descriptions of the metrics.
func (*clusterCollector) Describe(out chan<- *prometheus.Desc) {
	out <- measuredAge
	for _, desc := range clusterDescs {
		out <- desc
	}
}

// Collect sends the last metrics. It skips unknown metrics, which come from nodes with a newer version.
func (c *clusterCollector) Collect(out chan<- prometheus.Metric) {
	for _, last := range c.stats.Last() {
		if last.MeasuredAt.IsZero() {
			continue
		}
		out <- prometheus.MustNewConstMetric(measuredAge, prometheus.GaugeValue, c.secondsSince(last.MeasuredAt), last.Name)
		for _, f := range last.Metrics {
			desc, known := clusterDescs[f.Name]
			if !known {
				continue
			}
			value := f.Value
			if !f.Since.IsZero() {
				value = c.secondsSince(f.Since)
			}
			if metric, err := prometheus.NewConstMetric(desc, prometheus.GaugeValue, value, f.Labels...); err == nil {
				out <- metric // a newer version may have different labels
			}
		}
	}
}

func (c *clusterCollector) secondsSince(since time.Time) float64 {
	return max(0, c.now().Sub(since).Seconds())
}

// metricSet collects pairs of metrics: a count, and the age of the oldest counted item.
type metricSet struct {
	metrics []clusterstats.Metric
	added   map[[2]string]bool
}

func (m *metricSet) add(name string, n int64, oldest time.Time, labels ...string) {
	m.metrics = append(m.metrics, clusterstats.Metric{Name: name, Labels: labels, Value: float64(n)},
		clusterstats.Metric{Name: name + "_age", Labels: labels, Since: oldest})
	m.added[metricKey(name, labels)] = true
}

// expect adds a metric with the value 0, unless the metric was already added.
func (m *metricSet) expect(name string, labels ...string) {
	if !m.added[metricKey(name, labels)] {
		m.add(name, 0, time.Time{}, labels...)
	}
}

func metricKey(name string, labels []string) [2]string {
	return [2]string{name, strings.Join(labels, "\x00")}
}

// measureLoads measures the work that is waiting or running.
func (s *Server) measureLoads(ctx context.Context) ([]clusterstats.Metric, error) {
	c := &metricSet{added: map[[2]string]bool{}}
	for _, measure := range []func(context.Context, *metricSet) error{
		s.countPosts, s.countDeliveries, s.countJobs, s.countReservations, s.countAccounts, s.countPauses,
	} {
		if err := measure(ctx, c); err != nil {
			return nil, err
		}
	}
	return c.metrics, nil
}

func (s *Server) countPosts(ctx context.Context, c *metricSet) error {
	loads, err := due.CountAll(ctx, s.db)
	if err != nil {
		return err
	}
	for _, l := range loads {
		c.add("posts_due", l.Posts, l.Oldest, boolLabel(l.Blocked))
	}
	c.expect("posts_due", boolLabel(false))
	c.expect("posts_due", boolLabel(true))
	n, oldest, err := s.Delivery.CountUnconfirmed(ctx)
	if err != nil {
		return err
	}
	c.add("posts_unconfirmed", n, oldest)
	return nil
}

func (s *Server) countDeliveries(ctx context.Context, c *metricSet) error {
	loads, err := s.Delivery.CountByPhase(ctx)
	if err != nil {
		return err
	}
	for _, l := range loads {
		c.add("deliveries", l.Deliveries, l.Oldest, l.Phase)
	}
	for _, phase := range delivery.Phases() {
		c.expect("deliveries", phase)
	}
	return nil
}

func (s *Server) countJobs(ctx context.Context, c *metricSet) error {
	loads, err := s.jobs.CountUnfinished(ctx)
	if err != nil {
		return err
	}
	for _, l := range loads {
		c.add("jobs", l.Jobs, l.Oldest, string(l.Type), string(l.State))
	}
	for _, kind := range []job.Type{
		job.ProfileReport, job.HashtagReport, job.SocialPost, job.HashtagSearch, job.MediaImport, job.ContentFetch,
	} {
		c.expect("jobs", string(kind), string(job.Pending))
		c.expect("jobs", string(kind), string(job.Running))
	}
	return nil
}

func (s *Server) countReservations(ctx context.Context, c *metricSet) error {
	open, err := s.Credits.OpenReservations(ctx)
	if err != nil {
		return err
	}
	c.add("reservations_open", open.Reservations, open.Oldest)
	c.metrics = append(c.metrics, clusterstats.Metric{Name: "reservations_open_sum", Value: float64(open.Credits)})
	return nil
}

func (s *Server) countAccounts(ctx context.Context, c *metricSet) error {
	lost, err := s.Accounts.CountLost(ctx)
	if err != nil {
		return err
	}
	byPlatform := map[string]int64{}
	for _, platform := range s.platforms {
		byPlatform[platform] = 0
	}
	for _, l := range lost {
		byPlatform[l.Platform] = l.Accounts
	}
	for platform, n := range byPlatform {
		c.metrics = append(c.metrics,
			clusterstats.Metric{Name: "accounts_lost", Labels: []string{platform}, Value: float64(n)})
	}
	return nil
}

func (s *Server) countPauses(ctx context.Context, c *metricSet) error {
	pauses, err := s.Teams.Pauses(ctx)
	if err != nil {
		return err
	}
	byAction := map[[2]string]int64{}
	for _, scope := range []string{"service", "team", "key"} {
		byAction[[2]string{scope, "everything"}] = 0
	}
	for _, p := range pauses {
		byAction[[2]string{string(p.Scope), string(p.Action)}]++
	}
	for labels, n := range byAction {
		c.metrics = append(c.metrics,
			clusterstats.Metric{Name: "pauses", Labels: labels[:], Value: float64(n)})
	}
	return nil
}

// measureLedger audits the ledger, as pressroom admin audit does.
func (s *Server) measureLedger(ctx context.Context) ([]clusterstats.Metric, error) {
	report, err := s.Credits.Audit(ctx)
	if err != nil {
		return nil, err
	}
	if !report.OK() {
		s.cfg.Log.ErrorContext(ctx, "the credit ledger is inconsistent; run pressroom admin audit", "complaints",
			report.Total)
	}
	return []clusterstats.Metric{{Name: "ledger_audit_mismatches", Value: float64(report.Total)}}, nil
}

func boolLabel(value bool) string {
	if value {
		return "true"
	}
	return "false"
}
