package delivery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"pressroom/internal/domain/account"
	"pressroom/internal/domain/job"
	"pressroom/internal/domain/post"
	"pressroom/internal/network"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/failpoint"
	"pressroom/internal/platform/restoreguard"
	"pressroom/internal/platform/tracing"
)

// Deliver works on a delivery until it has ended or has to wait. It may be called any number of times, by any
// number of nodes.
func (s *Service) Deliver(ctx context.Context, id string) error {
	claimed := s.moment()
	d, mine, err := s.claim(ctx, id)
	if err != nil || !mine {
		return err
	}
	ctx, span := tracing.Follow(ctx, "delivery", d.Trace)
	span.Set("pressroom.delivery_id", d.ID)
	span.Set("pressroom.post_id", d.PostID)
	span.Set("pressroom.phase", string(d.Phase))
	span.SetID("pressroom.team_id", d.TeamID)
	span.SetID("pressroom.attempt", d.Epoch)
	f := &flight{s: s, d: d}
	f.sure.Store(&claimed)
	held, release := job.Hold(ctx, s.opts.Lease, func(ctx context.Context) error { return f.renew(ctx, d) })
	defer release()
	err = f.run(held)
	span.Set("pressroom.phase_after", string(f.d.Phase))
	span.End(err)
	if err != nil && !errors.Is(err, errFenced) {
		// The lease runs out by itself and the waker brings the delivery to somebody again.
		s.log.ErrorContext(ctx, "a delivery was left for later", "delivery", d.ID, "post", d.PostID, "error", err)
	}
	return nil
}

// flight is one holder's work on a delivery.
type flight struct {
	s         *Service
	d         delivery
	net       network.Network
	grant     account.Grant
	refreshed bool
	doubted   bool // an earlier commit has no answer: before each further one the network is asked
	done      bool
	server    server
	sure      atomic.Pointer[instant] // when the lease was certainly held, last
}

// renew keeps the lease, and keeps in mind since when it holds: from before the database was asked.
func (f *flight) renew(ctx context.Context, d delivery) error {
	at := f.s.moment()
	if err := f.s.renew(ctx, d); err != nil {
		return err
	}
	f.sure.Store(&at)
	return nil
}

// instant is a time on the clock that all nodes go by, on the machine's clock, which may jump, and on the machine's own count of
// time, which does not but may stand still where the machine does.
type instant struct{ told, shown, counted time.Time }

func (s *Service) moment() instant {
	now := time.Now()
	return instant{s.db.Now(), now.Round(0), now}
}

// passed is how much time has passed since then, by the one that tells most.
func (i instant) passed(now instant) time.Duration {
	return max(now.told.Sub(i.told), now.shown.Sub(i.shown), now.counted.Sub(i.counted))
}

