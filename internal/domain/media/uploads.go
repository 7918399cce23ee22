package media

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/apikey"
	"pressroom/internal/core/operation"
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/job"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
	"pressroom/internal/teamtime"
)

// State is how a file of an upload batch stands (contract, job results).
type State string

// The states.
const (
	Waiting  State = "waiting"
	Stored   State = "stored"
	Refused  State = "refused"
	Replaced State = "replaced"
	Expired  State = "expired"
)

// MaxFiles is how many files one batch describes.
const MaxFiles = 50

// The input and the answer of POST /uploads.
type (
	// UploadsInput describes the files that are to come.
	UploadsInput struct {
		Files         []UploadFile `json:"files,omitempty" maxItems:"50" default:"[]" jsonschema:"The files; none where a person is to choose them on the page."`
		FolderID      *int64       `json:"folder_id,omitempty" jsonschema:"The folder that the files go to; none where omitted."`
		ReplacesBatch string       `json:"replaces_batch,omitempty" pattern:"^media_import:[A-Za-z0-9-]{1,64}$" jsonschema:"The job of an earlier batch from this connection: its files that still wait are closed. Ignored when one of its files has arrived."`
	}
	// UploadFile is one file that is to come.
	UploadFile struct {
		SHA256    string `json:"sha256" pattern:"^[0-9a-f]{64}$" jsonschema:"SHA-256 of the bytes in small hexadecimal digits."`
		SizeBytes int64  `json:"size_bytes" min:"1" jsonschema:"How many bytes."`
		FileName  string `json:"file_name,omitempty" maxLength:"255" jsonschema:"What the file is called."`
		MIMEType  string `json:"mime_type,omitempty" maxLength:"255" jsonschema:"Its MIME type. What counts is what the bytes say."`
	}
	// UploadBatch is the answer: the job, and what it waits for.
	UploadBatch struct {
		job.Job

		Upload  Uploads           `json:"upload"`
		PageURL string            `json:"upload_page_url" format:"uri" jsonschema:"A page on which a person who is signed in uploads files."`
		Limits  UploadBatchLimits `json:"limits"`
	}
	// Uploads are the links of a batch.
	Uploads struct {
		Uploads []UploadLink `json:"uploads"`
	}
	// UploadLink is one file of a batch: where its bytes go, or the item that the library has of it.
	UploadLink struct {
		File      UploadFile        `json:"file"`
		URL       string            `json:"url,omitempty" format:"uri" jsonschema:"Where the bytes are sent. Left out where none are wanted any more."`
		Method    string            `json:"method,omitempty" enum:"PUT"`
		Headers   map[string]string `json:"headers,omitempty" jsonschema:"What to send with the bytes: Authorization holds a one-time secret that is shown in this answer alone."`
		ExpiresAt *teamtime.Moment  `json:"expires_at,omitempty" jsonschema:"Until when the bytes have to have arrived."`
		State     State             `json:"state" enum:"waiting|stored|refused|replaced|expired" title:"UploadState"`
		MediaID   int64             `json:"media_id,omitempty" jsonschema:"The item in the library, where the file is there already."`
	}
	// UploadBatchLimits are what uploads are held to.
	UploadBatchLimits struct {
		Types         []string `json:"types" jsonschema:"MIME types that the library takes."`
		MaxImageBytes int64    `json:"max_image_bytes"`
		MaxVideoBytes int64    `json:"max_video_bytes"`
		MaxFiles      int      `json:"max_files" jsonschema:"Files a batch."`
	}
)

func (s *Service) uploadLimits() UploadBatchLimits {
	return UploadBatchLimits{
		Types: Types, MaxImageBytes: s.Terms.Limits.MaxImageBytes, MaxVideoBytes: s.Terms.Limits.MaxVideoBytes,
		MaxFiles: min(MaxFiles, s.Terms.Limits.OpenUploadLinks),
	}
}

// uploadWork says in a job's record that the job is an upload batch; the others of its type are imports.
const uploadWork = "upload"

