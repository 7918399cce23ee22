package media

import (
	"context"
	"crypto/subtle"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/pipeline"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/media/filename"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/disk"
)

// VerifiedLink is a one-time upload link whose secret was verified.
type VerifiedLink struct {
	id    string
	hash  [32]byte
	batch batchRecord
	file  batchFileRecord
}

var (
	errNoLink      = apierr.New(apierr.NotFound, "Upload link not found.")
	errWrongSecret = apierr.New(apierr.Unauthorized,
		"Send this link's upload secret in the Authorization header, as in the response that opened the batch. "+
			"Repeating that call issues a new secret and invalidates the old one.")
	errLinkUsed   = apierr.New(apierr.UploadLinkUsed, "The file of this link was already uploaded.")
	errLinkClosed = apierr.New(apierr.UploadLinkClosed,
		"This link has expired or its batch was replaced. Open a new batch.")
)

// Link verifies an upload link before any byte of the file is read. It returns not_found for an unknown link,
// unauthorized for a wrong secret, and upload_link_closed for an expired link. It returns upload_link_used only if the
// secret is correct.
func (s *Service) Link(ctx context.Context, id, secret string) (VerifiedLink, error) {
	l := VerifiedLink{id: id, hash: apikey.Hash(secret)}
	if !utf8.ValidString(id) || strings.Contains(id, "\x00") {
		return l, errNoLink // PostgreSQL rejects invalid text
	}
	var jobID string
	var secretHash []byte
	err := s.db.QueryRow(ctx, `SELECT job_id, secret_hash FROM upload_files WHERE id = ?`, id).Scan(&jobID, &secretHash)
	if errors.Is(err, sql.ErrNoRows) {
		return l, errNoLink
	}
	if err != nil {
		return l, fmt.Errorf("finding an upload link: %w", err)
	}
	if l.batch, err = s.readBatch(ctx, s.db, jobID, ""); err != nil {
		return l, err
	}
	n := slices.IndexFunc(l.batch.files, func(f batchFileRecord) bool { return f.id == id })
	if n < 0 { // the batch's job was deleted concurrently
		return l, errNoLink
	}
	l.file = l.batch.files[n]
	if err := l.checkOpen(secretHash, s.db.Now()); err != nil {
		return l, err
	}
	return l, s.checkKey(ctx, s.db, l.batch) // only after the secret was verified
}

// checkOpen returns an error if the link does not accept a file.
func (l VerifiedLink) checkOpen(secretHash []byte, now time.Time) error {
	switch {
	case l.file.state == Replaced || l.file.state == Expired || l.file.state == Waiting && !now.Before(l.batch.expiresAt):
		return errLinkClosed
	case len(secretHash) == 0 || subtle.ConstantTimeCompare(secretHash, l.hash[:]) != 1:
		return errWrongSecret
	case l.file.state != Waiting:
		return errLinkUsed
	}
	return nil
}

// checkKey returns an error if the key that opened a link can no longer open links, because it was deleted, lacks write
// access, or is blocked.
func (s *Service) checkKey(ctx context.Context, q db.Querier, b batchRecord) error {
	actor, err := s.Keys.ActorByKeyID(ctx, q, b.key)
	if err != nil {
		return err
	}
	if actor == nil {
		return apierr.New(apierr.Unauthorized, "The API key that opened this link is no longer valid.")
	}
	if err := pipeline.CheckGates(actor); err != nil {
		return err
	}
	return operation.Call{Actor: actor}.Require(access.Write)
}

