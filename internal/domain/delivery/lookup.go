package delivery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"pressroom/internal/domain/account"
	"pressroom/internal/network"
	"pressroom/internal/platform/db"
)

const (
	askedWithin = 2 * time.Minute // of one account
	mostListed  = 500             // posts of an account
	askedSkew   = 5 * time.Minute // how far the network's clock may be behind ours
)

// underWay are the deliveries that have no end yet, with more conditions about d.
func (s *Service) underWay(ctx context.Context, where string, args ...any) ([]delivery, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, d *delivery) error {
		var phaseText, draft string
		var first, created int64
		err := rows.Scan(&d.ID, &d.TeamID, &d.PostID, &d.AccountID, &d.JobID, &phaseText, &draft, &d.Tries, &d.Looks, &d.Epoch, &d.NetworkID, &first, &created)
		d.Phase, d.Draft, d.FirstAt, d.CreatedAt = phase(phaseText), []byte(draft), db.Time(first), db.Time(created)
		return err
	}, `SELECT d.id, d.team_id, d.post_id, d.account_id, d.job_id, d.phase, d.draft, d.tries, d.looks, d.epoch, d.network_id, d.first_at, d.created_at
		FROM deliveries d WHERE d.phase IN ('planned', 'prepared', 'committing')`+where+` ORDER BY d.created_at, d.id`, args...)
	if err != nil {
		return nil, fmt.Errorf("listing deliveries under way: %w", err)
	}
	return out, nil
}

// askOf asks an account's network for what the account shows since a time, and finds there what was to go out. What the
// network was given the whole of before is asked for by itself, as the network knows more of that.
func (s *Service) askOf(ctx context.Context, account int64, doubts []*doubt, since time.Time) {
	ctx, cancel := context.WithTimeout(ctx, askedWithin)
	defer cancel()
	for _, d := range doubts {
		d.asked, d.Why = true, "the network could not be asked"
	}
	grant, listed, reticent, err := s.list(ctx, account, since.Add(-askedSkew))
	if err != nil {
		s.log.WarnContext(ctx, "a network could not be asked what went out", "account", account, "error", err)
		for _, d := range doubts {
			d.failed, d.Why = passes(err), unable(err)
		}
		return
	}
	for _, d := range doubts {
		d.verdict, d.Why = network.Absent, ""
		if reticent {
			d.verdict, d.Why = network.Unknown, "the network's list of posts does not tell of all"
		}
	}
	match(doubts, listed)
	for _, d := range doubts {
		if d.verdict != network.Stands && (d.delivery.Phase == prepared || d.delivery.Phase == committing) {
			s.resolveOne(ctx, grant, d)
		}
		if d.verdict == network.Stands && d.receipt.Alike && given(doubts, d) {
			d.verdict, d.Why = network.Unknown, "the account shows one post like this and like another of ours"
		}
	}
}

// given tells whether what a doubt was found to be is another's already.
func given(doubts []*doubt, d *doubt) bool {
	return slices.ContainsFunc(doubts, func(other *doubt) bool {
		return other != d && other.verdict == network.Stands && (network.Tried{Others: []string{other.receipt.ID, other.receipt.Permalink}}).Another(d.receipt.ID, d.receipt.Permalink)
	})
}

var (
	errLost   = errors.New("the connection is lost")
	errNoList = errors.New("the network does not list posts")
)

// passes tells whether what kept a network from being asked may be over soon.
func passes(err error) bool {
	if errors.Is(err, errLost) || errors.Is(err, errNoList) {
		return false
	}
	return slices.Contains([]network.Class{network.Transient, network.Uncertain, network.Processing, network.Rate, network.Quota, network.Barred}, classOf(err))
}

// unable says why a network could not be asked, and whether it ever can.
func unable(err error) string {
	switch {
	case errors.Is(err, errLost):
		return "the connection is lost, so the network could not be asked"
	case errors.Is(err, errNoList), classOf(err) == network.Unapproved:
		return "the network never tells here which posts stand there: it does not let this app list them"
	}
	return "the network could not be asked"
}

// resolveOne asks for what was fixed to the byte before.
func (s *Service) resolveOne(ctx context.Context, grant account.Grant, d *doubt) {
	n, err := s.accounts.Network(grant.Platform)
	if err != nil {
		d.verdict = network.Unknown
		return
	}
	t, _, err := tried(ctx, s.db, d.delivery, 0)
	if err != nil {
		d.verdict = network.Unknown
		return
	}
	verdict, receipt, err := n.Resolve(ctx, grant.Grant, d.delivery.Draft, t)
	switch {
	case verdict == network.Stands:
		d.verdict, d.receipt = verdict, receipt
	case verdict == network.Unknown:
		d.verdict, d.Why = verdict, "the network cannot say"
	case err != nil: // it was given up there: what follows is a new one
	}
}

