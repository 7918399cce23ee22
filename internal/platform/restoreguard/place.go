package restoreguard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"pressroom/internal/platform/db"
)

// place is where a database lives. A part that is not known is zero, and is not compared.
type place struct {
	Machine  string `json:"machine,omitempty"`  // SQLite: the id of the machine
	Inode    uint64 `json:"inode,omitempty"`    // SQLite: the file's number on its file system
	System   string `json:"system,omitempty"`   // PostgreSQL: the system identifier of its cluster
	Database int64  `json:"database,omitempty"` // PostgreSQL: the number of the database in it
	Timeline int64  `json:"timeline,omitempty"` // PostgreSQL: counts up where a replica takes over
}

// sameAs tells whether two places are one, as far as both are known, but for the timeline.
func (p place) sameAs(other place) bool {
	return same(p.Machine, other.Machine) && same(p.Inode, other.Inode) && same(p.System,
		other.System) && same(p.Database, other.Database)
}

func same[T comparable](a, b T) bool {
	var unknown T
	return a == b || a == unknown || b == unknown
}

// and is a place with what another knows beside it.
func (p place) and(other place) place {
	p.Machine, p.System = either(p.Machine, other.Machine), either(p.System, other.System)
	p.Inode, p.Database, p.Timeline = either(p.Inode, other.Inode), either(p.Database, other.Database),
		either(p.Timeline, other.Timeline)
	return p
}

func either[T comparable](a, b T) T {
	var unknown T
	if a != unknown {
		return a
	}
	return b
}

// Look finds out where the database is, and holds it where that is not where it was, or where it is older than it was.
// A database that is looked at for the first time lives where it is.
func (s *Service) Look(ctx context.Context) error {
	marked, err := s.marked() // before the database's own count, which is ahead of it
	if err != nil {
		return err
	}
	found, err := s.here(ctx)
	if err != nil {
		return err
	}
	var held Why
	err = s.db.InTx(ctx, "hold.look", func(ctx context.Context, tx *db.Tx) error {
		held = ""
		lived, starts, err := lived(ctx, tx)
		if err != nil {
			return err
		}
		here, err := s.judged(ctx, tx, found)
		if err != nil {
			return err
		}
		why := s.moved(lived, here, starts, marked)
		now := here.and(lived)
		if !lived.sameAs(here) {
			now.Timeline = here.Timeline // that of another cluster means nothing here
		}
		if why == "" && now == lived {
			return nil
		}
		if why != "" {
			began, err := s.set(ctx, tx, why, lastSign(ctx, tx))
			if err != nil {
				return err
			}
			if began {
				held = why
			}
		}
		return live(ctx, tx, now, max(starts, marked))
	})
	if err != nil {
		return fmt.Errorf("looking where the database lives: %w", err)
	}
	if held == "" {
		return nil
	}
	return s.warn(ctx)
}

// warn tells the log that the database is held, unless this service told it of that hold before.
func (s *Service) warn(ctx context.Context) error {
	state, err := s.State(ctx)
	if err != nil {
		return err
	}
	told := s.told.Swap(&state)
	if !state.Held() && told != nil && told.Held() {
		s.opts.Log.InfoContext(ctx, "nothing is held any more: posts are published and credits charged again")
	}
	if !state.Held() || told != nil && told.HeldAt.Equal(state.HeldAt) && told.Why == state.Why {
		return nil
	}
	s.opts.Log.WarnContext(ctx, "nothing is published or charged by itself until: pressroom admin resume", "because",
		state.Why.Text(), "since", state.HeldAt)
	return nil
}

// judged is a place without what is for others to judge: whether a replica took over is known to a command only where
// the database is held so that its end asks the networks. There it is noted, so that the same failover does not hold
// again.
func (s *Service) judged(ctx context.Context, tx *db.Tx, here place) (place, error) {
	if !s.opts.Beside {
		return here, nil
	}
	state, err := Read(ctx, tx)
	if err != nil {
		return here, err
	}
	if !state.Held() || state.Why == ByHand {
		here.Timeline = 0
	}
	return here, nil
}

// moved says why a database that lived at one place and is at another has to be held; empty where it has not.
func (s *Service) moved(lived, here place, starts, marked int64) Why {
	switch {
	case marked > starts && (starts > 0 || lived != place{}): // where no place is known, the mark is all there is
		return WentBack
	case lived == place{}:
		return ""
	case !lived.sameAs(here):
		return Copied
	case !same(lived.Timeline, here.Timeline) && !s.opts.TrustReplica:
		return FailedOver
	}
	return ""
}

func lived(ctx context.Context, q db.Querier) (place, int64, error) {
	var p place
	var text string
	var starts int64
	if err := q.QueryRow(ctx, `SELECT place, starts FROM hold WHERE id = 1`).Scan(&text, &starts); err != nil {
		return p, 0, fmt.Errorf("reading where the database lived: %w", err)
	}
	if text == "" {
		return p, starts, nil
	}
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return p, 0, fmt.Errorf("reading where the database lived: %w", err)
	}
	return p, starts, nil
}

func live(ctx context.Context, tx *db.Tx, p place, starts int64) error {
	text, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("writing where the database lives: %w", err)
	}
	if _, err := tx.Exec(ctx, `UPDATE hold SET place = ?, starts = ? WHERE id = 1`, string(text), starts); err != nil {
		return fmt.Errorf("noting where the database lives: %w", err)
	}
	return nil
}

