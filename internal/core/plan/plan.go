// Package plan defines the plans, prices and limits of a service. An operator can replace the defaults with a file.
package plan

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// Unlimited is the value that means that there is no limit (spec, Limits of a plan: -1 means unlimited, 0 means none).
const Unlimited = -1

// Catalog holds the plans, prices and limits of a service.
type Catalog struct {
	Plans  []Plan `json:"plans"`
	Lapsed string `json:"lapsed_plan"` // ID of the plan for teams whose own plan has lapsed
	Prices Prices `json:"prices"`
	Limits Limits `json:"limits"`
	// BannedHashtags contains the hashtags that lists reject, by platform. They may be in any spelling.
	BannedHashtags map[string][]string `json:"banned_hashtags"`
}

// Plan holds the limits for a team. The numbers may be Unlimited.
type Plan struct {
	ID                     string `json:"id"`
	Name                   string `json:"name"`
	APIKeys                bool   `json:"api_keys"`
	SocialAccounts         int64  `json:"social_accounts"`
	PostsPerMonth          int64  `json:"posts_per_month"`
	Seats                  int64  `json:"seats"`
	StorageBytes           int64  `json:"storage_bytes"`
	AnalyticsRetentionDays int64  `json:"analytics_retention_days"`
	ProfilesComparable     int64  `json:"profiles_comparable"`
	FreeCallsPerDay        int64  `json:"free_calls_per_day"`
	HashtagLists           int64  `json:"hashtag_lists"`
	HashtagsPerList        int64  `json:"hashtags_per_list"`
	TrackedReports         int64  `json:"tracked_reports"`
	DailyCredits           int64  `json:"daily_credits"` // limit for all assistants and keys together
}

// Prices holds the prices of paid operations in credits.
type Prices struct {
	ProfileReport        int64 `json:"profile_report"`
	HashtagReport        int64 `json:"hashtag_report"`
	ProfileRefresh       int64 `json:"profile_refresh"` // also the price of each automatic refresh
	HashtagRefresh       int64 `json:"hashtag_refresh"` // also the price of each automatic refresh
	HashtagSearch        int64 `json:"hashtag_search"`
	ProfileMediaDownload int64 `json:"profile_media_download"`
}

// Limits holds the rate limits and size limits.
type Limits struct {
	Requests     Rate `json:"requests"`       // per key, over REST and MCP together
	Writes       Rate `json:"writes"`         // per connection
	Networks     Rate `json:"networks"`       // per connection: calls that reach social networks
	JobsInFlight int  `json:"jobs_in_flight"` // per team

	RefreshMinutes int `json:"refresh_minutes"` // minimum time between two refreshes of a report by the same person

	// HashtagDays is the number of days for which the result of a paid hashtag search is reused. It is also the maximum
	// age of hashtag statistics in days.
	HashtagDays int `json:"hashtag_days"`

	OpenUploadBatches int   `json:"open_upload_batches"` // per team
	OpenUploadLinks   int   `json:"open_upload_links"`   // per team
	UploadMinutes     int   `json:"upload_minutes"`      // lifetime of an upload link and its page
	MaxImageBytes     int64 `json:"max_image_bytes"`
	MaxVideoBytes     int64 `json:"max_video_bytes"`
}

// Rate is a rate limit: a token bucket that holds Burst tokens and is refilled with PerMinute tokens per minute.
type Rate struct {
	PerMinute int `json:"per_minute"`
	Burst     int `json:"burst"`
}

const (
	mib = int64(1) << 20
	gib = int64(1) << 30
)

// Default returns the default catalog.
func Default() Catalog {
	return Catalog{
		Plans: []Plan{
			{"free", "Free", false, 3, 20, 1, gib, 30, 1, 0, 3, 500, 0, 0},
			{"creator", "Creator", true, 10, 200, 1, 10 * gib, 90, 3, 1_000, 20, 1_000, 5, 50},
			{"team", "Team", true, 30, 2_000, 10, 100 * gib, 365, 10, 10_000, 100, 2_000, 25, 250},
			{"agency", "Agency", true, Unlimited, Unlimited, 50, 1_000 * gib, 730, 25, 100_000, 500, 5_000, 100, 1_000},
		},
		Lapsed: "free",
		Prices: Prices{
			ProfileReport: 5, HashtagReport: 10, ProfileRefresh: 2, HashtagRefresh: 5, HashtagSearch: 3,
			ProfileMediaDownload: 2,
		},
		Limits: Limits{
			Requests: Rate{120, 30}, Writes: Rate{60, 20}, Networks: Rate{20, 10}, JobsInFlight: 5, RefreshMinutes: 10,
			HashtagDays: 7, OpenUploadBatches: 5, OpenUploadLinks: 100, UploadMinutes: 60,
			MaxImageBytes: 50 * mib, MaxVideoBytes: 4 * gib,
		},
		BannedHashtags: map[string][]string{"instagram": {}, "tiktok": {}},
	}
}

// ReadCatalog reads a catalog from a JSON file. Members that the file omits keep their defaults. A list of plans in the
// file replaces all default plans.
func ReadCatalog(path string) (Catalog, error) {
	c := Default()
	raw, err := os.ReadFile(path) //nolint:gosec // the operator chooses the file
	if err != nil {
		return c, fmt.Errorf("reading the plans: %w", err)
	}
	// The decoder also rejects duplicate names and trailing data. It zeroes list items before it decodes into them.
	if err := json.Unmarshal(raw, &c, json.RejectUnknownMembers(true)); err != nil {
		return c, fmt.Errorf("reading the plans in %s: %w", path, err)
	}
	if err := c.check(); err != nil {
		return c, fmt.Errorf("the plans in %s: %w", path, err)
	}
	return c, nil
}

