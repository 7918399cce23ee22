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

	"pressroom/internal/apierr"
	"pressroom/internal/auth/apikey"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/core/pipeline"
	"pressroom/internal/domain/job"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/disk"
)

// VerifiedLink is a one-time upload link whose secret was shown.
type VerifiedLink struct {
	id    string
	hash  [32]byte
	batch batch
	file  batchFile
}

var (
	errNoLink      = apierr.New(apierr.NotFound, "There is no such upload link.")
	errWrongSecret = apierr.New(apierr.Unauthorized,
		"Send the upload secret of this link in the Authorization header, as the answer that opened the batch says. A "+
			"repeat of that call makes a new one and ends the old.")
	errLinkUsed   = apierr.New(apierr.UploadLinkUsed, "The file of this link has arrived already.")
	errLinkClosed = apierr.New(apierr.UploadLinkClosed,
		"This link has expired, or its batch was replaced. Open a new one.")
)

// Link finds an upload link before any byte of the file is read. A link that is not there is not_found, another secret
// unauthorized, one that is over upload_link_closed, and one that was used says so to its own secret.
func (s *Service) Link(ctx context.Context, id, presented string) (VerifiedLink, error) {
	l := VerifiedLink{id: id, hash: apikey.Hash(presented)}
	if !utf8.ValidString(id) || strings.Contains(id, "\x00") {
		return l, errNoLink // PostgreSQL cannot look for what is no text
	}
	var jobID string
	var stored []byte
	err := s.db.QueryRow(ctx, `SELECT job_id, secret_hash FROM upload_files WHERE id = ?`, id).Scan(&jobID, &stored)
	if errors.Is(err, sql.ErrNoRows) {
		return l, errNoLink
	}
	if err != nil {
		return l, fmt.Errorf("looking for an upload link: %w", err)
	}
	if l.batch, err = s.readBatch(ctx, s.db, jobID, ""); err != nil {
		return l, err
	}
	n := slices.IndexFunc(l.batch.files, func(f batchFile) bool { return f.id == id })
	if n < 0 { // its job was forgotten just now
		return l, errNoLink
	}
	l.file = l.batch.files[n]
	if err := l.open(stored, s.db.Now()); err != nil {
		return l, err
	}
	return l, s.stillMeant(ctx, s.db, l.batch) // told to whoever has the secret alone
}

// open refuses a link that takes no file.
func (l VerifiedLink) open(stored []byte, now time.Time) error {
	switch {
	case l.file.state == Replaced || l.file.state == Expired || l.file.state == Waiting && !now.Before(l.batch.expires):
		return errLinkClosed
	case len(stored) == 0 || subtle.ConstantTimeCompare(stored, l.hash[:]) != 1:
		return errWrongSecret
	case l.file.state != Waiting:
		return errLinkUsed
	}
	return nil
}

// stillMeant refuses links of a key that could not open them now: it is no more, its level is below writing, or
// something stands in its way.
func (s *Service) stillMeant(ctx context.Context, q db.Querier, b batch) error {
	actor, err := s.Keys.Standing(ctx, q, b.key)
	if err != nil {
		return err
	}
	if actor == nil {
		return apierr.New(apierr.Unauthorized, "The key that opened this link does not work any more.")
	}
	if err := pipeline.Gates(actor); err != nil {
		return err
	}
	return operation.Call{Actor: actor}.Require(access.Write)
}

// Receive takes the file of a link: exactly the bytes that were described, else a refusal that leaves the link open.
func (s *Service) Receive(ctx context.Context, l VerifiedLink, f Incoming) (Arrived, error) {
	if err := l.mayBe(f); err != nil {
		return Arrived{}, err
	}
	f.Size = l.file.size
	staged, err := s.receive(ctx, l.batch.team, uploader{link: l.id}, f, bound{l.file.size, errTooLarge})
	if err != nil && !s.db.Now().Before(l.batch.expires) {
		return Arrived{}, errLinkClosed
	}
	if err != nil {
		return Arrived{}, err
	}
	defer staged.Discard()
	digest := staged.Sum()
	switch {
	case staged.Size() != l.file.size:
		return Arrived{}, errSizeDiffers
	case subtle.ConstantTimeCompare(digest[:], l.file.digest) != 1:
		return Arrived{}, apierr.Invalid(apierr.DigestDiffers, "",
			"The bytes are others than those described: their SHA-256 differs. Send the described file, or open "+
				"another batch.")
	}
	e, err := s.examine(ctx, staged)
	if apierr.Is(err, apierr.ValidationFailed) || apierr.Is(err, apierr.UploadTooLarge) {
		return Arrived{}, s.refuse(ctx, l, err)
	}
	if err != nil {
		return Arrived{}, err
	}
	i, already, err := s.keep(ctx, e, placement{
		by: Owner{TeamID: l.batch.team, PersonID: l.batch.person, KeyID: l.batch.key}, folder: l.batch.folder,
		name: stem(l.file.name), ext: extension(l.file.name), promised: true,
		settle: func(ctx context.Context, tx *db.Tx, i Item, _ bool) error { return s.settleLink(ctx, tx, l, i) },
	})
	return Arrived{MediaID: i.ID, Name: i.Name, Already: already}, err
}

var errSizeDiffers = apierr.Invalid(apierr.SizeDiffers, "",
	"The file has another size than described. Send the described file, or open another batch.")