// lastSign is when the database was last told of something: what a copy of it was told since is not known here. That
// it was held is no sign of life, as the copy may have been held itself.
func lastSign(ctx context.Context, tx *db.Tx) time.Time {
	var at int64
	if tx.QueryRow(ctx, `SELECT at FROM events WHERE kind <> 'service.held' ORDER BY id DESC LIMIT 1`).
		Scan(&at) != nil {
		return tx.Now()
	}
	return db.Time(at)
}

// here finds out where the database is.
func (s *Service) here(ctx context.Context) (place, error) {
	if s.opts.File == "" {
		return s.cluster(ctx)
	}
	inode, err := inodeOf(s.opts.File)
	if err != nil {
		return place{}, err
	}
	return place{Machine: machine(), Inode: inode}, nil
}

// cluster asks PostgreSQL. A role that may not ask for its identifier is served, and told what is missed.
func (s *Service) cluster(ctx context.Context) (place, error) {
	var p place
	if err := s.db.QueryRow(ctx, `SELECT oid::bigint FROM pg_database WHERE datname = current_database()`).
		Scan(&p.Database); err != nil {
		return p, fmt.Errorf("asking for the number of the database: %w", err)
	}
	if err := s.db.QueryRow(ctx, `SELECT system_identifier::text FROM pg_control_system()`).
		Scan(&p.System); err != nil {
		s.opts.Log.WarnContext(ctx,
			"PostgreSQL does not tell this role which cluster it is (GRANT EXECUTE ON FUNCTION pg_control_system() TO "+
				"the role): a copy of the database on another server may not be noticed, "+
				"so hold it by hand before it is served: pressroom admin hold", "error", err)
	}
	var err error
	if p.Timeline, err = timeline(func(query string, dest ...any) error {
		return s.db.QueryRow(ctx, query).Scan(dest...)
	}); err != nil {
		s.opts.Log.WarnContext(ctx,
			"PostgreSQL does not tell this role its timeline (GRANT EXECUTE ON FUNCTION pg_walfile_name(pg_lsn), "+
				"pg_current_wal_lsn() TO the role): that a replica took over is not noticed", "error", err)
	}
	return p, nil
}

// timeline asks by a query's function. The control file's own would be that of the last checkpoint, which may be older
// than a replica's taking over.
func timeline(ask func(query string, dest ...any) error) (int64, error) {
	var hex string
	if err := ask(`SELECT substring(pg_walfile_name(pg_current_wal_lsn()) FROM 1 FOR 8)`, &hex); err != nil {
		return 0, fmt.Errorf("asking for the timeline: %w", err)
	}
	var n int64
	if _, err := fmt.Sscanf(hex, "%x", &n); err != nil {
		return 0, fmt.Errorf("reading the timeline: %w", err)
	}
	return n, nil
}

// machine is an id of this machine; empty where it has none.
func machine() string {
	for _, file := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		raw, err := os.ReadFile(file) //nolint:gosec // G304: one of the two above
		if err == nil && len(raw) >= 32 {
			return string(raw[:32])
		}
	}
	return ""
}

// markEnd is the end of the name of the file beside SQLite's that says how often the database was served. A file that
// somebody puts in the place of the database's is older than its mark.
const markEnd = ".served"

// marked reads the mark; 0 where there is none.
func (s *Service) marked() (int64, error) {
	if s.opts.File == "" {
		return 0, nil
	}
	raw, err := os.ReadFile(s.opts.File + markEnd)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading how often the database was served: %w", err)
	}
	var n int64
	_, _ = fmt.Sscan(string(raw), &n) // what cannot be read marks nothing
	return n, nil
}

// Mark counts up that the database is served, in it and then beside it.
func (s *Service) Mark(ctx context.Context) error {
	if s.opts.File == "" {
		return nil
	}
	var n int64
	err := s.db.InTx(ctx, "hold.mark", func(ctx context.Context, tx *db.Tx) error {
		return tx.QueryRow(ctx, `UPDATE hold SET starts = starts + 1 WHERE id = 1 RETURNING starts`).Scan(&n)
	})
	if err != nil {
		return fmt.Errorf("noting that the database is served: %w", err)
	}
	file, err := os.CreateTemp(filepath.Dir(s.opts.File), filepath.Base(s.opts.File)+markEnd+"-*")
	if err != nil {
		return fmt.Errorf("marking that the database is served: %w", err)
	}
	_, err = fmt.Fprintln(file, n)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), s.opts.File+markEnd)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("marking that the database is served: %w", err), os.Remove(file.Name()))
	}
	return nil
}

// watchEvery is how often a database that is served is looked at and marked.
const watchEvery = time.Minute

// Watch marks and looks at a database that is served, until the context ends, and then marks it once more. The log is
// told where it is held, at the start and when that is noticed.
func (s *Service) Watch(ctx context.Context, report func(error)) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		if err := errors.Join(s.Look(ctx), s.Mark(ctx), s.warn(ctx)); err != nil && ctx.Err() == nil {
			report(err)
		}
		select {
		case <-ctx.Done():
			if err := s.Mark(context.WithoutCancel(ctx)); err != nil {
				report(err)
			}
			return
		case <-tick.C:
		}
	}
}