// list reads what an account shows and is not known here. It is true of a network whose list may lack posts.
func (s *Service) list(ctx context.Context, id int64, since time.Time) (account.Grant, []network.Figures, bool, error) {
	grant, err := s.accounts.Grant(ctx, id)
	if err != nil {
		return grant, nil, false, err
	}
	n, err := s.accounts.Network(grant.Platform)
	if err != nil {
		return grant, nil, false, err
	}
	from, ok := n.(network.Collector)
	switch {
	case grant.Lost:
		return grant, nil, false, errLost
	case !ok:
		return grant, nil, false, errNoList
	}
	told, err := from.Collect(ctx, grant.Grant, since, mostListed)
	if err != nil && classOf(err) == network.AuthRefresh {
		if grant, err = s.accounts.Refresh(ctx, id, grant); err == nil {
			told, err = from.Collect(ctx, grant.Grant, since, mostListed)
		}
	}
	if err != nil {
		return grant, nil, false, fmt.Errorf("listing what account %d shows: %w", id, err)
	}
	known, _, err := tried(ctx, s.db, delivery{AccountID: id}, 0)
	if err != nil {
		return grant, nil, false, err
	}
	_, reticent := n.(network.Reticent)
	reticent = reticent || told.Cut || len(told.Posts) >= mostListed // before what is known is left out
	return grant, slices.DeleteFunc(told.Posts, func(f network.Figures) bool { return known.Another(f.ID, f.URL) }), reticent, nil
}

// match gives each post that a network lists to the one of ours with its text whose time is nearest. What only has its words
// or begins alike may be a text that the network has changed: of that a person decides.
func match(doubts []*doubt, listed []network.Figures) {
	taken := map[*doubt]bool{}
	rest := slices.DeleteFunc(slices.Clone(listed), func(f network.Figures) bool {
		d := nearest(f, among(doubts, f, taken, sameText))
		if d == nil {
			return false
		}
		taken[d] = true
		d.verdict, d.Why, d.receipt = network.Stands, "", network.Receipt{ID: f.ID, Permalink: f.URL, At: f.PostedAt}
		return true
	})
	for _, f := range rest {
		why := "the account shows a post with these words and another address: "
		could := among(doubts, f, taken, sameWords)
		switch {
		case len(could) == 0:
			why, could = "the account shows a post that could be this one: ", among(doubts, f, taken, alike)
		case bare(f.Text) == "": // a picture without words could be any
			why = "the account shows a post without words that could be this one: "
		}
		for _, d := range could { // it is one of them, and nothing tells which
			d.verdict, d.Why = network.Unknown, why+f.URL
		}
	}
}

// among are the doubts that a listed post could be, as far as they are not taken: those that were due when it was posted, and
// where there is none, those that a person may have published ahead of their time.
func among(doubts []*doubt, f network.Figures, taken map[*doubt]bool, is func(ours, listed string) bool) []*doubt {
	var due, ahead []*doubt
	for _, d := range doubts {
		switch {
		case taken[d] || !is(d.text, f.Text):
		case d.Due.After(f.PostedAt.Add(askedSkew)):
			ahead = append(ahead, d)
		default:
			due = append(due, d)
		}
	}
	if len(due) > 0 {
		return due
	}
	return ahead
}

// nearest is the doubt whose time is nearest to that of a listed post; nil where there is none.
func nearest(f network.Figures, doubts []*doubt) *doubt {
	var best *doubt
	for _, d := range doubts {
		if best == nil || d.Due.Sub(f.PostedAt).Abs() < best.Due.Sub(f.PostedAt).Abs() {
			best = d
		}
	}
	return best
}

// sameText tells whether two texts are one, with all their addresses.
func sameText(a, b string) bool { return plain(a) != "" && plain(a) == plain(b) }

// sameWords tells whether two texts are one but for their addresses: networks put their own in the place of ours, and
// posts of a series may differ by nothing else.
func sameWords(a, b string) bool { return bare(a) == bare(b) }

// alike tells whether one of two texts begins with the other, with their addresses, as a network may have cut within one, or
// without.
func alike(a, b string) bool { return begins(plain(a), plain(b)) || begins(bare(a), bare(b)) }

func begins(a, b string) bool {
	a, b = uncut(a), uncut(b)
	return a != "" && b != "" && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
}

// uncut is a text without the sign of a network that it was longer.
func uncut(text string) string { return strings.TrimSpace(strings.TrimSuffix(text, "…")) }

var (
	scheme = regexp.MustCompile(`(?i)https?://`)
	slash  = regexp.MustCompile(`/(\s|$)`)
	// Scripts without spaces between words are left out: there a domain has no beginning.
	domain = regexp.MustCompile(`(?:[\p{Latin}\p{Greek}\p{Cyrillic}\pN_-]+\.)+[\p{Latin}\p{Greek}\p{Cyrillic}]{2,}(?:[:/?#][^\s<>"「」『』（）、。，]*)?`)
)

// plain is a text without what networks change of it and of its addresses: spaces, the form of its characters, the scheme
// of an address, which some put before a domain that was written without, and its closing slash.
func plain(text string) string {
	text = scheme.ReplaceAllLiteralString(norm.NFC.String(html.UnescapeString(text)), "")
	return strings.Join(strings.Fields(slash.ReplaceAllString(text, "$1")), " ")
}

// bare is a text without its spaces and addresses, also what only looks like one, as networks make links of it.
func bare(text string) string {
	text = norm.NFC.String(html.UnescapeString(text))
	for _, link := range network.Links(text) {
		text = strings.Replace(text, link, "", 1)
	}
	for _, word := range domain.FindAllString(text, -1) {
		text = strings.Replace(text, strings.TrimRight(word, ".,;:!?'…’)]}"), "", 1)
	}
	return strings.Join(strings.Fields(text), "")
}