// batchFile is a file of a batch, as it is stored.
type batchFile struct {
	id       string
	digest   []byte
	size     int64
	name     string
	mimeType string
	state    State
	media    int64
	reason   string
	arrived  int64
	byPage   bool   // chosen by a person on the page, not described beforehand
	secret   string // known only while its answer is made
}

func (f batchFile) page() int64 {
	if f.byPage {
		return 1
	}
	return 0
}

// createUploads opens a batch.
func (s *Service) createUploads(
	ctx context.Context, call operation.Call, in UploadsInput,
) (operation.Answer[UploadBatch], error) {
	var out operation.Answer[UploadBatch]
	if err := s.checkFiles(in.Files); err != nil {
		return out, err
	}
	b := batch{
		team: call.TeamID, person: call.PersonID, key: call.KeyID,
		expires: call.Now.Add(time.Duration(s.Terms.Limits.UploadMinutes) * time.Minute),
	}
	if in.FolderID != nil {
		b.folder = *in.FolderID
	}
	var notes []string
	var record job.Record
	err := call.InTx(ctx, s.db, "media.open_uploads", func(ctx context.Context, tx *db.Tx) error {
		if err := folder(ctx, tx, call.TeamID, b.folder); err != nil {
			return err
		}
		used, err := s.used(ctx, tx, call.TeamID)
		if err != nil {
			return err
		}
		if notes, err = s.replace(ctx, tx, call, in.ReplacesBatch); err != nil {
			return err
		}
		if b.files, err = describe(ctx, tx, call.TeamID, in.Files); err != nil {
			return err
		}
		if notes, err = s.roomFor(ctx, tx, call, b, used, notes); err != nil {
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

// checkFiles refuses descriptions of what the library would not take.
func (s *Service) checkFiles(files []UploadFile) error {
	for n, f := range files {
		kind := essence(f.MIMEType)
		switch {
		case f.MIMEType != "" && kind != "application/octet-stream" && !slices.Contains(Types, kind):
			return apierr.Invalid(apierr.NotAllowedValue, "files.mime_type",
				"The library takes "+strings.Join(Types, ", ")+".").With("item", n)
		case f.SizeBytes > s.maxBytes(kind):
			return apierr.Invalid(apierr.OutOfRange, "files.size_bytes",
				fmt.Sprintf("The library takes images of up to %d bytes and videos of up to %d.",
					s.Terms.Limits.MaxImageBytes, s.Terms.Limits.MaxVideoBytes)).With("item", n)
		}
	}
	return nil
}

// maxBytes is how large a file of a type may be; a type that is not known may turn out to be a video.
func (s *Service) maxBytes(mimeType string) int64 {
	if strings.HasPrefix(mimeType, "image/") {
		return s.Terms.Limits.MaxImageBytes
	}
	return s.Terms.Limits.MaxVideoBytes
}

// describe makes the files of a batch; what the library has already is stored from the start.
func describe(ctx context.Context, tx *db.Tx, team int64, in []UploadFile) ([]batchFile, error) {
	out := make([]batchFile, len(in))
	for n, d := range in {
		digest, err := hex.DecodeString(d.SHA256)
		if err != nil {
			return nil, fmt.Errorf("reading a checked digest: %w", err)
		}
		f := batchFile{
			id: uuid.Must(uuid.NewV7()).String(), digest: digest, size: d.SizeBytes, name: d.FileName,
			mimeType: d.MIMEType, state: Waiting,
		}
		there, found, err := byDigest(ctx, tx, team, digest)
		if err != nil {
			return nil, err
		}
		if found && (d.SizeBytes == there.Size || d.SizeBytes == there.Stored) {
			f.state, f.media = Stored, there.ID
		} else {
			f.secret = apikey.New(apikey.Upload)
		}
		out[n] = f
	}
	return out, nil
}

// roomFor refuses a batch beyond the limits on what is open, or for which the plan has no room. It adds a note if an
// empty upload page had to be closed for it.
func (s *Service) roomFor(
	ctx context.Context, tx *db.Tx, call operation.Call, b batch, used int64, notes []string,
) ([]string, error) {
	links, bytes := b.waiting()
	if links == 0 && len(b.files) > 0 {
		return notes, nil
	}
	if links > s.Terms.Limits.OpenUploadLinks {
		return nil, apierr.Invalid(apierr.TooLong, "files",
			fmt.Sprintf("A team has at most %d upload links open. Describe fewer files at once.",
				s.Terms.Limits.OpenUploadLinks))
	}
	var open, first int64
	err := tx.QueryRow(ctx,
		`SELECT COUNT(*), COALESCE(MIN(expires_at), 0) FROM upload_batches WHERE team_id = ? AND closed_at = 0`,
		call.TeamID).Scan(&open, &first)
	if err != nil {
		return nil, fmt.Errorf("counting open batches: %w", err)
	}
	openLinks, promised, err := waiting(ctx, tx, call.TeamID)
	if err != nil {
		return nil, err
	}
	wait := db.Time(first).Sub(tx.Now())
	if open >= int64(s.Terms.Limits.OpenUploadBatches) {
		closed, err := s.closeEmptyPage(ctx, tx, call)
		if err != nil {
			return nil, err
		}
		if !closed {
			return nil,
				apierr.New(apierr.RateLimited,
					"The team has as many upload batches open as it may. Use one of them, replace it, or wait until "+
						"it expires.").With("scope", "open_upload_batches").After(wait)
		}
		notes = append(notes,
			"An older request was replaced: its upload page, to which nothing was uploaded, is closed, because the "+
				"team has no more batches.")
	}
	if openLinks+links > s.Terms.Limits.OpenUploadLinks {
		return nil,
			apierr.New(apierr.RateLimited,
				"The team has as many upload links open as it may. Use them, replace their batch, or wait until "+
					"they expire.").With("scope", "open_upload_links").After(wait)
	}
	limit, err := s.allowance(ctx, tx, call.TeamID, tx.Now())
	if err != nil || limit == plan.Unlimited {
		return notes, err
	}
	if left := limit - used - promised; bytes > left || left <= 0 {
		return nil, errStorageFull
	}
	return notes, nil
}

// closeEmptyPage closes the oldest batch that the same connection opened without files and to which nothing was
// uploaded, and reports whether there was one: repeats of a script must not keep the team from uploading.
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
		return false, fmt.Errorf("looking for an empty upload batch: %w", err)
	}
	// A file may have arrived until the batch is held.
	b, err := s.readBatch(ctx, tx, id, s.db.ForUpdate())
	if err != nil || b.closed || len(b.files) > 0 {
		return false, err
	}
	if err := auditlog.Record(ctx, tx, b.team, auditlog.By(call), "uploads.replaced", id, nil); err != nil {
		return false, err
	}
	return true, s.closeBatch(ctx, tx, id, "upload_replaced")
}

// batch is a batch as it is stored.
type batch struct {
	job               string
	team, person, key int64
	folder            int64
	created, expires  time.Time
	closed            bool
	files             []batchFile
}

// waiting counts the files that wait, and their bytes.
func (b batch) waiting() (int, int64) {
	links, bytes := 0, int64(0)
	for _, f := range b.files {
		if f.state == Waiting {
			links, bytes = links+1, bytes+f.size
		}
	}
	return links, bytes
}

// openBatch writes a batch with its job. One that waits for nothing has ended.
func (s *Service) openBatch(ctx context.Context, tx *db.Tx, call operation.Call, b *batch) (job.Record, error) {
	record, err := s.Jobs.Create(ctx, tx,
		job.New{TeamID: b.team, Type: job.MediaImport, Subject: uploadWork, Total: len(b.files)})
	if err != nil {
		return record, err
	}
	b.job = record.ID
	_, err = tx.Exec(ctx,
		`INSERT INTO upload_batches (job_id, team_id, person_id, key_id, folder_id, created_at, expires_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)`,
		b.job, b.team, b.person, b.key, b.folder, db.Micros(tx.Now()), db.Micros(b.expires))
	if err != nil {
		return record, fmt.Errorf("opening an upload batch: %w", err)
	}
	for n, f := range b.files {
		if err := insertFile(ctx, tx, *b, n, f); err != nil {
			return record, err
		}
	}
	if err := auditlog.Record(ctx, tx, b.team, auditlog.By(call), "uploads.opened", b.job,
		map[string]any{"files": len(b.files)}); err != nil {
		return record, err
	}
	if links, _ := b.waiting(); links > 0 || len(b.files) == 0 {
		return record, s.Worker.WakeAt(ctx, tx, b.job, b.expires)
	}
	if err := s.closeBatch(ctx, tx, b.job, ""); err != nil {
		return record, err
	}
	return job.Get(ctx, tx, b.team, b.job)
}

func insertFile(ctx context.Context, tx *db.Tx, b batch, position int, f batchFile) error {
	var hash []byte
	if f.secret != "" {
		sum := apikey.Hash(f.secret)
		hash = sum[:]
	}
	_, err := tx.Exec(ctx,
		`INSERT INTO upload_files (id, job_id, team_id, position, sha256, size_bytes, file_name, mime_type,
		secret_hash, state, by_page, arrived_at, media_id, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		f.id, b.job, b.team, position, f.digest, f.size, f.name, f.mimeType, hash, string(f.state), f.page(), f.arrived,
		f.media, f.reason)
	if err != nil {
		return fmt.Errorf("opening an upload link: %w", err)
	}
	return nil
}

// replace closes an earlier batch of the same connection, unless one of its files has arrived.
func (s *Service) replace(ctx context.Context, tx *db.Tx, call operation.Call, id string) ([]string, error) {
	if id == "" {
		return nil, nil
	}
	old, err := s.readBatch(ctx, tx, id, s.db.ForUpdate())
	if errors.Is(err, sql.ErrNoRows) || err == nil && (old.team != call.TeamID || old.key != call.KeyID) {
		return nil, apierr.Missing().With("argument", "replaces_batch")
	}
	if err != nil {
		return nil, err
	}
	links, _ := old.waiting()
	switch {
	case slices.ContainsFunc(old.files, func(f batchFile) bool { return f.arrived != 0 }):
		return []string{"The earlier batch was not replaced: one of its files has arrived."}, nil
	case old.closed:
		return []string{"The earlier batch had ended already."}, nil
	}
	if _, err := tx.Exec(ctx, `UPDATE upload_files SET state = ?, secret_hash = NULL WHERE job_id = ? AND state = ?`,
		string(Replaced), id, string(Waiting)); err != nil {
		return nil, fmt.Errorf("replacing a batch: %w", err)
	}
	if err := auditlog.Record(ctx, tx, old.team, auditlog.By(call), "uploads.replaced", id, nil); err != nil {
		return nil, err
	}
	return []string{
		fmt.Sprintf("An older request was replaced: its batch is closed, with %d files that had not arrived.", links),
	}, s.closeBatch(ctx, tx, id, "upload_replaced")
}

// closeBatch ends a batch and its job: no more files are taken. Why is the error code of files that did not come.
func (s *Service) closeBatch(ctx context.Context, tx *db.Tx, id, why string) error {
	if _, err := tx.Exec(ctx, `UPDATE upload_batches SET closed_at = ? WHERE job_id = ? AND closed_at = 0`,
		db.Micros(tx.Now()), id); err != nil {
		return fmt.Errorf("closing an upload batch: %w", err)
	}
	files, err := readFiles(ctx, tx, id)
	if err != nil {
		return err
	}
	state, code := outcome(files, why)
	return job.Finish(ctx, tx, id, state, code)
}

// outcome is how the job of a batch ends.
func outcome(files []batchFile, why string) (job.State, string) {
	stored, code := 0, ""
	for _, f := range files {
		if f.state == Stored {
			stored++
		} else if code == "" {
			code = cmp.Or(f.reason, why)
		}
	}
	switch {
	case len(files) == 0:
		return job.Failed, why
	case stored == len(files):
		return job.Succeeded, ""
	case stored > 0:
		return job.PartiallySucceeded, code
	}
	return job.Failed, code
}

// readBatch reads a batch with its files; sql.ErrNoRows where there is none.
func (s *Service) readBatch(ctx context.Context, q db.Querier, id, lock string) (batch, error) {
	b := batch{job: id}
	var created, expires, closed int64
	err := q.QueryRow(ctx,
		`SELECT team_id, person_id, key_id, folder_id, created_at, expires_at, closed_at FROM upload_batches
		WHERE job_id = ?`+lock, id).
		Scan(&b.team, &b.person, &b.key, &b.folder, &created, &expires, &closed)
	if err != nil {
		return b, fmt.Errorf("reading an upload batch: %w", err)
	}
	b.created, b.expires, b.closed = db.Time(created), db.Time(expires), closed != 0
	b.files, err = readFiles(ctx, q, id)
	return b, err
}

func readFiles(ctx context.Context, q db.Querier, id string) ([]batchFile, error) {
	out, err := db.All(ctx, q, func(rows *sql.Rows, f *batchFile) error {
		var page int64
		err := rows.Scan(&f.id, &f.digest, &f.size, &f.name, &f.mimeType, &f.state, &page, &f.arrived, &f.media,
			&f.reason)
		f.byPage = page != 0
		return err
	}, `SELECT id, sha256, size_bytes, file_name, mime_type, state, by_page, arrived_at, media_id, reason
		FROM upload_files WHERE job_id = ? ORDER BY position`, id)
	if err != nil {
		return nil, fmt.Errorf("reading the files of a batch: %w", err)
	}
	return out, nil
}

// showBatch is the answer that opens a batch, its secrets in it; what is kept for repeats has none.
func (s *Service) showBatch(call operation.Call, r job.Record, b batch) operation.Answer[UploadBatch] {
	entry := job.Show(call, r)
	data := UploadBatch{
		Job: entry, Upload: Uploads{[]UploadLink{}}, PageURL: s.PublicURL + pagePath(b.job), Limits: s.uploadLimits(),
	}
	for _, f := range b.files {
		data.Upload.Uploads = append(data.Upload.Uploads, s.showLink(call, f, b.expires))
	}
	return operation.Answer[UploadBatch]{
		Data: data, Keep: &UploadBatch{Job: job.Job{JobID: r.ID}}, Location: job.Location(r.ID), App: pagePath(b.job),
	}
}

func (s *Service) showLink(call operation.Call, f batchFile, expires time.Time) UploadLink {
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

// LinkPath is where upload links lie, below the public address.
const LinkPath = "/uploads/"

func pagePath(jobID string) string {
	return "/upload/" + strings.TrimPrefix(jobID, string(job.MediaImport)+":")
}

// uploadsAgain answers a repeat: the same batch, with new secrets for what still waits. The old ones stop working.
func (s *Service) uploadsAgain(
	ctx context.Context, call operation.Call, _ UploadsInput, kept UploadBatch,
) (operation.Answer[UploadBatch], error) {
	var b batch
	var record job.Record
	err := s.db.InTx(ctx, "media.renew_uploads", func(ctx context.Context, tx *db.Tx) error {
		var err error
		if b, err = s.readBatch(ctx, tx, kept.JobID, s.db.ForUpdate()); err != nil {
			return err
		}
		for n := range b.files {
			if err := renewSecret(ctx, tx, &b.files[n]); err != nil {
				return err
			}
		}
		record, err = job.Get(ctx, tx, call.TeamID, kept.JobID)
		return err
	})
	return s.showBatch(call, record, b), err
}

func renewSecret(ctx context.Context, tx *db.Tx, f *batchFile) error {
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
