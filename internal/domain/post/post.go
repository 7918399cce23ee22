// Package post manages posts: their states, rules, target accounts and results. It implements the operations that
// draft, change, schedule, publish and retry posts. Package delivery sends posts to networks and reports the results
// to this package.
package post

import (
	"context"
	"time"

	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/post/comment"
	"pressroom.example/pressroom/internal/domain/post/thread"
	"pressroom.example/pressroom/internal/domain/post/warning"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
)

// Status is the state of a post.
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

// TargetState is the state of publishing a post to one account.
type TargetState string

// The states of a target.
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
	ID           string
	TeamID       int64
	Status       Status
	Caption      string
	Title        string // for networks that publish a title; see network.Content.TitleOn
	Excerpt      string
	Approval     Approval
	Review       Review    // decision on the current version; zero before the decision
	Round        int64     // approval round, from 1; 0 if approval was never requested
	SeriesID     int64     // 0 if the post belongs to no series
	Series       Series    // zero if SeriesID is 0
	IsTemplate   bool      // whether the post is the template of its series
	OccursAt     time.Time // time of an occurrence according to the rule of its series; zero for other posts
	Skipped      bool      // a person canceled this occurrence; the series does not schedule it again
	ScheduledAt  time.Time
	PlannedDay   string // planned date of a draft without a time, such as 2026-03-29; otherwise empty
	SubmittedAt  time.Time
	PublishedAt  time.Time
	JobID        string // job of the last publish or retry
	CreatedAt    time.Time
	UpdatedAt    time.Time
	Replaces     string    // ID of the original post, if this is an edited copy for its failed accounts
	ArchivedAt   time.Time // zero if the post is not archived
	Targets      []Target
	Media        []network.Media // in order
	Thread       []thread.Part   // parts after the post itself, which is part 0
	Labels       []string        // for the team, in order; not published
	FirstComment string          // text that each account adds to its post as a comment; empty for none
	Options      network.Options // settings for individual networks
	OptionMedia  []network.Media // media that Options use; deleted media have Gone set
	TeamOptions  network.Options // the team's options, for networks without options in Options
	hasMedia     bool
	hasLabels    bool
}

// Target is one account that a post is published to, with the result.
type Target struct {
	AccountID        int64
	Platform         string
	NetworkAccountID string // the network's ID of the account
	Username         string
	Active           bool
	State            TargetState
	Caption          *string         // override; nil means the post's caption
	Title            *string         // override; nil means the post's title
	Media            []network.Media // override; nil means the post's media
	PublishedAt      time.Time
	Permalink        string
	NetworkID        string // the network's ID of the published post
	ErrorCode        string
	NetworkText      string
	Parts            []thread.PublishedPart // published parts of the thread after part 0
	Comment          comment.Result         // result of the first comment
	Warnings         []warning.FailedStep   // steps that failed after the post was published
	RetriesUsed      int
	RetriedAt        time.Time

	hasMedia bool
}

// Content returns the content that is published to an account. The language is a BCP 47 tag.
func (p Record) Content(t Target, language string) network.Content {
	text, title := p.Caption, p.Title
	if t.Caption != nil {
		text = *t.Caption
	}
	if t.Title != nil {
		title = *t.Title
	}
	media := p.Media
	if t.Media != nil {
		media = t.Media
	}
	return network.Content{Text: text, Title: title, Languages: []string{language}, Media: media,
		Options: p.effectiveOptions(), Account: t.NetworkAccountID}
}

// Slot returns the time that lists are sorted by and that decides which month's limit the post counts against. It is
// zero for a template.
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

// Review is a client's decision on a version of a post.
type Review struct {
	DecidedAt time.Time
	Comment   string // untrusted
}

// needsApproval reports whether the post cannot be published until the client approves it.
func (p Record) needsApproval() bool { return p.Approval == Waiting || p.Approval == Rejected }

// Service manages posts.
type Service struct {
	db        *db.DB
	accounts  *account.Service
	jobs      *job.Store
	library   Library
	submitter Submitter
	limits    Limits
	catalog   plan.Catalog
}

// Limits are the operator's settings for retries.
type Limits struct {
	MaxRetries       int           // maximum number of retries per account
	MinRetryInterval time.Duration // minimum time between two retries of an account
}

// DefaultLimits are the default settings.
var DefaultLimits = Limits{MaxRetries: 3, MinRetryInterval: time.Minute}

// Library provides a team's media.
type Library interface {
	// ForPost returns media by ID, in order. It returns not_found for the argument media_ids if the team does not have
	// all of them.
	ForPost(ctx context.Context, q db.Querier, team int64, ids []int64) ([]network.Media, error)
	// ForPostWithDeleted is ForPost, but also finds deleted media.
	ForPostWithDeleted(ctx context.Context, q db.Querier, team int64, ids []int64) ([]network.Media, error)
}

// New returns a Service. library may be nil if no post has media. submitter may be nil if no post is sent.
func New(d *db.DB, accounts *account.Service, jobs *job.Store, library Library, submitter Submitter, limits Limits,
	catalog plan.Catalog) *Service {
	return &Service{
		db: d, accounts: accounts, jobs: jobs, library: library, submitter: submitter, limits: limits, catalog: catalog,
	}
}

// Submission asks a Submitter to send one post to some of its accounts, under one job.
type Submission struct {
	Post    Record
	Job     job.Record
	Targets []Target
	// RejectionCode is an error code. If it is set, nothing is sent, and every account fails with the code.
	RejectionCode string
}
