package post

import (
	"context"
	"net/http"
	"slices"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/post/attachment"
	"pressroom.example/pressroom/internal/domain/post/override"
	"pressroom.example/pressroom/internal/domain/post/seriesgap"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/teamtime"
)

// The inputs of the operations.
type (
	// ListInput selects a page of posts.
	ListInput struct {
		Status    string  `json:"status,omitempty" enum:"draft|scheduled|processing|published|partially_published|failed"`
		AccountID *int64  `json:"account_id,omitempty" jsonschema:"Only posts that target this account; none if it is unknown."`
		From      *string `json:"from,omitempty" maxLength:"64"`
		To        *string `json:"to,omitempty" maxLength:"64"`
		Cursor    *string `json:"cursor,omitempty" maxLength:"1000" jsonschema:"page.cursor of the previous response."`
		Limit     int     `json:"limit,omitempty" min:"1" max:"50" default:"20" jsonschema:"Items per page."`
	}
	// GetInput identifies a post.
	GetInput struct {
		ID string `json:"id" pattern:"^(?:[A-Za-z0-9-]{1,64})$" jsonschema:"The post's ID."`
	}
	// PostInput identifies a post.
	PostInput struct {
		PostID string `json:"post_id" pattern:"^(?:[A-Za-z0-9-]{1,64})$" jsonschema:"The post's ID."`
	}
	// ValidateInput identifies a post and optionally one of its accounts.
	ValidateInput struct {
		PostID    string `json:"post_id" pattern:"^(?:[A-Za-z0-9-]{1,64})$" jsonschema:"The post's ID."`
		AccountID *int64 `json:"account_id,omitempty"`
	}
	// CreateInput is a new draft.
	CreateInput struct {
		Caption    string           `json:"caption" maxLength:"10000" jsonschema:"The text."`
		AccountIDs []int64          `json:"account_ids" minItems:"1" maxItems:"100" jsonschema:"The accounts to publish to."`
		MediaIDs   []int64          `json:"media_ids,omitempty" maxItems:"50" default:"[]" jsonschema:"Media of the library, in order."`
		Options    *network.Options `json:"options,omitempty" jsonschema:"Options for individual networks."`
		Thread     []ThreadPart     `json:"thread,omitempty" maxItems:"24" jsonschema:"Parts to publish as replies, in order."`

		Title        string                  `json:"title,omitempty" maxLength:"500"`
		FirstComment string                  `json:"first_comment,omitempty" maxLength:"10000"`
		Labels       []string                `json:"labels,omitempty" maxItems:"20" minLength:"1" maxLength:"50"`
		Overrides    []override.PostOverride `json:"overrides,omitempty" maxItems:"100"`
	}
	// ThreadPart is a part of a thread after the post itself.
	ThreadPart struct {
		Caption  string  `json:"caption" maxLength:"10000" jsonschema:"The text of the part."`
		MediaIDs []int64 `json:"media_ids,omitempty" maxItems:"50" default:"[]" jsonschema:"Media of the library, in order."`
	}
	// UpdateInput changes a draft or scheduled post. Omitted fields stay the same.
	UpdateInput struct {
		ID           string                   `json:"id" pattern:"^(?:[A-Za-z0-9-]{1,64})$" jsonschema:"The post's ID."`
		Caption      *string                  `json:"caption,omitempty" maxLength:"10000" jsonschema:"The new text."`
		Title        *string                  `json:"title,omitempty" maxLength:"500" jsonschema:"The new title; empty for none."`
		ScheduledAt  operation.NullableString `json:"scheduled_at,omitempty" maxLength:"64" nullable:"true"` //nolint:modernize // schema
		MediaIDs     []int64                  `json:"media_ids,omitempty" maxItems:"50" jsonschema:"Replaces all media."`
		AccountIDs   []int64                  `json:"account_ids,omitempty" minItems:"1" maxItems:"100" jsonschema:"Replaces all accounts."`
		Options      *network.Options         `json:"options,omitempty" jsonschema:"Replaces all options for individual networks."`
		Thread       []ThreadPart             `json:"thread,omitempty" maxItems:"24" jsonschema:"Replaces all parts after the post itself."`
		FirstComment *string                  `json:"first_comment,omitempty" maxLength:"10000"`
		Labels       []string                 `json:"labels,omitempty" maxItems:"20" minLength:"1" maxLength:"50"`
		Overrides    []override.PostOverride  `json:"overrides,omitempty" maxItems:"100"`
	}
	// ScheduleInput identifies a draft and its time.
	ScheduleInput struct {
		PostID      string `json:"post_id" pattern:"^(?:[A-Za-z0-9-]{1,64})$" jsonschema:"The post's ID."`
		ScheduledAt string `json:"scheduled_at" maxLength:"64"`
	}
	// RetryInput identifies a post and optionally some of its accounts.
	RetryInput struct {
		PostID     string  `json:"post_id" pattern:"^(?:[A-Za-z0-9-]{1,64})$" jsonschema:"The post's ID."`
		AccountIDs []int64 `json:"account_ids,omitempty" minItems:"1" maxItems:"100"`
	}
)

