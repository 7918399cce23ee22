package post

import (
	"slices"

	"pressroom/internal/core/operation"
	"pressroom/internal/domain/job"
	"pressroom/internal/network"
	"pressroom/internal/teamtime"
)

// Summary is a post as lists show it (contract, Records: Post entry).
type Summary struct {
	ID          string           `json:"id" format:"uuid"`
	Status      Status           `json:"status" enum:"draft|scheduled|processing|published|partially_published|failed"`
	ScheduledAt *teamtime.Moment `json:"scheduled_at,omitempty"`
	PublishedAt *teamtime.Moment `json:"published_at,omitempty"`
	Recurrence  *RecurrenceEntry `json:"recurrence,omitempty" jsonschema:"Of the template or an occurrence of a recurring series."`
	Accounts    []AccountRef     `json:"accounts"`
	Excerpt     string           `json:"excerpt" jsonschema:"The start of the text."`
}

// RecurrenceEntry says which recurring series a listed post belongs to.
type RecurrenceEntry struct {
	SeriesID int64 `json:"series_id"`
	Template bool  `json:"template" jsonschema:"Whether the series is made from this post. A template never goes out itself; its occurrences do."`
	Paused   bool  `json:"paused" jsonschema:"Whether the series is paused."`
}

// AccountRef names a targeted account.
type AccountRef struct {
	ID       int64  `json:"id"`
	Platform string `json:"platform"`
	Username string `json:"username"`
}

// Full is a post as a single answer shows it (contract, Records: Post).
type Full struct {
	ID          string           `json:"id" format:"uuid"`
	Status      Status           `json:"status" enum:"draft|scheduled|processing|published|partially_published|failed"`
	Caption     string           `json:"caption" jsonschema:"The whole text."`
	Media       []Media          `json:"media"`
	ScheduledAt *teamtime.Moment `json:"scheduled_at,omitempty" jsonschema:"When it goes out; of a draft, when it is wished to; of a recurring series' template, when that began."`
	PublishedAt *teamtime.Moment `json:"published_at,omitempty"`
	Approval    Approval         `json:"approval" enum:"not_needed|waiting|approved|rejected"`
	Review      *ClientReview    `json:"client_review,omitempty" jsonschema:"What the client decided of the post as it stands."`
	Recurrence  *Recurrence      `json:"recurrence,omitempty"`
	Accounts    []AccountResult  `json:"accounts"`
	CreatedAt   teamtime.Moment  `json:"created_at"`
	UpdatedAt   teamtime.Moment  `json:"updated_at"`
}

// ClientReview is a client's decision; which one it is says approval.
type ClientReview struct {
	DecidedAt teamtime.Moment    `json:"decided_at"`
	Comment   *operation.Pointer `json:"comment,omitempty" jsonschema:"Points at what the client wrote with it."`
}

// Media is a medium of a post.
type Media struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	Type string `json:"type" jsonschema:"MIME type."`
}

// Recurrence tells that a post belongs to a recurring series: it is its template, or one occurrence of it.
type Recurrence struct {
	SeriesID   int64            `json:"series_id"`
	Template   bool             `json:"template" jsonschema:"Whether the series is made from this post."`
	TemplateID string           `json:"template_id,omitempty" jsonschema:"The post that the series is made from."`
	Rule       string           `json:"rule" jsonschema:"When it recurs: an RRULE of RFC 5545, over wall clocks of the time zone."`
	Timezone   string           `json:"timezone,omitempty" jsonschema:"IANA name of the zone in which the time of day stays the same."`
	Paused     bool             `json:"paused"`
	NextAt     *teamtime.Moment `json:"next_at,omitempty" jsonschema:"When the next occurrence goes out; left out while none is scheduled."`
}

