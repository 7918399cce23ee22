package credit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/db"
)

func TestLedgerIsImmutable(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		w.actorWithCredits(t, 100)
		for _, statement := range []string{
			`UPDATE ledger_transfers SET note = 'x'`, `DELETE FROM ledger_transfers`,
			`UPDATE ledger_entries SET amount = 1`, `DELETE FROM ledger_entries`,
		} {
			err := w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, statement)
				return err
			})
			if err == nil || !strings.Contains(err.Error(), "never changed") {
				t.Errorf("%s: %v", statement, err)
			}
		}
		w.checkAudit(t)
	})
}

// books are two teams with every kind of transfer and reservation.
type books struct {
	team, other                      int64
	grant, withdrawal                int64 // transfers
	partly, refunded, running, quick int64 // reservations; running has a job, quick has none
	automatic                        int64 // a reservation that is open, with a job
}

func newBooks(t *testing.T, w env) books {
	t.Helper()
	a, other := w.actorWithCredits(t, 100), w.actorWithCredits(t, 50)
	taken, err := w.Withdraw(t.Context(), a.TeamID, 20, "correction", "")
	if err != nil {
		t.Fatal(err)
	}
	b := books{team: a.TeamID, other: other.TeamID, withdrawal: taken.TransferID}
	b.grant = w.queryInt(t, `SELECT id FROM ledger_transfers WHERE team_id = ? AND kind = 'grant'`, a.TeamID)
	b.partly, b.refunded, b.running, b.quick = w.reserve(t, a, 10), w.reserve(t, a, 5), w.reserve(t, a, 8), w.reserve(t, a, 3)
	b.automatic = w.automatic(t, other, 2)
	w.settle(t, b.partly, 7)
	w.settle(t, b.refunded, 0)
	w.exec(t, `INSERT INTO jobs (id, team_id, type, state, subject, created_at, reservation_id) VALUES
		('report:1', ?, 'report', 'running', '', 1, ?), ('report:2', ?, 'report', 'running', '', 1, ?), ('report:3',
		?, 'report', 'running', '', 1, 0)`,
		b.team, b.running, b.other, b.automatic, b.other)
	w.exec(t,
		`INSERT INTO jobs (id, team_id, type, state, subject, created_at, finished_at, reservation_id)
		VALUES ('report:4', ?, 'report', 'failed', '', 1, 2, ?)`,
		b.team, b.partly)
	return b
}

