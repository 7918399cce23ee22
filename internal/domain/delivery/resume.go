package delivery

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/post"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/restoreguard"
)

// Outcome is the result for a candidate, now or after the hold.
type Outcome string

// The outcomes.
const (
	OutcomeWentOut     Outcome = "went_out"    // found at the network: counts as published, never sent again
	OutcomeUnconfirmed Outcome = "unconfirmed" // unknown to the network: a person decides
	OutcomeGoesLate    Outcome = "goes_late"   // not found, sent now
	OutcomeMissed      Outcome = "missed"      // not found and too late: fails, may be retried
	OutcomeWaits       Outcome = "waits"       // scheduled for later, or the team may not publish now
)

// ResumedAccount is the outcome for an account of a post.
type ResumedAccount struct {
	TeamID    int64     `json:"team_id"`
	PostID    string    `json:"post_id"`
	AccountID int64     `json:"account_id"`
	Platform  string    `json:"platform"`
	Username  string    `json:"username"` // at the network
	Excerpt   string    `json:"excerpt"`  // the start of the post's text, on one line
	Due       time.Time `json:"due"`
	Outcome   Outcome   `json:"fate"`
	Permalink string    `json:"permalink,omitempty"` // of the published post
	Reason    string    `json:"why,omitempty"`       // why the outcome is unknown
}

// ResumeReport describes a resumption or its dry run.
type ResumeReport struct {
	Held        restoreguard.Cause `json:"held"` // for what
	Since       time.Time          `json:"since"`
	Resumed     bool               `json:"resumed"`
	WentOut     int                `json:"went_out"`
	Unconfirmed int                `json:"unconfirmed"`
	GoesLate    int                `json:"goes_late"`
	Missed      int                `json:"missed"`
	// scheduled for later, but perhaps published early
	UncertainFuture int                  `json:"waits_in_doubt"`
	Accounts        []ResumedAccount     `json:"accounts"` // without those that wait and are not in doubt
	Series          []post.OverdueSeries `json:"series"`   // occurrences that are skipped
}

// ResumeOptions configure Resume.
type ResumeOptions struct {
	MaxLateness time.Duration // how late a post may still go out
	DryRun      bool          // changes nothing
	// NoWait queries the networks even if they may not list the last posts before the hold yet.
	NoWait bool
	// AllowUnreachable resumes even if a network is temporarily unreachable.
	AllowUnreachable bool
	// SuppressMail cancels mail that was due by a time, because another installation may have sent it. It may be nil.
	SuppressMail func(ctx context.Context, tx *db.Tx, by time.Time) error
}

// maxListingDelay is how long a post may be missing from a network's list after a node that did not know of the
// hold sent it. It exceeds a lease, a call and every network's own delay together.
const maxListingDelay = 3 * time.Minute

// ResumableIn returns how long networks may still omit posts published right before the hold; zero or negative if they
// no longer do.
func (s *Service) ResumableIn(ctx context.Context) (time.Duration, error) {
	state, err := restoreguard.Read(ctx, s.db)
	if err != nil || !state.IsHeld() || state.Cause == restoreguard.ByHand {
		return 0, err
	}
	return state.HeldAt.Add(maxListingDelay).Sub(s.db.Now()), nil
}

// checkResumable refuses to resume while networks may miss posts.
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

// Resume lifts a hold. First it looks up what each account published since the database was last current, and records
// that, so that nothing is sent again. A manual hold needs no lookup. It returns an apierr.OperatorError without a
// hold. It may be repeated after an interruption.
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
	out := ResumeReport{Held: state.Cause, Since: state.Since, Accounts: []ResumedAccount{},
		Series: []post.OverdueSeries{}}
	doubts, err := s.listCandidates(ctx)
	if err != nil {
		return out, err
	}
	if state.Cause != restoreguard.ByHand {
		if err := s.checkConfigured(doubts); err != nil {
			return out, err
		}
		s.lookUpAccounts(ctx, doubts, state.Since)
		if out.Series, err = s.posts.ListOverdueSeries(ctx); err != nil {
			return out, err
		}
	}
	s.decideOutcomes(doubts, opts.MaxLateness)
	out.addAccounts(doubts)
	if opts.DryRun || ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	if err := checkReached(doubts); err != nil && !opts.AllowUnreachable {
		return out, err
	}
	if err := s.applyOutcomes(ctx, state, doubts, out.Series); err != nil {
		return out, err
	}
	err = s.lift(ctx, state, out, opts)
	out.Resumed = err == nil
	return out, err
}

