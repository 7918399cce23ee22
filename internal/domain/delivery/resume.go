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

// Fate is what became of something that was to go out, or becomes of it once nothing is held any more.
type Fate string

// The fates.
const (
	FateWentOut     Fate = "went_out"    // it stands: it counts as published, and is never sent again
	FateUnconfirmed Fate = "unconfirmed" // the network cannot say: a person is to decide
	FateGoesLate    Fate = "goes_late"   // it is not there, and is sent now
	FateMissed      Fate = "missed"      // it is not there, and comes too late to be sent: it fails, and may be retried
	FateWaits       Fate = "waits"       // its time is to come, or its team may not publish at present
)

// ResumedAccount is what became of an account of a post.
type ResumedAccount struct {
	TeamID    int64     `json:"team_id"`
	PostID    string    `json:"post_id"`
	AccountID int64     `json:"account_id"`
	Platform  string    `json:"platform"`
	Username  string    `json:"username"` // at the network
	Excerpt   string    `json:"excerpt"`  // the start of the post's text, on one line
	Due       time.Time `json:"due"`
	Fate      Fate      `json:"fate"`
	Permalink string    `json:"permalink,omitempty"` // of what went out
	Why       string    `json:"why,omitempty"`       // of what is unconfirmed or waits in doubt: our own words
}

// ResumeReport is what a resumption finds, and does unless it is only tried.
type ResumeReport struct {
	Held         restoreguard.Why     `json:"held"` // for what
	Since        time.Time            `json:"since"`
	Resumed      bool                 `json:"resumed"`
	WentOut      int                  `json:"went_out"`
	Unconfirmed  int                  `json:"unconfirmed"`
	GoesLate     int                  `json:"goes_late"`
	Missed       int                  `json:"missed"`
	WaitsInDoubt int                  `json:"waits_in_doubt"` // wait for their time, and the network cannot say whether a person published them early
	Accounts     []ResumedAccount     `json:"accounts"`       // but for those that wait for their time without a doubt
	Series       []post.OverdueSeries `json:"series"`         // occurrences that are skipped
}

// ResumeOptions say how the service goes on.
type ResumeOptions struct {
	MaxLateness time.Duration // how late a post may still go out
	DryRun      bool          // find out alone: change nothing
	// NoWait asks the networks although they may not list yet what went out right before the hold.
	NoWait bool
	// AllowUnreachable goes on although a network could not be asked, for a reason that may pass.
	AllowUnreachable bool
	// SuppressMail has what was to be mailed by a time be mailed no more, as it may have been from elsewhere; nobody's where nil.
	SuppressMail func(ctx context.Context, tx *db.Tx, by time.Time) error
}

// maxListingDelay is after how long networks list what a node that knew of no hold had sent: it is longer than a lease, a call and each
// network's own time together.
const maxListingDelay = 3 * time.Minute

// ResumableIn is how long it is until networks can be believed about what went out right before a hold; zero or less where they can be.
func (s *Service) ResumableIn(ctx context.Context) (time.Duration, error) {
	state, err := restoreguard.Read(ctx, s.db)
	if err != nil || !state.Held() || state.Why == restoreguard.ByHand {
		return 0, err
	}
	return state.HeldAt.Add(maxListingDelay).Sub(s.db.Now()), nil
}

// checkResumable refuses to believe networks too soon.
func (s *Service) checkResumable(ctx context.Context, opts ResumeOptions) error {
	if opts.NoWait || opts.DryRun {
		return nil
	}
	wait, err := s.ResumableIn(ctx)
	if err == nil && wait > 0 {
		err = apierr.Refusal(fmt.Sprintf("networks may not list yet what went out right before the hold: try again in %d seconds", int(wait.Seconds())+1))
	}
	return err
}

