package posts

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
)

// accountView is an account of a post, with its delivery attempts.
type accountView struct {
	post.PostAccount

	PostID             string
	NetworkText        string          // the network's message; untrusted text
	CommentNetworkText string          // the network's message about the first comment; untrusted text
	Own                []network.Media // the account's own media, which replace the post's
	HasOwnMedia        bool            // whether Own replaces the post's media; Own may be empty
	Next               *next           // next step of the delivery; nil if there is none
	Lines              []line          // latest attempts
	Earlier            int             // number of earlier attempts, which are not in Lines
	Why                string          // why the account cannot be retried now; empty if it can
	Later              *time.Time      // earliest time of a retry
	LaterIn            string          // the wait until Later; empty if it is not soon
	DecidedBy          string          // who marked the post as not published
	Metrics            analytics.PostSums
	Gone               bool   // whether the connection is lost; Why explains what to do
	Holder             string // ID of the edited copy of the post that has taken over the account; empty if there is none
	// MayRetry is true if the account, or its first comment, can be retried now.
	MayRetry bool
}

// IsUndecided reports whether a person must decide whether the post or its first comment was published.
func (a *accountView) IsUndecided() bool {
	return a.State == post.TargetUnconfirmed || a.FirstComment != nil && a.FirstComment.State == post.TargetUnconfirmed
}

// Outcomes returns the accounts. If the post was only partially published, accounts that need attention come first.
func (v *view) Outcomes() []accountView {
	if v.Status != post.PartiallyPublished {
		return v.Accounts
	}
	return slices.SortedStableFunc(slices.Values(v.Accounts), func(a, b accountView) int {
		return cmp.Compare(a.urgency(), b.urgency())
	})
}

// urgency returns the rank of the account on the page of a partially published post. The lowest rank comes first.
func (a *accountView) urgency() int {
	switch a.State {
	case post.TargetFailed:
		return 0
	case post.TargetUnconfirmed:
		return 1
	case post.TargetPending, post.TargetSending, post.TargetPublished:
	}
	return 2
}

// stamp returns the account's part of view.Stamp.
func (a *accountView) stamp() []string {
	var out []string
	if a.State == post.TargetFailed || a.State == post.TargetUnconfirmed {
		out = append(out, fmt.Sprint(a.ID, a.State, a.MayRetry))
	}
	if a.FirstComment != nil {
		out = append(out, fmt.Sprint(a.ID, a.FirstComment.State, a.MayRetry))
	}
	return out
}

// refreshInterval returns the refresh interval that this account needs, in seconds, or 0 for none.
func (a *accountView) refreshInterval() int {
	switch {
	case a.FirstComment != nil && a.FirstComment.State == post.TargetSending:
		return fastRefresh
	case a.FirstComment != nil && a.FirstComment.State == post.TargetUnconfirmed:
		return slowRefresh
	case a.Next == nil && a.LaterIn != "":
		return fastRefresh
	case a.Next == nil && a.Later != nil:
		return slowRefresh
	case a.Next == nil:
		return 0
	case a.Next.Step == delivery.StepLookUp:
		return slowRefresh
	}
	return fastRefresh
}

func (p *Handlers) accounts(
	lang *locale.Language, apiPost post.Post, stored post.Record, untrusted []operation.Untrusted,
	nextSteps []delivery.NextStep,
	attempts []delivery.AttemptLine, replacedBy map[int64]string, zone *time.Location,
) []accountView {
	out := make([]accountView, len(apiPost.Accounts))
	for i, a := range apiPost.Accounts {
		av := &out[i]
		*av = accountView{
			PostAccount: a, PostID: apiPost.ID, NetworkText: textOf(untrusted, a.NetworkMessage),
			HasOwnMedia: stored.Targets[i].Media != nil, Own: stored.Targets[i].Media,
		}
		if a.FirstComment != nil {
			av.CommentNetworkText = textOf(untrusted, a.FirstComment.NetworkMessage)
			av.MayRetry = p.posts.CanRetryComment(stored.Targets[i]) && stored.ArchivedAt.IsZero()
		}
		av.Next = nextStep(lang, nextSteps, a.ID, p.DB.Now(), zone)
		if a.State == post.TargetFailed {
			av.Holder = replacedBy[a.ID]
			p.mayRetry(lang, av, stored, stored.Targets[i], zone)
		}
		var last delivery.AttemptLine
		for _, l := range attempts {
			if l.AccountID == a.ID {
				av.Lines = append(av.Lines, lineOf(lang, l, zone))
				last = l
			}
		}
		av.showDecision(lang, last)
		most := maxShownAttempts
		if len(out) > maxShownAccounts {
			most = 0
		}
		av.Earlier = max(0, len(av.Lines)-most)
		av.Lines = av.Lines[av.Earlier:]
	}
	return out
}

