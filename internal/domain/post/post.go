// Package post is posts: their states and rules, the accounts that each targets with its own result, and the
// operations by which they are drafted, changed, scheduled, published and retried. Handing a post to its
// networks is the delivery's (package delivery); a post only says what is to go out, and learns what did.
package post

import (
	"context"
	"time"

	"pressroom/internal/core/plan"
	"pressroom/internal/domain/account"
	"pressroom/internal/domain/job"
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

// Approval is how the client stands to a post.
type Approval string

// The states of approval.
const (
	NotNeeded Approval = "not_needed"
	Waiting   Approval = "waiting"
	Approved  Approval = "approved"
	Rejected  Approval = "rejected"
)

// Post is a post as it is stored.
type Post struct {
	ID          string
	TeamID      int64
	Status      Status
	Caption     string
	Excerpt     string
	Approval    Approval
	Review      Review    // of the version that stands; empty where nobody has decided it
	Round       int64     // the version of it that the client is shown, counted from 1; 0 where none was
	SeriesID    int64     // the recurring series it belongs to, 0 where to none
	Series      Series    // that series
	IsTemplate  bool      // it is what that series is made from
	OccursAt    time.Time // of one that was made from the template: when it was to go out
	Skipped     bool      // of one that was made from the template: it was cancelled, and its series does not take it up again
	ScheduledAt time.Time
	SubmittedAt time.Time
	PublishedAt time.Time
	JobID       string // the last job that sent it
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Targets     []Target
	Media       []network.Media // in their order
	hasMedia    bool
}

// Target is one account of a post, with its result.
type Target struct {
	AccountID   int64
	Platform    string
	Username    string
	Active      bool
	State       TargetState
	Caption     *string         // in place of the post's
	Media       []network.Media // in place of the post's; nil where it shows those
	PublishedAt time.Time
	Permalink   string
	NetworkID   string // what the network knows the publication by
	ErrorCode   string
	NetworkText string
	RetriesUsed int
	RetriedAt   time.Time

	hasMedia bool
}

// Content is what is to stand on a target.
func (p Post) Content(t Target, language string) network.Content {
	text := p.Caption
	if t.Caption != nil {
		text = *t.Caption
	}
	media := p.Media
	if t.Media != nil {
		media = t.Media
	}
	return network.Content{Text: text, Languages: []string{language}, Media: media}
}

// slot is the time by which lists and the monthly allowance know a post. A template has none: what is made from it has.
func (p Post) slot() time.Time {
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

// Review is what a client decided of a version of a post.
type Review struct {
	Decided time.Time
	Comment string // a stranger's text
}

// awaitsApproval tells whether the client's approval keeps the post from going out.
func (p Post) awaitsApproval() bool { return p.Approval == Waiting || p.Approval == Rejected }

// Service does what the operations say.
type Service struct {
	db       *db.DB
	accounts *account.Service
	jobs     *job.Store
	library  Library
	delivery Delivery
	limits   Limits
	terms    plan.Terms
}

// Limits are the operator's figures.
type Limits struct {
	Retries      int           // how often an account that failed may be sent again
	RetryBetween time.Duration // and how long after the last time
}

// DefaultLimits are the shipped figures.
var DefaultLimits = Limits{Retries: 3, RetryBetween: time.Minute}

// Library knows a team's media.
type Library interface {
	// Of describes items as networks know them; one that the team does not have is not_found, by the argument media_ids.
	Of(ctx context.Context, q db.Querier, team int64, ids []int64) ([]network.Media, error)
	// Had describes items that posts have, also those that were deleted since.
	Had(ctx context.Context, q db.Querier, team int64, ids []int64) ([]network.Media, error)
}

// New makes the service. The delivery is given to it by Deliver, as each needs the other.
func New(d *db.DB, accounts *account.Service, jobs *job.Store, library Library, limits Limits, t plan.Terms) *Service {
	return &Service{db: d, accounts: accounts, jobs: jobs, library: library, limits: limits, terms: t}
}

// Deliver says who hands posts to networks. It is called once, before anything is sent.
func (s *Service) Deliver(d Delivery) { s.delivery = d }

// Order is what is handed over: some accounts of one post, under one job.
type Order struct {
	Post    Post
	Job     job.Record
	Targets []Target
	// Refused, where not empty, is the error code with which every account fails without being sent.
	Refused string
}
