package delivery

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/post"
	"pressroom/internal/network"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/plaintext"
	"pressroom/internal/platform/restoreguard"
)

// Fate is what became of something that was to go out, or becomes of it once nothing is held any more.
type Fate string

// The fates.
const (
	WentOut Fate = "went_out"    // it stands: it counts as published, and is never sent again
	Unsure  Fate = "unconfirmed" // the network cannot say: a person is to decide
	Goes    Fate = "goes_late"   // it is not there, and is sent now
	Missed  Fate = "missed"      // it is not there, and comes too late to be sent: it fails, and may be retried
	Waits   Fate = "waits"       // its time is to come, or its team may not publish at present
)

// Reckoned is what became of an account of a post.
type Reckoned struct {
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

// Reckoning is what a resumption finds, and does unless it is only tried.
type Reckoning struct {
	Held     restoreguard.Why `json:"held"` // for what
	Since    time.Time        `json:"since"`
	Resumed  bool             `json:"resumed"`
	WentOut  int              `json:"went_out"`
	Unsure   int              `json:"unconfirmed"`
	Late     int              `json:"goes_late"`
	Missed   int              `json:"missed"`
	InDoubt  int              `json:"waits_in_doubt"` // wait for their time, and the network cannot say whether a person published them early
	Accounts []Reckoned       `json:"accounts"`       // but for those that wait for their time without a doubt
	Series   []post.Behind    `json:"series"`         // occurrences that are skipped
}

// ResumeOptions say how the service goes on.
type ResumeOptions struct {
	Late time.Duration // how late a post may still go out
	Try  bool          // find out alone: change nothing
	// AtOnce asks the networks although they may not list yet what went out right before the hold.
	AtOnce bool
	// Unasked goes on although a network could not be asked, for a reason that may pass.
	Unasked bool
	// Mail has what was to be mailed by a time be mailed no more, as it may have been from elsewhere; nobody's where nil.
	Mail func(ctx context.Context, tx *db.Tx, by time.Time) error
}

// listedWithin is after how long networks list what a node that knew of no hold had sent: it is longer than a lease, a call and each
// network's own time together.
const listedWithin = 3 * time.Minute

// AskableIn is how long it is until networks can be believed about what went out right before a hold; zero or less where they can be.
func (s *Service) AskableIn(ctx context.Context) (time.Duration, error) {
	state, err := restoreguard.Read(ctx, s.db)
	if err != nil || !state.Held() || state.Why == restoreguard.ByHand {
		return 0, err
	}
	return state.HeldAt.Add(listedWithin).Sub(s.db.Now()), nil
}

// askable refuses to believe networks too soon.
func (s *Service) askable(ctx context.Context, opts ResumeOptions) error {
	if opts.AtOnce || opts.Try {
		return nil
	}
	wait, err := s.AskableIn(ctx)
	if err == nil && wait > 0 {
		err = apierr.Refusal(fmt.Sprintf("networks may not list yet what went out right before the hold: try again in %d seconds", int(wait.Seconds())+1))
	}
	return err
}

// Resume lifts a hold. Before, it asks the networks, account by account, what went out since the database was told of
// things last, and settles that: nothing that stands is sent again. What a hold by hand kept is known without asking. It
// is a apierr.Refusal where nothing is held. It may be called again after it was cut off.
func (s *Service) Resume(ctx context.Context, opts ResumeOptions) (Reckoning, error) {
	state, err := restoreguard.Read(ctx, s.db)
	if err != nil {
		return Reckoning{}, err
	}
	if !state.Held() {
		return Reckoning{}, apierr.Refusal("nothing is held; to end a pause say of what: --service, --team or --key")
	}
	if err := s.askable(ctx, opts); err != nil {
		return Reckoning{}, err
	}
	out := Reckoning{Held: state.Why, Since: state.Since, Accounts: []Reckoned{}, Series: []post.Behind{}}
	doubts, err := s.open(ctx)
	if err != nil {
		return out, err
	}
	if state.Why != restoreguard.ByHand {
		if err := s.reachable(doubts); err != nil {
			return out, err
		}
		s.ask(ctx, doubts, state.Since)
		if out.Series, err = s.posts.FallenBehind(ctx); err != nil {
			return out, err
		}
	}
	s.decideFates(doubts, opts.Late)
	out.tell(doubts)
	if opts.Try || ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	if err := unasked(doubts); err != nil && !opts.Unasked {
		return out, err
	}
	if err := s.reckon(ctx, state, doubts, out.Series); err != nil {
		return out, err
	}
	err = s.lift(ctx, state, out, opts)
	out.Resumed = err == nil
	return out, err
}

// lift ends the hold, now that all is settled.
func (s *Service) lift(ctx context.Context, state restoreguard.State, found Reckoning, opts ResumeOptions) error {
	return s.whileHeld(ctx, "delivery.resume", state, func(ctx context.Context, tx *db.Tx) error {
		if opts.Mail != nil && state.Why != restoreguard.ByHand {
			if err := opts.Mail(ctx, tx, state.Since); err != nil {
				return err
			}
		}
		return restoreguard.Lift(ctx, tx, map[string]any{"why": state.Why, "went_out": found.WentOut, "unconfirmed": found.Unsure, "goes_late": found.Late, "missed": found.Missed})
	})
}

// doubt is something that was to go out from here, and may have gone out from elsewhere.
type doubt struct {
	Reckoned

	delivery delivery // that is under way; without an id where the post is scheduled
	text     string
	receipt  network.Receipt
	asked    bool
	failed   bool // it could not be asked, for a reason that may pass
	verdict  network.Verdict
	paused   bool // its team may not publish
}

// open lists all that is to go out: scheduled posts, also those whose time is to come, as a person may have published
// one ahead of it, and deliveries under way.
func (s *Service) open(ctx context.Context) ([]*doubt, error) {
	scheduled, err := s.posts.Scheduled(ctx)
	if err != nil {
		return nil, err
	}
	out := []*doubt{}
	for _, g := range scheduled {
		out = append(out, &doubt{Reckoned: Reckoned{TeamID: g.TeamID, PostID: g.PostID, AccountID: g.AccountID, Due: g.At}, paused: g.Paused})
	}
	under, err := s.underWay(ctx, ``)
	if err != nil {
		return nil, err
	}
	for _, d := range under {
		out = append(out, &doubt{Reckoned: Reckoned{TeamID: d.TeamID, PostID: d.PostID, AccountID: d.AccountID, Due: d.CreatedAt}, delivery: d})
	}
	for _, d := range out {
		if d.Platform, d.Username, err = s.nameOf(ctx, d.AccountID); err != nil {
			return nil, err
		}
		if d.text, err = s.posts.Shown(ctx, d.TeamID, d.PostID, d.AccountID); err != nil {
			return nil, fmt.Errorf("reading what post %s shows: %w", d.PostID, err)
		}
		d.Excerpt = oneLine(d.text)
	}
	return out, nil
}

func (s *Service) nameOf(ctx context.Context, account int64) (string, string, error) {
	var platform, username string
	if err := s.db.QueryRow(ctx, `SELECT platform, username FROM social_accounts WHERE id = ?`, account).Scan(&platform, &username); err != nil {
		return "", "", fmt.Errorf("reading the network of account %d: %w", account, err)
	}
	return platform, username, nil
}

const mostShown = 60 // characters of a post's text

// oneLine is the start of a text, fit for a terminal: without line ends and what else does not print.
func oneLine(text string) string {
	text = plaintext.Line(network.Clip(text, 4*mostShown))
	if short := network.Clip(text, mostShown); short != text {
		return short + "…"
	}
	return text
}

// reachable refuses to ask where networks are not configured: all that is to go out there would stand unconfirmed.
func (s *Service) reachable(doubts []*doubt) error {
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

// unasked refuses to go on while a network could not be asked for a reason that may pass: what a person published ahead of
// its time would go out once more.
func unasked(doubts []*doubt) error {
	var names []string
	for _, d := range doubts {
		if name := fmt.Sprintf("%s (account %d)", d.Platform, d.AccountID); d.failed && !slices.Contains(names, name) {
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

const askedAtOnce = 8 // accounts

// ask asks the network of each account.
func (s *Service) ask(ctx context.Context, doubts []*doubt, since time.Time) {
	of := map[int64][]*doubt{}
	for _, d := range doubts {
		of[d.AccountID] = append(of[d.AccountID], d)
	}
	places := make(chan struct{}, askedAtOnce)
	var asking sync.WaitGroup
	for account, list := range of {
		places <- struct{}{}
		asking.Go(func() {
			defer func() { <-places }()
			s.askOf(ctx, account, list, since)
		})
	}
	asking.Wait()
}

// decideFates says what follows from what the networks told. What was not asked is known to be not there.
func (s *Service) decideFates(doubts []*doubt, late time.Duration) {
	now := s.db.Now()
	settled := map[string]bool{} // scheduled posts of which an account has an end, so that all of them are handed over
	for _, d := range doubts {
		if d.Fate = d.fate(now, late); d.Fate == WentOut {
			d.Permalink = d.receipt.Permalink
		}
		settled[d.PostID] = settled[d.PostID] || d.delivery.ID == "" && (d.Fate == WentOut || d.Fate == Unsure)
	}
	for _, d := range doubts {
		if d.Fate == Waits && settled[d.PostID] { // handed over, it would go out at once: ahead of its time, or although its team may not publish
			d.Fate = Missed
			if d.untold() {
				d.Fate = Unsure // it may have gone out together with the other
			}
		}
	}
}

func (d *doubt) fate(now time.Time, late time.Duration) Fate {
	switch {
	case d.asked && d.verdict == network.Stands:
		return WentOut
	case d.delivery.ID == "" && d.Due.After(now):
		return Waits
	case d.untold():
		return Unsure
	case d.paused:
		return Waits
	case !d.asked && d.delivery.Phase == committing:
		return Goes // it may stand: whoever takes it up asks first
	case now.Sub(d.Due) > late:
		return Missed
	}
	return Goes
}

// untold tells whether the network was asked and cannot say.
func (d *doubt) untold() bool { return d.asked && d.verdict == network.Unknown }

func (r *Reckoning) tell(doubts []*doubt) {
	for _, d := range doubts {
		switch d.Fate {
		case WentOut:
			r.WentOut++
		case Unsure:
			r.Unsure++
		case Goes:
			r.Late++
		case Missed:
			r.Missed++
		case Waits:
			if !d.untold() {
				continue
			}
			r.InDoubt++
		}
		if d.Fate != Unsure && d.Fate != Waits {
			d.Why = ""
		}
		r.Accounts = append(r.Accounts, d.Reckoned)
	}
	slices.SortStableFunc(r.Accounts, func(a, b Reckoned) int {
		return cmp.Or(cmp.Compare(a.TeamID, b.TeamID), a.Due.Compare(b.Due), cmp.Compare(a.PostID, b.PostID))
	})
}

// reckon settles what is known by now: each post in a transaction of its own, as long as the hold is the one that it was
// found out for.
func (s *Service) reckon(ctx context.Context, state restoreguard.State, doubts []*doubt, series []post.Behind) error {
	of := map[string][]*doubt{}
	for _, d := range doubts {
		if d.Fate != Waits {
			of[d.PostID] = append(of[d.PostID], d)
		}
	}
	for _, id := range slices.Sorted(keysOf(of)) {
		err := s.whileHeld(ctx, "delivery.reckon", state, func(ctx context.Context, tx *db.Tx) error { return s.reckonPost(ctx, tx, of[id]) })
		if err != nil {
			return fmt.Errorf("settling post %s: %w", id, err)
		}
	}
	for _, b := range series {
		err := s.whileHeld(ctx, "delivery.pass_by", state, func(ctx context.Context, tx *db.Tx) error { return s.posts.PassBy(ctx, tx, b) })
		if err != nil {
			return err
		}
	}
	return nil
}

// whileHeld writes as long as the hold stands: once it is lifted, deliveries are under way that nobody may take away.
func (s *Service) whileHeld(ctx context.Context, name string, state restoreguard.State, work func(context.Context, *db.Tx) error) error {
	return s.db.InTx(ctx, name, func(ctx context.Context, tx *db.Tx) error {
		if err := restoreguard.Still(ctx, tx, state); err != nil {
			return err
		}
		return work(ctx, tx)
	})
}

func keysOf(of map[string][]*doubt) func(func(string) bool) {
	return func(yield func(string) bool) {
		for id := range of {
			if !yield(id) {
				return
			}
		}
	}
}

// reckonPost settles the accounts of one post. One that is scheduled, and of which nothing is to be settled, is left to be
// released as ever.
func (s *Service) reckonPost(ctx context.Context, tx *db.Tx, doubts []*doubt) error {
	one, refused := doubts[0], ""
	if one.delivery.ID == "" {
		if !slices.ContainsFunc(doubts, func(d *doubt) bool { return d.Fate != Goes }) {
			return nil
		}
		handed, why, err := s.posts.HandOver(ctx, tx, one.TeamID, one.PostID)
		if err != nil || !handed {
			return err
		}
		refused = why
	}
	under, err := s.underWay(ctx, ` AND d.post_id = ?`, one.PostID)
	if err != nil {
		return err
	}
	for _, d := range doubts {
		i := slices.IndexFunc(under, func(u delivery) bool { return u.AccountID == d.AccountID })
		if i < 0 || d.Fate == Goes && refused == "" {
			continue
		}
		if err := s.settleFate(ctx, tx, under[i], d, refused); err != nil {
			return err
		}
	}
	return nil
}

// settleFate ends a delivery with what became of it. What would go, but is refused at its time, fails with that.
func (s *Service) settleFate(ctx context.Context, tx *db.Tx, d delivery, of *doubt, refused string) error {
	// The new epoch fences off whoever held it last.
	err := tx.QueryRow(ctx, `UPDATE deliveries SET epoch = epoch + 1 WHERE id = ? RETURNING epoch`, d.ID).Scan(&d.Epoch)
	if err != nil {
		return fmt.Errorf("taking delivery %s: %w", d.ID, err)
	}
	told, result, into := "published", post.Result{State: post.Sent, PublishedAt: of.receipt.At, Permalink: of.receipt.Permalink, NetworkID: of.receipt.ID}, ended
	switch {
	case of.Fate == Unsure:
		told, result = string(network.Uncertain), unconfirmed("")
	case of.Fate == Goes:
		told, result = "answered", failure(refused, "")
	case of.Fate == Missed:
		told, result = "answered", failure("missed_while_held", "")
	case result.Permalink == "" && result.NetworkID != "":
		into = linking
	}
	if result.State == post.Sent && result.PublishedAt.IsZero() {
		result.PublishedAt = of.Due
	}
	if of.asked {
		now := db.Micros(tx.Now())
		_, err := tx.Exec(ctx, `INSERT INTO delivery_attempts (delivery_id, epoch, call, started_at, ended_at, result) VALUES (?, ?, 'resolve', ?, ?, ?)`, d.ID, d.Epoch, now, now, told)
		if err != nil {
			return fmt.Errorf("noting what the network told of %s: %w", d.ID, err)
		}
	}
	if err := s.conclude(ctx, tx, d, into, result); err != nil {
		return err
	}
	return auditlog.Record(ctx, tx, d.TeamID, auditlog.Actor{}, "post.account_reckoned", d.PostID, map[string]any{"account": d.AccountID, "fate": of.Fate, "error_code": result.ErrorCode})
}
