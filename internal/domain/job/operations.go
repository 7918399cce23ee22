package job

import (
	"context"
	"net/http"

	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/teamtime"
)

// Entry is a job as clients read it (contract, Records).
type Entry struct {
	JobID      string           `json:"job_id" pattern:"^(?:[a-z_]{1,32}:[A-Za-z0-9-]{1,64})$"`
	Type       Type             `json:"type" enum:"profile_report|hashtag_report|social_post|hashtag_search|media_import|content_fetch"`
	State      State            `json:"state" enum:"pending|running|succeeded|partially_succeeded|failed"`
	Finished   bool             `json:"finished" jsonschema:"Whether the job has ended; poll every few seconds until it has."`
	CreatedAt  teamtime.Moment  `json:"created_at"`
	FinishedAt *teamtime.Moment `json:"finished_at,omitempty"`
	Progress   Progress         `json:"progress"`
	Error      *Error           `json:"error,omitempty" jsonschema:"Why the job failed, wholly or in part."`
	Result     any              `json:"result,omitempty" jsonschema:"What a finished job produced, by its type. profile_report and hashtag_report: report, with id, kind and status, and credits_charged, what was charged in the end. social_post: post_id and accounts, each with id, state, permalink, error_code, explanation and network_message. hashtag_search: hashtags, a page at a time, incomplete and related, whole on each page, and credits_charged."`
}

// Progress tells how many parts of a job are done.
type Progress struct {
	Done  int64 `json:"done"`
	Total int64 `json:"total"`
}

// Error says why a job failed.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Produced is what a finished job made, with the untrusted texts that it points at.
type Produced struct {
	Result    any
	Untrusted operation.Quotes
	App       string
	Page      *operation.Page
	Notes     []string
}

// Result reads what a job produced; what it has to tell of one that has not ended, too.
type Result func(ctx context.Context, call operation.Call, r Record, in GetInput) (Produced, error)

// errorMessages are the sentences for the error codes of jobs and accounts.
var errorMessages = map[string]string{
	"rejected_content":        "The network refused the content.",
	"rejected_media":          "The network refused the media.",
	"duplicate_content":       "The network holds the same content already.",
	"account_needs_reauth":    "The connection to the account is lost. Somebody has to connect it again in the app; then retry.",
	"rate_limited":            "The network asked to slow down, for longer than we wait or again and again. Retry later.",
	"quota_used_up":           "The account's quota at the network is used up. Retry in its next window.",
	"network_error":           "The network could not be reached, failed, or turned out not to hold the post. Nothing was published; retry later.",
	"server_not_allowed":      "The account's server is one that this service does not call. Nothing was published; retry once whoever runs the service has allowed the server.",
	"not_confirmed":           "The network may have published this and could not say. It is not sent again before that is known.",
	"profile_not_found":       "The network shows no public profile of this name.",
	"profile_private":         "The profile is private: nothing of it can be read.",
	"nothing_found":           "The source knows nothing of this hashtag or keyword.",
	"source_unavailable":      "The source could not be reached or did not give the data. Try again later.",
	"not_offered":             "None of the sources that this service asks tells this, now or later. Its operator can join one that does.",
	"address_refused":         "The address leads to where files are not fetched from.",
	"type_refused":            "The file is none of the types that the library takes, or it is damaged.",
	"too_large":               "The file is larger than the library takes.",
	"storage_full":            "The plan's storage is used up, or the service's disk is full.",
	"upload_expired":          "Not every file arrived before the links expired.",
	"upload_closed":           "The page was closed before every file had arrived.",
	"upload_replaced":         "The batch was closed in favour of another one.",
	"missed_waiting_approval": "At its time the post waited for the client's approval, so it was not sent.",
	"preflight_blocked":       "At its time the post broke a rule of the network, so it was not sent.",
	"plan_limit_reached":      "At its time the plan's posts of the month were used up, so it was not sent.",
	"missed_while_held":       "At its time the service was held by its operator, and it was too late to send it when it went on. It was not sent; retry sends it now.",
	"internal_error":          "Something failed on our side.",
}

// Message is the sentence for an error code.
func Message(code string) string { return errorMessages[code] }

