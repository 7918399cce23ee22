package media

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/media/filename"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// Batch is an upload batch as shown to a person who may upload to it.
type Batch struct {
	ID        string // the job's ID without its type
	TeamID    int64
	TeamName  string
	Open      bool
	ExpiresAt time.Time
	Files     []BatchFile
	Limits    UploadBatchLimits
}

// BatchFile is one file of a batch.
type BatchFile struct {
	Name      string
	Size      int64 // bytes
	State     State
	MediaID   int64 // 0 until it is stored
	Reason    string
	Kind      string // kind of a stored file
	Alt       string // alternative text of a stored image
	Thumbnail bool
}

// maxPageFiles is the maximum number of files in a batch, including those added on the page.
const maxPageFiles = 200

// Batch returns a batch for a person. It returns not_found if the person may not write in its team.
func (s *Service) Batch(ctx context.Context, person int64, id string) (Batch, error) {
	b, name, err := s.findBatchForPerson(ctx, person, id)
	if err != nil {
		return Batch{}, err
	}
	out := Batch{
		ID: id, TeamID: b.team, TeamName: name, ExpiresAt: b.expiresAt, Open: b.isOpen(s.db.Now()),
		Limits: s.uploadLimits(),
	}
	for _, f := range b.files {
		file := BatchFile{Name: filename.Display(f.name), Size: f.size, State: f.state, MediaID: f.media,
			Reason: f.reason}
		if f.media != 0 {
			i, err := findItem(ctx, s.db, b.team, f.media)
			if err != nil && !apierr.Is(err, apierr.NotFound) {
				return out, err
			}
			file.Kind, file.Alt, file.Thumbnail = i.Kind, i.Alt, i.Thumbnail != ""
			if file.Name == "" {
				file.Name = i.FileName
			}
		}
		out.Files = append(out.Files, file)
	}
	return out, nil
}

func (b batchRecord) isOpen(now time.Time) bool { return !b.closed && now.Before(b.expiresAt) }

// findBatchForPerson returns a batch and the name of its team. It returns not_found if the person may not write in the
// team.
func (s *Service) findBatchForPerson(ctx context.Context, person int64, id string) (batchRecord, string, error) {
	b, err := s.readBatch(ctx, s.db, string(job.MediaImport)+":"+id, "")
	if errors.Is(err, sql.ErrNoRows) {
		return b, "", apierr.ItemNotFound()
	}
	if err != nil {
		return b, "", err
	}
	name, err := s.requireWrite(ctx, person, b.team)
	return b, name, err
}

// requireWrite returns a team's name, or not_found if the person may not write in it.
func (s *Service) requireWrite(ctx context.Context, person, team int64) (string, error) {
	name, role, err := s.findRole(ctx, person, team)
	if err == nil && !slices.Contains(access.EffectiveCapabilities(access.Full, role), access.Write) {
		err = apierr.ItemNotFound()
	}
	return name, err
}

// findRole returns a team's name and the person's role in it. It returns not_found for a suspended person, a person who
// is not a member, and a closed team.
func (s *Service) findRole(ctx context.Context, person, team int64) (string, access.Role, error) {
	var name string
	var role access.Role
	err := s.db.QueryRow(ctx,
		`SELECT t.name, m.role FROM memberships m JOIN teams t ON t.id = m.team_id JOIN people p ON p.id = m.person_id
		WHERE m.team_id = ? AND m.person_id = ? AND t.closed_at = 0 AND p.held_at = 0`, team, person).Scan(&name, &role)
	if errors.Is(err, sql.ErrNoRows) {
		return "", "", apierr.ItemNotFound()
	}
	if err != nil {
		return "", "", fmt.Errorf("finding a membership: %w", err)
	}
	return name, role, nil
}

// CheckBatchForm is like CheckForm, but for a form on the upload page of a batch.
func (s *Service) CheckBatchForm(ctx context.Context, person int64, id string, length int64) error {
	b, _, err := s.findBatchForPerson(ctx, person, id)
	if err != nil {
		return err
	}
	pendingBytes := int64(0)
	for _, f := range b.files {
		if f.state == Waiting {
			pendingBytes += f.size
		}
	}
	return s.checkForm(ctx, b.team, pendingBytes, length)
}

