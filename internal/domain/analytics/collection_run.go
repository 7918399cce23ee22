package analytics

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/platform/db"
)

const (
	maxRunTime  = 10 * time.Minute         // maximum duration of a run
	runLease    = maxRunTime + time.Minute // how long a node holds a run, even if it crashes
	maxKeptDays = 730                      // maximum retention of any plan
)

// collectionRun is the state of an account whose run a node has claimed.
type collectionRun struct {
	account        int64
	platform       string
	epoch          int64
	failureCount   int       // consecutive failed runs before this one
	lastErrorClass string    // class of the error that ended the last run, or ""
	collectedAt    time.Time // end of the last complete run; zero if there is none
	knownFrom      time.Time // all posts from this time until collectedAt are stored
	zone           *time.Location
	retentionDays  int  // number of days for which the plan keeps metrics; 0 if it does not include analytics
	isClosed       bool // whether the team is closed
}

// dueAccount is an account whose run is due.
type dueAccount struct {
	account  int64
	platform string
}

// listDue returns due accounts, at most as many as there are free slots.
func (s *Service) listDue(ctx context.Context) ([]dueAccount, error) {
	freeSlots, fullPlatforms := s.slots.available()
	if freeSlots <= 0 {
		return nil, nil
	}
	query, args := dueQuery(db.Micros(s.db.Now()), fullPlatforms, freeSlots)
	accounts, err := db.All(ctx, s.db, func(rows *sql.Rows, d *dueAccount) error {
		return rows.Scan(&d.account, &d.platform)
	}, query, args...)
	if err != nil {
		return nil, fmt.Errorf("listing accounts to collect: %w", err)
	}
	return accounts, nil
}

func dueQuery(now int64, fullPlatforms []string, limit int) (string, []any) {
	query, args := `SELECT c.account_id, a.platform FROM account_collections c
		JOIN social_accounts a ON a.id = c.account_id WHERE c.due_at <= ?`, []any{now}
	if len(fullPlatforms) > 0 {
		query += ` AND a.platform NOT IN (` + db.Placeholders(len(fullPlatforms)) + `)`
		for _, platform := range fullPlatforms {
			args = append(args, platform)
		}
	}
	return query + ` ORDER BY c.due_at LIMIT ?`, append(args, limit)
}

// claim claims an account's run. It reports false if another node has claimed the run or the account is no longer due.
func (s *Service) claim(ctx context.Context, account int64) (collectionRun, bool, error) {
	run := collectionRun{account: account}
	err := s.db.InTx(ctx, "insight.take", func(ctx context.Context, tx *db.Tx) error {
		var collectedAt, knownFrom int64
		err := tx.QueryRow(ctx, `UPDATE account_collections SET due_at = ?, epoch = epoch + 1 WHERE account_id = ?
			AND due_at <= ? RETURNING epoch, fails, failed_by, collected_at, known_from`,
			db.Micros(tx.Now().Add(runLease)), account, db.Micros(tx.Now())).Scan(&run.epoch, &run.failureCount, &run.lastErrorClass,
			&collectedAt, &knownFrom)
		if err != nil {
			return err
		}
		run.collectedAt, run.knownFrom = db.Time(collectedAt), db.Time(knownFrom)
		return run.readTeam(ctx, tx, s.opts.Catalog)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return run, false, nil
	}
	if err != nil {
		return run, false, fmt.Errorf("claiming the run of account %d: %w", account, err)
	}
	return run, true, nil
}

func (r *collectionRun) readTeam(ctx context.Context, tx *db.Tx, catalog plan.Catalog) error {
	var zone, plan string
	var planUntil, closedAt int64
	err := tx.QueryRow(ctx, `SELECT a.platform, t.timezone, t.plan, t.plan_until, t.closed_at FROM social_accounts a
		JOIN teams t ON t.id = a.team_id WHERE a.id = ?`, r.account).
		Scan(&r.platform, &zone, &plan, &planUntil, &closedAt)
	if err != nil {
		return err
	}
	r.retentionDays, r.isClosed = planRetentionDays(catalog.PlanInEffect(plan, db.Time(planUntil), tx.Now())), closedAt > 0
	if r.zone, err = time.LoadLocation(zone); err != nil {
		return fmt.Errorf("loading the team's time zone: %w", err)
	}
	return nil
}

// planRetentionDays returns how many days a plan keeps metrics.
func planRetentionDays(p plan.Plan) int {
	if p.AnalyticsRetentionDays == plan.Unlimited {
		return maxKeptDays
	}
	return int(min(p.AnalyticsRetentionDays, maxKeptDays))
}

// errLeaseLost is returned by end if another node has claimed the account in the meantime.
var errLeaseLost = errors.New("another node has claimed the account")

// end stores the state of the account and when its next run is due.
func (r *collectionRun) end(ctx context.Context, tx *db.Tx, next time.Time) error {
	n, err := tx.Exec(ctx, `UPDATE account_collections SET due_at = ?, fails = ?, failed_by = ?, collected_at = ?,
		known_from = ? WHERE account_id = ? AND epoch = ?`,
		db.Micros(next), r.failureCount, r.lastErrorClass, db.Micros(r.collectedAt), db.Micros(r.knownFrom), r.account, r.epoch)
	if err != nil {
		return fmt.Errorf("ending the run of account %d: %w", r.account, err)
	}
	if n == 0 {
		return errLeaseLost
	}
	return nil
}