// showDecision replaces the explanation of the error code with the person who marked the account as not published, if
// anyone did.
func (a *accountView) showDecision(lang *locale.Language, last delivery.AttemptLine) {
	if a.State == post.TargetFailed && a.ErrorCode == "network_error" && last.Call == "decide" {
		a.DecidedBy, a.Explanation = cmp.Or(last.By, lang.T("The operator")), ""
	}
}

func (p *Handlers) mayRetry(
	lang *locale.Language, av *accountView, stored post.Record, t post.Target, zone *time.Location,
) {
	reason, at := p.posts.RetryState(t, av.Holder != "")
	av.Why, av.MayRetry = lang.T(skipWords[reason]), reason == "" && stored.Status != post.Processing
	if !stored.ArchivedAt.IsZero() {
		av.Why, av.MayRetry = "", false
		return
	}
	if why := approvalBlockTexts[stored.Approval]; reason == "" && why != "" {
		av.Why, av.MayRetry = lang.T(why), false
	}
	if !at.IsZero() {
		av.LaterIn = countdown(lang, p.DB.Now(), at)
		at = at.In(zone)
		av.Later = &at
	}
	if reason == "account_gone" {
		av.Gone = true
		if av.ErrorCode == "account_needs_reauth" {
			av.Explanation = "" // Why says the same
		}
	} else if av.ErrorCode == "account_needs_reauth" {
		av.Explanation = "The connection to the account was lost. It has been reconnected."
	}
}

func nextStep(lang *locale.Language, nextSteps []delivery.NextStep, account int64, now time.Time, zone *time.Location) *next {
	for _, n := range nextSteps {
		if n.AccountID != account {
			continue
		}
		out := &next{Text: stepWords[n.Step].now, Step: n.Step}
		if !n.At.IsZero() {
			at := n.At.In(zone)
			out.Text, out.At = stepWords[n.Step].at, &at
			if out.In = countdown(lang, now, at); out.In != "" {
				out.Text, out.At = stepWords[n.Step].soon, nil
			}
		}
		if !n.Until.IsZero() {
			until := n.Until.In(zone)
			out.Until = &until
		}
		return out
	}
	return nil
}

// maxQuote is the maximum length of a quoted network message or code, in characters.
const maxQuote = 400

func lineOf(lang *locale.Language, l delivery.AttemptLine, zone *time.Location) line {
	out := line{
		At: l.At.In(zone), What: wordFor(lang, callWords, l.Call), Result: wordFor(lang, resultWords, l.Result),
		Code: truncate(maxQuote, l.NetworkCode), To: truncate(maxQuote, l.NetworkText),
	}
	switch {
	case l.Call == "decide" && l.By == "":
		out.By = lang.T("the operator")
	case l.Call == "decide":
		out.By = l.By
	}
	return out
}

// textOf returns the untrusted text that pointer refers to, shortened to maxQuote characters. It returns "" if there is
// no such text.
func textOf(untrusted []operation.Untrusted, pointer *operation.Pointer) string {
	if pointer == nil {
		return ""
	}
	for _, u := range untrusted {
		if u.ID == pointer.Untrusted {
			return truncate(maxQuote, u.Text)
		}
	}
	return ""
}

// Says reports whether the step says more than that the post is being published, which makes it worth showing.
func (n *next) Says() bool {
	return n.Step != delivery.StepSend || n.At != nil || n.In != "" || n.Until != nil
}

type (
	next struct {
		Text  locale.Key // with the verb %s if At or In is set
		At    *time.Time
		In    string // the wait until the step, instead of At if it is soon
		Until *time.Time
		Step  delivery.Step
	}
	line struct {
		At                         time.Time
		What, Result, By, Code, To string
	}
)

const (
	maxShownAccounts = 10 // the page of a post with more accounts does not show attempts
	maxShownAttempts = 5  // maximum number of attempts that the page shows per account
)
