package post

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post/recurrence"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// maxOccurrenceDelay is how late an occurrence may be published. Occurrences that are later are skipped, so that
// downtime does not cause a burst of posts.
const maxOccurrenceDelay = time.Hour

// Series is a recurring series of posts. Its template does not change while the series runs. Each occurrence is a
// separate post that is created in advance, so that people can see, move and cancel it like any scheduled post.
type Series struct {
	ID         int64
	TemplateID string
	Rule       string // RFC 5545, see package recurrence
	Timezone   string // IANA name
	Paused     bool
	NextAt     time.Time // time of the next occurrence; zero if none is scheduled

	startsAt string    // local time in Timezone, formatted as recurrence.WallClock
	lastAt   time.Time // time of the last occurrence that was created or skipped
	wakeAt   time.Time // when to create the next occurrence; zero for never
}

func (r Series) recurrence() (recurrence.Rule, error) {
	rule, err := recurrence.Load(r.Rule, r.startsAt, r.Timezone)
	if err != nil {
		return rule, fmt.Errorf("reading the rule of series %d: %w", r.ID, err)
	}
	return rule, nil
}

// readSeries returns a series. lock is empty or an SQL locking clause. A caller that also locks posts must lock the
// template first, then other posts, then the series.
func readSeries(ctx context.Context, q db.Querier, id int64, lock string) (Series, error) {
	r := Series{ID: id}
	var paused, last, wake, next int64
	err := q.QueryRow(ctx, `SELECT r.template_id, r.rule, r.timezone, r.starts_at, r.paused_at, r.last_at, r.wake_at,
		(SELECT COALESCE(MIN(p.scheduled_at), 0) FROM posts p WHERE p.series_id = r.id AND p.occurs_at > 0
		AND p.status = 'scheduled')
		FROM post_series r WHERE r.id = ?`+lock, id).Scan(&r.TemplateID, &r.Rule, &r.Timezone, &r.startsAt, &paused, &last,
		&wake, &next)
	if err != nil {
		return r, fmt.Errorf("reading a recurring series: %w", err)
	}
	r.Paused, r.NextAt, r.lastAt, r.wakeAt = paused != 0, db.Time(next), db.Time(last), db.Time(wake)
	return r, nil
}

// Repeat makes a draft the template of a new series that begins at its planned time, or resumes a paused or ended
// series. The rule is an RRULE of RFC 5545 (FREQ=DAILY, WEEKLY or MONTHLY with INTERVAL, BYDAY, BYMONTHDAY, COUNT,
// UNTIL). A new series uses the given time zone, or the team's time zone if zone is nil.
//
// Repeat returns not_found if the person may not publish in the post's team, and validation_failed for an unsupported
// rule. It checks approval and the networks' rules like schedule_post.
func (s *Service) Repeat(ctx context.Context, person int64, postID, rule string, zone *time.Location) (
	Record, error,
) {
	return s.UpdateAs(ctx, person, postID, access.Publish, "post.repeat", func(ctx context.Context, tx *db.Tx,
		call operation.Call, p *Record) error {
		if err := p.checkRepeatable(tx.Now()); err != nil {
			return err
		}
		if err := s.checkContent(call, *p); err != nil {
			return err
		}
		return s.repeat(ctx, tx, call, p, rule, cmp.Or(zone, call.Zone))
	})
}

// StopRepeating ends a series permanently. Its template and its unsent occurrences become drafts. StopRepeating
// returns not_found if the person may not publish in the post's team.
func (s *Service) StopRepeating(ctx context.Context, person int64, postID string) (Record, error) {
	return s.UpdateAs(ctx, person, postID, access.Publish, "post.stop_repeating", func(ctx context.Context, tx *db.Tx,
		call operation.Call, p *Record) error {
		if !p.IsTemplate {
			return apierr.BadState("not_recurring", "This post is not the template of a series.")
		}
		if err := s.pause(ctx, tx, p); err != nil {
			return err
		}
		ended := p.SeriesID
		p.Status, p.SeriesID, p.Series, p.IsTemplate = Draft, 0, Series{}, false
		if err := storeTemplate(ctx, tx, p); err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, p.TeamID, auditlog.NewActor(call), "series.stopped", p.ID,
			map[string]any{"series": ended})
	})
}