// removeConstraints removes constraints and triggers until the transaction is rolled back.
func removeConstraints(t *testing.T, w env, tx *db.Tx) {
	t.Helper()
	statements := []string{
		`DROP TRIGGER ledger_transfers_are_not_changed`, `DROP TRIGGER ledger_transfers_are_not_deleted`,
		`DROP TRIGGER ledger_entries_are_not_changed`, `DROP TRIGGER ledger_entries_are_not_deleted`,
		`PRAGMA defer_foreign_keys = ON`, `PRAGMA ignore_check_constraints = ON`,
	}
	if w.db.Postgres() {
		statements = []string{`SET LOCAL session_replication_role = replica`}
		drops, err := db.All(t.Context(), tx, func(rows *sql.Rows, text *string) error { return rows.Scan(text) },
			`SELECT 'ALTER TABLE ' || conrelid::regclass || ' DROP CONSTRAINT ' || conname FROM pg_constraint
				WHERE contype = 'c' AND conrelid IN ('wallets'::regclass, 'reservations'::regclass, 'ledger_entries'::regclass)`)
		if err != nil {
			t.Fatal(err)
		}
		statements = append(statements, drops...)
	}
	statements = append(statements, `DROP INDEX ledger_transfers_of_reservation`) // allows one transfer per kind
	for _, s := range statements {
		if _, err := tx.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// restoreConstraints restores the checks of SQLite's only connection for writing.
func restoreConstraints(t *testing.T, w env) {
	t.Helper()
	if w.db.Postgres() {
		return
	}
	if _, err := w.db.Writer().ExecContext(t.Context(), `PRAGMA ignore_check_constraints = OFF`); err != nil {
		t.Fatal(err)
	}
}

// damage is a change of the database without the service. The statements contain {names} of the books' fields.
type damage struct {
	name  string
	wants string // the violated rules, sorted, and how often
	does  []string
}

var damages = []damage{
	{"an entry is changed", "transfer_balance transfer_form transfer_sum wallet_available", []string{
		`UPDATE ledger_entries SET amount = amount + 1 WHERE transfer_id = {grant} AND account = 'available'`,
	}},
	{"an entry is deleted", "transfer_form transfer_sum wallet_granted", []string{
		`DELETE FROM ledger_entries WHERE transfer_id = {withdrawal} AND account = 'granted'`,
	}},
	{"a grant is doubled in both entries", "transfer_balance wallet_available wallet_granted", []string{
		`UPDATE ledger_entries SET amount = amount * 2 WHERE transfer_id = {grant}`,
	}},
	{"a grant is gone", "entry_transfer*2 transfer_balance wallet_available wallet_granted", []string{
		`DELETE FROM ledger_transfers WHERE id = {grant}`,
	}},
	{"a grant is gone with its entries", "transfer_balance wallet_available wallet_granted", []string{
		`DELETE FROM ledger_entries WHERE transfer_id = {grant}`, `DELETE FROM ledger_transfers WHERE id = {grant}`,
	}},
	{"a transfer without entries", "transfer_balance transfer_empty transfer_form", []string{
		`INSERT INTO ledger_transfers (id, team_id, kind, created_at) VALUES (900, {team}, 'grant', 1)`,
	}},
	{"a grant into nobody's account", "entry_account transfer_balance transfer_form wallet_available", []string{
		`UPDATE ledger_entries SET account = 'mine' WHERE transfer_id = {grant} AND account = 'available'`,
	}},
	{"a transfer of an unknown kind", "transfer_kind", []string{`UPDATE ledger_transfers SET kind = 'gift' WHERE id = {grant}`}},
	{"a withdrawal that gives", "transfer_form", []string{`UPDATE ledger_transfers SET kind = 'withdraw' WHERE id = {grant}`}},
	{"a grant that takes", "transfer_form", []string{`UPDATE ledger_transfers SET kind = 'grant' WHERE id = {withdrawal}`}},
	{"a grant of a reservation", "transfer_form", []string{`UPDATE ledger_transfers SET reservation_id = {partly} WHERE id = {grant}`}},
	{"a grant that is spent at once", "transfer_balance transfer_form", []string{
		`INSERT INTO ledger_transfers (id, team_id, kind, created_at) VALUES (900, {team}, 'grant', 1)`,
		`INSERT INTO ledger_entries (transfer_id, account, amount) VALUES (900, 'granted', -5), (900, 'spent', 5)`,
		`UPDATE wallets SET granted = granted - 5, spent = spent + 5 WHERE team_id = {team}`,
	}},
	{"a reservation's transfer without it", "reserve_count transfer_form", []string{
		`UPDATE ledger_transfers SET reservation_id = 0 WHERE reservation_id = {running}`,
	}},
	{"a transfer is moved to another team", "transfer_balance*3 transfer_team wallet_available*2 wallet_reserved*2", []string{
		`UPDATE ledger_transfers SET team_id = {other} WHERE reservation_id = {running}`,
	}},
	{"a reservation is moved to another team", "job_team transfer_team wallet_open*2", []string{
		`UPDATE reservations SET team_id = {other} WHERE id = {running}`,
	}},
	{"a reservation is gone", "job_reservation transfer_reservation wallet_open", []string{
		`DELETE FROM reservations WHERE id = {running}`,
	}},
	{"a settled reservation is gone", "job_reservation transfer_reservation*2", []string{`DELETE FROM reservations WHERE id = {partly}`}},
	{"a wallet has more", "wallet_available wallet_sum", []string{`UPDATE wallets SET available = available + 1 WHERE team_id = {team}`}},
	{"a wallet has more, and was granted it", "wallet_available wallet_granted", []string{
		`UPDATE wallets SET available = available + 1, granted = granted - 1 WHERE team_id = {team}`,
	}},
	{"a wallet lost what it spent", "wallet_spent wallet_sum", []string{`UPDATE wallets SET spent = 0 WHERE team_id = {team}`}},
	{"a wallet forgot what it set aside", "wallet_available wallet_open wallet_reserved", []string{
		`UPDATE wallets SET available = available + reserved, reserved = 0 WHERE team_id = {team}`,
	}},
	{"a wallet is below none", "wallet_available wallet_sign wallet_spent", []string{
		`UPDATE wallets SET available = available - 1000, spent = spent + 1000 WHERE team_id = {team}`,
	}},
	{"a wallet owes", "wallet_available wallet_granted wallet_sign", []string{
		`UPDATE wallets SET granted = 1, available = granted + available - 1 WHERE team_id = {team}`,
	}},
	{"a wallet is gone", "wallet_missing", []string{`DELETE FROM wallets WHERE team_id = {team}`}},
	{"a wallet without transfers", "wallet_available wallet_granted", []string{
		`INSERT INTO teams (id, name, timezone, content_language, plan, created_at) VALUES (900, 'x', 'UTC', 'en', 'team', 1)`,
		`INSERT INTO wallets (team_id, granted, available) VALUES (900, -5, 5)`,
	}},
	{"a state that there is not", "reservation_state settle_count", []string{`UPDATE reservations SET state = 'lost' WHERE id = {partly}`}},
	{"settled by hand", "reservation_state settle_count wallet_open", []string{
		`UPDATE reservations SET state = 'settled' WHERE id = {running}`,
	}},
	{"settled by hand with its time", "settle_count wallet_open", []string{
		`UPDATE reservations SET state = 'settled', ended_at = 1 WHERE id = {running}`,
	}},
	{"opened again", "open_after_job settle_count wallet_open", []string{
		`UPDATE reservations SET state = 'open', charged = amount, ended_at = 0 WHERE id = {partly}`,
	}},
	{"charged less than was spent", "settle_parts", []string{`UPDATE reservations SET charged = 1 WHERE id = {partly}`}},
	{"charged more than was set aside", "reservation_state settle_parts", []string{
		`UPDATE reservations SET charged = 11 WHERE id = {partly}`,
	}},
	{"an open one that is charged less", "reservation_state", []string{`UPDATE reservations SET charged = 1 WHERE id = {running}`}},
	{"an amount that was not set aside", "reserve_amount wallet_open", []string{
		`UPDATE reservations SET amount = 9, charged = 9 WHERE id = {running}`,
	}},
	{"a settlement gave more back", "settle_parts transfer_balance transfer_sum wallet_available", []string{
		`UPDATE ledger_entries SET amount = amount + 1 WHERE account = 'available' AND transfer_id = (SELECT id
		FROM ledger_transfers WHERE reservation_id = {partly} AND kind = 'settle')`,
	}},
	{"a balance is changed", "transfer_balance*2", []string{`UPDATE ledger_transfers SET balance = balance + 1 WHERE id = {grant}`}},
	{"settled twice", "settle_count settle_parts transfer_balance wallet_available wallet_spent", []string{
		`INSERT INTO ledger_transfers (id, team_id, kind, reservation_id, created_at) VALUES (900, {team}, 'settle', {partly}, 1)`,
		`INSERT INTO ledger_entries (transfer_id, account, amount) VALUES (900, 'available', -1), (900, 'spent', 1)`,
	}},
	{"settled twice in full", "settle_count transfer_balance wallet_available wallet_reserved wallet_spent", []string{
		`INSERT INTO ledger_transfers (id, team_id, kind, reservation_id, created_at) VALUES (900, {team}, 'settle', {partly}, 1)`,
		`INSERT INTO ledger_entries (transfer_id, account, amount) VALUES (900, 'reserved', -10), (900, 'available', 3), (900, 'spent', 7)`,
	}},
	{"set aside twice, wallet and all", "reserve_count transfer_balance wallet_open", []string{
		`INSERT INTO ledger_transfers (id, team_id, kind, reservation_id, created_at) VALUES (900, {team}, 'reserve', {running}, 1)`,
		`INSERT INTO ledger_entries (transfer_id, account, amount) VALUES (900, 'available', -8), (900, 'reserved', 8)`,
		`UPDATE wallets SET available = available - 8, reserved = reserved + 8 WHERE team_id = {team}`,
	}},
	{"a reservation without a transfer", "reserve_count wallet_open", []string{
		`INSERT INTO reservations (team_id, person_id, key_id, operation, idempotency_key, request_hash, state, amount, charged, created_at)
			SELECT team_id, person_id, 0, operation, '', request_hash, 'open', 4, 4, created_at FROM reservations WHERE id = {running}`,
	}},
	{"a job that ended and settled nothing", "open_after_job", []string{`UPDATE jobs SET finished_at = 5 WHERE id = 'report:1'`}},
	{"a job is gone", "", []string{`DELETE FROM jobs WHERE id = 'report:1'`}},
	{"a job is gone for a day", "open_without_job", []string{
		`DELETE FROM jobs WHERE id = 'report:1'`, `UPDATE reservations SET created_at = created_at - 86400000001 WHERE id = {running}`,
	}},
	{"a day has passed for work with a job", "", []string{
		`UPDATE reservations SET created_at = created_at - 86400000001 WHERE id = {running}`,
	}},
	{"not quite a day has passed for work without one", "", []string{
		`UPDATE reservations SET created_at = created_at - 86400000000 WHERE id = {quick}`,
	}},
	{"a day has passed for work without one", "open_without_job", []string{
		`UPDATE reservations SET created_at = created_at - 86400000001 WHERE id = {quick}`,
	}},
	{"a job of a reservation that there is not", "job_reservation", []string{`UPDATE jobs SET reservation_id = 999 WHERE id = 'report:3'`}},
	{"a job of another team's reservation", "job_team", []string{`UPDATE jobs SET reservation_id = {refunded} WHERE id = 'report:3'`}},
}

func (b books) expand(statement string) string {
	number := func(n int64) string { return fmt.Sprint(n) }
	return strings.NewReplacer("{team}", number(b.team), "{other}", number(b.other), "{grant}", number(b.grant),
		"{withdrawal}", number(b.withdrawal),
		"{partly}", number(b.partly), "{refunded}", number(b.refunded), "{running}", number(b.running), "{quick}",
		number(b.quick)).Replace(statement)
}

// TestAuditFindsDamage checks the audit's result for each damage, and that the audit accepts all other changes.
func TestAuditFindsDamage(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		b := newBooks(t, w)
		w.checkAudit(t)
		for _, d := range damages {
			back := errors.New("back")
			err := w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				removeConstraints(t, w, tx)
				for _, s := range d.does {
					if n, err := tx.ExecContext(ctx, b.expand(s)); err != nil {
						t.Fatalf("%s: %v", d.name, err)
					} else if rows, err := n.RowsAffected(); err != nil || rows == 0 {
						t.Fatalf("%s: %s did nothing (%v)", d.name, s, err)
					}
				}
				r, err := audit(ctx, tx, w.db.Now())
				if err != nil {
					t.Fatalf("%s: %v", d.name, err)
				}
				d.judge(t, r)
				return back
			})
			if !errors.Is(err, back) {
				t.Fatal(err)
			}
			restoreConstraints(t, w)
		}
		w.checkAudit(t)
	})
}