// AddToBatch adds a file that a person chose on a batch's upload page.
func (s *Service) AddToBatch(ctx context.Context, person int64, id string, f Incoming) (AddResult, error) {
	b, _, err := s.findBatchForPerson(ctx, person, id)
	if err != nil {
		return AddResult{}, err
	}
	switch {
	case apikey.ContainsSecret(f.Name):
		return AddResult{}, errSecret.With("argument", "name")
	case !b.isOpen(s.db.Now()):
		return AddResult{}, errPageClosed
	case len(b.files) >= maxPageFiles:
		return AddResult{}, errPageFull
	}
	limit, err := s.findSizeLimitInBatch(ctx, b, f.Size)
	if err != nil {
		return AddResult{}, err
	}
	staged, err := s.receive(ctx, b.team, uploader{person: person}, f, limit)
	if err != nil {
		return AddResult{}, err
	}
	defer staged.Discard()
	if f.Size >= 0 && staged.Size() != f.Size {
		return AddResult{}, errSizeDiffers
	}
	return s.addToBatch(ctx, person, b, f, staged)
}

// findSizeLimitInBatch is like findSizeLimit, but for a file that may be one of the batch's pending files.
func (s *Service) findSizeLimitInBatch(ctx context.Context, b batchRecord, size int64) (sizeLimit, error) {
	out, err := s.findSizeLimit(ctx, b.team, size)
	for _, f := range b.files {
		if f.state == Waiting && (f.size == size || size < 0) && f.size > out.max {
			out.max = f.size
		}
	}
	return out, err
}

var (
	errSecret = apierr.Invalid(apierr.SecretInArgument, "",
		"This text contains an API key or an upload secret. Nothing was saved. Remove it, and replace the secret "+
			"if others may have seen it.")
	errPageClosed = apierr.New(apierr.UploadLinkClosed,
		"This page is closed or has expired. Open a new one.")
	errPageFull = apierr.New(apierr.PlanLimitReached,
		"This page has reached its maximum number of files. Open a new one.")
)

func (s *Service) addToBatch(ctx context.Context, person int64, b batchRecord, f Incoming,
	staged *incomingFile) (AddResult, error) {
	digest := staged.Sum()
	file := batchFileRecord{
		id: uuid.Must(uuid.NewV7()).String(), digest: digest[:], size: staged.Size(), name: filename.Display(f.Name),
		addedOnPage: true,
		state:       Stored,
	}
	e, err := s.inspect(ctx, staged)
	var i Item
	exists := false
	if err == nil {
		i, exists, err = s.save(ctx, e, placement{
			owner: Owner{TeamID: b.team, PersonID: person}, folder: b.folder, name: filename.Stem(file.name),
			ext: filename.Extension(file.name),
			isReserved: slices.ContainsFunc(b.files, func(f batchFileRecord) bool {
				return f.state == Waiting && bytes.Equal(f.digest, digest[:])
			}),
			onAdded: func(ctx context.Context, tx *db.Tx, i Item, _ bool) error {
				file.media = i.ID
				return s.recordPageFile(ctx, tx, b.job, file)
			},
		})
	}
	if rejectsFile(err) && !apierr.Is(err, apierr.UploadLinkClosed) {
		file.state, file.reason = Refused, rejectionReason(err)
		recordErr := s.db.InTx(ctx, "media.page_rejected", func(ctx context.Context, tx *db.Tx) error {
			return s.recordPageFile(ctx, tx, b.job, file)
		})
		return AddResult{}, errors.Join(err, recordErr)
	}
	return AddResult{MediaID: i.ID, Name: i.Name, AlreadyExists: exists}, err
}

// recordPageFile records a file that was sent on the page. The file is one of the batch's files or an additional file.
func (s *Service) recordPageFile(ctx context.Context, tx *db.Tx, id string, f batchFileRecord) error {
	b, err := s.readBatch(ctx, tx, id, s.db.ForUpdate())
	if err != nil {
		return err
	}
	if !b.isOpen(tx.Now()) {
		return errPageClosed
	}
	f.arrivedAt = db.Micros(tx.Now())
	index := slices.IndexFunc(b.files, func(w batchFileRecord) bool {
		return bytes.Equal(w.digest, f.digest) && w.size == f.size && (w.state == Waiting || w.addedOnPage)
	})
	switch {
	case index < 0 && len(b.files) >= maxPageFiles: // other files were added concurrently
		return errPageFull
	case index < 0:
		err = insertFile(ctx, tx, b, len(b.files), f)
	default:
		_, err = tx.Exec(ctx,
			`UPDATE upload_files SET state = ?, media_id = ?, reason = ?, arrived_at = ? WHERE id = ?`, string(f.state),
			f.media, f.reason, f.arrivedAt, b.files[index].id)
	}
	if err != nil {
		return fmt.Errorf("recording a file of the page: %w", err)
	}
	return s.updateBatch(ctx, tx, id)
}