// ScaleRates returns the catalog with all rates multiplied by a factor.
func (c Catalog) ScaleRates(factor int) Catalog {
	for _, r := range []*Rate{&c.Limits.Requests, &c.Limits.Writes, &c.Limits.Networks} {
		r.PerMinute, r.Burst = r.PerMinute*factor, r.Burst*factor
	}
	return c
}

// Plan returns the plan with the given ID, and reports whether it exists.
func (c Catalog) Plan(id string) (Plan, bool) {
	for _, p := range c.Plans {
		if p.ID == id {
			return p, true
		}
	}
	return Plan{}, false
}

// PlanInEffect returns the plan that applies to a team: its own plan until the plan lapses, and then the plan for
// lapsed teams. If the operator has removed the plan, PlanInEffect returns a plan that does not allow anything.
func (c Catalog) PlanInEffect(plan string, until, now time.Time) Plan {
	if !until.IsZero() && !now.Before(until) {
		plan = c.Lapsed
	}
	p, ok := c.Plan(plan)
	if !ok {
		p.ID = plan
	}
	return p
}

// PlanIDs returns the IDs of the plans.
func (c Catalog) PlanIDs() []string {
	out := make([]string, len(c.Plans))
	for i, p := range c.Plans {
		out[i] = p.ID
	}
	return out
}

// maxRefreshMinutes is the maximum of RefreshMinutes: one day, because the interval is meant to be short (spec,
// Reports).
const maxRefreshMinutes = 24 * 60

// maxReportPrice is the maximum price of a new report that the API contract allows (spec, Limits 10).
const maxReportPrice = 10

var planID = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)

func (c Catalog) check() error {
	for i, p := range c.Plans {
		if !planID.MatchString(p.ID) || strings.TrimSpace(p.Name) == "" || slices.Index(c.PlanIDs(), p.ID) != i {
			return fmt.Errorf("plan %d needs a name and a unique id of lowercase letters, digits, - and _", i+1)
		}
		for _, n := range p.numbers() {
			if n < Unlimited {
				return fmt.Errorf("plan %s has a number below -1; use -1 for unlimited and 0 for none", p.ID)
			}
		}
	}
	if _, ok := c.Plan(c.Lapsed); !ok {
		return fmt.Errorf("lapsed_plan must be one of the plans: %s", strings.Join(c.PlanIDs(), ", "))
	}
	return errors.Join(c.Prices.check(), c.Limits.check())
}

func (p Plan) numbers() []int64 {
	return []int64{p.SocialAccounts, p.PostsPerMonth, p.Seats, p.StorageBytes, p.AnalyticsRetentionDays,
		p.ProfilesComparable, p.FreeCallsPerDay, p.HashtagLists, p.HashtagsPerList, p.TrackedReports, p.DailyCredits}
}

const maxPrice = 1_000_000

func (p Prices) check() error {
	for _, n := range []int64{
		p.ProfileReport, p.HashtagReport, p.ProfileRefresh, p.HashtagRefresh, p.HashtagSearch, p.ProfileMediaDownload,
	} {
		if n < 0 || n > maxPrice {
			return fmt.Errorf("prices must be from 0 to %d credits", maxPrice)
		}
	}
	if p.ProfileReport > maxReportPrice || p.HashtagReport > maxReportPrice {
		return fmt.Errorf("profile_report and hashtag_report must be at most %d credits, because clients rely on this",
			maxReportPrice)
	}
	return nil
}

const (
	maxRate          = 60_000_000 // maximum of per_minute and burst
	maxUploadMinutes = 24 * 60
	maxHashtagDays   = 28 // search results are deleted together with their job after 30 days
)

func (l Limits) check() error {
	for _, r := range []Rate{l.Requests, l.Writes, l.Networks} {
		if r.PerMinute < 1 || r.Burst < 1 || r.PerMinute > maxRate || r.Burst > maxRate {
			return fmt.Errorf("per_minute and burst of rates must be from 1 to %d", maxRate)
		}
	}
	if l.JobsInFlight < 1 {
		return errors.New("jobs_in_flight must be at least 1")
	}
	return errors.Join(l.checkTimes(), l.checkMedia())
}

func (l Limits) checkTimes() error {
	if l.RefreshMinutes < 0 || l.RefreshMinutes > maxRefreshMinutes {
		return fmt.Errorf("refresh_minutes must be from 0 to %d", maxRefreshMinutes)
	}
	if l.HashtagDays < 1 || l.HashtagDays > maxHashtagDays {
		return fmt.Errorf("hashtag_days must be from 1 to %d", maxHashtagDays)
	}
	return nil
}

func (l Limits) checkMedia() error {
	if l.OpenUploadBatches < 1 || l.OpenUploadLinks < 1 || l.UploadMinutes < 1 || l.UploadMinutes > maxUploadMinutes {
		return fmt.Errorf("open_upload_batches and open_upload_links must be at least 1, and upload_minutes from 1 "+
			"to %d", maxUploadMinutes)
	}
	if l.MaxImageBytes < 1 || l.MaxVideoBytes < l.MaxImageBytes {
		return errors.New("max_image_bytes must be at least 1, and max_video_bytes at least max_image_bytes")
	}
	return nil
}

// LowerLimit returns the lower of two limits. Unlimited counts as the highest limit.
func LowerLimit(a, b int64) int64 {
	if a == Unlimited || b != Unlimited && b < a {
		return b
	}
	return a
}
