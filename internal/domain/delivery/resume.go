package delivery

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/restoreguard"
)

// Outcome is what happens to a candidate when the hold is lifted.
type Outcome string

// The outcomes.
const (
	OutcomePublished   Outcome = "went_out"    // found on the network; counts as published and is not sent again
	OutcomeUnconfirmed Outcome = "unconfirmed" // the lookup was inconclusive; a person decides
	OutcomeSendLate    Outcome = "goes_late"   // not found; sent now
	OutcomeMissed      Outcome = "missed"      // not found and too late; fails and can be retried
	OutcomePending     Outcome = "waits"       // scheduled for later, or the team may not publish now
)

// ResumedAccount is the outcome for an account of a post.
type ResumedAccount struct {
	TeamID    int64     `json:"team_id"`
	PostID    string    `json:"post_id"`
	AccountID int64     `json:"account_id"`
	Platform  string    `json:"platform"`
	Username  string    `json:"username"` // username on the network
	Excerpt   string    `json:"excerpt"`  // start of the post's text, on one line
	DueAt     time.Time `json:"due"`
	Outcome   Outcome   `json:"fate"`
	Permalink string    `json:"permalink,omitempty"` // permalink of the published post
	Reason    string    `json:"why,omitempty"`       // reason why the outcome is unknown
}

// ResumeReport describes a resumption or its dry run.
type ResumeReport struct {
	Cause       restoreguard.Cause `json:"held"` // cause of the hold
	Since       time.Time          `json:"since"`
	Resumed     bool               `json:"resumed"`
	Published   int                `json:"went_out"`
	Unconfirmed int                `json:"unconfirmed"`
	Late        int                `json:"goes_late"`
	Missed      int                `json:"missed"`
	// UncertainFuture counts posts that are scheduled for later but may already be published.
	UncertainFuture int                  `json:"waits_in_doubt"`
	Accounts        []ResumedAccount     `json:"accounts"` // omits accounts that wait and were certainly not published
	Series          []post.OverdueSeries `json:"series"`   // series with skipped occurrences
}

// ResumeOptions configure Resume.
type ResumeOptions struct {
	MaxLateness time.Duration // how late a post may be sent
	DryRun      bool          // report the outcomes without changing anything
	// NoWait looks up posts even if the networks may not list the last posts before the hold yet.
	NoWait bool
	// AllowUnreachable resumes even if a network is temporarily unreachable.
	AllowUnreachable bool
	// SuppressMail cancels emails that were due before the time by, because another installation may have sent them. It
	// may be nil.
	SuppressMail func(ctx context.Context, tx *db.Tx, by time.Time) error
}

// maxListingDelay is how long after the start of a hold a post may be missing from a network's list. It is longer than
// the sum of a lease, a network call and the longest listing delay of a network.
const maxListingDelay = 3 * time.Minute

// ResumableIn returns for how long networks may still omit posts that were published right before the hold. It is zero
// or negative if all posts are listed.
func (s *Service) ResumableIn(ctx context.Context) (time.Duration, error) {
	state, err := restoreguard.Read(ctx, s.db)
	if err != nil || !state.IsHeld() || state.Cause == restoreguard.Manual {
		return 0, err
	}
	return state.HeldAt.Add(maxListingDelay).Sub(s.db.Now()), nil
}

// checkResumable returns an error while networks may omit posts from their lists.
func (s *Service) checkResumable(ctx context.Context, opts ResumeOptions) error {
	if opts.NoWait || opts.DryRun {
		return nil
	}
	wait, err := s.ResumableIn(ctx)
	if err == nil && wait > 0 {
		err = apierr.OperatorError(fmt.Sprintf("networks may not list the last posts before the hold yet; try again in %d "+
			"seconds", int(wait.Seconds())+1))
	}
	return err
}

// Resume lifts a hold. Before that, it looks up and records the posts that each account published since the database
// was last current, so that they are not sent again. A manual hold needs no lookup. Resume returns an
// apierr.OperatorError if there is no hold. It can be repeated after an interruption.
func (s *Service) Resume(ctx context.Context, opts ResumeOptions) (ResumeReport, error) {
	state, err := restoreguard.Read(ctx, s.db)
	if err != nil {
		return ResumeReport{}, err
	}
	if !state.IsHeld() {
		return ResumeReport{}, apierr.OperatorError("nothing is on hold; to end a pause, add --service, --team or --key")
	}
	if err := s.checkResumable(ctx, opts); err != nil {
		return ResumeReport{}, err
	}
	out := ResumeReport{Cause: state.Cause, Since: state.Since, Accounts: []ResumedAccount{},
		Series: []post.OverdueSeries{}}
	candidates, err := s.listCandidates(ctx)
	if err != nil {
		return out, err
	}
	if state.Cause != restoreguard.Manual {
		if err := s.checkConfigured(candidates); err != nil {
			return out, err
		}
		s.lookUpAccounts(ctx, candidates, state.Since)
		if out.Series, err = s.posts.ListOverdueSeries(ctx); err != nil {
			return out, err
		}
	}
	s.decideOutcomes(candidates, opts.MaxLateness)
	out.addAccounts(candidates)
	if opts.DryRun || ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	if err := checkReached(candidates); err != nil && !opts.AllowUnreachable {
		return out, err
	}
	if err := s.applyOutcomes(ctx, state, candidates, out.Series); err != nil {
		return out, err
	}
	err = s.lift(ctx, state, out, opts)
	out.Resumed = err == nil
	return out, err
}