// CloseBatch closes a batch when a person has uploaded everything. Pending files are no longer accepted.
func (s *Service) CloseBatch(ctx context.Context, person int64, id string) error {
	b, _, err := s.findBatchForPerson(ctx, person, id)
	if err != nil {
		return err
	}
	return s.db.InTx(ctx, "media.close_batch", func(ctx context.Context, tx *db.Tx) error {
		if b, err = s.readBatch(ctx, tx, b.job, s.db.ForUpdate()); err != nil || b.closed {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE upload_files SET state = ?, secret_hash = NULL WHERE job_id = ? AND state = ?`,
			string(Expired), b.job, string(Waiting))
		if err != nil {
			return fmt.Errorf("closing upload links: %w", err)
		}
		if err := auditlog.Record(ctx, tx, b.team, auditlog.Actor{PersonID: person}, "uploads.closed", b.job,
			nil); err != nil {
			return err
		}
		return s.closeBatch(ctx, tx, b.job, "upload_closed")
	})
}

// maxAltLength is the maximum length of alternative text in characters.
const maxAltLength = 1000

// Describe sets an image's alternative text. If posts with the image were shown to clients, they need approval again.
// See Options.OnAltTextChanged.
func (s *Service) Describe(ctx context.Context, person, id int64, alt string) error {
	alt = strings.TrimSpace(sanitizeText(alt))
	if apikey.ContainsSecret(alt) {
		return errSecret.With("argument", "alt")
	}
	if utf8.RuneCountInString(alt) > maxAltLength {
		return apierr.Invalidf(apierr.TooLong, "alt", "Alt text can have at most %d characters.",
			maxAltLength)
	}
	i, err := s.findItemForPerson(ctx, person, id)
	if err != nil {
		return err
	}
	if _, err := s.requireWrite(ctx, person, i.TeamID); err != nil {
		return err
	}
	return s.db.InTx(ctx, "media.describe", func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE media SET alt = ? WHERE id = ? AND deleted_at = 0 AND alt <> ?`, alt, id, alt)
		if err != nil {
			return fmt.Errorf("describing an image: %w", err)
		}
		if n == 0 {
			return nil
		}
		if s.OnAltTextChanged != nil {
			if err := s.OnAltTextChanged(ctx, tx, person, i.TeamID, id); err != nil {
				return err
			}
		}
		return auditlog.Record(ctx, tx, i.TeamID, auditlog.Actor{PersonID: person}, "media.described", formatID(id), nil)
	})
}

// findItemForPerson returns an item that belongs to one of a person's teams.
func (s *Service) findItemForPerson(ctx context.Context, person, id int64) (Item, error) {
	var team int64
	err := s.db.QueryRow(ctx, `SELECT team_id FROM media WHERE id = ?`, id).Scan(&team)
	if errors.Is(err, sql.ErrNoRows) {
		return Item{}, apierr.ItemNotFound()
	}
	if err != nil {
		return Item{}, fmt.Errorf("finding a media item: %w", err)
	}
	_, role, err := s.findRole(ctx, person, team)
	if err == nil && role == access.Client {
		err = s.requireShown(ctx, team, id)
	}
	if err != nil {
		return Item{}, err
	}
	return findItem(ctx, s.db, team, id)
}

// requireShown returns not_found unless one of the team's posts uses the item. Clients can open only such items.
func (s *Service) requireShown(ctx context.Context, team, id int64) error {
	found, err := uses(ctx, s.db, team, id, 1)
	if err == nil && len(found) == 0 {
		err = apierr.ItemNotFound()
	}
	return err
}

// sanitizeText returns a text without parts that the database rejects: invalid UTF-8 and NUL.
func sanitizeText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
}
