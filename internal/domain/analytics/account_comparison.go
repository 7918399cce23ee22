package analytics

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/platform/db"
)

// AccountComparison holds the metrics of an account in a period, for example a week, and in the previous period of the
// same length.
type AccountComparison struct {
	ID         int64
	Platform   string
	Username   string
	Connection account.Connection
	Followers  *int64        // newest count in the two periods; nil if there is none
	Change     *int64        // change in followers in the period, as in AccountAnalytics; nil if unknown
	Since      time.Time     // day of the count that Change is based on, as midnight UTC; zero if that day is before the period
	Line       []int64       // daily follower counts from the day before the previous period on, oldest first
	Now, Past  PeriodMetrics // metrics of the period and of the previous period

	counts []followerCount // the counts of Line, preceded by the newest count before it
}

// PeriodMetrics summarizes an account's posts in a period. A sum is nil if the network did not report the metric.
type PeriodMetrics struct {
	Posts      int64
	Views      *int64
	Engagement *int64 // likes, comments, shares and saves
}

const (
	daysPerWeek = 7
	// maxComparedAccounts is the maximum number of accounts in a comparison.
	maxComparedAccounts = 200
)

// CompareWeeks calls ComparePeriods for the last seven days, including today.
func (s *Service) CompareWeeks(ctx context.Context, team int64, zone *time.Location) ([]AccountComparison, error) {
	return s.ComparePeriods(ctx, team, s.LastDays(zone, daysPerWeek))
}

// ComparePeriods returns the metrics of a team's connected accounts in a period and in the previous period of the same
// length. They are sorted by followers, highest first.
func (s *Service) ComparePeriods(ctx context.Context, team int64, period Period) ([]AccountComparison, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, c *AccountComparison) error {
		return rows.Scan(&c.ID, &c.Platform, &c.Username, &c.Connection)
	}, `SELECT id, platform, username, connection_state FROM social_accounts WHERE team_id = ? AND disconnected_at = 0
		ORDER BY id LIMIT ?`, team, maxComparedAccounts)
	if err != nil {
		return nil, fmt.Errorf("listing the accounts of team %d: %w", team, err)
	}
	if len(out) == 0 {
		return nil, nil
	}
	byID, ids := make(map[int64]*AccountComparison, len(out)), make([]int64, len(out))
	for i := range out {
		ids[i], byID[out[i].ID] = out[i].ID, &out[i]
	}
	if err := s.addFollowers(ctx, ids, byID, period); err != nil {
		return nil, err
	}
	if err := s.addPeriodMetrics(ctx, ids, byID, period); err != nil {
		return nil, err
	}
	slices.SortStableFunc(out, func(a, b AccountComparison) int {
		return cmp.Compare(countOrMinusOne(b.Followers), countOrMinusOne(a.Followers))
	})
	return out, nil
}

// countOrMinusOne returns a count, or -1 if it is unknown.
func countOrMinusOne(n *int64) int64 {
	if n == nil {
		return -1
	}
	return *n
}

// dateBefore returns the date that is the given number of days before a time, as YYYY-MM-DD.
func dateBefore(at time.Time, days int) string {
	return time.Date(at.Year(), at.Month(), at.Day()-days, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

func (s *Service) addFollowers(
	ctx context.Context, ids []int64, byID map[int64]*AccountComparison, period Period,
) error {
	first, last := dateBefore(period.Until, 2*period.Days), dateBefore(period.Until, 0)
	type dayCount struct {
		followerCount

		account int64
	}
	days, err := db.All(ctx, s.db, func(rows *sql.Rows, c *dayCount) error {
		return rows.Scan(&c.account, &c.day, &c.followers)
	}, `SELECT account_id, day, followers FROM account_days WHERE day >= ? AND day <= ? AND account_id IN (`+
		db.Placeholders(len(ids))+`) UNION ALL SELECT d.account_id, d.day, d.followers FROM social_accounts a
		JOIN account_days d ON d.account_id = a.id
		AND d.day = (SELECT MAX(b.day) FROM account_days b WHERE b.account_id = a.id AND b.day < ?)
		WHERE a.id IN (`+db.Placeholders(len(ids))+`) ORDER BY account_id, day`,
		append([]any{first}, append(db.Args(last, ids), db.Args(first, ids)...)...)...)
	if err != nil {
		return fmt.Errorf("reading followers: %w", err)
	}
	for i, c := range days {
		comparison := byID[c.account]
		comparison.counts = append(comparison.counts, c.followerCount)
		if c.day >= first {
			comparison.Followers, comparison.Line = &days[i].followers, append(comparison.Line, c.followers)
		}
	}
	before := dateBefore(period.Until, period.Days)
	for _, comparison := range byID {
		base, gained, ok := followerChange(comparison.counts, before, last)
		if !ok {
			continue
		}
		comparison.Change = &gained
		if base.day > before {
			if comparison.Since, err = time.Parse(time.DateOnly, base.day); err != nil {
				return fmt.Errorf("reading followers: %w", err)
			}
		}
	}
	return nil
}

// Gained returns the number of followers that the account gained from the day begin to the day until, or nil if it is
// unknown. For a day without a count, it uses the newest count before that day. For the whole period, the result is
// Change.
func (c AccountComparison) Gained(begin, until time.Time) *int64 {
	before := begin.AddDate(0, 0, -1).Format(time.DateOnly)
	counts := countsSince(c.counts, before, until.Format(time.DateOnly))
	if len(counts) == 0 || c.counts[len(c.counts)-1].day <= before {
		return nil
	}
	gained := counts[len(counts)-1].followers - counts[0].followers
	return &gained
}

func (s *Service) addPeriodMetrics(
	ctx context.Context, ids []int64, byID map[int64]*AccountComparison, period Period,
) error {
	for _, part := range []struct {
		from, to time.Time
		week     func(*AccountComparison) *PeriodMetrics
	}{
		{period.Start(), period.End(), func(w *AccountComparison) *PeriodMetrics { return &w.Now }},
		{period.Past(), period.Start(), func(w *AccountComparison) *PeriodMetrics { return &w.Past }},
	} {
		_, err := db.All(ctx, s.db, func(rows *sql.Rows, w *PeriodMetrics) error {
			var account int64
			if err := rows.Scan(&account, &w.Posts, &w.Views, &w.Engagement); err != nil {
				return err
			}
			*part.week(byID[account]) = *w
			return nil
		}, `SELECT account_id, COUNT(*), CAST(SUM(views) AS BIGINT), CAST(SUM(CASE WHEN likes IS NULL AND comments IS NULL
		AND shares IS NULL AND saves IS NULL THEN NULL ELSE COALESCE(likes, 0) + COALESCE(comments, 0) +
		COALESCE(shares, 0) + COALESCE(saves, 0) END) AS BIGINT) FROM account_posts WHERE posted_at >= ? AND posted_at < ?
		AND account_id IN (`+db.Placeholders(len(ids))+`) GROUP BY account_id`,
			append([]any{db.Micros(part.from)}, db.Args(db.Micros(part.to), ids)...)...)
		if err != nil {
			return fmt.Errorf("summing up the posts of a period: %w", err)
		}
	}
	return nil
}
