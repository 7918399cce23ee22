package posts

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/domain/post/thread"
	"pressroom.example/pressroom/internal/web/shell"
)

// Failures lists the accounts on which a post failed or its outcome is unknown.
type Failures []postlist.Failure

// Message explains the failure on the first account. f must not be empty.
func (f Failures) Message() string {
	return thread.Explanation(f[0].ErrorCode, job.AccountMessage(f[0].ErrorCode, f[0].Permalink), f[0].Parts)
}

// Others returns the number of accounts after the first.
func (f Failures) Others() int { return len(f) - 1 }

// Copy returns the ID of another version of the post that has taken over an account, or "".
func (f Failures) Copy() string {
	for _, one := range f {
		if one.HeldBy != "" {
			return one.HeldBy
		}
	}
	return ""
}

// Accounts returns the IDs of the accounts that can be retried, separated by commas.
func (f Failures) Accounts() string {
	var ids []string
	for _, one := range f {
		if one.State == post.TargetFailed && one.HeldBy == "" {
			ids = append(ids, strconv.FormatInt(one.Account, 10))
		}
	}
	return strings.Join(ids, ",")
}

// Has reports whether the list contains an account.
func (f Failures) Has(account int64) bool {
	return slices.ContainsFunc(f, func(one postlist.Failure) bool { return one.Account == account })
}

// IsTemporary reports whether there are accounts that can be retried, and all of them can succeed without changing the
// post.
func (f Failures) IsTemporary() bool {
	return f.Accounts() != "" && !slices.ContainsFunc(f, func(one postlist.Failure) bool {
		return one.State == post.TargetFailed && one.HeldBy == "" && !delivery.IsRetryableCode(one.ErrorCode)
	})
}

// addFailures sets the failures of the rows.
func (p *Handlers) addFailures(r *http.Request, rows []listedPost) error {
	var ids []string
	for _, row := range rows {
		if row.Status == post.Failed || row.Status == post.PartiallyPublished {
			ids = append(ids, row.ID)
		}
	}
	found, err := postlist.ListFailures(r.Context(), p.DB, shell.VisitorOf(r.Context()).Team.ID, ids)
	for i, row := range rows {
		rows[i].Failures = found[row.ID]
	}
	return err
}
