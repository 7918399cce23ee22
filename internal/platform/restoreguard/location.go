package restoreguard

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// location identifies where a database is stored. Unknown fields are zero. They are not compared.
type location struct {
	Machine  string `json:"machine,omitempty"`  // SQLite: machine ID
	Inode    uint64 `json:"inode,omitempty"`    // SQLite: inode of the file
	System   string `json:"system,omitempty"`   // PostgreSQL: system identifier of the cluster
	Database int64  `json:"database,omitempty"` // PostgreSQL: OID of the database
	Timeline int64  `json:"timeline,omitempty"` // PostgreSQL: increases when a replica takes over
}

// sameAs reports whether all fields that are known in both locations are equal. It ignores the timeline.
func (l location) sameAs(other location) bool {
	return same(l.Machine, other.Machine) && same(l.Inode, other.Inode) && same(l.System, other.System) &&
		same(l.Database, other.Database)
}

func same[T comparable](a, b T) bool {
	var unknown T
	return a == b || a == unknown || b == unknown
}

// merge returns l, with its unknown fields set to the values in other.
func (l location) merge(other location) location {
	return location{
		Machine: cmp.Or(l.Machine, other.Machine), Inode: cmp.Or(l.Inode, other.Inode),
		System: cmp.Or(l.System, other.System), Database: cmp.Or(l.Database, other.Database),
		Timeline: cmp.Or(l.Timeline, other.Timeline),
	}
}

// Check puts the database on hold if its location has changed or its data is older than before. The first Check only
// records the location.
func (s *Service) Check(ctx context.Context) error {
	// Read the mark before the count in the database, because Mark increases the count in the database first.
	markCount, err := s.readMark()
	if err != nil {
		return err
	}
	observed, err := s.currentLocation(ctx)
	if err != nil {
		return err
	}
	var newCause Cause
	err = s.db.InTx(ctx, "hold.look", func(ctx context.Context, tx *db.Tx) error {
		newCause = ""
		previous, startCount, err := readLocation(ctx, tx)
		if err != nil {
			return err
		}
		current, err := s.observedLocation(ctx, tx, observed)
		if err != nil {
			return err
		}
		cause := s.holdReason(previous, current, startCount, markCount)
		now := current.merge(previous)
		if !previous.sameAs(current) {
			now.Timeline = current.Timeline // timelines of different clusters are unrelated
		}
		if cause == "" && now == previous {
			return nil
		}
		if cause != "" {
			isNew, err := s.setHold(ctx, tx, cause, lastEventAt(ctx, tx))
			if err != nil {
				return err
			}
			if isNew {
				newCause = cause
			}
		}
		return writeLocation(ctx, tx, now, max(startCount, markCount))
	})
	if err != nil {
		return fmt.Errorf("checking whether the database was moved: %w", err)
	}
	if newCause == "" {
		return nil
	}
	return s.logChange(ctx)
}

// logChange logs the beginning and the end of a hold, each once.
func (s *Service) logChange(ctx context.Context) error {
	state, err := s.State(ctx)
	if err != nil {
		return err
	}
	logged := s.lastLogged.Swap(&state)
	if !state.IsHeld() && logged != nil && logged.IsHeld() {
		s.opts.Log.InfoContext(ctx, "hold lifted: publishing and charging have resumed")
	}
	if !state.IsHeld() || logged != nil && logged.HeldAt.Equal(state.HeldAt) && logged.Cause == state.Cause {
		return nil
	}
	s.opts.Log.WarnContext(ctx, "on hold: nothing is published or charged automatically; to end the hold, run: pressroom admin resume",
		"because", state.Cause.Text(), "since", state.HeldAt)
	return nil
}

// observedLocation returns the location to compare and record. A command that runs beside the service does not record
// the timeline, so that the service still detects a failover. It does record the timeline during a hold that is not
// manual, so that the same failover does not cause another hold.
func (s *Service) observedLocation(ctx context.Context, tx *db.Tx, current location) (location, error) {
	if !s.opts.BesideServer {
		return current, nil
	}
	state, err := Read(ctx, tx)
	if err != nil {
		return current, err
	}
	if !state.IsHeld() || state.Cause == Manual {
		current.Timeline = 0
	}
	return current, nil
}

// holdReason returns the cause for putting the database on hold, or "" if there is none. It compares the previous
// location with the current one, and the count in the database with the count in the mark file.
func (s *Service) holdReason(previous, current location, startCount, markCount int64) Cause {
	switch {
	case markCount > startCount && (startCount > 0 || previous != location{}): // HoldRestored clears both
		return RolledBack
	case previous == location{}:
		return ""
	case !previous.sameAs(current):
		return Copied
	case !same(previous.Timeline, current.Timeline) && !s.opts.TrustReplica:
		return FailedOver
	}
	return ""
}

func readLocation(ctx context.Context, q db.Querier) (location, int64, error) {
	var p location
	var text string
	var startCount int64
	if err := q.QueryRow(ctx, `SELECT place, starts FROM hold WHERE id = 1`).Scan(&text, &startCount); err != nil {
		return p, 0, fmt.Errorf("reading the location of the database: %w", err)
	}
	if text == "" {
		return p, startCount, nil
	}
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return p, 0, fmt.Errorf("reading the location of the database: %w", err)
	}
	return p, startCount, nil
}

