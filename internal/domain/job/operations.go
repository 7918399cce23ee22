package job

import (
	"context"
	"net/http"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
)

// Job is the API representation of a job.
type Job struct {
	JobID      string           `json:"job_id" pattern:"^(?:[a-z_]{1,32}:[A-Za-z0-9-]{1,64})$"`
	Type       Type             `json:"type" enum:"profile_report|hashtag_report|social_post|hashtag_search|media_import|content_fetch"`
	State      State            `json:"state" title:"JobState" enum:"pending|running|succeeded|partially_succeeded|failed"`
	Finished   bool             `json:"finished" jsonschema:"Whether the job has ended. Poll every few seconds until it has."`
	CreatedAt  teamtime.Moment  `json:"created_at"`
	FinishedAt *teamtime.Moment `json:"finished_at,omitempty"`
	Progress   JobProgress      `json:"progress"`
	Error      *JobError        `json:"error,omitempty" jsonschema:"Why the job failed completely or partially."`
	Result     any              `json:"result,omitempty"`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (Job) Descriptions() map[string]string {
	return map[string]string{
		"result": "What a finished job produced. Its members depend on type.",
	}
}

// JobProgress is the number of finished and total parts of a job.
type JobProgress struct {
	Done  int64 `json:"done"`
	Total int64 `json:"total"`
}

// JobError is the reason why a job failed.
type JobError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Output is the result of a job, with the untrusted texts that it refers to.
type Output struct {
	Result    any
	Untrusted operation.UntrustedTexts
	App       string
	Page      *operation.Page
	Notes     []string
}

// Result reads the results of one job type.
type Result struct {
	Read ReadResult
	Data []any // one value of each type that Output.Result can have, for the API description
}

// ReadResult reads the result of a job. It is also called for jobs that have not ended yet.
type ReadResult func(ctx context.Context, q db.Querier, call operation.Call, r Record, in GetInput) (Output, error)

// ChargedFunc returns the credits that were charged for a reservation. While the reservation is open, it returns the
// reserved amount. It returns 0 if reservation is 0.
type ChargedFunc func(ctx context.Context, q db.Querier, reservation int64) (int64, error)

// errorMessages maps the error codes of jobs and accounts to explanations.
var errorMessages = map[string]string{
	"rejected_content":     "The network rejected the content.",
	"rejected_media":       "The network rejected the media.",
	"duplicate_content":    "The network already has the same content.",
	"account_needs_reauth": "The account is disconnected. Reconnect it in the app, then retry.",
	"rate_limited":         "The network rate-limited the account for too long or too often. Retry later.",
	"quota_used_up":        "The account's quota on the network is used up. Retry when it resets.",
	"network_error":        "The network failed or could not be reached. Nothing was published. Retry later.",
	"server_not_allowed": "The operator does not allow the account's server. Nothing was published. Retry after " +
		"the operator has allowed it.",
	"app_not_approved": "The network does not accept this installation's app for this post. It may lack an approval, " +
		"an audit, a permission or credit, or its settings may be outdated. Tell the operator, then retry.",
	"not_confirmed":           "The network may have published this. It is not sent again until the outcome is known.",
	"profile_not_found":       "The network has no public profile with this name.",
	"profile_private":         "The profile is private and cannot be read.",
	"nothing_found":           "The provider has no data on this hashtag or keyword.",
	"source_unavailable":      "The provider could not be reached or returned no data. Try again later.",
	"not_offered":             "No configured provider supports this. The operator can add one that does.",
	"address_refused":         "Files cannot be downloaded from this address.",
	"type_refused":            "The file's type is not supported, or the file is damaged.",
	"too_large":               "The file is too large.",
	"storage_full":            "The plan's storage is used up, or the server's disk is full.",
	"upload_expired":          "Not all files were uploaded before the links expired.",
	"upload_closed":           "The page was closed before all files were uploaded.",
	"upload_replaced":         "The upload was replaced by another one.",
	"missed_waiting_approval": "The post was not approved by its scheduled time, so it was not sent.",
	"preflight_blocked":       "The post broke a rule of the network at its scheduled time, so it was not sent.",
	"plan_limit_reached":      "The plan's post limit for the month had been reached at the scheduled time, so it was not sent.",
	"missed_while_held": "Publishing was on hold at the scheduled time, and it was too late when the hold ended. The post was " +
		"not sent. Retry to send it now.",
	"thread_interrupted": "The rest of the thread was not sent, because it was not known in time whether the part before it is " +
		"published. Check the thread on the network, then retry to continue it.",
	"internal_error": "An internal error occurred.",
}

// Message returns the explanation of an error code.
func Message(code string) string { return errorMessages[code] }

// AccountMessage returns the explanation of an account's error code. If a rejected post has a permalink, the network
// has the post but does not show it to others.
func AccountMessage(code, permalink string) string {
	if code == "app_not_approved" && permalink != "" {
		return "The network has this post but keeps it private, because this installation's app lacks an approval or an " +
			"audit. A retry asks for its status and does not send it again, unless it was deleted there. Tell the " +
			"operator, then retry."
	}
	return Message(code)
}

// Show returns the API representation of a record without its result.
func Show(call operation.Call, r Record) Job {
	out := Job{JobID: r.ID, Type: r.Type, State: r.State, Finished: r.IsFinished(), CreatedAt: call.Moment(r.CreatedAt),
		FinishedAt: call.MomentOrNil(r.FinishedAt), Progress: JobProgress{r.Done, r.Total}}
	if r.ErrorCode != "" {
		out.Error = &JobError{r.ErrorCode, Message(r.ErrorCode)}
	}
	return out
}

// Summary describes the state of the job.
func (j Job) Summary() string {
	if j.Finished {
		return "job " + j.JobID + " has ended, " + string(j.State)
	}
	return "job " + j.JobID + " is " + string(j.State) + "; follow it with get_job until finished is true"
}

// GetInput selects a job and a page of its result.
type GetInput struct {
	JobID       string  `json:"job_id" pattern:"^(?:[a-z_]{1,32}:[A-Za-z0-9-]{1,64})$"`
	Cursor      *string `json:"cursor,omitempty" maxLength:"1000" jsonschema:"page.cursor of the previous response."`
	Limit       int     `json:"limit,omitempty" min:"1" max:"50" default:"20" jsonschema:"Items per page of a long result."`
	WaitSeconds int     `json:"wait_seconds,omitempty" min:"0" max:"25" default:"0"`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (GetInput) Descriptions() map[string]string {
	return map[string]string{
		"job_id":       "The job's ID: a type and a UUID, joined by a colon.",
		"wait_seconds": "Waits up to this many seconds for the job to end. 0 returns immediately.",
	}
}

// Operations returns the operations on jobs.
func (s *Store) Operations() []operation.Operation {
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: "get_job", Method: http.MethodGet, Path: "/jobs/{job_id}", Needs: access.Read,
			Success: http.StatusOK, Unmetered: true, MayWait: true,
			Summary: "Get a job and its result",
			Description: "Returns the state of a background job. When finished is true, result has the job's output. " +
				"Use wait_seconds to wait for the job, or poll every few seconds. The call never counts against the " +
				"daily free-call allowance.",
			Next: "Call it again until finished is true. Then read state: for partially_succeeded and failed, error " +
				"and result say what failed and why, and unused credits are refunded. not_found: the ID is wrong, or " +
				"the job ended more than 30 days ago.",
			Variants: s.variants(),
			Example: operation.Example{Arguments: map[string]any{"job_id": exampleID}, Data: Job{
				JobID: exampleID, Type: SocialPost, State: Succeeded, Finished: true,
				CreatedAt:  teamtime.Moment{Team: "2026-03-29T10:15:00+02:00", UTC: "2026-03-29T08:15:00Z"},
				FinishedAt: &teamtime.Moment{Team: "2026-03-29T10:15:01+02:00", UTC: "2026-03-29T08:15:01Z"},
				Progress:   JobProgress{1, 1},
				Result: map[string]any{"post_id": "019d3889-2b10-7c1e-8a3f-5d2b6f6f0001", "accounts": []map[string]any{
					{"id": 1, "state": "published",
						"permalink": "https://bsky.app/profile/harbour.example/post/3miatogtx2c22"}}},
			}},
		}, s.get),
	}
}