// Receive stores the file of a link if its bytes match the description exactly. A rejected file leaves the link open.
func (s *Service) Receive(ctx context.Context, l VerifiedLink, f Incoming) (AddResult, error) {
	if err := l.checkHeaders(f); err != nil {
		return AddResult{}, err
	}
	f.Size = l.file.size
	staged, err := s.receive(ctx, l.batch.team, uploader{link: l.id}, f, sizeLimit{l.file.size, errTooLarge})
	if err != nil && !s.db.Now().Before(l.batch.expiresAt) {
		return AddResult{}, errLinkClosed
	}
	if err != nil {
		return AddResult{}, err
	}
	defer staged.Discard()
	digest := staged.Sum()
	switch {
	case staged.Size() != l.file.size:
		return AddResult{}, errSizeDiffers
	case subtle.ConstantTimeCompare(digest[:], l.file.digest) != 1:
		return AddResult{}, apierr.Invalid(apierr.DigestDiffers, "",
			"The uploaded bytes differ from those described: the SHA-256 does not match. Send the described file, "+
				"or open another batch.")
	}
	e, err := s.inspect(ctx, staged)
	if apierr.Is(err, apierr.ValidationFailed) || apierr.Is(err, apierr.UploadTooLarge) {
		return AddResult{}, s.rejectLink(ctx, l, err)
	}
	if err != nil {
		return AddResult{}, err
	}
	i, exists, err := s.save(ctx, e, placement{
		owner: Owner{TeamID: l.batch.team, PersonID: l.batch.person, KeyID: l.batch.key}, folder: l.batch.folder,
		name: filename.Stem(l.file.name), ext: filename.Extension(l.file.name), isReserved: true,
		onAdded: func(ctx context.Context, tx *db.Tx, i Item, _ bool) error { return s.completeLink(ctx, tx, l, i) },
	})
	return AddResult{MediaID: i.ID, Name: i.Name, AlreadyExists: exists}, err
}

var errSizeDiffers = apierr.Invalid(apierr.SizeDiffers, "",
	"The file's size differs from the description. Send the described file, or open another batch.")

// Before the body is read, checkHeaders rejects a request that cannot contain the described file.
func (l VerifiedLink) checkHeaders(f Incoming) error {
	kind, describedType := essence(f.Type), essence(l.file.mimeType)
	switch {
	case f.Size > l.file.size:
		return apierr.New(apierr.UploadTooLarge,
			"The file is larger than described. Send the described file, or open another batch.")
	case f.Size >= 0 && f.Size < l.file.size:
		return errSizeDiffers
	case f.Type == "" || kind == "application/octet-stream" || kind == "binary/octet-stream" ||
		describedType != "" && kind == describedType || describedType == "" && slices.Contains(Types, kind):
		return nil
	}
	return apierr.Invalid(apierr.TypeDiffers, "",
		"Send the file's described Content-Type or application/octet-stream.")
}

// completeLink records that the file of a link was stored. The link may have been replaced or used during the upload.
func (s *Service) completeLink(ctx context.Context, tx *db.Tx, l VerifiedLink, i Item) error {
	b, err := s.readBatch(ctx, tx, l.batch.job, s.db.ForUpdate()) // lock order: the batch before its files
	if err != nil {
		return err
	}
	if !tx.Now().Before(b.expiresAt) {
		return errLinkClosed
	}
	if err := s.checkKey(ctx, tx, b); err != nil { // the key may have changed during the upload
		return err
	}
	n, err := tx.Exec(ctx,
		`UPDATE upload_files SET state = ?, media_id = ?, arrived_at = ?
		WHERE id = ? AND state = ? AND secret_hash = ?`,
		string(Stored), i.ID, db.Micros(tx.Now()), l.id, string(Waiting), l.hash[:])
	if err != nil {
		return fmt.Errorf("completing an upload link: %w", err)
	}
	if n == 0 {
		return s.linkConflict(ctx, tx, l)
	}
	return s.updateBatch(ctx, tx, l.batch.job)
}

// linkConflict returns why a link no longer accepts its file.
func (s *Service) linkConflict(ctx context.Context, tx *db.Tx, l VerifiedLink) error {
	var state State
	if err := tx.QueryRow(ctx, `SELECT state FROM upload_files WHERE id = ?`, l.id).Scan(&state); err != nil {
		return fmt.Errorf("reading an upload link: %w", err)
	}
	switch state {
	case Waiting:
		return errWrongSecret
	case Stored, Refused:
		return errLinkUsed
	case Replaced, Expired:
	}
	return errLinkClosed
}

