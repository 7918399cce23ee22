package media

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// DownloadInput selects media from a public profile.
type DownloadInput struct {
	Platform      string `json:"platform" enum:"instagram|tiktok" title:"AnalysisPlatform" jsonschema:"Network of the profile."`
	Type          string `json:"type" enum:"profile|avatar|posts|reels|stories|highlights|playlists" title:"MediaDownloadType"`
	Username      string `json:"username" minLength:"1" maxLength:"200" jsonschema:"Username, @handle or URL of the profile."`
	Cursor        string `json:"cursor,omitempty" maxLength:"200"`
	Limit         int    `json:"limit,omitempty" min:"1" max:"50" default:"12" jsonschema:"Maximum number of items; always 1 for avatar."`
	SaveToLibrary bool   `json:"save_to_library,omitempty" default:"true"`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (DownloadInput) Descriptions() map[string]string {
	return map[string]string{
		"type": "Which of the profile's media to download. Instagram: profile, avatar, posts, reels, stories, highlights. " +
			"TikTok: profile, avatar, posts, playlists.",
		"cursor":          "The next_cursor of a finished download of the same profile. Only profile, posts and reels are paginated.",
		"save_to_library": "Whether to save the files to the library's Downloads folder. If false, the files are only listed.",
	}
}

// DownloadsFolder is the name of the folder for downloaded files.
const DownloadsFolder = "Downloads"

// download is a row of media_downloads.
type download struct {
	job                      string
	team, person, key        int64
	platform, kind, username string
	cursor                   string // where to start, in the provider's format
	limit                    int
	saveToLibrary, isFetched bool
	nextCursor               string // where to continue, in the provider's format
}

// requiresWrite reports whether a download needs the write capability.
func requiresWrite(_ context.Context, _ operation.Call, in DownloadInput) (bool, error) {
	return in.SaveToLibrary, nil
}

// downloadProfile starts a download of a profile's media.
func (s *Service) downloadProfile(
	ctx context.Context, call operation.Call, in DownloadInput,
) (operation.Response[job.Job], error) {
	var out operation.Response[job.Job]
	d, err := s.newDownload(ctx, call, in)
	if err != nil {
		return out, err
	}
	var record job.Record
	err = call.InTx(ctx, s.db, "media.download", func(ctx context.Context, tx *db.Tx) error {
		if d.saveToLibrary {
			if err := s.requireDisk(ctx, 0); err != nil {
				return err
			}
			if err := s.requireFreeStorage(ctx, tx, call.TeamID); err != nil {
				return err
			}
		}
		if record, err = s.Jobs.Start(ctx, tx,
			job.Params{
				TeamID: call.TeamID, Type: job.ContentFetch, Subject: d.platform + "/" + d.username, Total: d.limit,
				Reservation: call.Reservation,
			}); err != nil {
			return err
		}
		d.job = record.ID
		if err := insertDownload(ctx, tx, d); err != nil {
			return err
		}
		if err := auditlog.Record(ctx, tx, call.TeamID, auditlog.NewActor(call), "media.download", record.ID,
			map[string]any{"platform": d.platform, "type": d.kind}); err != nil {
			return err
		}
		return s.Worker.Submit(ctx, tx, record.ID)
	})
	if err != nil {
		return out, err
	}
	out.Data, out.Location, out.App = job.Show(call, record), job.Location(record.ID), "/media"
	return out, nil
}

// price returns the cost of a download. It validates the input first, so that invalid input is reported before
// insufficient credits.
func (s *Service) price(ctx context.Context, call operation.Call, in DownloadInput) (int64, error) {
	_, err := s.newDownload(ctx, call, in)
	return s.Catalog.Prices.ProfileMediaDownload, err
}

// newDownload returns the download for an input, or an error if the input is invalid.
func (s *Service) newDownload(ctx context.Context, call operation.Call, in DownloadInput) (download, error) {
	d := download{
		team: call.TeamID, person: call.PersonID, key: call.KeyID, platform: in.Platform, kind: in.Type,
		limit: in.Limit, saveToLibrary: in.SaveToLibrary,
	}
	if in.Type == provider.Avatar {
		d.limit = 1
	}
	var err error
	if d.username, err = s.checkInput(in); err != nil {
		return d, err
	}
	d.cursor, err = resumeCursor(ctx, call.Reader(s.db), d, in.Cursor)
	return d, err
}

// checkInput validates the parts of the input that the schema cannot express, and returns the profile's username.
func (s *Service) checkInput(in DownloadInput) (string, error) {
	if supported := provider.MediaTypes(in.Platform); !slices.Contains(supported, in.Type) {
		return "", apierr.Invalid(apierr.NotAllowedValue, "type",
			"This platform supports only "+strings.Join(supported, ", ")+".")
	}
	username, err := provider.ParseUsername(in.Platform, in.Username)
	if err != nil {
		return "",
			apierr.Invalid(apierr.Malformed, "username",
				"Enter a username on this platform, with or without @, or a profile URL.").Wrap(err)
	}
	if s.Provider == nil {
		return "", apierr.New(apierr.ProviderUnavailable,
			"No provider of profile media is configured. Ask the operator to add one. Nothing was charged.")
	}
	return username, nil
}

// cursorPrefix is the version prefix of next_cursor. The ID of the download to continue follows it.
const cursorPrefix = "f1-"

var errInvalidCursor = apierr.Invalid(apierr.InvalidCursor, "cursor",
	"The cursor is not from a finished download of this profile and type. Start again without a cursor.")

// resumeCursor returns the provider's cursor for continuing an earlier download of the same profile.
func resumeCursor(ctx context.Context, q db.Querier, d download, cursor string) (string, error) {
	if cursor == "" {
		return "", nil
	}
	id, ok := strings.CutPrefix(cursor, cursorPrefix)
	if !ok || !provider.HasPages(d.kind) {
		return "", errInvalidCursor
	}
	var nextCursor string
	err := q.QueryRow(ctx, `SELECT d.next_cursor FROM media_downloads d JOIN jobs j ON j.id = d.job_id
		WHERE d.job_id = ? AND d.team_id = ? AND d.platform = ? AND d.type = ? AND d.username = ?
		AND d.next_cursor <> '' AND j.finished_at > 0`,
		string(job.ContentFetch)+":"+id, d.team, d.platform, d.kind, d.username).Scan(&nextCursor)
	if errors.Is(err, sql.ErrNoRows) {
		return "", errInvalidCursor
	}
	if err != nil {
		return "", fmt.Errorf("finding the download for a cursor: %w", err)
	}
	return nextCursor, nil
}

// runDownload runs content_fetch jobs. It stores the provider's response once, then adds each file. A retry resumes
// where the last attempt stopped.
func (s *Service) runDownload(ctx context.Context, j job.LeasedJob) error {
	d, err := readDownload(ctx, s.db, j.ID)
	if err != nil {
		return err
	}
	if j.Epoch > maxTries {
		return s.endDownload(ctx, j, job.Failed, "internal_error")
	}
	if !d.isFetched {
		code, err := s.listProfile(ctx, j, d)
		if err != nil {
			return err
		}
		if code != "" {
			return s.endDownload(ctx, j, job.Failed, code)
		}
	}
	if d.saveToLibrary {
		if err := s.saveItems(ctx, j, d); err != nil {
			return err
		}
	}
	return s.completeDownload(ctx, j)
}

// listProfile queries the provider and stores its response. It returns an error code if the download failed
// permanently.
func (s *Service) listProfile(ctx context.Context, j job.LeasedJob, d download) (string, error) {
	if s.Provider == nil {
		return "not_offered", nil
	}
	page, err := s.Provider.ProfileMedia(ctx,
		provider.Query{Platform: d.platform, Type: d.kind, Username: d.username, Cursor: d.cursor, Limit: d.limit})
	switch {
	case errors.Is(err, provider.ErrNotFound):
		return "profile_not_found", nil
	case errors.Is(err, provider.ErrPrivate):
		return "profile_private", nil
	case errors.Is(err, provider.ErrNotOffered):
		return "not_offered", nil
	case err != nil && ctx.Err() != nil:
		return "", fmt.Errorf("calling the provider: %w", err)
	case err != nil:
		s.Log.WarnContext(ctx, "querying the provider of profile media failed", "job", j.ID, "error", err)
		return "source_unavailable", nil
	}
	if !provider.HasPages(d.kind) {
		page.Next = ""
	}
	return "", s.savePage(ctx, j, page)
}

func (s *Service) savePage(ctx context.Context, j job.LeasedJob, page provider.Page) error {
	return s.db.InTx(ctx, "media.download_page", func(ctx context.Context, tx *db.Tx) error {
		if err := j.Lock(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE media_downloads SET fetched = 1, next_cursor = ? WHERE job_id = ?`, page.Next,
			j.ID); err != nil {
			return fmt.Errorf("storing a provider's response: %w", err)
		}
		for i, item := range page.Items {
			_, err := tx.Exec(ctx,
				`INSERT INTO media_download_items (job_id, position, item, kind, address, taken_at, caption, width,
		height, duration) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
				j.ID, i, item.ID, item.Kind, item.URL, db.Micros(item.TakenAt), item.Caption, item.Width, item.Height,
				item.Duration.Microseconds())
			if err != nil {
				return fmt.Errorf("storing an item of a profile: %w", err)
			}
		}
		if _, err := tx.Exec(ctx, `UPDATE jobs SET total = ? WHERE id = ?`, len(page.Items), j.ID); err != nil {
			return fmt.Errorf("storing the number of items of a profile: %w", err)
		}
		return nil
	})
}