func (f *flight) run(ctx context.Context) error {
	if err := f.board(ctx); err != nil {
		return err
	}
	f.server = server{f.grant.Platform, f.grant.Server}
	defer f.s.circuits.left(f.server, f.d.ID)
	for !f.done {
		if err := f.step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// step takes a delivery through its phase. What has begun its commit may ask about it whatever the circuit says.
func (f *flight) step(ctx context.Context) error {
	if f.d.Phase == planned || f.d.Phase == prepared {
		if wait, may := f.s.circuits.admits(f.server, f.d.ID); !may {
			return f.rest(ctx, wait)
		}
	}
	switch f.d.Phase {
	case planned:
		return f.prepare(ctx)
	case prepared:
		return f.commit(ctx)
	case linking:
		return f.link(ctx)
	case committing, doubtful, ended:
	}
	return f.resolve(ctx)
}

// board reads the account's network and grant.
func (f *flight) board(ctx context.Context) error {
	var err error
	if f.grant, err = f.s.accounts.Grant(ctx, f.d.AccountID); err != nil {
		return err
	}
	if f.net, err = f.s.accounts.Network(f.grant.Platform); err != nil {
		return err
	}
	if f.grant.Lost && f.d.Phase != linking {
		return f.authDead(ctx, "")
	}
	return nil
}

// prepare fixes the request, then lets the network make ready what shows nothing yet.
func (f *flight) prepare(ctx context.Context) error {
	if len(f.d.Draft) == 0 {
		if err := f.plan(ctx); err != nil || f.done {
			return err
		}
	}
	began := f.s.db.Now()
	failpoint.Point("before prepare call")
	calling, span := f.calls(ctx, "network.prepare")
	draft, wait, err := f.net.Prepare(calling, f.grant.Grant, f.d.Draft, f.s.library.Files(f.d.TeamID))
	endCall(span, err)
	failpoint.Point("after prepare call")
	f.called(ctx, "prepare", err)
	if err != nil {
		f.keep(ctx, "prepare", began, err)
		return f.refused(ctx, planned, err)
	}
	f.d.Draft = draft
	if wait > 0 {
		return f.notReady(ctx, wait)
	}
	f.d.Phase = prepared
	return f.save(ctx, "delivery.prepared")
}

func (f *flight) plan(ctx context.Context) error {
	p, t, language, err := f.s.posts.ToSend(ctx, f.d.TeamID, f.d.PostID, f.d.AccountID)
	if err != nil {
		return err
	}
	seed := fmt.Sprintf("%s:%d", f.d.PostID, f.d.AccountID)
	f.d.Draft, err = f.net.Plan(network.Intent{Seed: seed, First: f.d.FirstAt, At: f.d.CreatedAt, Content: p.Content(t, language)})
	if err != nil {
		return fmt.Errorf("planning delivery %s: %w", f.d.ID, err)
	}
	return f.save(ctx, "delivery.planned")
}

func (f *flight) save(ctx context.Context, name string) error {
	f.refreshed = false // what is reached may take a token's whole life
	return f.s.fenced(ctx, name, f.d, `UPDATE deliveries SET phase = ?, draft = ?`, func(*db.Tx) []any { return []any{string(f.d.Phase), string(f.d.Draft)} })
}

// commit makes the one call that shows the post. That it was begun is written first.
func (f *flight) commit(ctx context.Context) error {
	attempt, err := f.begin(ctx, "commit")
	if err != nil {
		return err
	}
	failpoint.Point("before commit call")
	return f.show(ctx, attempt)
}

var errStoodStill = errors.New("so much time has passed since the lease was renewed that others may have taken over")

// still tells whether less time has passed since the lease was claimed or renewed than it lasts.
func (f *flight) still() error {
	if f.sure.Load().passed(f.s.moment()) >= f.s.opts.Lease {
		return errStoodStill
	}
	return nil
}

// show makes the call of a commit that was begun just now. A process that has stood still believes in a lease that it has
// lost: others may have looked, found nothing and sent.
func (f *flight) show(ctx context.Context, attempt int64) error {
	if err := f.still(); err != nil {
		return err
	}
	calling, span := f.calls(ctx, "network.commit")
	receipt, err := f.net.Commit(network.Still(calling, f.still), f.grant.Grant, f.d.Draft, f.s.library.Files(f.d.TeamID))
	endCall(span, err)
	failpoint.Point("after commit call")
	f.called(ctx, "commit", err)
	if err == nil {
		receipt.At = f.s.db.Now() // seen by us; a receipt that is looked up later tells the network's time
		return f.published(ctx, attempt, receipt)
	}
	f.note(ctx, attempt, err)
	switch classOf(err) { //nolint:exhaustive // every other class is a refusal
	case network.Uncertain:
		return nil // the phase is committing: the next step asks
	case network.Duplicate:
		if t, _, lookErr := tried(ctx, f.s.db, f.d, attempt); lookErr != nil || !t.First.IsZero() {
			return lookErr // it may be the same as what an earlier call of ours has left there
		}
	case network.Processing:
		if err := f.replace(ctx, err); err != nil {
			return err
		}
		return f.processing(ctx, err)
	}
	return f.refused(ctx, prepared, err)
}

// replace keeps the draft that a network gave with its answer.
func (f *flight) replace(ctx context.Context, cause error) error {
	e, ok := errors.AsType[*network.Error](cause)
	if !ok || len(e.Draft) == 0 {
		return nil
	}
	f.d.Draft = e.Draft
	return f.save(ctx, "delivery.committed")
}

// resolve asks the network whether a commit that was begun took effect.
func (f *flight) resolve(ctx context.Context) error {
	attempt, err := f.begin(ctx, "resolve")
	if err != nil {
		return err
	}
	tried, silent, err := tried(ctx, f.s.db, f.d, attempt)
	if err != nil {
		return err
	}
	f.doubted = !tried.First.IsZero()
	verdict, receipt, err := f.look(ctx, tried)
	f.note(ctx, attempt, err)
	switch {
	case verdict == network.Stands:
		return f.published(ctx, attempt, receipt)
	case verdict == network.Absent && err != nil:
		return f.givenUp(ctx, err)
	case verdict == network.Absent && f.d.Phase == doubtful:
		return f.finish(ctx, ended, failure("network_error", ""))
	case verdict == network.Absent:
		return f.commitAgain(ctx, tried, silent)
	case classOf(err) == network.AuthRefresh && !f.refreshed:
		return f.refresh(ctx)
	case classOf(err) == network.Processing:
		return f.processing(ctx, err)
	}
	return f.lookAgain(ctx, err)
}

// look makes the call that asks.
func (f *flight) look(ctx context.Context, t network.Tried) (network.Verdict, network.Receipt, error) {
	failpoint.Point("before resolve call")
	calling, span := f.calls(ctx, "network.resolve")
	verdict, receipt, err := f.net.Resolve(calling, f.grant.Grant, f.d.Draft, t)
	endCall(span, err)
	failpoint.Point("after resolve call")
	f.called(ctx, "resolve", err)
	if verdict == network.Stands && receipt.Alike && f.anothers(ctx, receipt) {
		return network.Unknown, receipt, errAlike
	}
	return verdict, receipt, err
}

// commitAgain is the next commit of what is certainly not there, right behind the look. A last commit that got no answer at
// all may still land, so that nothing is there is believed for good only after a while.
func (f *flight) commitAgain(ctx context.Context, t network.Tried, silent bool) error {
	now := f.s.db.Now()
	quiet := now.Sub(t.Last)
	switch last := f.d.Tries+1 >= maxTries || now.Sub(t.First) > patience; {
	case last && silent && quiet < calm:
		return f.later(ctx, min(calm-quiet, longestRest))
	case last:
		return f.finish(ctx, ended, failure("network_error", ""))
	case quiet < pause(f.d.Tries+1):
		return f.later(ctx, pause(f.d.Tries+1)-quiet)
	}
	if wait, may := f.s.circuits.admits(f.server, f.d.ID); !may {
		return f.later(ctx, wait)
	}
	f.d.Tries++
	return f.commit(ctx)
}

// begin writes an attempt before its call is made.
func (f *flight) begin(ctx context.Context, call string) (int64, error) {
	var id int64
	err := f.s.db.InTx(ctx, "delivery."+call, func(ctx context.Context, tx *db.Tx) error {
		if call == "commit" {
			if err := free(ctx, tx); err != nil {
				return err
			}
			if err := fencedIn(ctx, tx, f.d, `UPDATE deliveries SET phase = ?, tries = ?`, string(committing), f.d.Tries); err != nil {
				return err
			}
		}
		return tx.QueryRow(ctx, `INSERT INTO delivery_attempts (delivery_id, epoch, call, started_at) VALUES (?, ?, ?, ?) RETURNING id`,
			f.d.ID, f.d.Epoch, call, db.Micros(tx.Now())).Scan(&id)
	})
	if err != nil {
		return 0, fmt.Errorf("writing the attempt to %s %s: %w", call, f.d.ID, err)
	}
	if call == "commit" {
		f.d.Phase = committing
	}
	return id, nil
}

// free refuses to begin a commit while all is held: a replica of PostgreSQL may have taken over since the delivery was claimed.
func free(ctx context.Context, tx *db.Tx) error {
	state, err := restoreguard.Read(ctx, tx)
	if err == nil && state.Held() {
		err = errFenced
	}
	return err
}

// mostOthers bounds what a network's list is compared with: no network lists more of an account's newest posts.
const mostOthers = 500

// tried reads how a publication was committed without an answer before this attempt, and what else of ours the account
// shows. A network that does not answer may still work on what it was sent, so looks without an answer count as well. A
// commit whose end nobody wrote may have been sent as late as its lease was lost: it counts from the attempt after it. It
// is true where some commit got no answer at all, not even a failure.
func tried(ctx context.Context, q db.Querier, d delivery, attempt int64) (network.Tried, bool, error) {
	var first, last, silent int64
	err := q.QueryRow(ctx, `SELECT COALESCE(SUM(CASE WHEN call = 'commit' AND network_code = '' THEN 1 ELSE 0 END), 0), COALESCE(MIN(CASE WHEN call = 'commit' THEN started_at END), 0),
			COALESCE(MAX(CASE WHEN ended_at > started_at THEN ended_at WHEN call = 'commit' THEN COALESCE(next, started_at) ELSE started_at END), 0)
		FROM (SELECT id, call, started_at, ended_at, result, network_code, LEAD(started_at) OVER (ORDER BY id) AS next FROM delivery_attempts WHERE delivery_id = ?) tried
		WHERE id <> ? AND (call = 'commit' AND result IN ('', ?, ?) OR call = 'resolve' AND result IN ('', ?))`,
		d.ID, attempt, string(network.Uncertain), string(network.Processing), string(network.Transient)).Scan(&silent, &first, &last)
	if err != nil {
		return network.Tried{}, false, fmt.Errorf("reading when %s was committed: %w", d.ID, err)
	}
	out := network.Tried{First: db.Time(first), Last: db.Time(last)}
	out.Others, err = others(ctx, q, d)
	return out, silent > 0, err
}

// others reads what else of ours the account shows.
func others(ctx context.Context, q db.Querier, d delivery) ([]string, error) {
	found, err := db.All(ctx, q, func(rows *sql.Rows, r *[2]string) error { return rows.Scan(&r[0], &r[1]) },
		`SELECT network_id, permalink FROM deliveries WHERE account_id = ? AND network_id <> '' AND id <> ? ORDER BY id DESC LIMIT ?`, d.AccountID, d.ID, mostOthers)
	if err != nil {
		return nil, fmt.Errorf("reading what else an account shows: %w", err)
	}
	var out []string
	for _, other := range found {
		out = append(out, other[:]...)
	}
	return out, nil
}

func (f *flight) published(ctx context.Context, attempt int64, r network.Receipt) error {
	at := r.At
	if at.IsZero() {
		at = f.s.db.Now()
	}
	f.done = true
	into := ended
	if r.Permalink == "" && r.ID != "" {
		into = linking
	}
	err := f.s.db.InTx(ctx, "delivery.published", func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE delivery_attempts SET ended_at = ?, result = 'published' WHERE id = ?`, db.Micros(tx.Now()), attempt); err != nil {
			return err
		}
		return f.s.conclude(ctx, tx, f.d, into, post.Result{State: post.Sent, PublishedAt: at.Truncate(time.Microsecond), Permalink: r.Permalink, NetworkID: r.ID})
	})
	if err != nil {
		return fmt.Errorf("keeping that %s is published: %w", f.d.ID, err)
	}
	if f.s.opts.Late != nil {
		f.s.opts.Late(f.s.db.Now().Sub(f.d.DueAt))
	}
	return nil
}

func (f *flight) finish(ctx context.Context, into phase, r post.Result) error {
	f.done = true
	err := f.s.db.InTx(ctx, "delivery.ended", func(ctx context.Context, tx *db.Tx) error { return f.s.conclude(ctx, tx, f.d, into, r) })
	if err != nil {
		return fmt.Errorf("ending delivery %s: %w", f.d.ID, err)
	}
	return nil
}