// updateBatch closes a batch when no file is pending, and otherwise updates the job's progress. A batch that was opened
// without files, for the upload page, stays open.
func (s *Service) updateBatch(ctx context.Context, tx *db.Tx, id string) error {
	b, err := s.readBatch(ctx, tx, id, s.db.ForUpdate())
	if err != nil {
		return err
	}
	links, _ := b.pendingFiles()
	hasDescribed := slices.ContainsFunc(b.files, func(f batchFileRecord) bool { return !f.addedOnPage })
	if links == 0 && hasDescribed {
		return s.closeBatch(ctx, tx, id, "")
	}
	if _, err := tx.Exec(ctx, `UPDATE jobs SET total = ? WHERE id = ? AND finished_at = 0`, len(b.files),
		id); err != nil {
		return fmt.Errorf("counting the files of a batch: %w", err)
	}
	return job.Advance(ctx, tx, id, len(b.files)-links)
}

// rejectLink ends a link whose file the library can never accept, and returns cause.
func (s *Service) rejectLink(ctx context.Context, l VerifiedLink, cause error) error {
	err := s.db.InTx(ctx, "media.reject", func(ctx context.Context, tx *db.Tx) error {
		if _, err := s.readBatch(ctx, tx, l.batch.job, s.db.ForUpdate()); err != nil {
			return err
		}
		n, err := tx.Exec(ctx,
			`UPDATE upload_files SET state = ?, reason = ?, arrived_at = ?
		WHERE id = ? AND state = ? AND secret_hash = ?`,
			string(Refused), rejectionReason(cause), db.Micros(tx.Now()), l.id, string(Waiting), l.hash[:])
		if err != nil {
			return fmt.Errorf("rejecting a file: %w", err)
		}
		if n == 0 {
			return s.linkConflict(ctx, tx, l)
		}
		return s.updateBatch(ctx, tx, l.batch.job)
	})
	if err != nil {
		return err
	}
	return cause
}

// rejectsFile reports whether an error rejects the file permanently, as opposed to a temporary failure.
func rejectsFile(err error) bool {
	f, is := errors.AsType[*apierr.Error](err)
	return is && !f.IsServerError() && f.Code != apierr.RateLimited
}

// isPermanent reports whether an error ends the import or download of a file. rejectionReason returns the error code
// for such an error.
func isPermanent(err error) bool { return rejectsFile(err) || errors.Is(err, disk.ErrLow) }

// rejectionReason returns the error code for a rejected file, as used in job results.
func rejectionReason(cause error) string {
	if errors.Is(cause, disk.ErrLow) {
		return "storage_full"
	}
	for code, reason := range map[apierr.Code]string{
		apierr.UploadTooLarge: "too_large", apierr.PlanLimitReached: "storage_full",
		apierr.ValidationFailed: "type_refused",
	} {
		if apierr.Is(cause, code) {
			return reason
		}
	}
	return "internal_error"
}

// expireBatch closes a batch that has expired.
func (s *Service) expireBatch(ctx context.Context, j job.LeasedJob) error {
	return s.db.InTx(ctx, "media.expire", func(ctx context.Context, tx *db.Tx) error {
		b, err := s.readBatch(ctx, tx, j.ID, s.db.ForUpdate())
		if err != nil {
			return err
		}
		if err := j.Lock(ctx, tx); err != nil {
			return err
		}
		if tx.Now().Before(b.expiresAt) {
			return j.Postpone(ctx, tx, b.expiresAt)
		}
		_, err = tx.Exec(ctx, `UPDATE upload_files SET state = ?, secret_hash = NULL WHERE job_id = ? AND state = ?`,
			string(Expired), j.ID, string(Waiting))
		if err != nil {
			return fmt.Errorf("expiring upload links: %w", err)
		}
		return s.closeBatch(ctx, tx, j.ID, "upload_expired")
	})
}