// saveItems adds the files of a download to the library one by one.
func (s *Service) saveItems(ctx context.Context, j job.LeasedJob, d download) error {
	items, err := profileItems(ctx, s.db, j.ID, 0, d.limit)
	if err != nil {
		return err
	}
	for _, i := range items {
		if i.isDone {
			continue
		}
		if err := s.saveItem(ctx, j, d, i); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) saveItem(ctx context.Context, j job.LeasedJob, d download, i profileItem) error {
	staged, err := s.beginForJob(ctx, d.team)
	if isPermanent(err) {
		return s.failItem(ctx, j, i, rejectionReason(err))
	}
	if err != nil {
		return fmt.Errorf("staging a downloaded file: %w", err)
	}
	defer staged.Discard()
	if err := s.Provider.Fetch(ctx, i.url, staged.max, staged); err != nil {
		if isPermanent(err) {
			return s.failItem(ctx, j, i, rejectionReason(err))
		}
		if errors.Is(err, provider.ErrTooLarge) {
			return s.failItem(ctx, j, i, rejectionReason(staged.tooLarge))
		}
		if ctx.Err() != nil {
			return fmt.Errorf("fetching a download: %w", err)
		}
		s.Log.WarnContext(ctx, "fetching a profile's file failed", "job", j.ID, "item", i.position, "error", err)
		return s.failItem(ctx, j, i, "source_unavailable")
	}
	e, err := s.inspect(ctx, staged)
	if err == nil {
		_, _, err = s.save(ctx, e, placement{
			owner: Owner{TeamID: d.team, PersonID: d.person, KeyID: d.key}, folderName: DownloadsFolder,
			name: downloadName(d, i),
			onAdded: func(ctx context.Context, tx *db.Tx, stored Item, _ bool) error {
				return finishItem(ctx, tx, j, i, stored.ID, "")
			},
		})
	}
	if isPermanent(err) {
		return s.failItem(ctx, j, i, rejectionReason(err))
	}
	return err
}

// downloadName returns the name of a downloaded file: its profile, date and ID.
func downloadName(d download, i profileItem) string {
	parts := []string{d.username}
	if !i.takenAt.IsZero() {
		parts = append(parts, i.takenAt.Format(time.DateOnly))
	}
	return strings.Join(append(parts, i.item), " ")
}

func (s *Service) failItem(ctx context.Context, j job.LeasedJob, i profileItem, reason string) error {
	return s.db.InTx(ctx, "media.item", func(ctx context.Context, tx *db.Tx) error {
		return finishItem(ctx, tx, j, i, 0, reason)
	})
}

// finishItem records the outcome of an item and deletes the stored network URL of the file.
func finishItem(ctx context.Context, tx *db.Tx, j job.LeasedJob, i profileItem, mediaID int64, reason string) error {
	if err := j.Lock(ctx, tx); err != nil {
		return err
	}
	_, err := tx.Exec(ctx,
		`UPDATE media_download_items SET done = 1, media_id = ?, reason = ?, address = ''
		WHERE job_id = ? AND position = ?`, mediaID, reason, j.ID, i.position)
	if err != nil {
		return fmt.Errorf("recording a downloaded item: %w", err)
	}
	return job.Advance(ctx, tx, j.ID, i.position+1)
}

// completeDownload ends a download after the provider has responded. The download is charged even if nothing was found.
func (s *Service) completeDownload(ctx context.Context, j job.LeasedJob) error {
	items, err := profileItems(ctx, s.db, j.ID, 0, maxItems)
	if err != nil {
		return err
	}
	state, code, failedCount := job.Succeeded, "", 0
	for _, i := range items {
		if i.reason != "" {
			failedCount++
			code = i.reason
		}
	}
	if failedCount > 0 {
		state = job.PartiallySucceeded
	}
	return s.endDownload(ctx, j, state, code)
}

const maxItems = 50 // the maximum of DownloadInput.Limit

// endDownload ends a download. It refunds the reservation if state is job.Failed, and charges it otherwise.
func (s *Service) endDownload(ctx context.Context, j job.LeasedJob, state job.State, code string) error {
	return s.db.InTx(ctx, "media.download_end", func(ctx context.Context, tx *db.Tx) error {
		if err := j.Lock(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE media_download_items SET address = '' WHERE job_id = ?`, j.ID); err != nil {
			return fmt.Errorf("deleting the URLs of a download: %w", err)
		}
		chargeOrRefund := s.Credits.Charge
		if state == job.Failed {
			chargeOrRefund = s.Credits.Refund
		}
		if j.Reservation != 0 {
			if _, err := chargeOrRefund(ctx, tx, j.Reservation); err != nil {
				return err
			}
		}
		return j.Finish(ctx, tx, state, code)
	})
}
