// Package clusterstats measures metrics of the whole installation. Each metric needs a query, so only one node takes
// the measurement in each interval. It stores the result for all nodes.
package clusterstats

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// Metric is a number or a time. Labels contains the values of the metric's labels, in the order of the label names in
// the metric's description.
type Metric struct {
	Name   string    `json:"name"`
	Labels []string  `json:"labels,omitempty"`
	Value  float64   `json:"value,omitempty"`
	Since  time.Time `json:"since,omitzero"` // replaces Value if the metric is an age
}

// Collector is a set of metrics that are measured together.
type Collector struct {
	Name     string // identifies the collector on all nodes; must not change
	Interval time.Duration
	Collect  func(context.Context) ([]Metric, error)
}

// Measurement is the last result of a collector.
type Measurement struct {
	Name       string
	MeasuredAt time.Time // zero if no measurement was taken
	Metrics    []Metric
}

// Service measures metrics and reads the results.
type Service struct {
	db           *db.DB
	collectors   []Collector
	measurements []atomic.Pointer[Measurement] // last measurement of each collector
}

// New returns a service for the collectors.
func New(d *db.DB, measures ...Collector) *Service {
	return &Service{db: d, collectors: measures, measurements: make([]atomic.Pointer[Measurement], len(measures))}
}

// pollInterval is how often a node reads the measurements and checks whether a measurement is due.
const pollInterval = 5 * time.Second

// Last returns the measurements that this node read most recently, in the order of the collectors. Measurements that
// were never read are omitted.
func (s *Service) Last() []Measurement {
	out := make([]Measurement, 0, len(s.measurements))
	for i := range s.measurements {
		if m := s.measurements[i].Load(); m != nil {
			out = append(out, *m)
		}
	}
	return out
}

// Run reads the measurements every pollInterval until the context ends. If mayCollect is true, it also takes
// measurements that are due. Collectors run concurrently, because some take a long time. If a collector fails, Run
// reports the error, keeps the last measurement and tries again later.
func (s *Service) Run(ctx context.Context, mayCollect bool, report func(error)) {
	var wg sync.WaitGroup
	for i := range s.collectors {
		wg.Go(func() {
			tick := time.NewTicker(pollInterval)
			defer tick.Stop()
			for {
				if err := s.refresh(ctx, i, mayCollect); err != nil && ctx.Err() == nil {
					report(err)
				}
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
			}
		})
	}
	wg.Wait()
}

// Once reads every measurement. If mayCollect is true, it first takes measurements that are due.
func (s *Service) Once(ctx context.Context, mayCollect bool) error {
	var failed error
	for i := range s.collectors {
		failed = errors.Join(failed, s.refresh(ctx, i, mayCollect))
	}
	return failed
}

func (s *Service) refresh(ctx context.Context, i int, mayCollect bool) error {
	var measureErr error
	if mayCollect {
		measureErr = s.measure(ctx, s.collectors[i])
	}
	out, err := s.read(ctx, s.collectors[i].Name)
	if err == nil {
		s.measurements[i].Store(&out)
	}
	return errors.Join(measureErr, err)
}

// measure takes a measurement if it is due. If the measurement fails or the node dies, it is due again after the usual
// interval.
func (s *Service) measure(ctx context.Context, m Collector) error {
	claimed, err := s.claim(ctx, m)
	if err != nil || !claimed {
		return err
	}
	at := s.db.Now() // not later than the time of any metric
	metrics, err := m.Collect(ctx)
	if err != nil {
		return fmt.Errorf("measuring %s: %w", m.Name, err)
	}
	text, err := json.Marshal(metrics)
	if err != nil {
		return fmt.Errorf("encoding the measurement of %s: %w", m.Name, err)
	}
	return s.db.InTx(ctx, "standing.measured", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE cluster_stats SET measured_at = ?, figures = ? WHERE name = ? AND measured_at < ?`,
			db.Micros(at), string(text), m.Name, db.Micros(at))
		if err != nil {
			return fmt.Errorf("storing the measurement of %s: %w", m.Name, err)
		}
		return nil
	})
}

// claim claims the collector for this node if it is due, and reports whether it did. It writes only if the collector is
// due.
func (s *Service) claim(ctx context.Context, m Collector) (bool, error) {
	var dueAt int64
	err := s.db.QueryRow(ctx, `SELECT due_at FROM cluster_stats WHERE name = ?`, m.Name).Scan(&dueAt)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, fmt.Errorf("checking whether %s is due: %w", m.Name, err)
	}
	if db.Time(dueAt).After(s.db.Now()) {
		return false, nil
	}
	var rowsAffected int64
	err = s.db.InTx(ctx, "standing.turn", func(ctx context.Context, tx *db.Tx) error {
		now := tx.Now()
		rowsAffected, err = tx.Exec(ctx, `INSERT INTO cluster_stats (name, due_at) VALUES (?, ?)
			ON CONFLICT (name) DO UPDATE SET due_at = excluded.due_at WHERE cluster_stats.due_at <= ?`,
			m.Name, db.Micros(now.Add(m.Interval)), db.Micros(now))
		return err
	})
	if err != nil {
		return false, fmt.Errorf("claiming %s: %w", m.Name, err)
	}
	return rowsAffected > 0, nil
}

func (s *Service) read(ctx context.Context, name string) (Measurement, error) {
	out := Measurement{Name: name}
	var at int64
	var text string
	err := s.db.QueryRow(ctx, `SELECT measured_at, figures FROM cluster_stats WHERE name = ?`, name).Scan(&at, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return out, nil
	}
	if err != nil {
		return out, fmt.Errorf("reading the measurement of %s: %w", name, err)
	}
	out.MeasuredAt = db.Time(at)
	if err := json.Unmarshal([]byte(text), &out.Metrics); err != nil {
		return out, fmt.Errorf("decoding the measurement of %s: %w", name, err)
	}
	return out, nil
}
