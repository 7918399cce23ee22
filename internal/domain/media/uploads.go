package media

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// State is the state of a file of an upload batch.
type State string

// The states of a file.
const (
	Waiting  State = "waiting"  // not uploaded yet
	Stored   State = "stored"   // in the library
	Refused  State = "refused"  // rejected by the library
	Replaced State = "replaced" // not uploaded before another batch replaced its batch
	Expired  State = "expired"  // not uploaded before its batch expired or was closed
)

// MaxFiles is the maximum number of files that create_uploads can describe.
const MaxFiles = 50

func (s *Service) uploadLimits() UploadBatchLimits {
	return UploadBatchLimits{
		Types: Types, MaxImageBytes: s.Catalog.Limits.MaxImageBytes, MaxVideoBytes: s.Catalog.Limits.MaxVideoBytes,
		MaxFiles: min(MaxFiles, s.Catalog.Limits.OpenUploadLinks),
	}
}

// uploadSubject is the subject that marks a job as an upload batch. Other jobs of the type media_import are imports.
const uploadSubject = "upload"

// createUploads creates a batch.
func (s *Service) createUploads(
	ctx context.Context, call operation.Call, in UploadsInput,
) (operation.Response[UploadBatch], error) {
	var out operation.Response[UploadBatch]
	if err := s.checkFiles(in.Files); err != nil {
		return out, err
	}
	b := batchRecord{
		team: call.TeamID, person: call.PersonID, key: call.KeyID,
		expiresAt: call.Now.Add(time.Duration(s.Catalog.Limits.UploadMinutes) * time.Minute),
	}
	if in.FolderID != nil {
		b.folder = *in.FolderID
	}
	var notes []string
	var record job.Record
	err := call.InTx(ctx, s.db, "media.open_uploads", func(ctx context.Context, tx *db.Tx) error {
		if err := requireFolder(ctx, tx, call.TeamID, b.folder); err != nil {
			return err
		}
		used, err := s.lockUsage(ctx, tx, call.TeamID)
		if err != nil {
			return err
		}
		if notes, err = s.replaceBatch(ctx, tx, call, in.ReplacesBatch); err != nil {
			return err
		}
		if b.files, err = newBatchFiles(ctx, tx, call.TeamID, in.Files); err != nil {
			return err
		}
		if notes, err = s.checkOpenLimits(ctx, tx, call, b, used, notes); err != nil {
			return err
		}
		record, err = s.openBatch(ctx, tx, call, &b)
		return err
	})
	if err != nil {
		return out, err
	}
	out = s.showBatch(call, record, b)
	out.Notes = notes
	return out, nil
}

// checkFiles returns an error if the library would reject one of the described files.
func (s *Service) checkFiles(files []UploadFile) error {
	for n, f := range files {
		kind := essence(f.MIMEType)
		switch {
		case f.MIMEType != "" && kind != "application/octet-stream" && !slices.Contains(Types, kind):
			return apierr.Invalid(apierr.NotAllowedValue, "files.mime_type",
				"The library accepts only "+strings.Join(Types, ", ")+".").With("item", n)
		case f.SizeBytes > s.maxBytes(kind):
			return apierr.Invalid(apierr.OutOfRange, "files.size_bytes",
				fmt.Sprintf("Images are limited to %d bytes, videos to %d bytes.",
					s.Catalog.Limits.MaxImageBytes, s.Catalog.Limits.MaxVideoBytes)).With("item", n)
		}
	}
	return nil
}

// maxBytes returns the maximum file size for a MIME type. For an unknown type, it returns the limit for videos.
func (s *Service) maxBytes(mimeType string) int64 {
	if strings.HasPrefix(mimeType, "image/") {
		return s.Catalog.Limits.MaxImageBytes
	}
	return s.Catalog.Limits.MaxVideoBytes
}

// newBatchFiles returns the files of a new batch. Files that the library already has are marked as stored.
func newBatchFiles(ctx context.Context, tx *db.Tx, team int64, files []UploadFile) ([]batchFileRecord, error) {
	out := make([]batchFileRecord, len(files))
	for n, u := range files {
		digest, err := hex.DecodeString(u.SHA256)
		if err != nil {
			return nil, fmt.Errorf("reading a checked digest: %w", err)
		}
		f := batchFileRecord{
			id: uuid.Must(uuid.NewV7()).String(), digest: digest, size: u.SizeBytes, name: u.FileName,
			mimeType: u.MIMEType, state: Waiting,
		}
		existing, found, err := findByDigest(ctx, tx, team, digest)
		if err != nil {
			return nil, err
		}
		if found && (u.SizeBytes == existing.Size || u.SizeBytes == existing.StoredSize) {
			f.state, f.media = Stored, existing.ID
		} else {
			f.secret = apikey.New(apikey.Upload)
		}
		out[n] = f
	}
	return out, nil
}

