package media

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/core/operation"
	"pressroom/internal/domain/job"
	"pressroom/internal/domain/provider"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

// DownloadInput says what of which profile is to be downloaded.
type DownloadInput struct {
	Platform      string `json:"platform" enum:"instagram|tiktok" title:"AnalysisPlatform" jsonschema:"The profile's network."`
	Type          string `json:"type" enum:"profile|avatar|posts|reels|stories|highlights|playlists" title:"MediaDownloadType" jsonschema:"What of the profile. Instagram has profile, avatar, posts, reels, stories, highlights; TikTok profile, avatar, posts, playlists."`
	Username      string `json:"username" minLength:"1" maxLength:"200" jsonschema:"User name, @handle or link of the profile."`
	Cursor        string `json:"cursor,omitempty" maxLength:"200" jsonschema:"next_cursor of an earlier finished fetch of the same profile; profile, posts and reels have further pages."`
	Limit         int    `json:"limit,omitempty" min:"1" max:"50" default:"12" jsonschema:"Items at most; always 1 of an avatar."`
	SaveToLibrary bool   `json:"save_to_library,omitempty" default:"true" jsonschema:"Whether the files go into the folder Downloads of the library; else they are only described."`
}

// DownloadsFolder is where downloaded files go.
const DownloadsFolder = "Downloads"

// download is a download as it is stored.
type download struct {
	job                      string
	team, person, key        int64
	platform, kind, username string
	cursor                   string // the source's own
	limit                    int
	save, fetched            bool
	next                     string // the source's own
}

// saves is the condition of the capability that saving needs.
func saves(_ context.Context, _ operation.Call, in DownloadInput) (bool, error) {
	return in.SaveToLibrary, nil
}

