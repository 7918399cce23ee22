package server

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"pressroom/internal/domain/delivery"
	"pressroom/internal/domain/job"
	"pressroom/internal/platform/clusterstats"
)

const (
	loadsEvery  = 15 * time.Second
	ledgerEvery = 24 * time.Hour // it looks at the whole ledger
)

// installation is what /metrics tells of the whole installation, by the names that the measures give their figures. All
// nodes tell the same.
var installation = map[string]*prometheus.Desc{
	"posts_due": told("posts_due",
		"Scheduled posts whose time has come and that were not handed over yet, by whether their team is closed or "+
			"publishing is paused.", "held"),
	"posts_due_age": told("posts_due_oldest_age_seconds",
		"How long the post that is due longest has been due; 0 where there is none.", "held"),
	"deliveries": told("deliveries", "Deliveries that have not ended, by phase.", "phase"),
	"deliveries_age": told("deliveries_oldest_age_seconds",
		"How long ago the oldest delivery of a phase was made; 0 where there is none.", "phase"),
	"posts_unconfirmed": told("posts_unconfirmed",
		"Accounts of posts of which nobody knows whether they went out: a person has to say."),
	"posts_unconfirmed_age": told("posts_unconfirmed_oldest_age_seconds",
		"How long the oldest of them has been in doubt; 0 where there is none."),
	"jobs": told("jobs", "Jobs that have not ended, by type and state.", "type", "state"),
	"jobs_age": told("jobs_oldest_age_seconds",
		"How long ago the oldest of them was made; 0 where there is none.", "type", "state"),
	"reservations_open":     told("reservations_open", "Reservations of credits whose work has not ended."),
	"reservations_open_sum": told("reservations_open_credits", "Credits that are set aside by them."),
	"reservations_open_age": told("reservations_open_oldest_age_seconds",
		"How long ago the oldest of them was made; 0 where there is none."),
	"accounts_lost": told("accounts_needing_reconnection",
		"Social accounts that a person has to connect again, by network.", "platform"),
	"pauses": told("pauses", "What is paused or switched off, by scope and action.", "scope",
		"action"),
	"ledger_audit_complaints": told("ledger_audit_complaints", "What did not add up when the ledger was audited last."),
}

var measuredAge = told("measured_age_seconds",
	"How long ago figures of the whole installation were measured: loads, and the audit of the ledger.", "measure")

func told(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("pressroom_"+name, help, labels, nil)
}

// buildStanding makes what looks after the installation as a whole, and after what this node depends on.
func (s *Server) buildStanding() {
	s.standing = clusterstats.New(s.db,
		clusterstats.Measure{Name: "loads", Every: loadsEvery, Do: s.measureLoads},
		clusterstats.Measure{Name: "ledger", Every: ledgerEvery, Do: s.measureLedger})
	s.checks = s.dependencies()
	s.metrics.registry.MustRegister(&standingState{s.standing, s.db.Now}, s.checks, &poolState{s.db},
		&expiryState{s.certs})
	s.metrics.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "pressroom_clock_ahead_seconds",
		Help: "How far the machine's clock is ahead of PostgreSQL's, by which all nodes go; below zero where it " +
			"is behind.",
	}, func() float64 { return s.db.ClockAhead().Seconds() }))
	if s.cfg.Role != RoleAPI {
		s.metrics.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "pressroom_queue_pulse_age_seconds",
			Help: "How long ago the queue last brought this node something; it is sent a trial every 5 seconds.",
		}, func() float64 { return s.db.Now().Sub(s.waker.LastPulse()).Seconds() }))
	}
}

// standingState is what Prometheus reads of the whole installation as it asks: no query is made for that.
type standingState struct {
	standing *clusterstats.Service
	now      func() time.Time
}

// Describe names what Collect tells.
func (*standingState) Describe(out chan<- *prometheus.Desc) {
	out <- measuredAge
	for _, desc := range installation {
		out <- desc
	}
}

// Collect tells what was measured last. A figure that only a newer node knows is left out.
func (c *standingState) Collect(out chan<- prometheus.Metric) {
	for _, last := range c.standing.Last() {
		if last.MeasuredAt.IsZero() {
			continue
		}
		out <- prometheus.MustNewConstMetric(measuredAge, prometheus.GaugeValue, c.age(last.MeasuredAt), last.Name)
		for _, f := range last.Figures {
			desc, known := installation[f.Name]
			if !known {
				continue
			}
			value := f.Value
			if !f.Since.IsZero() {
				value = c.age(f.Since)
			}
			if metric, err := prometheus.NewConstMetric(desc, prometheus.GaugeValue, value, f.Labels...); err == nil {
				out <- metric // a newer node may give it other labels
			}
		}
	}
}