// checkOpenLimits returns an error if a batch exceeds the limits on open batches and links, or the plan's storage. To
// stay within the limit on batches, it may close an empty upload page, and then adds a note.
func (s *Service) checkOpenLimits(
	ctx context.Context, tx *db.Tx, call operation.Call, b batchRecord, used int64, notes []string,
) ([]string, error) {
	links, bytes := b.pendingFiles()
	if links == 0 && len(b.files) > 0 {
		return notes, nil
	}
	if links > s.Catalog.Limits.OpenUploadLinks {
		return nil, apierr.Invalid(apierr.TooLong, "files",
			fmt.Sprintf("A team can have at most %d open upload links. Describe fewer files at once.",
				s.Catalog.Limits.OpenUploadLinks))
	}
	var openBatches, firstExpiry int64
	err := tx.QueryRow(ctx,
		`SELECT COUNT(*), COALESCE(MIN(expires_at), 0) FROM upload_batches WHERE team_id = ? AND closed_at = 0`,
		call.TeamID).Scan(&openBatches, &firstExpiry)
	if err != nil {
		return nil, fmt.Errorf("counting open batches: %w", err)
	}
	pendingLinks, pendingBytes, err := openLinks(ctx, tx, call.TeamID)
	if err != nil {
		return nil, err
	}
	wait := db.Time(firstExpiry).Sub(tx.Now())
	if openBatches >= int64(s.Catalog.Limits.OpenUploadBatches) {
		closed, err := s.closeEmptyPage(ctx, tx, call)
		if err != nil {
			return nil, err
		}
		if !closed {
			return nil,
				apierr.New(apierr.RateLimited,
					"The team has reached its limit of open upload batches. Use one of them, replace it, or wait "+
						"until it expires.").With("scope", "open_upload_batches").WithRetryAfter(wait)
		}
		notes = append(notes,
			"An older upload page, to which nothing was uploaded, was closed, because the team has reached its "+
				"limit of open batches.")
	}
	if pendingLinks+links > s.Catalog.Limits.OpenUploadLinks {
		return nil,
			apierr.New(apierr.RateLimited,
				"The team has reached its limit of open upload links. Use them, replace their batch, or wait until "+
					"they expire.").With("scope", "open_upload_links").WithRetryAfter(wait)
	}
	limit, err := s.storageLimit(ctx, tx, call.TeamID, tx.Now())
	if err != nil || limit == plan.Unlimited {
		return notes, err
	}
	if left := limit - used - pendingBytes; bytes > left || left <= 0 {
		return nil, errStorageFull
	}
	return notes, nil
}

// closeEmptyPage closes the oldest unused batch that the same connection opened without files. It reports whether there
// was one. This way, a script that opens a page on every run does not block the team's uploads.
func (s *Service) closeEmptyPage(ctx context.Context, tx *db.Tx, call operation.Call) (bool, error) {
	var id string
	err := tx.QueryRow(ctx,
		`SELECT job_id FROM upload_batches WHERE team_id = ? AND key_id = ? AND person_id = ? AND closed_at = 0
		AND NOT EXISTS (SELECT 1 FROM upload_files WHERE upload_files.job_id = upload_batches.job_id)
		ORDER BY created_at, job_id LIMIT 1`,
		call.TeamID, call.KeyID, call.PersonID).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("finding an empty upload batch: %w", err)
	}
	// A file may still be uploaded until the batch is locked.
	b, err := s.readBatch(ctx, tx, id, s.db.ForUpdate())
	if err != nil || b.closed || len(b.files) > 0 {
		return false, err
	}
	if err := auditlog.Record(ctx, tx, b.team, auditlog.NewActor(call), "uploads.replaced", id, nil); err != nil {
		return false, err
	}
	return true, s.closeBatch(ctx, tx, id, "upload_replaced")
}

