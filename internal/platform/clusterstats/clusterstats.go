// Package clusterstats is how the whole installation stands: figures that cost a query, measured at a pace by one node, whichever
// takes the turn, and kept in the database for all of them. It knows no subject: what is measured it is given.
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

	"pressroom/internal/platform/db"
)

// Figure is one number, or one instant, with the values of its labels in their order.
type Figure struct {
	Name   string    `json:"name"`
	Labels []string  `json:"labels,omitempty"`
	Value  float64   `json:"value,omitempty"`
	Since  time.Time `json:"since,omitzero"` // in place of Value: how old something is
}

// Measure is something that is measured.
type Measure struct {
	Name  string // stable: all nodes know it by that
	Every time.Duration
	Do    func(context.Context) ([]Figure, error)
}

// Standing is what was measured last.
type Standing struct {
	Name       string
	MeasuredAt time.Time // zero where nobody has yet
	Figures    []Figure
}

// Service measures and reads.
type Service struct {
	db       *db.DB
	measures []Measure
	last     []atomic.Pointer[Standing] // of each measure
}

// New makes the service.
func New(d *db.DB, measures ...Measure) *Service {
	return &Service{db: d, measures: measures, last: make([]atomic.Pointer[Standing], len(measures))}
}

// readEvery is how often a node looks at what was measured, and whether it is its turn to.
const readEvery = 5 * time.Second

// Last is what this node read last, in the order of the measures; what it has not read yet is left out.
func (s *Service) Last() []Standing {
	out := make([]Standing, 0, len(s.last))
	for i := range s.last {
		if one := s.last[i].Load(); one != nil {
			out = append(out, *one)
		}
	}
	return out
}

// Run reads until the context ends, and measures what is due on a node that works in the background. Each measure goes by
// itself, as some take long. Errors are told to report and tried again: what was measured last stays, with its age.
func (s *Service) Run(ctx context.Context, measures bool, report func(error)) {
	var all sync.WaitGroup
	for i := range s.measures {
		all.Go(func() {
			tick := time.NewTicker(readEvery)
			defer tick.Stop()
			for {
				if err := s.one(ctx, i, measures); err != nil && ctx.Err() == nil {
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
	all.Wait()
}

// Once measures what is due, where this node does, and reads how everything stands.
func (s *Service) Once(ctx context.Context, measures bool) error {
	var failed error
	for i := range s.measures {
		failed = errors.Join(failed, s.one(ctx, i, measures))
	}
	return failed
}

func (s *Service) one(ctx context.Context, i int, measures bool) error {
	var failed error
	if measures {
		failed = s.measure(ctx, s.measures[i])
	}
	out, err := s.read(ctx, s.measures[i].Name)
	if err == nil {
		s.last[i].Store(&out)
	}
	return errors.Join(failed, err)
}

// measure does what is due. Where it fails or its node dies, it is due again after the usual time.
func (s *Service) measure(ctx context.Context, m Measure) error {
	mine, err := s.turn(ctx, m)
	if err != nil || !mine {
		return err
	}
	at := s.db.Now() // the figures are at least as new
	figures, err := m.Do(ctx)
	if err != nil {
		return fmt.Errorf("measuring %s: %w", m.Name, err)
	}
	text, err := json.Marshal(figures)
	if err != nil {
		return fmt.Errorf("writing what %s measured: %w", m.Name, err)
	}
	return s.db.InTx(ctx, "standing.measured", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE standings SET measured_at = ?, figures = ? WHERE name = ? AND measured_at < ?`, db.Micros(at), string(text), m.Name, db.Micros(at))
		if err != nil {
			return fmt.Errorf("keeping what %s measured: %w", m.Name, err)
		}
		return nil
	})
}

// turn tells whether this node is the one to measure now. Looking costs a read; only what is due is written.
func (s *Service) turn(ctx context.Context, m Measure) (bool, error) {
	var due int64
	err := s.db.QueryRow(ctx, `SELECT due_at FROM standings WHERE name = ?`, m.Name).Scan(&due)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, fmt.Errorf("looking whether to measure %s: %w", m.Name, err)
	}
	if db.Time(due).After(s.db.Now()) {
		return false, nil
	}
	var taken int64
	err = s.db.InTx(ctx, "standing.turn", func(ctx context.Context, tx *db.Tx) error {
		now := tx.Now()
		taken, err = tx.Exec(ctx, `INSERT INTO standings (name, due_at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET due_at = excluded.due_at WHERE standings.due_at <= ?`,
			m.Name, db.Micros(now.Add(m.Every)), db.Micros(now))
		return err
	})
	if err != nil {
		return false, fmt.Errorf("taking the turn to measure %s: %w", m.Name, err)
	}
	return taken > 0, nil
}

func (s *Service) read(ctx context.Context, name string) (Standing, error) {
	out := Standing{Name: name}
	var at int64
	var text string
	err := s.db.QueryRow(ctx, `SELECT measured_at, figures FROM standings WHERE name = ?`, name).Scan(&at, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return out, nil
	}
	if err != nil {
		return out, fmt.Errorf("reading how %s stands: %w", name, err)
	}
	out.MeasuredAt = db.Time(at)
	if err := json.Unmarshal([]byte(text), &out.Figures); err != nil {
		return out, fmt.Errorf("reading what %s measured: %w", name, err)
	}
	return out, nil
}
