package post

import (
	"slices"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post/attachment"
	"pressroom.example/pressroom/internal/domain/post/comment"
	"pressroom.example/pressroom/internal/domain/post/teamoptions"
	"pressroom.example/pressroom/internal/domain/post/warning"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/teamtime"
)

// PostEntry is a post in a list.
type PostEntry struct {
	ID          string               `json:"id" format:"uuid"`
	Status      Status               `json:"status" enum:"draft|scheduled|processing|published|partially_published|failed"`
	ScheduledAt *teamtime.Moment     `json:"scheduled_at,omitempty"`
	PublishedAt *teamtime.Moment     `json:"published_at,omitempty"`
	Recurrence  *PostEntryRecurrence `json:"recurrence,omitempty"`
	Accounts    []PostEntryAccount   `json:"accounts"`
	Title       string               `json:"title,omitempty"`
	Excerpt     string               `json:"excerpt" jsonschema:"The start of the text."`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (PostEntry) Descriptions() map[string]string {
	return map[string]string{"recurrence": "Set for the template and the occurrences of a recurring series."}
}

// PostEntryRecurrence is the series of a listed post.
type PostEntryRecurrence struct {
	SeriesID int64 `json:"series_id"`
	Template bool  `json:"template" jsonschema:"Whether this post is the template, which is never published."`
	Paused   bool  `json:"paused" jsonschema:"Whether the series is paused."`
}

// PostEntryAccount identifies a targeted account.
type PostEntryAccount struct {
	ID       int64  `json:"id"`
	Platform string `json:"platform"`
	Username string `json:"username"`
}

// Post is a post with all its details.
type Post struct {
	ID           string                 `json:"id" format:"uuid"`
	Status       Status                 `json:"status" enum:"draft|scheduled|processing|published|partially_published|failed"`
	Caption      string                 `json:"caption" jsonschema:"The full text."`
	Title        string                 `json:"title,omitempty" jsonschema:"For networks that publish a title."`
	Media        []attachment.PostMedia `json:"media"`
	Thread       []ThreadPart           `json:"thread,omitempty" jsonschema:"The parts that are published as replies, in order."`
	FirstComment string                 `json:"first_comment,omitempty" jsonschema:"Comment that each account adds to its post."`
	Labels       []string               `json:"labels,omitempty" jsonschema:"Labels for the team; not published."`
	Options      *network.Options       `json:"options,omitempty" jsonschema:"Options for individual networks."`
	Defaults     *network.Options       `json:"default_options,omitempty"`
	ScheduledAt  *teamtime.Moment       `json:"scheduled_at,omitempty"`
	PublishedAt  *teamtime.Moment       `json:"published_at,omitempty"`
	Approval     Approval               `json:"approval" enum:"not_needed|waiting|approved|rejected"`
	Review       *PostClientReview      `json:"client_review,omitempty" jsonschema:"The client's decision on the current version."`
	Recurrence   *PostRecurrence        `json:"recurrence,omitempty"`
	Replaces     string                 `json:"replaces,omitempty" format:"uuid"`
	ArchivedAt   *teamtime.Moment       `json:"archived_at,omitempty"`
	Accounts     []PostAccount          `json:"accounts"`
	CreatedAt    teamtime.Moment        `json:"created_at"`
	UpdatedAt    teamtime.Moment        `json:"updated_at"`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (Post) Descriptions() map[string]string {
	return map[string]string{
		"default_options": "Options that a person chose for all posts of the team. They apply to this post, because it has " +
			"no options for the network.",
		"scheduled_at": "Publication time; for a draft, the planned time; for a template, the start of its series.",
		"replaces":     "The post whose failed accounts this post takes over with edited content.",
		"archived_at":  "When the failed post was archived; an archived post is not retried.",
	}
}

// PostClientReview is a client's decision. The decision itself is in Post.Approval.
type PostClientReview struct {
	DecidedAt teamtime.Moment    `json:"decided_at"`
	Comment   *operation.Pointer `json:"comment,omitempty" jsonschema:"Reference to the client's comment."`
}

// PostRecurrence is the series of a post.
type PostRecurrence struct {
	SeriesID   int64            `json:"series_id"`
	Template   bool             `json:"template" jsonschema:"Whether this post is the template of the series."`
	TemplateID string           `json:"template_id,omitempty" jsonschema:"The template of the series."`
	Rule       string           `json:"rule" jsonschema:"Recurrence rule: an RRULE of RFC 5545. Its times are local times in timezone."`
	Timezone   string           `json:"timezone,omitempty" jsonschema:"IANA time zone of the rule."`
	Paused     bool             `json:"paused"`
	NextAt     *teamtime.Moment `json:"next_at,omitempty" jsonschema:"Time of the next occurrence; omitted if none is scheduled."`
}

// AccountError is the reason why publishing to an account failed or is unconfirmed.
type AccountError struct {
	ErrorCode      string             `json:"error_code,omitempty" enum:"rejected_content|rejected_media|duplicate_content|account_needs_reauth|rate_limited|quota_used_up|network_error|not_confirmed|missed_waiting_approval|preflight_blocked|plan_limit_reached|missed_while_held|thread_interrupted|server_not_allowed|app_not_approved"`
	Explanation    string             `json:"explanation,omitempty" jsonschema:"What the error code means."`
	NetworkMessage *operation.Pointer `json:"network_message,omitempty" jsonschema:"Reference to the network's message."`
}

// PostAccount is a targeted account with its result.
type PostAccount struct {
	ID           int64                    `json:"id"`
	Platform     string                   `json:"platform"`
	Username     string                   `json:"username"`
	State        TargetState              `json:"state" enum:"pending|sending|published|failed|unconfirmed"`
	PublishedAt  *teamtime.Moment         `json:"published_at,omitempty"`
	Permalink    string                   `json:"permalink,omitempty"`
	Caption      *string                  `json:"caption,omitempty" jsonschema:"Text for this account, instead of the post's."`
	Title        *string                  `json:"title,omitempty" jsonschema:"Title for this account, instead of the post's."`
	MediaIDs     []int64                  `json:"media_ids,omitzero"`
	AccountError                          //nolint:embeddedstructfieldcheck // members are written in this order
	Parts        []PostAccountPart        `json:"parts,omitempty"`
	FirstComment *PostAccountFirstComment `json:"first_comment,omitempty"`
	Warnings     []warning.PostWarning    `json:"warnings,omitempty"`
	RetriesLeft  int                      `json:"retries_left"`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (PostAccount) Descriptions() map[string]string {
	return map[string]string{
		"media_ids": "Media for this account, instead of the post's, in order; empty for none.",
		"parts": "The results of the parts in thread, in the same order. A retry continues with the first part that is " +
			"not published.",
		"first_comment": "The result of the first comment, once the post is published. Its failure does not change state. " +
			"If only the comment failed, retry_post sends only the comment.",
		"warnings":     "What a published post lacks, such as its thumbnail. The post itself is published.",
		"retries_left": "How often a failed account can still be retried; 0 after the post is published there.",
	}
}

// PostChange is a post after PATCH, with the problems found after the change.
type PostChange struct {
	Post
	Problems []PostProblem `json:"problems"`
}

// PostProblem is a problem that validation found in a post.
type PostProblem struct {
	Code         string `json:"code"`
	Blocking     bool   `json:"blocking" jsonschema:"Whether it prevents publishing."`
	AccountID    int64  `json:"account_id,omitempty"`
	Part         int    `json:"part,omitempty" jsonschema:"Part of the thread, from 1; omitted for the post itself."`
	FirstComment bool   `json:"first_comment,omitempty" jsonschema:"Whether the problem is in the first comment."`
	Field        string `json:"field,omitempty" jsonschema:"title, or an option such as options.x.poll; omitted for text and media."`
	Message      string `json:"message"`
}

// apiPost converts a post to its API representation.
func (s *Service) apiPost(call operation.Call, p Record, quotes *operation.UntrustedTexts) Post {
	out := Post{
		ID: p.ID, Status: p.Status, Caption: p.Caption, Media: attachment.List(p.Media), Thread: p.apiThread(),
		Title: p.Title, FirstComment: p.FirstComment, Labels: p.Labels, Approval: p.Approval,
		ScheduledAt: call.MomentOrNil(p.ScheduledAt), PublishedAt: call.MomentOrNil(p.PublishedAt),
		CreatedAt: call.Moment(p.CreatedAt), UpdatedAt: call.Moment(p.UpdatedAt),
		Replaces: p.Replaces, ArchivedAt: call.MomentOrNil(p.ArchivedAt),
	}
	out.Defaults = teamoptions.Defaults(p.Options, p.TeamOptions, func(platform string) bool {
		return slices.ContainsFunc(p.Targets, func(t Target) bool { return t.Platform == platform })
	})
	if !p.Options.IsZero() {
		out.Options = &p.Options
	}
	if !p.Review.DecidedAt.IsZero() {
		out.Review = &PostClientReview{call.Moment(p.Review.DecidedAt),
			quotes.Add(p.Review.Comment, operation.Source{Kind: "client_comment", Platform: "pressroom"})}
	}
	if p.SeriesID != 0 {
		r := p.Series
		out.Recurrence = &PostRecurrence{p.SeriesID, p.IsTemplate, r.TemplateID, r.Rule, r.Timezone, r.Paused,
			call.MomentOrNil(r.NextAt)}
	}
	out.Accounts = make([]PostAccount, len(p.Targets))
	for i, t := range p.Targets {
		out.Accounts[i] = PostAccount{
			ID: t.AccountID, Platform: t.Platform, Username: t.Username, State: t.State,
			PublishedAt: call.MomentOrNil(t.PublishedAt), Permalink: t.Permalink, Caption: t.Caption,
			Title: t.Title, MediaIDs: t.mediaIDs(),
			AccountError: AccountError{t.ErrorCode, t.explanation(),
				Quote(quotes, t.Platform, t.Username, t.NetworkText)},
			Parts: p.apiParts(call, t), FirstComment: s.apiComment(call, t, quotes),
			Warnings: warning.List(t.Platform, t.Warnings), RetriesLeft: s.limits.retriesLeft(t),
		}
	}
	return out
}

// mediaIDs returns the media IDs of a target's override, or nil if it does not override media.
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

// Quote adds a network's message to the untrusted texts of a response and returns a reference to it.
func Quote(quotes *operation.UntrustedTexts, platform, username, text string) *operation.Pointer {
	return quotes.Add(text, operation.Source{Kind: "network_error", Platform: platform, Account: username})
}

// answer returns a response that contains a post.
func (s *Service) answer(call operation.Call, p Record) operation.Response[Post] {
	var quotes operation.UntrustedTexts
	out := operation.Response[Post]{App: "/posts/" + p.ID, Data: s.apiPost(call, p, &quotes), Summary: p.summary(call)}
	out.Untrusted = quotes
	out.Notes = p.inboxNotes()
	if slices.ContainsFunc(p.AllMedia(), attachment.IsDeleted) {
		out.Notes = append(out.Notes, "A file of this post has been deleted from the library. media still lists it, "+
			"but it cannot be used again.")
	}
	return out
}

func newProblem(account int64, part int, p network.Problem) PostProblem {
	return PostProblem{Code: p.Code, Blocking: p.Blocking, AccountID: account, Part: max(part, 0),
		FirstComment: part == comment.Part, Field: p.Field, Message: p.Message}
}