// replaceBatch closes an earlier batch of the same connection, unless one of its files has arrived.
func (s *Service) replaceBatch(ctx context.Context, tx *db.Tx, call operation.Call, id string) ([]string, error) {
	if id == "" {
		return nil, nil
	}
	oldBatch, err := s.readBatch(ctx, tx, id, s.db.ForUpdate())
	if errors.Is(err, sql.ErrNoRows) || err == nil && (oldBatch.team != call.TeamID || oldBatch.key != call.KeyID) {
		return nil, apierr.ItemNotFound().With("argument", "replaces_batch")
	}
	if err != nil {
		return nil, err
	}
	links, _ := oldBatch.pendingFiles()
	switch {
	case slices.ContainsFunc(oldBatch.files, func(f batchFileRecord) bool { return f.arrivedAt != 0 }):
		return []string{"The earlier batch was not replaced: one of its files has arrived."}, nil
	case oldBatch.closed:
		return []string{"The earlier batch had already ended."}, nil
	}
	if _, err := tx.Exec(ctx, `UPDATE upload_files SET state = ?, secret_hash = NULL WHERE job_id = ? AND state = ?`,
		string(Replaced), id, string(Waiting)); err != nil {
		return nil, fmt.Errorf("replacing a batch: %w", err)
	}
	if err := auditlog.Record(ctx, tx, oldBatch.team, auditlog.NewActor(call), "uploads.replaced", id, nil); err != nil {
		return nil, err
	}
	return []string{
		fmt.Sprintf("The earlier batch was closed. Files that had not arrived: %d.", links),
	}, s.closeBatch(ctx, tx, id, "upload_replaced")
}

// showBatch returns the response that opens a batch, with its secrets. The copy stored for repeated calls has no
// secrets.
func (s *Service) showBatch(call operation.Call, r job.Record, b batchRecord) operation.Response[UploadBatch] {
	entry := job.Show(call, r)
	data := UploadBatch{
		Job: entry, Upload: UploadBatchUpload{[]UploadLink{}}, PageURL: s.PublicURL + pagePath(b.job), Limits: s.uploadLimits(),
	}
	for _, f := range b.files {
		data.Upload.Uploads = append(data.Upload.Uploads, s.showLink(call, f, b.expiresAt))
	}
	return operation.Response[UploadBatch]{
		Data: data, StoredData: &UploadBatch{Job: job.Job{JobID: r.ID}}, Location: job.Location(r.ID),
		App: pagePath(b.job),
	}
}

func (s *Service) showLink(call operation.Call, f batchFileRecord, expires time.Time) UploadLink {
	out := UploadLink{
		File: UploadFile{hex.EncodeToString(f.digest), f.size, f.name, f.mimeType}, State: f.state, MediaID: f.media,
	}
	if f.state == Waiting {
		at := call.Moment(expires)
		out.URL, out.Method, out.ExpiresAt = s.PublicURL+LinkPath+f.id, "PUT", &at
		out.Headers = map[string]string{"Authorization": "Bearer " + f.secret}
	}
	return out
}

// LinkPath is the path of upload links below the public URL.
const LinkPath = "/uploads/"

// pagePath returns the path of the upload page of a batch.
func pagePath(jobID string) string {
	return "/upload/" + strings.TrimPrefix(jobID, string(job.MediaImport)+":")
}

// recreateUploads returns the response to a repeated call: the same batch, with new secrets for pending files. The old
// secrets stop working.
func (s *Service) recreateUploads(
	ctx context.Context, call operation.Call, _ UploadsInput, stored UploadBatch,
) (operation.Response[UploadBatch], error) {
	var b batchRecord
	var record job.Record
	err := s.db.InTx(ctx, "media.renew_uploads", func(ctx context.Context, tx *db.Tx) error {
		var err error
		if b, err = s.readBatch(ctx, tx, stored.JobID, s.db.ForUpdate()); err != nil {
			return err
		}
		for n := range b.files {
			if err := renewSecret(ctx, tx, &b.files[n]); err != nil {
				return err
			}
		}
		record, err = job.Get(ctx, tx, call.TeamID, stored.JobID)
		return err
	})
	return s.showBatch(call, record, b), err
}

func renewSecret(ctx context.Context, tx *db.Tx, f *batchFileRecord) error {
	if f.state != Waiting {
		return nil
	}
	f.secret = apikey.New(apikey.Upload)
	sum := apikey.Hash(f.secret)
	if _, err := tx.Exec(ctx, `UPDATE upload_files SET secret_hash = ? WHERE id = ? AND state = ?`, sum[:], f.id,
		string(Waiting)); err != nil {
		return fmt.Errorf("renewing an upload secret: %w", err)
	}
	return nil
}

// essence returns the lower-case media type of a Content-Type without its parameters, or "" if malformed.
func essence(contentType string) string {
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	return cmp.Or(aliases[mediaType], mediaType)
}

// aliases maps unregistered type names in common use to the registered names.
var aliases = map[string]string{
	"image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png", "video/x-m4v": "video/mp4",
	"video/mov": "video/quicktime",
}