func (d damage) judge(t *testing.T, r Report) {
	t.Helper()
	times := map[string]int{}
	for _, c := range r.Violations {
		times[c.Rule]++
		if c.Text == c.Rule || strings.ContainsAny(c.Text, "{}") {
			t.Errorf("%s: unexpected violation %q", d.name, c.Text)
		}
	}
	rules := slices.Sorted(maps.Keys(times))
	for i, rule := range rules {
		if times[rule] > 1 {
			rules[i] += fmt.Sprint("*", times[rule])
		}
	}
	if got := strings.Join(rules, " "); got != d.wants {
		t.Errorf("%s: %q instead of %q: %+v", d.name, got, d.wants, r.Violations)
	}
	if int(r.Total) != len(r.Violations) || r.OK() != (d.wants == "") {
		t.Errorf("%s: %d violations, OK: %v", d.name, r.Total, r.OK())
	}
}

// TestAuditRulesTested checks that each rule of the audit finds damage in at least one test case.
func TestAuditRulesTested(t *testing.T) {
	t.Parallel()
	var found []string
	for _, d := range damages {
		found = append(found, strings.Fields(strings.ReplaceAll(d.wants, "*2", ""))...)
	}
	for i, c := range checks {
		if !slices.Contains(found, c.rule) {
			t.Errorf("no test case violates the rule %s", c.rule)
		}
		if slices.ContainsFunc(checks[:i], func(other check) bool { return other.rule == c.rule }) ||
			(&AuditTotals{}).field(c.rule) != nil {
			t.Errorf("the rule %s is defined twice", c.rule)
		}
	}
}