// Resume lifts a hold. Before, it asks the networks, account by account, what went out since the database was told of
// things last, and settles that: nothing that stands is sent again. What a hold by hand kept is known without asking. It
// is a apierr.Refusal where nothing is held. It may be called again after it was cut off.
func (s *Service) Resume(ctx context.Context, opts ResumeOptions) (ResumeReport, error) {
	state, err := restoreguard.Read(ctx, s.db)
	if err != nil {
		return ResumeReport{}, err
	}
	if !state.Held() {
		return ResumeReport{}, apierr.Refusal("nothing is held; to end a pause say of what: --service, --team or --key")
	}
	if err := s.checkResumable(ctx, opts); err != nil {
		return ResumeReport{}, err
	}
	out := ResumeReport{Held: state.Why, Since: state.Since, Accounts: []ResumedAccount{}, Series: []post.OverdueSeries{}}
	doubts, err := s.listCandidates(ctx)
	if err != nil {
		return out, err
	}
	if state.Why != restoreguard.ByHand {
		if err := s.checkConfigured(doubts); err != nil {
			return out, err
		}
		s.lookUpAccounts(ctx, doubts, state.Since)
		if out.Series, err = s.posts.ListOverdueSeries(ctx); err != nil {
			return out, err
		}
	}
	s.decideFates(doubts, opts.MaxLateness)
	out.addAccounts(doubts)
	if opts.DryRun || ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	if err := checkReached(doubts); err != nil && !opts.AllowUnreachable {
		return out, err
	}
	if err := s.applyFates(ctx, state, doubts, out.Series); err != nil {
		return out, err
	}
	err = s.lift(ctx, state, out, opts)
	out.Resumed = err == nil
	return out, err
}

// lift ends the hold, now that all is settled.
func (s *Service) lift(ctx context.Context, state restoreguard.State, found ResumeReport, opts ResumeOptions) error {
	return s.whileHeld(ctx, "delivery.resume", state, func(ctx context.Context, tx *db.Tx) error {
		if opts.SuppressMail != nil && state.Why != restoreguard.ByHand {
			if err := opts.SuppressMail(ctx, tx, state.Since); err != nil {
				return err
			}
		}
		return restoreguard.Lift(ctx, tx, map[string]any{"why": state.Why, "went_out": found.WentOut, "unconfirmed": found.Unconfirmed, "goes_late": found.GoesLate, "missed": found.Missed})
	})
}

// checkConfigured refuses to ask where networks are not configured: all that is to go out there would stand unconfirmed.
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
	return apierr.Refusal("posts are to go out to " + strings.Join(missing, ", ") + ", which cannot be asked from here: give the networks' settings as to serve, by PRESSROOM_NETWORKS (--networks) and the secrets beside it")
}

// checkReached refuses to go on while a network could not be asked for a reason that may pass: what a person published ahead of
// its time would go out once more.
func checkReached(doubts []*candidate) error {
	var names []string
	for _, d := range doubts {
		if name := fmt.Sprintf("%s (account %d)", d.Platform, d.AccountID); d.retryable && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return apierr.Refusal("these could not be asked what went out: " + strings.Join(names, ", ") + "; try again once they answer. To go on all the same give --unasked: " +
		"what is due there becomes unconfirmed, and what is to come waits for its time, and goes out twice where a person published it early")
}

// decideFates says what follows from what the networks told. What was not asked is known to be not there.
func (s *Service) decideFates(doubts []*candidate, late time.Duration) {
	now := s.db.Now()
	settled := map[string]bool{} // scheduled posts of which an account has an end, so that all of them are handed over
	for _, d := range doubts {
		if d.Fate = d.fate(now, late); d.Fate == FateWentOut {
			d.Permalink = d.receipt.Permalink
		}
		settled[d.PostID] = settled[d.PostID] || d.delivery.ID == "" && (d.Fate == FateWentOut || d.Fate == FateUnconfirmed)
	}
	for _, d := range doubts {
		if d.Fate == FateWaits && settled[d.PostID] { // handed over, it would go out at once: ahead of its time, or although its team may not publish
			d.Fate = FateMissed
			if d.inDoubt() {
				d.Fate = FateUnconfirmed // it may have gone out together with the other
			}
		}
	}
}

func (r *ResumeReport) addAccounts(doubts []*candidate) {
	for _, d := range doubts {
		switch d.Fate {
		case FateWentOut:
			r.WentOut++
		case FateUnconfirmed:
			r.Unconfirmed++
		case FateGoesLate:
			r.GoesLate++
		case FateMissed:
			r.Missed++
		case FateWaits:
			if !d.inDoubt() {
				continue
			}
			r.WaitsInDoubt++
		}
		if d.Fate != FateUnconfirmed && d.Fate != FateWaits {
			d.Why = ""
		}
		r.Accounts = append(r.Accounts, d.ResumedAccount)
	}
	slices.SortStableFunc(r.Accounts, func(a, b ResumedAccount) int {
		return cmp.Or(cmp.Compare(a.TeamID, b.TeamID), a.Due.Compare(b.Due), cmp.Compare(a.PostID, b.PostID))
	})
}