// variants returns the variants of Job. The schema of the result depends on the job type.
func (s *Store) variants() *operation.Variants {
	v := operation.Variants{Discriminator: "type", Member: "result", Data: map[string][]any{}}
	for kind, result := range s.results {
		v.Data[string(kind)] = result.Data
	}
	return &v
}

const exampleID = "social_post:019d3889-2b11-7d5a-9e0c-0c8f1d3e0002"

func (s *Store) get(ctx context.Context, call operation.Call, in GetInput) (operation.Response[Job], error) {
	r, err := Get(ctx, s.db, call.TeamID, in.JobID)
	if err != nil {
		return operation.Response[Job]{}, err
	}
	if in.Cursor != nil {
		if _, err := call.Position(*in.Cursor); err != nil {
			return operation.Response[Job]{}, err
		}
	}
	if r, err = s.wait(ctx, call, r, in.WaitSeconds); err != nil || ctx.Err() != nil {
		return operation.Response[Job]{Data: Show(call, r)}, err
	}
	return s.View(ctx, s.db, call, r, in)
}

// View returns the API representation of a record, including its result.
func (s *Store) View(ctx context.Context, q db.Querier, call operation.Call, r Record, in GetInput) (
	operation.Response[Job], error,
) {
	out := operation.Response[Job]{Data: Show(call, r), App: "/jobs/" + r.ID}
	result, ok := s.results[r.Type]
	if !ok {
		return out, nil
	}
	output, err := result.Read(ctx, q, call, r, in)
	if err != nil {
		return operation.Response[Job]{}, err
	}
	out.Data.Result, out.Untrusted, out.Page, out.Notes = output.Result, output.Untrusted, output.Page, output.Notes
	if output.App != "" {
		out.App = output.App
	}
	return out, nil
}