func TestAuditsTexts(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		b := newBooks(t, w)
		w.exec(t, `UPDATE wallets SET available = available + 1, spent = 6 WHERE team_id = ?`, b.team)
		w.exec(t, `UPDATE jobs SET finished_at = 5 WHERE id = 'report:1'`)
		r, err := w.Audit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := []Violation{
			{"wallet_available", b.team, fmt.Sprintf("the wallet of team %d has 63 credits available, but its ledger has 62", b.team)},
			{"wallet_spent", b.team, fmt.Sprintf("the wallet of team %d has 6 credits spent, but its ledger has 7", b.team)},
			{"open_after_job", b.team, fmt.Sprintf("reservation %d is open, but its job report:1 has ended", b.running)},
		}
		if !slices.Equal(r.Violations, want) || r.Total != 3 {
			t.Errorf("%+v", r)
		}
		figures := AuditTotals{Teams: 2, Transfers: 10, Entries: 21, Reservations: 5, Granted: 130, Available: 111, Reserved: 13, Spent: 6}
		if r.Totals != figures {
			t.Errorf("%+v instead of %+v", r.Totals, figures)
		}
	})
}

// TestViolationLimit checks that a report has at most a hundred violations and their total.
func TestViolationLimit(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		a := w.actorWithCredits(t, 1000)
		for range 130 {
			w.reserve(t, a, 1)
		}
		w.clock.Advance(24*time.Hour + time.Microsecond)
		r, err := w.Audit(t.Context())
		if err != nil || len(r.Violations) != 100 || r.Total != 130 || r.OK() {
			t.Errorf("%d of %d violations (%v)", len(r.Violations), r.Total, err)
		}
	})
}

// TestAuditConsistentSnapshot checks that an audit sees a consistent snapshot during writes.
func TestAuditConsistentSnapshot(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		a := w.actorWithCredits(t, 100_000)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range int64(150) {
				w.settle(t, w.reserve(t, changeActor(a, func(a *access.Actor) { a.KeyID += i % 3 }), 3), i%4)
			}
		}()
		defer func() { <-done }()
		for {
			w.checkAudit(t)
			select {
			case <-done:
				w.checkAudit(t)
				return
			default:
			}
		}
	})
}

func TestEmptyAudit(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		if r := w.checkAudit(t); r.Totals != (AuditTotals{}) || r.Violations == nil {
			t.Errorf("%+v", r)
		}
	})
}