// CallAs returns a call with a person's permissions in the post's team. It returns not_found if the person lacks the
// needed capability.
func (s *Service) CallAs(ctx context.Context, person int64, postID string,
	needs access.Capability) (operation.Call, error) {
	actor := &access.Actor{PersonID: person}
	var zone, plan string
	var until int64
	err := s.db.QueryRow(ctx, `SELECT t.id, t.timezone, t.content_language, t.plan, t.plan_until, m.role FROM posts p
		JOIN teams t ON t.id = p.team_id
		JOIN memberships m ON m.team_id = t.id AND m.person_id = ? JOIN people x ON x.id = m.person_id
		WHERE p.id = ? AND t.closed_at = 0 AND x.held_at = 0`, person, postID).Scan(&actor.TeamID, &zone,
		&actor.Language, &plan, &until, &actor.Role)
	if errors.Is(err, sql.ErrNoRows) {
		return operation.Call{}, apierr.ItemNotFound()
	}
	if err != nil {
		return operation.Call{}, fmt.Errorf("reading a person's permissions for a post: %w", err)
	}
	if actor.Zone, err = time.LoadLocation(zone); err != nil {
		return operation.Call{}, fmt.Errorf("loading the time zone of team %d: %w", actor.TeamID, err)
	}
	now := s.db.Now()
	actor.Plan, actor.Capabilities = s.catalog.PlanInEffect(plan, db.Time(until), now).ID,
		access.EffectiveCapabilities(access.Full, actor.Role)
	if !actor.Can(needs) {
		return operation.Call{}, apierr.ItemNotFound()
	}
	return operation.Call{Actor: actor, Now: now}, nil
}

// UpdateAs locks a post and calls do in the same transaction, on behalf of a person. It returns not_found if the person
// lacks the needed capability. name identifies the transaction.
func (s *Service) UpdateAs(ctx context.Context, person int64, postID string, needs access.Capability, name string,
	do func(context.Context, *db.Tx, operation.Call, *Record) error,
) (Record, error) {
	call, err := s.CallAs(ctx, person, postID, needs)
	if err != nil {
		return Record{}, err
	}
	var p Record
	err = s.db.InTx(ctx, name, func(ctx context.Context, tx *db.Tx) error {
		var err error
		if p, err = s.Lock(ctx, tx, call.TeamID, postID); err != nil {
			return err
		}
		return do(ctx, tx, call, &p)
	})
	return p, err
}

// ErrCopyRepeats is returned if an edited copy would become a series. The series could publish to accounts that the
// original post already uses.
var ErrCopyRepeats = apierr.BadState("edited_copy", "An edited copy cannot be turned into a series. Duplicate it first.")

// checkRepeatable returns an error if a post cannot become a running series.
func (p Record) checkRepeatable(now time.Time) error {
	switch {
	case p.SeriesID != 0 && !p.IsTemplate:
		return apierr.BadState("occurrence", "The post already belongs to a series. Repeat its template instead.")
	case p.Replaces != "":
		return ErrCopyRepeats
	case p.Status != Draft:
		return apierr.BadState(string(p.Status), "Only a draft or the template of a paused series can be repeated.")
	case p.ScheduledAt.IsZero():
		return apierr.Invalid(apierr.MissingArgument, "scheduled_at", "Set a time for the draft. The series starts then.")
	case !p.IsTemplate && !p.ScheduledAt.After(now):
		return apierr.Invalid(apierr.InThePast, "scheduled_at",
			"The draft's time is in the past. Pick a future time; the series starts then.")
	}
	return p.checkApproved()
}

// repeat starts or resumes the series of a post and creates its next occurrence.
func (s *Service) repeat(ctx context.Context, tx *db.Tx, call operation.Call, p *Record, rule string,
	zone *time.Location,
) error {
	kind, series := "series.resumed", p.Series
	if !p.IsTemplate {
		kind, series = "series.started", Series{TemplateID: p.ID, Timezone: zone.String()}
		series.startsAt = p.ScheduledAt.In(zone).Format(recurrence.WallClock)
	}
	series.Rule, series.Paused = rule, false
	recurring, err := series.recurrence()
	if err != nil {
		return err
	}
	if series.lastAt.Before(tx.Now()) {
		series.lastAt = tx.Now()
	}
	if _, ok := recurring.First(series.lastAt); !ok {
		return recurrence.ErrNoOccurrence
	}
	if err := storeSeries(ctx, tx, &series, p.TeamID); err != nil {
		return err
	}
	p.Status, p.SeriesID, p.IsTemplate = Scheduled, series.ID, true
	if err := storeTemplate(ctx, tx, p); err != nil {
		return err
	}
	if err := auditlog.Record(ctx, tx, p.TeamID, auditlog.NewActor(call), kind, p.ID,
		map[string]any{"series": series.ID}); err != nil {
		return err
	}
	return s.createNext(ctx, tx, p, series)
}