// AccountResult is a targeted account with its own result.
type AccountResult struct {
	ID             int64              `json:"id"`
	Platform       string             `json:"platform"`
	Username       string             `json:"username"`
	State          TargetState        `json:"state" enum:"pending|sending|published|failed|unconfirmed"`
	PublishedAt    *teamtime.Moment   `json:"published_at,omitempty"`
	Permalink      string             `json:"permalink,omitempty"`
	Caption        *string            `json:"caption,omitempty" jsonschema:"This account's own text in place of the post's."`
	MediaIDs       []int64            `json:"media_ids,omitzero" jsonschema:"This account's own media in place of the post's, in their order; empty where it shows none."`
	ErrorCode      string             `json:"error_code,omitempty" enum:"rejected_content|rejected_media|duplicate_content|account_needs_reauth|rate_limited|quota_used_up|network_error|not_confirmed|missed_waiting_approval|preflight_blocked|plan_limit_reached|missed_while_held|server_not_allowed"`
	Explanation    string             `json:"explanation,omitempty" jsonschema:"What the error code means, in our words."`
	NetworkMessage *operation.Pointer `json:"network_message,omitempty" jsonschema:"Points at what the network itself said."`
	RetriesLeft    int                `json:"retries_left" jsonschema:"How often the account can be sent again if it fails; 0 once it is published."`
}

// Changed is a post after PATCH, with the problems found after the change.
type Changed struct {
	Full
	Problems []Problem `json:"problems"`
}

// Problem is something that a network will not take (contract, Records: Validation).
type Problem struct {
	Code      string `json:"code"`
	Blocking  bool   `json:"blocking" jsonschema:"Whether it keeps the post from being published."`
	AccountID int64  `json:"account_id,omitempty"`
	Message   string `json:"message"`
}

func (s *Service) show(call operation.Call, p Post, quotes *operation.Quotes) Full {
	out := Full{
		ID: p.ID, Status: p.Status, Caption: p.Caption, Media: []Media{}, Approval: p.Approval,
		ScheduledAt: call.Maybe(p.ScheduledAt), PublishedAt: call.Maybe(p.PublishedAt),
		CreatedAt: call.Moment(p.CreatedAt), UpdatedAt: call.Moment(p.UpdatedAt),
	}
	for _, m := range p.Media {
		out.Media = append(out.Media, Media{m.ID, m.Name, m.Type})
	}
	if !p.Review.Decided.IsZero() {
		out.Review = &ClientReview{call.Moment(p.Review.Decided), quotes.Add(p.Review.Comment, operation.Source{Kind: "client_comment", Platform: "pressroom"})}
	}
	if p.SeriesID != 0 {
		r := p.Series
		out.Recurrence = &Recurrence{p.SeriesID, p.IsTemplate, r.TemplateID, r.Rule, r.Timezone, r.Paused, call.Maybe(r.NextAt)}
	}
	out.Accounts = make([]AccountResult, len(p.Targets))
	for i, t := range p.Targets {
		out.Accounts[i] = AccountResult{
			ID: t.AccountID, Platform: t.Platform, Username: t.Username, State: t.State, PublishedAt: call.Maybe(t.PublishedAt), Permalink: t.Permalink, Caption: t.Caption, MediaIDs: t.mediaIDs(),
			ErrorCode: t.ErrorCode, Explanation: job.Message(t.ErrorCode), NetworkMessage: Quote(quotes, t.Platform, t.Username, t.NetworkText),
			RetriesLeft: s.limits.retriesLeft(t),
		}
	}
	return out
}

// mediaIDs names what an account shows of its own; nil where it shows the post's.
func (t Target) mediaIDs() []int64 {
	if t.Media == nil {
		return nil
	}
	ids := []int64{}
	for _, m := range t.Media {
		ids = append(ids, m.ID)
	}
	return ids
}

// Quote keeps what a network said beside the data.
func Quote(quotes *operation.Quotes, platform, username, text string) *operation.Pointer {
	return quotes.Add(text, operation.Source{Kind: "network_error", Platform: platform, Account: username})
}

func (s *Service) answer(call operation.Call, p Post) operation.Answer[Full] {
	var quotes operation.Quotes
	out := operation.Answer[Full]{App: "/posts/" + p.ID, Data: s.show(call, p, &quotes), Said: p.summary(call)}
	out.Untrusted = quotes
	if slices.ContainsFunc(slices.Concat(append(mediaOfAll(p.Targets), p.Media)...), isDeleted) {
		out.Notes = append(out.Notes, "A person has deleted a file of this post from the library: what stands in media is its record alone, and it cannot be used again.")
	}
	return out
}

func problemOf(account int64, p network.Problem) Problem {
	return Problem{Code: p.Code, Blocking: p.Blocking, AccountID: account, Message: p.Message}
}
