package search

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/hashtag/stats"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
)

// The result of a finished search.
type (
	// SearchResult is a page of a result. Only the member hashtags is paged. The other fields are complete on each
	// page.
	SearchResult struct {
		Hashtags       []FoundHashtag   `json:"hashtags"`
		Incomplete     []FoundHashtag   `json:"incomplete" jsonschema:"Hashtags without enough data."`
		Related        []RelatedHashtag `json:"related"`
		CreditsCharged int64            `json:"credits_charged"`
	}
	// FoundHashtag is a hashtag with its statistics.
	FoundHashtag struct {
		stats.HashtagSummary

		MeasuredAt *teamtime.Moment `json:"measured_at,omitempty"`
	}
	// RelatedHashtag is a hashtag related to the keyword's own hashtags, with its known statistics.
	RelatedHashtag struct {
		stats.HashtagSummary

		Support    int              `json:"support" jsonschema:"Stored posts that use both hashtags."`
		Share      float64          `json:"share"` // share of the stored posts of the keyword's own hashtags
		Lift       float64          `json:"lift"`  // frequency in these posts, relative to other posts
		MeasuredAt *teamtime.Moment `json:"measured_at,omitempty"`
	}
)

// appPath returns the path of a search's page in the app.
func appPath(job string) string { return "/hashtags/search?" + url.Values{"job": {job}}.Encode() }

// ResultReader returns a reader for the paged results of search jobs. charged returns the credits charged for a
// reservation.
func ResultReader(charged job.ChargedFunc) job.Result {
	read := func(ctx context.Context, q db.Querier, call operation.Call, r job.Record, in job.GetInput) (job.Output, error) {
		return readResult(ctx, q, charged, call, r, in)
	}
	return job.Result{Read: read, Data: []any{SearchResult{}}}
}

func readResult(ctx context.Context, q db.Querier, charged job.ChargedFunc, call operation.Call, r job.Record,
	in job.GetInput) (job.Output, error) {
	output := job.Output{App: appPath(r.ID)}
	if !r.IsFinished() {
		return output, nil
	}
	credits, err := charged(ctx, q, r.Reservation)
	if err != nil {
		return output, err
	}
	out := SearchResult{Hashtags: []FoundHashtag{}, Incomplete: []FoundHashtag{}, Related: []RelatedHashtag{}, CreditsCharged: credits}
	from, err := parseCursor(call, in.Cursor)
	if err != nil {
		return output, err
	}
	rows, err := readPage(ctx, q, r.ID, from, in.Limit+1)
	if err != nil {
		return output, err
	}
	for _, h := range rows {
		if h.part == partHashtags && len(out.Hashtags) == in.Limit {
			output.Page = &operation.Page{HasMore: true, Cursor: call.Cursor(strconv.Itoa(from + in.Limit))}
			continue
		}
		if err := out.add(call, h); err != nil {
			return output, err
		}
	}
	output.Result = out
	output.Notes, err = readNotes(ctx, q, r.ID)
	return output, err
}

func parseCursor(call operation.Call, cursor *string) (int, error) {
	if cursor == nil {
		return 0, nil
	}
	position, err := call.Position(*cursor)
	if err != nil {
		return 0, err
	}
	from, err := strconv.Atoi(position)
	if err != nil || from < 0 {
		return 0, errors.Join(errors.New("invalid cursor position"), err)
	}
	return from, nil
}

// storedHashtag is a hashtag of a stored result.
type storedHashtag struct {
	part       string
	measuredAt int64
	entry      []byte
}

// pageQuery selects a page of the hashtags, and all rows of the other parts.
const pageQuery = `SELECT part, measured_at, entry FROM hashtag_search_results WHERE job_id = ? AND (part <> ?
	OR position >= ? AND position < ?) ORDER BY part, position`

func readPage(ctx context.Context, q db.Querier, id string, from, limit int) ([]storedHashtag, error) {
	out, err := db.All(ctx, q, func(rows *sql.Rows, h *storedHashtag) error {
		return rows.Scan(&h.part, &h.measuredAt, &h.entry)
	}, pageQuery, id, partHashtags, from, from+limit)
	if err != nil {
		return nil, fmt.Errorf("reading the result of job %s: %w", id, err)
	}
	return out, nil
}

func (r *SearchResult) add(call operation.Call, h storedHashtag) error {
	measuredAt := call.MomentOrNil(db.Time(h.measuredAt))
	entry := RelatedHashtag{MeasuredAt: measuredAt}
	if err := json.Unmarshal(h.entry, &entry); err != nil {
		return fmt.Errorf("reading a hashtag of a result: %w", err)
	}
	switch hashtag := (FoundHashtag{entry.HashtagSummary, measuredAt}); h.part {
	case partRelated:
		r.Related = append(r.Related, entry)
	case partHashtags:
		r.Hashtags = append(r.Hashtags, hashtag)
	default:
		r.Incomplete = append(r.Incomplete, hashtag)
	}
	return nil
}