// downloadProfile starts a download.
func (s *Service) downloadProfile(
	ctx context.Context, call operation.Call, in DownloadInput,
) (operation.Answer[job.Job], error) {
	var out operation.Answer[job.Job]
	d, err := s.plan(ctx, call, in)
	if err != nil {
		return out, err
	}
	var record job.Record
	err = call.InTx(ctx, s.db, "media.download", func(ctx context.Context, tx *db.Tx) error {
		if d.save {
			if err := s.diskTakes(ctx, 0); err != nil {
				return err
			}
			if err := s.anyRoom(ctx, tx, call.TeamID); err != nil {
				return err
			}
		}
		if record, err = s.Jobs.Start(ctx, tx,
			job.New{
				TeamID: call.TeamID, Type: job.ContentFetch, Subject: d.platform + "/" + d.username, Total: d.limit,
				Reservation: call.Reservation,
			}); err != nil {
			return err
		}
		d.job = record.ID
		if err := insertDownload(ctx, tx, d); err != nil {
			return err
		}
		if err := auditlog.Record(ctx, tx, call.TeamID, auditlog.By(call), "media.download", record.ID,
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

// price is what a download costs. What is asked for is looked at first: a mistake is told before any want of credits.
func (s *Service) price(ctx context.Context, call operation.Call, in DownloadInput) (int64, error) {
	_, err := s.plan(ctx, call, in)
	return s.Terms.Prices.ProfileMediaDownload, err
}

// plan works out what is to be downloaded.
func (s *Service) plan(ctx context.Context, call operation.Call, in DownloadInput) (download, error) {
	d := download{
		team: call.TeamID, person: call.PersonID, key: call.KeyID, platform: in.Platform, kind: in.Type,
		limit: in.Limit, save: in.SaveToLibrary,
	}
	if in.Type == provider.Avatar {
		d.limit = 1
	}
	var err error
	if d.username, err = s.asked(in); err != nil {
		return d, err
	}
	d.cursor, err = continued(ctx, call.Reader(s.db), d, in.Cursor)
	return d, err
}

// asked checks what is asked for beyond what a schema can say, and gives the profile's name.
func (s *Service) asked(in DownloadInput) (string, error) {
	if has := provider.MediaTypes(in.Platform); !slices.Contains(has, in.Type) {
		return "", apierr.Invalid(apierr.NotAllowedValue, "type",
			"Profiles of this platform have "+strings.Join(has, ", ")+".")
	}
	username, err := provider.ParseUsername(in.Platform, in.Username)
	if err != nil {
		return "",
			apierr.Invalid(apierr.Malformed, "username",
				"Give a user name of the platform, with or without @, or the link of a profile there.").Wrap(err)
	}
	if s.Source == nil {
		return "", apierr.New(apierr.ProviderUnavailable,
			"This service has no source of profiles' media: its operator can join one. Nothing was charged.")
	}
	return username, nil
}

// continuation is the form of next_cursor: a version, and the fetch that it continues.
const continuation = "f1-"

var errContinuation = apierr.Invalid(apierr.InvalidCursor, "cursor",
	"The cursor continues no finished fetch of this profile and type. Start again without it.")

// continued finds where an earlier fetch of the same profile left off.
func continued(ctx context.Context, q db.Querier, d download, cursor string) (string, error) {
	if cursor == "" {
		return "", nil
	}
	id, ok := strings.CutPrefix(cursor, continuation)
	if !ok || !provider.HasPages(d.kind) {
		return "", errContinuation
	}
	var next string
	err := q.QueryRow(ctx, `SELECT d.next_cursor FROM media_downloads d JOIN jobs j ON j.id = d.job_id
		WHERE d.job_id = ? AND d.team_id = ? AND d.platform = ? AND d.type = ? AND d.username = ? AND d.next_cursor
		<> '' AND j.finished_at > 0`,
		string(job.ContentFetch)+":"+id, d.team, d.platform, d.kind, d.username).Scan(&next)
	if errors.Is(err, sql.ErrNoRows) {
		return "", errContinuation
	}
	if err != nil {
		return "", fmt.Errorf("looking for the fetch that a cursor continues: %w", err)
	}
	return next, nil
}

func insertDownload(ctx context.Context, tx *db.Tx, d download) error {
	save := 0
	if d.save {
		save = 1
	}
	_, err := tx.Exec(ctx,
		`INSERT INTO media_downloads (job_id, team_id, person_id, key_id, platform, type, username, at_cursor,
		to_fetch, save) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		d.job, d.team, d.person, d.key, d.platform, d.kind, d.username, d.cursor, d.limit, save)
	if err != nil {
		return fmt.Errorf("writing a download: %w", err)
	}
	return nil
}

func readDownload(ctx context.Context, q db.Querier, id string) (download, error) {
	d := download{job: id}
	var save, fetched int64
	err := q.QueryRow(ctx,
		`SELECT team_id, person_id, key_id, platform, type, username, at_cursor, to_fetch, save, fetched, next_cursor
		FROM media_downloads WHERE job_id = ?`, id).
		Scan(&d.team, &d.person, &d.key, &d.platform, &d.kind, &d.username, &d.cursor, &d.limit, &save, &fetched,
			&d.next)
	d.save, d.fetched = save != 0, fetched != 0
	if err != nil {
		return d, fmt.Errorf("reading download %s: %w", id, err)
	}
	return d, nil
}

// doDownload does the work behind jobs of the type content_fetch: the source is asked once and its answer kept, then
// each file is brought in. It goes on where an earlier try left off.
func (s *Service) doDownload(ctx context.Context, h job.LeasedJob) error {
	d, err := readDownload(ctx, s.db, h.ID)
	if err != nil {
		return err
	}
	if h.Epoch > maxTries {
		return s.endDownload(ctx, h, job.Failed, "internal_error")
	}
	if !d.fetched {
		code, err := s.describeProfile(ctx, h, d)
		if err != nil {
			return err
		}
		if code != "" {
			return s.endDownload(ctx, h, job.Failed, code)
		}
	}
	if d.save {
		if err := s.saveItems(ctx, h, d); err != nil {
			return err
		}
	}
	return s.concludeDownload(ctx, h)
}

// describeProfile asks the source and keeps its answer; a code says why there is none.
func (s *Service) describeProfile(ctx context.Context, h job.LeasedJob, d download) (string, error) {
	if s.Source == nil {
		return "not_offered", nil
	}
	page, err := s.Source.ProfileMedia(ctx,
		provider.Query{Platform: d.platform, Type: d.kind, Username: d.username, Cursor: d.cursor, Limit: d.limit})
	switch {
	case errors.Is(err, provider.ErrNotFound):
		return "profile_not_found", nil
	case errors.Is(err, provider.ErrPrivate):
		return "profile_private", nil
	case errors.Is(err, provider.ErrNotOffered):
		return "not_offered", nil
	case err != nil && ctx.Err() != nil:
		return "", fmt.Errorf("asking the source: %w", err)
	case err != nil:
		s.Log.WarnContext(ctx, "a source of profiles' media failed", "job", h.ID, "error", err)
		return "source_unavailable", nil
	}
	if !provider.HasPages(d.kind) {
		page.Next = ""
	}
	return "", s.keepPage(ctx, h, page)
}

func (s *Service) keepPage(ctx context.Context, h job.LeasedJob, page provider.Page) error {
	return s.db.InTx(ctx, "media.described", func(ctx context.Context, tx *db.Tx) error {
		if err := h.Lock(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE media_downloads SET fetched = 1, next_cursor = ? WHERE job_id = ?`, page.Next,
			h.ID); err != nil {
			return fmt.Errorf("keeping what a source answered: %w", err)
		}
		for n, i := range page.Items {
			_, err := tx.Exec(ctx,
				`INSERT INTO media_download_items (job_id, position, item, kind, address, taken_at, caption, width,
		height, duration) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
				h.ID, n, i.ID, i.Kind, i.URL, db.Micros(i.TakenAt), i.Caption, i.Width, i.Height,
				i.Duration.Microseconds())
			if err != nil {
				return fmt.Errorf("keeping an item of a profile: %w", err)
			}
		}
		if _, err := tx.Exec(ctx, `UPDATE jobs SET total = ? WHERE id = ?`, len(page.Items), h.ID); err != nil {
			return fmt.Errorf("counting the items of a profile: %w", err)
		}
		return nil
	})
}

// profileItem is one item of a download, as it is stored.
type profileItem struct {
	position      int
	item, kind    string
	address       string
	takenAt       time.Time
	caption       string
	width, height int
	duration      time.Duration
	media         int64
	done          bool
	reason        string
}

func profileItems(ctx context.Context, q db.Querier, id string, from, limit int) ([]profileItem, error) {
	out, err := db.All(ctx, q, func(rows *sql.Rows, i *profileItem) error {
		var taken, duration, done int64
		err := rows.Scan(&i.position, &i.item, &i.kind, &i.address, &taken, &i.caption, &i.width, &i.height, &duration,
			&i.media, &done, &i.reason)
		i.takenAt, i.duration, i.done = db.Time(taken), time.Duration(duration)*time.Microsecond, done != 0
		return err
	}, `SELECT position, item, kind, address, taken_at, caption, width, height, duration, media_id, done, reason
		FROM media_download_items
		WHERE job_id = ? AND position >= ? ORDER BY position LIMIT ?`, id, from, limit)
	if err != nil {
		return nil, fmt.Errorf("reading the items of download %s: %w", id, err)
	}
	return out, nil
}

// saveItems brings the files of a download into the library, one after the other.
func (s *Service) saveItems(ctx context.Context, h job.LeasedJob, d download) error {
	items, err := profileItems(ctx, s.db, h.ID, 0, d.limit)
	if err != nil {
		return err
	}
	for _, i := range items {
		if i.done {
			continue
		}
		if err := s.saveItem(ctx, h, d, i); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) saveItem(ctx context.Context, h job.LeasedJob, d download, i profileItem) error {
	staged, err := s.beginJob(ctx, d.team)
	if endsJob(err) {
		return s.noteItem(ctx, h, i, reasonOf(err))
	}
	if err != nil {
		return fmt.Errorf("receiving a download: %w", err)
	}
	defer staged.Discard()
	if err := s.Source.Fetch(ctx, i.address, staged.most, staged); err != nil {
		if endsJob(err) {
			return s.noteItem(ctx, h, i, reasonOf(err))
		}
		if errors.Is(err, provider.ErrTooLarge) {
			return s.noteItem(ctx, h, i, reasonOf(staged.over))
		}
		if ctx.Err() != nil {
			return fmt.Errorf("fetching a download: %w", err)
		}
		s.Log.WarnContext(ctx, "a file of a profile was not fetched", "job", h.ID, "item", i.position, "error", err)
		return s.noteItem(ctx, h, i, "source_unavailable")
	}
	e, err := s.examine(ctx, staged)
	if err == nil {
		_, _, err = s.keep(ctx, e, placement{
			by: Owner{TeamID: d.team, PersonID: d.person, KeyID: d.key}, into: DownloadsFolder,
			name: downloadName(d, i),
			settle: func(ctx context.Context, tx *db.Tx, stored Item, _ bool) error {
				return itemDone(ctx, tx, h, i, stored.ID, "")
			},
		})
	}
	if endsJob(err) {
		return s.noteItem(ctx, h, i, reasonOf(err))
	}
	return err
}

// downloadName is what a downloaded file is called: whose it is, when it was made, and its own id.
func downloadName(d download, i profileItem) string {
	parts := []string{d.username}
	if !i.takenAt.IsZero() {
		parts = append(parts, i.takenAt.Format(time.DateOnly))
	}
	return strings.Join(append(parts, i.item), " ")
}

func (s *Service) noteItem(ctx context.Context, h job.LeasedJob, i profileItem, reason string) error {
	return s.db.InTx(ctx, "media.item", func(ctx context.Context, tx *db.Tx) error {
		return itemDone(ctx, tx, h, i, 0, reason)
	})
}

// itemDone notes what became of an item. Its address, the network's own, is forgotten with it.
func itemDone(ctx context.Context, tx *db.Tx, h job.LeasedJob, i profileItem, mediaID int64, reason string) error {
	if err := h.Lock(ctx, tx); err != nil {
		return err
	}
	_, err := tx.Exec(ctx,
		`UPDATE media_download_items SET done = 1, media_id = ?, reason = ?, address = ''
		WHERE job_id = ? AND position = ?`, mediaID, reason, h.ID, i.position)
	if err != nil {
		return fmt.Errorf("noting a downloaded item: %w", err)
	}
	return job.Advance(ctx, tx, h.ID, i.position+1)
}

// concludeDownload ends a download that the source has answered: it is charged, whatever its content was.
func (s *Service) concludeDownload(ctx context.Context, h job.LeasedJob) error {
	items, err := profileItems(ctx, s.db, h.ID, 0, maxItems)
	if err != nil {
		return err
	}
	state, code, lost := job.Succeeded, "", 0
	for _, i := range items {
		if i.reason != "" {
			lost++
			code = i.reason
		}
	}
	if lost > 0 {
		state = job.PartiallySucceeded
	}
	return s.endDownload(ctx, h, state, code)
}

const maxItems = 50

// endDownload ends a download and settles what was reserved for it: all of it, or, where the profile could not be
// read, none.
func (s *Service) endDownload(ctx context.Context, h job.LeasedJob, state job.State, code string) error {
	return s.db.InTx(ctx, "media.downloaded", func(ctx context.Context, tx *db.Tx) error {
		if err := h.Lock(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE media_download_items SET address = '' WHERE job_id = ?`, h.ID); err != nil {
			return fmt.Errorf("forgetting the addresses of a download: %w", err)
		}
		settle := s.Credits.Charge
		if state == job.Failed {
			settle = s.Credits.Refund
		}
		if h.Reservation != 0 {
			if _, err := settle(ctx, tx, h.Reservation); err != nil {
				return err
			}
		}
		return h.Finish(ctx, tx, state, code)
	})
}