// lift ends the hold after all outcomes are recorded.
func (s *Service) lift(ctx context.Context, state restoreguard.State, report ResumeReport, opts ResumeOptions) error {
	return s.whileHeld(ctx, "delivery.resume", state, func(ctx context.Context, tx *db.Tx) error {
		if opts.SuppressMail != nil && state.Cause != restoreguard.Manual {
			if err := opts.SuppressMail(ctx, tx, state.Since); err != nil {
				return err
			}
		}
		return restoreguard.Lift(ctx, tx, map[string]any{"why": state.Cause, "went_out": report.Published,
			"unconfirmed": report.Unconfirmed, "goes_late": report.Late, "missed": report.Missed})
	})
}

// checkConfigured returns an error if the network of a candidate is not configured, because its posts would become
// unconfirmed.
func (s *Service) checkConfigured(candidates []*candidate) error {
	var platforms []string
	for _, c := range candidates {
		if _, err := s.accounts.Network(c.Platform); err != nil && !slices.Contains(platforms, c.Platform) {
			platforms = append(platforms, c.Platform)
		}
	}
	if len(platforms) == 0 {
		return nil
	}
	slices.Sort(platforms)
	return apierr.OperatorError("posts are due on " + strings.Join(platforms, ", ") +
		", which are not configured here; set PRESSROOM_NETWORKS (or --networks) and the secrets as for serve")
}

// checkReached returns an error if a network was temporarily unreachable, because posts that were already published
// early could then be published again.
func checkReached(candidates []*candidate) error {
	var names []string
	for _, c := range candidates {
		if name := fmt.Sprintf("%s (account %d)", c.Platform, c.AccountID); c.retryable && !slices.Contains(names,
			name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return apierr.OperatorError("looking up published posts failed for " + strings.Join(names, ", ") +
		"; try again later, or resume without these lookups with --unasked: " +
		"due posts then become unconfirmed, and later posts are published on time, even if they were already published early")
}

// decideOutcomes sets the outcome of each candidate. A candidate that was not looked up counts as not published.
func (s *Service) decideOutcomes(candidates []*candidate, maxLateness time.Duration) {
	now := s.db.Now()
	// If one account of a scheduled post has a result, the post is submitted for all its accounts.
	submitted := map[string]bool{}
	for _, c := range candidates {
		if c.Outcome = c.outcome(now, maxLateness); c.Outcome == OutcomePublished {
			c.Permalink = c.receipt.Permalink
		}
		submitted[c.PostID] = submitted[c.PostID] || c.delivery.ID == "" && (c.Outcome == OutcomePublished ||
			c.Outcome == OutcomeUnconfirmed)
	}
	for _, c := range candidates {
		if c.Outcome == OutcomePending &&
			submitted[c.PostID] { // Submitting the account would publish the post early or despite a pause.
			c.Outcome = OutcomeMissed
			if c.isUncertain() {
				c.Outcome = OutcomeUnconfirmed // The post may have been published on this account too.
			}
		}
	}
}

// addAccounts counts and lists the candidates.
func (r *ResumeReport) addAccounts(candidates []*candidate) {
	for _, c := range candidates {
		switch c.Outcome {
		case OutcomePublished:
			r.Published++
		case OutcomeUnconfirmed:
			r.Unconfirmed++
		case OutcomeSendLate:
			r.Late++
		case OutcomeMissed:
			r.Missed++
		case OutcomePending:
			if !c.isUncertain() {
				continue
			}
			r.UncertainFuture++
		}
		if c.Outcome != OutcomeUnconfirmed && c.Outcome != OutcomePending {
			c.Reason = ""
		}
		r.Accounts = append(r.Accounts, c.ResumedAccount)
	}
	slices.SortStableFunc(r.Accounts, func(a, b ResumedAccount) int {
		return cmp.Or(cmp.Compare(a.TeamID, b.TeamID), a.DueAt.Compare(b.DueAt), cmp.Compare(a.PostID, b.PostID))
	})
}