// Descriptions returns descriptions of the fields for the JSON schema.
func (ListInput) Descriptions() map[string]string {
	return map[string]string{
		"status": "Only posts in this state.",
		"from": "Only posts scheduled or published at or after this time; ISO 8601. A date means its start in the " +
			"team's zone.",
		"to": "Only posts scheduled or published before this time; ISO 8601, exclusive.",
	}
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (ValidateInput) Descriptions() map[string]string {
	return map[string]string{
		"account_id": "Check only this account of the post. not_found if the post does not target it.",
	}
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (CreateInput) Descriptions() map[string]string {
	return map[string]string{"first_comment": "Comment that each account adds to its post.",
		"title":  "For networks that publish a title, such as YouTube.",
		"labels": "Labels for the team; not published.", "overrides": "Content for single accounts, instead of the post's."}
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (UpdateInput) Descriptions() map[string]string {
	return map[string]string{
		"first_comment": "The new first comment; empty for none.",
		"labels":        "Replaces all labels. Needs no new approval.",
		"overrides":     "Replaces all content for single accounts.",
		"scheduled_at": "The new time: ISO 8601 with a time of day. Without an offset, it is in the team's zone. A " +
			"draft stays a draft. Null clears the time of a draft.",
	}
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (ScheduleInput) Descriptions() map[string]string {
	return map[string]string{
		"scheduled_at": "Publication time: ISO 8601 with a time of day. Without an offset, it is in the team's zone.",
	}
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (RetryInput) Descriptions() map[string]string {
	return map[string]string{"account_ids": "The accounts to retry; all failed ones if omitted."}
}

// Operations returns the post operations.
func (s *Service) Operations() []operation.Operation {
	return append(slices.Concat(s.reads(), s.draftOperations(), s.publishOperations()), s.archiveOperation())
}

func (s *Service) reads() []operation.Operation {
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: "list_posts", Method: http.MethodGet, Path: "/posts", Needs: access.Read, Success: http.StatusOK,
			Summary: "List posts",
			Description: "Lists posts, newest first. Use it to see what is planned and to find a post by state or date. " +
				"With from or to, lists the posts scheduled or published in that range, latest first. recurrence marks " +
				"the template of a series, which is never published, and the series' occurrences.",
			Next: "Each post is an excerpt; get_post returns the full post.",
			Listing: &operation.Listing{Member: "posts", Item: "get_post", Arguments: map[string]string{"id": "id"},
				Label: []string{"excerpt", "status"}},
			Example: operation.Example{Arguments: map[string]any{"status": "scheduled", "limit": 1},
				Data: PostList{[]PostEntry{exampleSummary}}},
		}, s.list),
		operation.Define(operation.Spec{
			Tool: "get_post", Method: http.MethodGet, Path: "/posts/{id}", Needs: access.Read, Success: http.StatusOK,
			Summary: "Get a post",
			Description: "Returns the full text, the media and every targeted account with its result. Use it before " +
				"update_post, and to see why an account failed: state, error_code, explanation and retries_left. For " +
				"a template, notes list skipped occurrences. A network's own message is in untrusted_content.",
			Next: "If the cause is outside the post (connection, quota, network), fix it, then call retry_post for the " +
				"failed accounts. Rejected content or media (rejected_content, rejected_media, duplicate_content, " +
				"preflight_blocked) cannot be changed in a submitted post: create another post for these accounts " +
				"with create_post. unconfirmed: the network may have the post, so it is not sent again until this " +
				"is known.",
			Resource: &operation.Resource{Address: "posts/{id}", Title: "Post"},
			Example:  operation.Example{Arguments: map[string]any{"id": exampleID}, Data: exampleFull},
		}, s.get),
		operation.Define(operation.Spec{
			Tool: "validate_post", Method: http.MethodGet, Path: "/posts/{post_id}/validation", Needs: access.Read,
			Success: http.StatusOK,
			Summary: "Validate a post",
			Description: "Returns what the networks would reject, whether the post needs the client's approval, and " +
				"how many posts the plan still allows this month. Call it before schedule_post and publish_post. " +
				"Changes and sends nothing.",
			Next: "Fix blocking problems with update_post, or for a submitted post with another post for the failed " +
				"accounts. Other problems are hints. waits_for_approval: only the client can approve the post, in the app.",
			Example: operation.Example{Arguments: map[string]any{"post_id": exampleID}, Data: Validation{
				Problems: []PostProblem{{Code: "caption_too_long", Blocking: true, AccountID: 1,
					Message: "Bluesky takes 300 characters; this text has 312."}}, PostsLeftThisMonth: 1999}},
		}, s.validate),
	}
}

// draftOperations returns the operations that change drafts and scheduled posts.
func (s *Service) draftOperations() []operation.Operation {
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: "create_post", Method: http.MethodPost, Path: "/posts", Needs: access.Write,
			Key: operation.KeyOptional, Success: http.StatusCreated,
			OnRepeat: operation.WithNotes(s.replayNotes),
			Summary:  "Create a draft",
			Description: "Creates a draft with accounts from list_social_accounts and media from list_media. Nothing " +
				"is sent to a network. Networks' limits are checked by validate_post, schedule_post and " +
				"publish_post. Free of charge.",
			Next: "Call validate_post, then schedule_post or publish_post when the user asks for it. Without an " +
				"Idempotency-Key each call creates another draft. not_found: context.argument names the unknown ID.",
			Example: operation.Example{Arguments: map[string]any{"caption": exampleFull.Caption,
				"account_ids": []int64{1}}, Data: exampleDraft()},
		}, s.create),
		operation.Define(operation.Spec{
			Tool: "update_post", Method: http.MethodPatch, Path: "/posts/{id}", Needs: access.Write,
			Key: operation.KeyOptional, Times: []string{"scheduled_at"}, Success: http.StatusOK,
			ConditionalCapability: operation.NewConditionalCapability(access.Publish, "the post is scheduled", s.isScheduled),
			OnRepeat:              operation.WithNotes(s.replayChangeNotes),
			Summary:               "Change a draft or a scheduled post",
			Description: "Changes the given fields; a list replaces the whole list. scheduled_at null clears the time " +
				"of a draft. A changed post needs the client's approval again if it was approved; notes say so. Returns " +
				"the problems found after the change.",
			Next: "Read the post with get_post first, because replaced content is lost. Fix blocking problems. " +
				"wrong_state: the post was already submitted and cannot be changed.",
			Destructive: true, Idempotent: true,
			Example: operation.Example{Arguments: map[string]any{"id": exampleID, "scheduled_at": "2026-03-29T10:15"},
				Data: PostChange{exampleFull, []PostProblem{}}},
		}, s.update),
		operation.Define(operation.Spec{
			Tool: "cancel_post", Method: http.MethodPost, Path: "/posts/{post_id}/cancel", Needs: access.Write,
			Key: operation.KeyOptional, Success: http.StatusOK,
			OnRepeat: operation.WithNotes(s.replayNotes),
			Summary:  "Cancel a scheduled post",
			Description: "Turns a scheduled post into a draft without a time; its content stays. For the template or " +
				"an occurrence of a series, the whole series is paused, and notes say so; in the app, a person can " +
				"resume the series or skip a single occurrence. A draft stays as it is. A submitted post is rejected.",
			Next: "Call schedule_post to schedule it again. wrong_state: the post was already submitted and " +
				"cannot be recalled.",
			Idempotent: true,
			Urgent:     true,
			Example:    operation.Example{Arguments: map[string]any{"post_id": exampleID}, Data: exampleDraft()},
		}, s.cancel),
	}
}