// lift ends the hold after everything is recorded.
func (s *Service) lift(ctx context.Context, state restoreguard.State, found ResumeReport, opts ResumeOptions) error {
	return s.whileHeld(ctx, "delivery.resume", state, func(ctx context.Context, tx *db.Tx) error {
		if opts.SuppressMail != nil && state.Cause != restoreguard.ByHand {
			if err := opts.SuppressMail(ctx, tx, state.Since); err != nil {
				return err
			}
		}
		return restoreguard.Lift(ctx, tx, map[string]any{"why": state.Cause, "went_out": found.WentOut,
			"unconfirmed": found.Unconfirmed, "goes_late": found.GoesLate, "missed": found.Missed})
	})
}

// checkConfigured returns an error if a network is not configured, because everything due on it would become
// unconfirmed.
func (s *Service) checkConfigured(doubts []*candidate) error {
	var missing []string
	for _, d := range doubts {
		if _, err := s.accounts.Network(d.Platform); err != nil && !slices.Contains(missing, d.Platform) {
			missing = append(missing, d.Platform)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return apierr.OperatorError("posts are due on " + strings.Join(missing, ", ") +
		", which are not configured here; set PRESSROOM_NETWORKS (or --networks) and the secrets as for serve")
}

// checkReached returns an error if a network was temporarily unreachable, because posts that were published early would
// be published twice.
func checkReached(doubts []*candidate) error {
	var names []string
	for _, d := range doubts {
		if name := fmt.Sprintf("%s (account %d)", d.Platform, d.AccountID); d.retryable && !slices.Contains(names,
			name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return apierr.OperatorError("looking up published posts failed for " + strings.Join(names, ", ") +
		"; try again later, or resume without them by --unasked: " +
		"due posts become unconfirmed, and later posts go out at their time, even if somebody has published them early")
}

// decideOutcomes sets the outcome of each candidate. A candidate that was not looked up is known not to be published.
func (s *Service) decideOutcomes(doubts []*candidate, late time.Duration) {
	now := s.db.Now()
	// scheduled posts that have a result for an account, so that all their accounts are submitted
	settled := map[string]bool{}
	for _, d := range doubts {
		if d.Outcome = d.outcome(now, late); d.Outcome == OutcomeWentOut {
			d.Permalink = d.receipt.Permalink
		}
		settled[d.PostID] = settled[d.PostID] || d.delivery.ID == "" && (d.Outcome == OutcomeWentOut ||
			d.Outcome == OutcomeUnconfirmed)
	}
	for _, d := range doubts {
		if d.Outcome == OutcomeWaits && settled[d.PostID] { // submitting it would publish it early, or against a pause
			d.Outcome = OutcomeMissed
			if d.inDoubt() {
				d.Outcome = OutcomeUnconfirmed // it may have been published with the other
			}
		}
	}
}

// addAccounts counts and lists the candidates.
func (r *ResumeReport) addAccounts(doubts []*candidate) {
	for _, d := range doubts {
		switch d.Outcome {
		case OutcomeWentOut:
			r.WentOut++
		case OutcomeUnconfirmed:
			r.Unconfirmed++
		case OutcomeGoesLate:
			r.GoesLate++
		case OutcomeMissed:
			r.Missed++
		case OutcomeWaits:
			if !d.inDoubt() {
				continue
			}
			r.UncertainFuture++
		}
		if d.Outcome != OutcomeUnconfirmed && d.Outcome != OutcomeWaits {
			d.Reason = ""
		}
		r.Accounts = append(r.Accounts, d.ResumedAccount)
	}
	slices.SortStableFunc(r.Accounts, func(a, b ResumedAccount) int {
		return cmp.Or(cmp.Compare(a.TeamID, b.TeamID), a.Due.Compare(b.Due), cmp.Compare(a.PostID, b.PostID))
	})
}