// storeSeries inserts a series without an ID, or updates and unpauses a series with an ID.
func storeSeries(ctx context.Context, tx *db.Tx, series *Series, team int64) error {
	var err error
	if series.ID == 0 {
		err = tx.QueryRow(ctx, `INSERT INTO post_series (team_id, template_id, rule, timezone, starts_at, created_at)
			VALUES (?, ?, ?, ?, ?, ?) RETURNING id`,
			team, series.TemplateID, series.Rule, series.Timezone, series.startsAt, db.Micros(tx.Now())).Scan(&series.ID)
	} else {
		_, err = tx.Exec(ctx, `UPDATE post_series SET rule = ?, paused_at = 0, last_at = ?, wake_at = ? WHERE id = ?`,
			series.Rule, db.Micros(series.lastAt), db.Micros(series.wakeAt), series.ID)
	}
	if err != nil {
		return fmt.Errorf("storing a series: %w", err)
	}
	return nil
}

// setRule sets the rule of a template's series and reports whether it changed. An empty rule changes nothing.
func setRule(ctx context.Context, tx *db.Tx, template *Record, rule string) (bool, error) {
	if !template.IsTemplate || rule == "" || rule == template.Series.Rule {
		return false, nil
	}
	r := template.Series
	r.Rule = rule
	recurring, err := r.recurrence()
	if err != nil {
		return false, err
	}
	after := r.lastAt
	if after.Before(tx.Now()) {
		after = tx.Now()
	}
	if _, ok := recurring.First(after); !ok {
		return false, recurrence.ErrNoOccurrence
	}
	if _, err := tx.Exec(ctx, `UPDATE post_series SET rule = ? WHERE id = ? AND team_id = ?`, rule, r.ID,
		template.TeamID); err != nil {
		return false, fmt.Errorf("changing the rule of a series: %w", err)
	}
	template.Series = r
	return true, nil
}

// storeTemplate stores a post as Update does, and also stores SeriesID and IsTemplate.
func storeTemplate(ctx context.Context, tx *db.Tx, p *Record) error {
	if _, err := tx.Exec(ctx, `UPDATE posts SET series_id = ?, is_template = ? WHERE id = ?`, p.SeriesID,
		db.BoolToInt(p.IsTemplate), p.ID); err != nil {
		return fmt.Errorf("storing a template: %w", err)
	}
	return Update(ctx, tx, p)
}

// updateSeries updates the series of a post that becomes a draft or is published early. If the post is the template,
// the series is paused. If the post is the last created occurrence, the next occurrence becomes due for creation.
func (s *Service) updateSeries(ctx context.Context, tx *db.Tx, p *Record) error {
	switch {
	case p.SeriesID == 0:
		return nil
	case p.IsTemplate:
		return s.pause(ctx, tx, p)
	}
	_, err := tx.Exec(ctx, `UPDATE post_series SET wake_at = ? WHERE id = ? AND wake_at > 0 AND last_at = ?`,
		db.Micros(tx.Now()), p.SeriesID, db.Micros(p.OccursAt))
	if err != nil {
		return fmt.Errorf("making the next occurrence of a series due: %w", err)
	}
	return nil
}

// pause pauses the series of a template. Unsent occurrences become drafts. The series schedules them again when it
// resumes.
func (s *Service) pause(ctx context.Context, tx *db.Tx, template *Record) error {
	lastAt := template.Series.lastAt
	occurrences, err := db.All(ctx, tx, func(rows *sql.Rows, p *Record) error {
		var occurs int64
		err := rows.Scan(&p.ID, &occurs)
		p.OccursAt = db.Time(occurs)
		return err
	}, `UPDATE posts SET status = 'draft', updated_at = ? WHERE series_id = ? AND occurs_at > 0
		AND status = 'scheduled' RETURNING id, occurs_at`, db.Micros(tx.Now()), template.SeriesID)
	if err != nil {
		return fmt.Errorf("unscheduling the occurrences of a series: %w", err)
	}
	for _, p := range occurrences {
		if previous := p.OccursAt.Add(-time.Microsecond); previous.Before(lastAt) {
			lastAt = previous
		}
		if err := auditlog.Record(ctx, tx, template.TeamID, auditlog.Actor{}, "post.cancelled", p.ID,
			map[string]any{"template": template.ID}); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, `UPDATE post_series SET paused_at = ?, wake_at = 0, last_at = ? WHERE id = ?`,
		db.Micros(tx.Now()), db.Micros(lastAt), template.SeriesID)
	if err != nil {
		return fmt.Errorf("pausing a series: %w", err)
	}
	template.Series.Paused, template.Series.NextAt = true, time.Time{}
	return nil
}