// mayBe refuses what cannot be the described file, before a byte of it is read.
func (l VerifiedLink) mayBe(f Incoming) error {
	kind, described := essence(f.Type), essence(l.file.mimeType)
	switch {
	case f.Size > l.file.size:
		return apierr.New(apierr.UploadTooLarge,
			"The file is larger than described. Send the described file, or open another batch.")
	case f.Size >= 0 && f.Size < l.file.size:
		return errSizeDiffers
	case f.Type == "" || kind == "application/octet-stream" || kind == "binary/octet-stream" ||
		described != "" && kind == described || described == "" && slices.Contains(Types, kind):
		return nil
	}
	return apierr.Invalid(apierr.TypeDiffers, "",
		"Send the file's own Content-Type, as described, or application/octet-stream.")
}

// settleLink notes that the file of a link has arrived. It may have been replaced or used while the bytes came.
func (s *Service) settleLink(ctx context.Context, tx *db.Tx, l VerifiedLink, i Item) error {
	b, err := s.readBatch(ctx, tx, l.batch.job, s.db.ForUpdate()) // the batch before its files, as everywhere
	if err != nil {
		return err
	}
	if !tx.Now().Before(b.expires) {
		return errLinkClosed
	}
	if err := s.stillMeant(ctx, tx, b); err != nil { // it may have changed while the bytes came
		return err
	}
	n, err := tx.Exec(ctx,
		`UPDATE upload_files SET state = ?, media_id = ?, arrived_at = ?
		WHERE id = ? AND state = ? AND secret_hash = ?`,
		string(Stored), i.ID, db.Micros(tx.Now()), l.id, string(Waiting), l.hash[:])
	if err != nil {
		return fmt.Errorf("settling an upload link: %w", err)
	}
	if n == 0 {
		return s.whyNot(ctx, tx, l)
	}
	return s.settleBatch(ctx, tx, l.batch.job)
}

// whyNot tells what became of a link while its bytes came.
func (s *Service) whyNot(ctx context.Context, tx *db.Tx, l VerifiedLink) error {
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

// settleBatch ends a batch once none of its files waits, and tells its job how far it is until then. A batch that
// was opened for the page alone stays open for more.
func (s *Service) settleBatch(ctx context.Context, tx *db.Tx, id string) error {
	b, err := s.readBatch(ctx, tx, id, s.db.ForUpdate())
	if err != nil {
		return err
	}
	links, _ := b.waiting()
	described := slices.ContainsFunc(b.files, func(f batchFile) bool { return !f.byPage })
	if links == 0 && described {
		return s.closeBatch(ctx, tx, id, "")
	}
	if _, err := tx.Exec(ctx, `UPDATE jobs SET total = ? WHERE id = ? AND finished_at = 0`, len(b.files),
		id); err != nil {
		return fmt.Errorf("counting the files of a batch: %w", err)
	}
	return job.Advance(ctx, tx, id, len(b.files)-links)
}

// refuse ends a link whose very bytes the library does not take: they would never be taken.
func (s *Service) refuse(ctx context.Context, l VerifiedLink, cause error) error {
	err := s.db.InTx(ctx, "media.refuse", func(ctx context.Context, tx *db.Tx) error {
		if _, err := s.readBatch(ctx, tx, l.batch.job, s.db.ForUpdate()); err != nil {
			return err
		}
		n, err := tx.Exec(ctx,
			`UPDATE upload_files SET state = ?, reason = ?, arrived_at = ?
		WHERE id = ? AND state = ? AND secret_hash = ?`,
			string(Refused), reasonOf(cause), db.Micros(tx.Now()), l.id, string(Waiting), l.hash[:])
		if err != nil {
			return fmt.Errorf("refusing a file: %w", err)
		}
		if n == 0 {
			return s.whyNot(ctx, tx, l)
		}
		return s.settleBatch(ctx, tx, l.batch.job)
	})
	if err != nil {
		return err
	}
	return cause
}

// refusesFile reports whether an error is a refusal of the file, as opposed to a failure that may pass.
func refusesFile(err error) bool {
	f, is := errors.AsType[*apierr.Error](err)
	return is && !f.IsServerError() && f.Code != apierr.RateLimited
}

// endsJob reports whether an error ends a job that was to bring a file, which then has reasonOf for its code.
func endsJob(err error) bool { return refusesFile(err) || errors.Is(err, disk.ErrLow) }

// reasonOf is the reason of a refused file (contract, job error codes).
func reasonOf(cause error) string {
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

// expireBatch closes a batch whose time is over.
func (s *Service) expireBatch(ctx context.Context, h job.LeasedJob) error {
	return s.db.InTx(ctx, "media.expire", func(ctx context.Context, tx *db.Tx) error {
		b, err := s.readBatch(ctx, tx, h.ID, s.db.ForUpdate())
		if err != nil {
			return err
		}
		if err := h.Lock(ctx, tx); err != nil {
			return err
		}
		if tx.Now().Before(b.expires) {
			return h.Postpone(ctx, tx, b.expires)
		}
		_, err = tx.Exec(ctx, `UPDATE upload_files SET state = ?, secret_hash = NULL WHERE job_id = ? AND state = ?`,
			string(Expired), h.ID, string(Waiting))
		if err != nil {
			return fmt.Errorf("expiring upload links: %w", err)
		}
		return s.closeBatch(ctx, tx, h.ID, "upload_expired")
	})
}
