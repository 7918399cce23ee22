package media

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
)

// The results of media jobs.
type (
	// ImportResult is the result of an import.
	ImportResult struct {
		Media   ImportResultMedia `json:"media"`
		Already bool              `json:"already_in_library"`
	}
	// ImportResultMedia identifies the imported item.
	ImportResultMedia struct {
		ID int64 `json:"id"`
	}
	// UploadResult is the state of a batch's files.
	UploadResult struct {
		Files []UploadResultFile `json:"files"`
	}
	// UploadResultFile is the state of one file.
	UploadResultFile struct {
		File    UploadFile `json:"file"`
		State   State      `json:"state" enum:"waiting|stored|refused|replaced|expired" title:"UploadState"`
		MediaID int64      `json:"media_id,omitempty" jsonschema:"The item in the library, if the file was stored."`
		Reason  string     `json:"reason,omitempty" jsonschema:"Why the file was not stored."`
	}
	// DownloadResult is a page of the items that a download found.
	DownloadResult struct {
		Items          []DownloadResultItem `json:"items"`
		NextCursor     string               `json:"next_cursor,omitempty"`
		CreditsCharged int64                `json:"credits_charged"`
	}
	// DownloadResultItem is one file of a profile.
	DownloadResultItem struct {
		Item            string             `json:"item"`
		Kind            string             `json:"kind" enum:"image|video" title:"MediaKind"`
		MediaID         int64              `json:"media_id,omitempty" jsonschema:"The item in the library, if the file was saved."`
		Reason          string             `json:"reason,omitempty" jsonschema:"Why the file was not saved."`
		TakenAt         *teamtime.Moment   `json:"taken_at,omitempty"`
		Caption         *operation.Pointer `json:"caption,omitempty"`
		Width           int                `json:"width,omitempty"`
		Height          int                `json:"height,omitempty"`
		DurationSeconds float64            `json:"duration_seconds,omitempty"`
	}
)

// ImportsAndBatches is the job.Result of the job type media_import, which is used for imports and upload batches. A
// batch has a result before its job has ended.
var ImportsAndBatches = job.Result{Read: readImportResult, Data: []any{ImportResult{}, UploadResult{}}}

func readImportResult(
	ctx context.Context, q db.Querier, _ operation.Call, r job.Record, _ job.GetInput,
) (job.Output, error) {
	if r.Subject == uploadSubject {
		return readBatchResult(ctx, q, r)
	}
	var out ImportResult
	if r.State != job.Succeeded {
		return job.Output{App: "/media"}, nil
	}
	var exists int64
	if err := q.QueryRow(ctx, `SELECT media_id, already FROM media_imports WHERE job_id = ?`, r.ID).
		Scan(&out.Media.ID, &exists); err != nil {
		return job.Output{}, fmt.Errorf("reading import %s: %w", r.ID, err)
	}
	out.Already = exists != 0
	return job.Output{Result: out, App: "/media/" + formatID(out.Media.ID)}, nil
}

func readBatchResult(ctx context.Context, q db.Querier, r job.Record) (job.Output, error) {
	files, err := readFiles(ctx, q, r.ID)
	if err != nil {
		return job.Output{}, err
	}
	out := UploadResult{Files: []UploadResultFile{}}
	for _, f := range files {
		out.Files = append(out.Files,
			UploadResultFile{
				File: UploadFile{hex.EncodeToString(f.digest), f.size, f.name, f.mimeType}, State: f.state,
				MediaID: f.media, Reason: f.reason,
			})
	}
	return job.Output{Result: out, App: pagePath(r.ID)}, nil
}

// Downloads returns the job.Result of the job type content_fetch.
func Downloads(charged job.ChargedFunc) job.Result {
	read := func(ctx context.Context, q db.Querier, call operation.Call, r job.Record, in job.GetInput) (job.Output, error) {
		return readDownloadResult(ctx, q, charged, call, r, in)
	}
	return job.Result{Read: read, Data: []any{DownloadResult{}}}
}

func readDownloadResult(
	ctx context.Context, q db.Querier, charged job.ChargedFunc, call operation.Call, r job.Record, in job.GetInput,
) (job.Output, error) {
	output := job.Output{App: "/media"}
	if !r.IsFinished() {
		return output, nil
	}
	credits, err := charged(ctx, q, r.Reservation)
	if err != nil {
		return output, err
	}
	out := DownloadResult{Items: []DownloadResultItem{}, CreditsCharged: credits}
	if output.Result = out; r.State == job.Failed {
		return output, nil
	}
	d, err := readDownload(ctx, q, r.ID)
	if err != nil {
		return output, err
	}
	from, err := startPosition(call, in.Cursor)
	if err != nil {
		return output, err
	}
	items, err := profileItems(ctx, q, r.ID, from, in.Limit+1)
	if err != nil {
		return output, err
	}
	if len(items) > in.Limit {
		items = items[:in.Limit]
		output.Page = &operation.Page{HasMore: true, Cursor: call.Cursor(strconv.Itoa(from + in.Limit))}
	}
	for _, i := range items {
		out.Items = append(out.Items, newDownloadResultItem(call, &output.Untrusted, d, i))
	}
	if d.nextCursor != "" {
		out.NextCursor = cursorPrefix + strings.TrimPrefix(r.ID, string(job.ContentFetch)+":")
	}
	output.Result = out
	return output, nil
}

func startPosition(call operation.Call, cursor *string) (int, error) {
	if cursor == nil {
		return 0, nil
	}
	position, err := call.Position(*cursor)
	if err != nil {
		return 0, err
	}
	from, err := strconv.Atoi(position)
	if err != nil || from < 0 {
		return 0, errors.Join(errors.New("invalid position in a cursor made by this service"), err)
	}
	return from, nil
}

func newDownloadResultItem(call operation.Call, quotes *operation.UntrustedTexts, d download, i profileItem) DownloadResultItem {
	return DownloadResultItem{
		Item: i.item, Kind: i.kind, MediaID: i.media, Reason: i.reason, TakenAt: call.MomentOrNil(i.takenAt),
		Caption: quotes.Add(i.caption,
			operation.Source{
				Kind: "caption", Platform: d.platform, Account: d.username,
				URL: provider.ProfileURL(d.platform, d.username),
			}),
		Width: i.width, Height: i.height, DurationSeconds: i.duration.Seconds(),
	}
}