// Show makes a client's view of a record alone.
func Show(call operation.Call, r Record) Entry {
	e := Entry{JobID: r.ID, Type: r.Type, State: r.State, Finished: r.Finished(), CreatedAt: call.Moment(r.CreatedAt),
		FinishedAt: call.Maybe(r.FinishedAt), Progress: Progress{r.Done, r.Total}}
	if r.ErrorCode != "" {
		e.Error = &Error{r.ErrorCode, Message(r.ErrorCode)}
	}
	return e
}

// Summary says in words how the job stands.
func (e Entry) Summary() string {
	if e.Finished {
		return "job " + e.JobID + " has ended, " + string(e.State)
	}
	return "job " + e.JobID + " is " + string(e.State) + "; follow it with get_job until finished is true"
}

// GetInput names a job and a page of its result.
type GetInput struct {
	JobID  string  `json:"job_id" pattern:"^(?:[a-z_]{1,32}:[A-Za-z0-9-]{1,64})$" jsonschema:"The job's id, a type and a UUID joined by a colon."`
	Cursor *string `json:"cursor,omitempty" maxLength:"1000" jsonschema:"page.cursor of the answer before."`
	Limit  int     `json:"limit,omitempty" min:"1" max:"50" default:"20" jsonschema:"Items a page of a long result."`
	// WaitSeconds lets a caller wait in place of asking again and again.
	WaitSeconds int `json:"wait_seconds,omitempty" min:"0" max:"25" default:"0" jsonschema:"Waits for the job to end, for at most so many seconds, and answers as soon as it has. 0 answers at once."`
}

// Operations declares what clients can ask of jobs.
func (s *Store) Operations() []operation.Operation {
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: "get_job", Method: http.MethodGet, Path: "/jobs/{job_id}", Needs: access.Read, Success: http.StatusOK, Uncounted: true, Waits: true,
			Summary:     "How far a job is, and what it produced",
			Description: "The state of work in the background, by the job_id that started it. Once finished is true, result names what the job produced. With wait_seconds it waits for that; else poll every few seconds. Never counts against the daily free-call allowance.",
			Next:        "While finished is false, ask again. When it is true, read state: of partially_succeeded and failed, error and the result tell what failed and why, and what was set aside for nothing is refunded. not_found: the id is wrong, or the job ended more than 30 days ago.",
			Example: operation.Example{Arguments: map[string]any{"job_id": exampleID}, Data: Entry{
				JobID: exampleID, Type: SocialPost, State: Succeeded, Finished: true,
				CreatedAt:  teamtime.Moment{Team: "2026-03-29T10:15:00+02:00", UTC: "2026-03-29T08:15:00Z"},
				FinishedAt: &teamtime.Moment{Team: "2026-03-29T10:15:01+02:00", UTC: "2026-03-29T08:15:01Z"},
				Progress:   Progress{1, 1},
				Result: map[string]any{"post_id": "019d3889-2b10-7c1e-8a3f-5d2b6f6f0001", "accounts": []map[string]any{
					{"id": 1, "state": "published", "permalink": "https://bsky.app/profile/harbour.example/post/3miatogtx2c22"}}},
			}},
		}, s.get),
	}
}

const exampleID = "social_post:019d3889-2b11-7d5a-9e0c-0c8f1d3e0002"

func (s *Store) get(ctx context.Context, call operation.Call, in GetInput) (operation.Answer[Entry], error) {
	r, err := Get(ctx, s.db, call.TeamID, in.JobID)
	if err != nil {
		return operation.Answer[Entry]{}, err
	}
	if in.Cursor != nil {
		if _, err := call.Position(*in.Cursor); err != nil {
			return operation.Answer[Entry]{}, err
		}
	}
	if r, err = s.wait(ctx, call, r, in.WaitSeconds); err != nil || ctx.Err() != nil {
		return operation.Answer[Entry]{Data: Show(call, r)}, err
	}
	return s.View(ctx, call, r, in)
}

// View makes a client's view of a record, with what a finished job produced.
func (s *Store) View(ctx context.Context, call operation.Call, r Record, in GetInput) (operation.Answer[Entry], error) {
	out := operation.Answer[Entry]{Data: Show(call, r), App: "/jobs/" + r.ID}
	read := s.results[r.Type]
	if read == nil {
		return out, nil
	}
	made, err := read(ctx, call, r, in)
	if err != nil {
		return operation.Answer[Entry]{}, err
	}
	out.Data.Result, out.Untrusted, out.Page, out.Notes = made.Result, made.Untrusted, made.Page, made.Notes
	if made.App != "" {
		out.App = made.App
	}
	return out, nil
}
