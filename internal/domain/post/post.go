// Package post is posts: their states and rules, the accounts that each targets with its own result, and the operations
// by which they are drafted, changed, scheduled, published and retried. Package delivery publishes posts; a post only
// has the content and receives the results.
package post

import (
	"context"
	"time"

	"pressroom/internal/core/plan"
	"pressroom/internal/domain/account"
	"pressroom/internal/domain/job"
	"pressroom/internal/domain/post/warning"
	"pressroom/internal/network"
	"pressroom/internal/platform/db"
)

// Status is the state of a post (spec, Enumerations).
type Status string

// The statuses.
const (
	Draft              Status = "draft"
	Scheduled          Status = "scheduled"
	Processing         Status = "processing"
	Published          Status = "published"
	PartiallyPublished Status = "partially_published"
	Failed             Status = "failed"
)

// TargetState is the state of one account of a post (contract, Records).
type TargetState string

// The states of an account.
const (
	TargetPending     TargetState = "pending"
	TargetSending     TargetState = "sending"
	TargetPublished   TargetState = "published"
	TargetFailed      TargetState = "failed"
	TargetUnconfirmed TargetState = "unconfirmed"
)

// Approval is the state of the client's approval.
type Approval string

// The states of approval.
const (
	NotNeeded Approval = "not_needed"
	Waiting   Approval = "waiting"
	Approved  Approval = "approved"
	Rejected  Approval = "rejected"
)

// Record is a post as stored.
type Record struct {
	ID          string
	TeamID      int64
	Status      Status
	Caption     string
	Excerpt     string
	Approval    Approval
	Review      Review    // of the current version; empty before the decision
	Round       int64     // the version that the client is shown, from 1; 0 for none
	SeriesID    int64     // its series; 0 for none
	Series      Series    // that series
	IsTemplate  bool      // template of the series
	OccursAt    time.Time // planned time of an occurrence
	Skipped     bool      // the occurrence was canceled and is not scheduled again
	ScheduledAt time.Time
	PlannedDay  string // of a draft without a time: its planned date, as 2026-03-29; else empty
	SubmittedAt time.Time
	PublishedAt time.Time
	JobID       string // the last publish or retry
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Replaces    string    // the post whose failed accounts it takes over; empty for none
	ArchivedAt  time.Time // when it was put aside; zero if it was not
	Targets     []Target
	Media       []network.Media // in order
	Options     network.Options // choices for single networks
	hasMedia    bool
}

// Target is one account of a post, with its result.
type Target struct {
	AccountID   int64
	Platform    string
	Username    string
	Active      bool
	State       TargetState
	Caption     *string         // override; nil for the post's
	Media       []network.Media // override; nil for the post's
	PublishedAt time.Time
	Permalink   string
	NetworkID   string // the network's id of the published post
	ErrorCode   string
	NetworkText string
	Warnings    []warning.FailedStep // of a published post
	RetriesUsed int
	RetriedAt   time.Time

	hasMedia bool
}

// Content returns what an account shows.
func (p Record) Content(t Target, language string) network.Content {
	text := p.Caption
	if t.Caption != nil {
		text = *t.Caption
	}
	media := p.Media
	if t.Media != nil {
		media = t.Media
	}
	return network.Content{Text: text, Languages: []string{language}, Media: media, Options: p.Options}
}

// Slot returns the time by which lists and the monthly allowance sort a post. A template has none.
func (p Record) Slot() time.Time {
	switch {
	case p.IsTemplate:
		return time.Time{}
	case !p.PublishedAt.IsZero():
		return p.PublishedAt
	case !p.ScheduledAt.IsZero():
		return p.ScheduledAt
	}
	return p.SubmittedAt
}

// Review is a client's decision on a version.
type Review struct {
	Decided time.Time
	Comment string // untrusted
}

// awaitsApproval reports whether the client's approval keeps the post from going out.
func (p Record) awaitsApproval() bool { return p.Approval == Waiting || p.Approval == Rejected }

// Service manages posts.
type Service struct {
	db        *db.DB
	accounts  *account.Service
	jobs      *job.Store
	library   Library
	submitter Submitter
	limits    Limits
	terms     plan.Terms
}

// Limits are settings of the operator.
type Limits struct {
	Retries      int           // how often a failed account may be retried
	RetryBetween time.Duration // shortest time between two retries
}

// DefaultLimits are the default settings.
var DefaultLimits = Limits{Retries: 3, RetryBetween: time.Minute}

// Library provides a team's media.
type Library interface {
	// ForPost returns items by id. It returns not_found, for the argument media_ids, if the team does not have one.
	ForPost(ctx context.Context, q db.Querier, team int64, ids []int64) ([]network.Media, error)
	// ForPostWithDeleted returns items of posts, including deleted ones.
	ForPostWithDeleted(ctx context.Context, q db.Querier, team int64, ids []int64) ([]network.Media, error)
}

// New returns the service. The library and the submitter may be nil if no posts with media are composed or sent.
func New(d *db.DB, accounts *account.Service, jobs *job.Store, library Library, submitter Submitter, limits Limits,
	t plan.Terms) *Service {
	return &Service{
		db: d, accounts: accounts, jobs: jobs, library: library, submitter: submitter, limits: limits, terms: t,
	}
}

// Order is a submission: some accounts of one post, under one job.
type Order struct {
	Post    Record
	Job     job.Record
	Targets []Target
	// Refused, if not empty, is the error code with which every account fails without being sent.
	Refused string
}