// publishOperations returns the operations that schedule and publish posts.
func (s *Service) publishOperations() []operation.Operation {
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: "schedule_post", Method: http.MethodPost, Path: "/posts/{post_id}/schedule", Needs: access.Publish,
			Key: operation.KeyOptional, Times: []string{"scheduled_at"}, Success: http.StatusOK,
			OnRepeat: operation.WithNotes(s.replayNotes),
			Summary:  "Schedule a draft",
			Description: "The post is published at scheduled_at without further confirmation, so call this only if the " +
				"user asked for that time. The time can be at most ten years ahead.",
			Next: "Call cancel_post to unschedule it. preflight_blocked: validate_post lists what to fix. " +
				"awaiting_client_approval: the client must approve it in the app. plan_limit_reached: the plan " +
				"allows no more posts in that month. wrong_state: already scheduled or sent; update_post changes the " +
				"time of a scheduled post.",
			Idempotent: true,
			Example: operation.Example{Arguments: map[string]any{"post_id": exampleID,
				"scheduled_at": "2026-03-29T10:15"}, Data: exampleFull},
		}, s.schedule),
		operation.Define(operation.Spec{
			Tool: "publish_post", Method: http.MethodPost, Path: "/posts/{post_id}/publish", Needs: access.Publish,
			Key: operation.KeyOptional, Success: http.StatusAccepted, Networks: true,
			Summary: "Publish a post now",
			Description: "Submits the post immediately. This cannot be undone, so call it only when the user " +
				"asked to publish now. The job has each account's result. If the post was submitted before, it is not " +
				"sent again, and the response has already_submitted.",
			Next: "Follow the job with get_job until it is finished. get_post shows why accounts failed. " +
				"preflight_blocked: validate_post lists what to fix. After internal_error, read the post before you " +
				"call this again.",
			Destructive: true, Idempotent: true,
			Example: operation.Example{Arguments: map[string]any{"post_id": exampleID},
				Data: Publication{Job: exampleJob}},
		}, s.publish),
		operation.Define(operation.Spec{
			Tool: "retry_post", Method: http.MethodPost, Path: "/posts/{post_id}/retry", Needs: access.Publish,
			Key: operation.KeyOptional, Success: http.StatusAccepted, Networks: true,
			Summary: "Retry failed accounts",
			Description: "Sends the post again to failed accounts. Call it after the cause is fixed. It skips accounts " +
				"that did not fail, have no retries left, were retried moments ago, are unconfirmed or were taken over " +
				"by an edited copy, and lists them with the reason.",
			Next:        "Follow the job with get_job. wrong_state: the post has not been sent yet.",
			Destructive: true,
			Example: operation.Example{Arguments: map[string]any{"post_id": exampleID},
				Data: PublicationRetry{Job: exampleJob, Skipped: []PublicationRetrySkipped{{2, "not_failed"}}}},
		}, s.retry),
	}
}