func (c *standingState) age(since time.Time) float64 { return max(0, c.now().Sub(since).Seconds()) }

// counts gathers figures that come in pairs: how many, and since when. What is expected is told as 0 where there is
// none.
type counts struct {
	figures []clusterstats.Figure
	told    map[[2]string]bool
}

func (c *counts) add(name string, n int64, oldest time.Time, labels ...string) {
	c.figures = append(c.figures, clusterstats.Figure{Name: name, Labels: labels, Value: float64(n)},
		clusterstats.Figure{Name: name + "_age", Labels: labels, Since: oldest})
	c.told[key(name, labels)] = true
}

func (c *counts) expect(name string, labels ...string) {
	if !c.told[key(name, labels)] {
		c.add(name, 0, time.Time{}, labels...)
	}
}

func key(name string, labels []string) [2]string {
	return [2]string{name, strings.Join(labels, "\x00")}
}

// measureLoads counts what waits or is under way.
func (s *Server) measureLoads(ctx context.Context) ([]clusterstats.Figure, error) {
	c := &counts{told: map[[2]string]bool{}}
	for _, measure := range []func(context.Context, *counts) error{
		s.countPosts, s.countDeliveries, s.countJobs, s.countReservations, s.countAccounts, s.countPauses,
	} {
		if err := measure(ctx, c); err != nil {
			return nil, err
		}
	}
	return c.figures, nil
}

func (s *Server) countPosts(ctx context.Context, c *counts) error {
	loads, err := s.Posts.CountDue(ctx)
	if err != nil {
		return err
	}
	for _, l := range loads {
		c.add("posts_due", l.Posts, l.Oldest, yesNo(l.Held))
	}
	c.expect("posts_due", yesNo(false))
	c.expect("posts_due", yesNo(true))
	n, oldest, err := s.Delivery.CountUnconfirmed(ctx)
	if err != nil {
		return err
	}
	c.add("posts_unconfirmed", n, oldest)
	return nil
}

func (s *Server) countDeliveries(ctx context.Context, c *counts) error {
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

func (s *Server) countJobs(ctx context.Context, c *counts) error {
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

func (s *Server) countReservations(ctx context.Context, c *counts) error {
	open, err := s.Credits.Open(ctx)
	if err != nil {
		return err
	}
	c.add("reservations_open", open.Reservations, open.Oldest)
	c.figures = append(c.figures, clusterstats.Figure{Name: "reservations_open_sum", Value: float64(open.Credits)})
	return nil
}

func (s *Server) countAccounts(ctx context.Context, c *counts) error {
	lost, err := s.Accounts.CountLost(ctx)
	if err != nil {
		return err
	}
	of := map[string]int64{}
	for _, platform := range s.platforms {
		of[platform] = 0
	}
	for _, l := range lost {
		of[l.Platform] = l.Accounts
	}
	for platform, n := range of {
		c.figures = append(c.figures,
			clusterstats.Figure{Name: "accounts_lost", Labels: []string{platform}, Value: float64(n)})
	}
	return nil
}

func (s *Server) countPauses(ctx context.Context, c *counts) error {
	pauses, err := s.Teams.Pauses(ctx)
	if err != nil {
		return err
	}
	of := map[[2]string]int64{}
	for _, scope := range []string{"service", "team", "key"} {
		of[[2]string{scope, "everything"}] = 0
	}
	for _, p := range pauses {
		of[[2]string{string(p.Scope), string(p.Action)}]++
	}
	for what, n := range of {
		c.figures = append(c.figures,
			clusterstats.Figure{Name: "pauses", Labels: []string{what[0], what[1]}, Value: float64(n)})
	}
	return nil
}

// measureLedger proves the ledger, as pressroom admin audit does.
func (s *Server) measureLedger(ctx context.Context) ([]clusterstats.Figure, error) {
	report, err := s.Credits.Audit(ctx)
	if err != nil {
		return nil, err
	}
	if !report.Sound() {
		s.cfg.Log.ErrorContext(ctx, "the ledger of credits does not add up: see pressroom admin audit", "complaints",
			report.Total)
	}
	return []clusterstats.Figure{{Name: "ledger_audit_complaints", Value: float64(report.Total)}}, nil
}

func yesNo(is bool) string {
	if is {
		return "true"
	}
	return "false"
}
