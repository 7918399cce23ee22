package delivery

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/comment"
	"pressroom.example/pressroom/internal/domain/post/thread"
	"pressroom.example/pressroom/internal/platform/db"
)

// PostResult is the result of a finished publish or retry job.
type PostResult struct {
	PostID   string              `json:"post_id"`
	Accounts []PostResultAccount `json:"accounts"`
}

// PostResultAccount is the result of one account in a job.
type PostResultAccount struct {
	ID                int64            `json:"id"`
	State             post.TargetState `json:"state" enum:"pending|sending|published|failed|unconfirmed" title:"PostAccountState"`
	Permalink         string           `json:"permalink,omitempty"`
	post.AccountError                  //nolint:embeddedstructfieldcheck // members are written in this order
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (PostResultAccount) Descriptions() map[string]string {
	return map[string]string{
		"permalink": "URL of the post. Some networks provide it later; then get_post (GET /posts/{id}) returns it.",
	}
}

// Result reads the results of jobs that publish or retry a post.
var Result = job.Result{Read: readResult, Data: []any{PostResult{}}}

func readResult(ctx context.Context, q db.Querier, _ operation.Call, r job.Record, _ job.GetInput) (job.Output, error) {
	out := job.Output{App: "/posts/" + r.Subject}
	if !r.IsFinished() {
		return out, nil
	}
	accounts, err := db.All(ctx, q, func(rows *sql.Rows, a *PostResultAccount) error {
		var state, text, platform, username string
		var part int
		err := rows.Scan(&a.ID, &part, &state, &a.Permalink, &a.ErrorCode, &text, &platform, &username)
		a.State, a.Explanation = post.TargetState(state), thread.Explanation(a.ErrorCode,
			job.AccountMessage(a.ErrorCode, a.Permalink), part)
		if part == comment.Part {
			a.Explanation = comment.Explanation(a.ErrorCode, a.Explanation)
		}
		a.NetworkMessage = post.Quote(&out.Untrusted, platform, username, text)
		return err
	}, `SELECT d.account_id, d.part, d.outcome, CASE WHEN d.part = 0 THEN d.permalink ELSE t.permalink END, d.error_code,
			d.network_text, a.platform, a.username FROM deliveries d JOIN social_accounts a ON a.id = d.account_id
			JOIN post_targets t ON t.post_id = d.post_id AND t.account_id = d.account_id WHERE d.job_id = ? AND `+countedSQL+`
			ORDER BY d.created_at, d.id`, r.ID)
	if err != nil {
		return out, fmt.Errorf("reading the deliveries of job %s: %w", r.ID, err)
	}
	accounts = mergeParts(accounts)
	out.Result = PostResult{PostID: r.Subject, Accounts: accounts}
	if slices.ContainsFunc(accounts, func(a PostResultAccount) bool {
		return a.State == post.TargetPublished && a.Permalink == ""
	}) {
		out.Notes = []string{"A permalink is missing. Some networks provide it later; read the post again to get " +
			"it (GET /posts/{id} or get_post)."}
	}
	return out, nil
}

// mergeParts returns one result for each account: the result of the account's last part.
func mergeParts(parts []PostResultAccount) []PostResultAccount {
	out := []PostResultAccount{}
	for _, part := range parts {
		i := slices.IndexFunc(out, func(a PostResultAccount) bool { return a.ID == part.ID })
		if i < 0 {
			out = append(out, part)
			continue
		}
		out[i] = part
	}
	return out
}