// archiveOperation returns the operation that archives failed posts.
func (s *Service) archiveOperation() operation.Operation {
	return operation.Define(operation.Spec{
		Tool: "archive_post", Method: http.MethodPost, Path: "/posts/{post_id}/archive", Needs: access.Write,
		Key: operation.KeyOptional, Success: http.StatusOK,
		OnRepeat: operation.WithNotes(s.replayNotes),
		Summary:  "Archive a failed post",
		Description: "Archives a post that failed on some or all accounts and will not be retried. It stays readable " +
			"and is no longer shown as needing attention. Networks are not contacted. Set archived to false to " +
			"restore the post.",
		Next:       "wrong_state: the post did not fail, or an account is unconfirmed.",
		Idempotent: true,
		Example: operation.Example{Arguments: map[string]any{"post_id": exampleID},
			Data: exampleArchived()},
	}, s.archive)
}

func exampleArchived() Post {
	failed := exampleDraft()
	failed.Status, failed.ArchivedAt = Failed, &exampleAt
	failed.Accounts = []PostAccount{{ID: 1, Platform: "bluesky", Username: "harbour.example", State: TargetFailed,
		AccountError: AccountError{ErrorCode: "rejected_content", Explanation: job.Message("rejected_content")},
		RetriesLeft:  3}}
	return failed
}

func (s *Service) get(ctx context.Context, call operation.Call, in GetInput) (operation.Response[Post], error) {
	p, err := s.read(ctx, s.db, call.TeamID, in.ID, "")
	if err != nil {
		return operation.Response[Post]{}, err
	}
	out := s.answer(call, p)
	if p.IsTemplate {
		out.Notes, err = seriesgap.Notes(ctx, s.db, call, p.SeriesID)
	}
	return out, err
}

func (s *Service) isScheduled(ctx context.Context, call operation.Call, in UpdateInput) (bool, error) {
	p, err := s.read(ctx, s.db, call.TeamID, in.ID, "")
	return p.Status == Scheduled, err
}

const exampleID = "019d3889-2b10-7c1e-8a3f-5d2b6f6f0001"

var (
	exampleAt      = teamtime.Moment{Team: "2026-03-29T10:15:00+02:00", UTC: "2026-03-29T08:15:00Z"}
	exampleCreated = teamtime.Moment{Team: "2026-03-27T16:02:11+01:00", UTC: "2026-03-27T15:02:11Z"}
	exampleSummary = PostEntry{ID: exampleID, Status: Scheduled, ScheduledAt: &exampleAt,
		Accounts: []PostEntryAccount{{1, "bluesky", "harbour.example"}}, Excerpt: "Open from eight on Sunday."}
	exampleFull = Post{ID: exampleID, Status: Scheduled, Caption: "Open from eight on Sunday.", Media: []attachment.PostMedia{},
		ScheduledAt: &exampleAt, Approval: NotNeeded,
		Accounts: []PostAccount{{ID: 1, Platform: "bluesky", Username: "harbour.example", State: TargetPending,
			RetriesLeft: 3}},
		CreatedAt: exampleCreated, UpdatedAt: exampleCreated}
	exampleJob = job.Job{JobID: "social_post:019d3889-2b11-7d5a-9e0c-0c8f1d3e0002", Type: job.SocialPost,
		State: job.Pending, CreatedAt: exampleAt, Progress: job.JobProgress{Total: 1}}
)

func exampleDraft() Post {
	draft := exampleFull
	draft.Status, draft.ScheduledAt = Draft, nil
	return draft
}