func writeLocation(ctx context.Context, tx *db.Tx, p location, startCount int64) error {
	text, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encoding the location of the database: %w", err)
	}
	if _, err := tx.Exec(ctx, `UPDATE hold SET place = ?, starts = ? WHERE id = 1`, string(text), startCount); err != nil {
		return fmt.Errorf("saving the location of the database: %w", err)
	}
	return nil
}

// lastEventAt returns the time of the last event that was recorded before the database was copied. It ignores events
// about holds, because they may have been recorded in the copy.
func lastEventAt(ctx context.Context, tx *db.Tx) time.Time {
	var at int64
	if tx.QueryRow(ctx, `SELECT at FROM events WHERE kind <> 'service.held' ORDER BY id DESC LIMIT 1`).
		Scan(&at) != nil {
		return tx.Now()
	}
	return db.Time(at)
}

// currentLocation returns where the database is now.
func (s *Service) currentLocation(ctx context.Context) (location, error) {
	if s.opts.File == "" {
		return s.postgresLocation(ctx)
	}
	inode, err := readInode(s.opts.File)
	if err != nil {
		return location{}, err
	}
	return location{Machine: machineID(), Inode: inode}, nil
}

// postgresLocation returns the location of a PostgreSQL database. If the role lacks the privilege to read a field, the
// field remains zero, and postgresLocation logs which changes will not be detected.
func (s *Service) postgresLocation(ctx context.Context) (location, error) {
	var p location
	if err := s.db.QueryRow(ctx, `SELECT oid::bigint FROM pg_database WHERE datname = current_database()`).
		Scan(&p.Database); err != nil {
		return p, fmt.Errorf("reading the OID of the database: %w", err)
	}
	if err := s.db.QueryRow(ctx, `SELECT system_identifier::text FROM pg_control_system()`).
		Scan(&p.System); err != nil {
		s.opts.Log.WarnContext(ctx,
			"copies of the database on other servers may not be detected. GRANT EXECUTE ON FUNCTION "+
				"pg_control_system() TO the role, or hold copies by hand before serving them: pressroom admin hold",
			"error", err)
	}
	var err error
	if p.Timeline, err = readTimeline(func(query string, dest ...any) error {
		return s.db.QueryRow(ctx, query).Scan(dest...)
	}); err != nil {
		s.opts.Log.WarnContext(ctx,
			"failovers of PostgreSQL are not detected. GRANT EXECUTE ON FUNCTION pg_walfile_name(pg_lsn), "+
				"pg_current_wal_lsn() TO the role", "error", err)
	}
	return p, nil
}

// readTimeline returns the timeline from the name of the current WAL file. It does not use the control file, because
// the timeline there is from the last checkpoint, which may be older than a failover.
func readTimeline(queryRow func(query string, dest ...any) error) (int64, error) {
	var hex string
	if err := queryRow(`SELECT substring(pg_walfile_name(pg_current_wal_lsn()) FROM 1 FOR 8)`, &hex); err != nil {
		return 0, fmt.Errorf("reading the timeline: %w", err)
	}
	var n int64
	if _, err := fmt.Sscanf(hex, "%x", &n); err != nil {
		return 0, fmt.Errorf("parsing the timeline: %w", err)
	}
	return n, nil
}

// machineID returns an ID of this machine, or an empty string if the machine has none.
func machineID() string {
	for _, file := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		raw, err := os.ReadFile(file) //nolint:gosec // G304: the files are fixed
		if err == nil && len(raw) >= 32 {
			return string(raw[:32])
		}
	}
	return ""
}

// markSuffix is the suffix of the mark file. The mark file is next to the SQLite file and contains the number of starts
// of the service. If an older file replaces the database file, the count in the mark file is higher than the count in
// the database.
const markSuffix = ".served"

// readMark returns the count in the mark file, or 0 if the file does not exist.
func (s *Service) readMark() (int64, error) {
	if s.opts.File == "" {
		return 0, nil
	}
	raw, err := os.ReadFile(s.opts.File + markSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the mark file of the database: %w", err)
	}
	var n int64
	_, _ = fmt.Sscan(string(raw), &n) // an unreadable count becomes 0
	return n, nil
}

// Mark increases the number of starts, first in the database and then in the mark file.
func (s *Service) Mark(ctx context.Context) error {
	if s.opts.File == "" {
		return nil
	}
	var n int64
	err := s.db.InTx(ctx, "hold.mark", func(ctx context.Context, tx *db.Tx) error {
		return tx.QueryRow(ctx, `UPDATE hold SET starts = starts + 1 WHERE id = 1 RETURNING starts`).Scan(&n)
	})
	if err != nil {
		return fmt.Errorf("counting a start of the service: %w", err)
	}
	file, err := os.CreateTemp(filepath.Dir(s.opts.File), filepath.Base(s.opts.File)+markSuffix+"-*")
	if err != nil {
		return fmt.Errorf("writing the mark file of the database: %w", err)
	}
	_, err = fmt.Fprintln(file, n)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), s.opts.File+markSuffix)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("writing the mark file of the database: %w", err), os.Remove(file.Name()))
	}
	return nil
}

const watchInterval = time.Minute

// Watch periodically calls Check and Mark until the context ends, and logs holds.
func (s *Service) Watch(ctx context.Context, report func(error)) {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		if err := errors.Join(s.Check(ctx), s.Mark(ctx), s.logChange(ctx)); err != nil && ctx.Err() == nil {
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
