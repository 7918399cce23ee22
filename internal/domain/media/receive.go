package media

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/media/filename"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/failpoint"
)

// receive stages a file's bytes, up to a limit. The caller must discard the result.
func (s *Service) receive(ctx context.Context, team int64, u uploader, f Incoming, b sizeLimit) (*incomingFile, error) {
	file, err := s.begin(ctx, team, u, f.Size, b)
	if err != nil {
		return nil, err
	}
	sender := &sender{Reader: f.Body}
	_, err = file.ReadFrom(sender)
	if sender.err != nil {
		err = errCutOff.Wrap(sender.err)
	}
	if err != nil {
		file.Discard()
		return nil, fmt.Errorf("receiving a file: %w", err)
	}
	return file, nil
}

// sender records errors of reading the request, to distinguish them from errors of staging the file.
type sender struct {
	io.Reader

	err error
}

func (s *sender) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err //nolint:wrapcheck // io.Reader's own errors are what io.Copy looks for
}

var errCutOff = apierr.Invalid(apierr.SizeDiffers, "",
	"The upload ended before the end of the file. Nothing was stored. Send it again.")

var errTooLarge = apierr.New(apierr.UploadTooLarge, "The file exceeds the size limit.")

// Add adds a file to a team's library without an upload link or page.
func (s *Service) Add(ctx context.Context, owner Owner, f Incoming) (AddResult, error) {
	limit, err := s.findSizeLimit(ctx, owner.TeamID, f.Size)
	if err != nil {
		return AddResult{}, err
	}
	staged, err := s.receive(ctx, owner.TeamID, uploader{person: owner.PersonID}, f, limit)
	if err != nil {
		return AddResult{}, err
	}
	defer staged.Discard()
	e, err := s.inspect(ctx, staged)
	if err != nil {
		return AddResult{}, err
	}
	i, exists, err := s.save(ctx, e, placement{owner: owner, name: filename.Stem(f.Name), ext: filename.Extension(f.Name),
		onAdded: func(context.Context, *db.Tx, Item, bool) error { return nil }})
	return AddResult{MediaID: i.ID, Name: i.Name, AlreadyExists: exists}, err
}

// placement says how to add a file to the library.
type placement struct {
	owner      Owner
	folder     int64
	folderName string // name of a folder to create if needed, instead of its ID
	name       string // item name
	ext        string // extension as sent, with the dot
	isReserved bool   // storage was reserved when its link was opened
	// onAdded runs in the transaction that adds the file, with the new or existing item.
	onAdded func(ctx context.Context, tx *db.Tx, i Item, exists bool) error
}

// save returns the library's item for the file, and reports whether it existed before. It creates the item unless the
// team already has the file.
func (s *Service) save(ctx context.Context, f inspectedFile, p placement) (Item, bool, error) {
	original := f.staged.Sum()
	f.uploadedSize = f.staged.Size()
	i, exists, err := findByDigest(ctx, s.db, p.owner.TeamID, original[:])
	if err == nil && !exists {
		i, err = s.saveNew(ctx, f, p, original[:])
	}
	if err != nil {
		return i, false, err
	}
	return s.commit(ctx, i, p)
}

// saveNew stores a new file. It removes the metadata unless the team keeps originals. If an item with the resulting
// bytes already exists, it returns that item.
func (s *Service) saveNew(ctx context.Context, f inspectedFile, p placement, original []byte) (Item, error) {
	if f.metadataEdits.Empty() {
		f.isClean = true
		return s.put(ctx, f, p)
	}
	keepOriginal, err := keepsOriginals(ctx, s.db, p.owner.TeamID)
	if err != nil {
		return Item{}, err
	}
	if keepOriginal {
		return s.put(ctx, f, p)
	}
	f.isClean, f.originalSHA256 = true, original
	if f.staged, err = s.strip(ctx, f); err != nil {
		return Item{}, err
	}
	defer f.staged.Discard()
	digest := f.staged.Sum()
	i, exists, err := findByDigest(ctx, s.db, p.owner.TeamID, digest[:])
	if err != nil || exists {
		return i, err
	}
	return s.put(ctx, f, p)
}

// strip stages a copy without metadata. The caller must discard it.
func (s *Service) strip(ctx context.Context, f inspectedFile) (*blob.Staged, error) {
	if err := s.requireDisk(ctx, f.staged.Size()); err != nil {
		return nil, err
	}
	staged, err := s.Blobs.Stage(ctx)
	if err != nil {
		return nil, fmt.Errorf("removing metadata: %w", err)
	}
	if _, err := io.Copy(staged, f.metadataEdits.Apply(f.staged)); err != nil {
		staged.Discard()
		return nil, fmt.Errorf("removing metadata: %w", err)
	}
	return staged, nil
}

// keepsOriginals reports whether a team stores files with their metadata.
func keepsOriginals(ctx context.Context, q db.Querier, team int64) (bool, error) {
	var keepFlag int64
	if err := q.QueryRow(ctx, `SELECT keep_originals FROM teams WHERE id = ?`, team).Scan(&keepFlag); err != nil {
		return false, fmt.Errorf("reading whether a team keeps original files: %w", err)
	}
	return keepFlag != 0, nil
}

// put stores a file's bytes and thumbnail under a new key, and returns the item to add.
func (s *Service) put(ctx context.Context, f inspectedFile, p placement) (Item, error) {
	digest := f.staged.Sum()
	i := Item{TeamID: p.owner.TeamID, FolderID: p.folder, SHA256: digest[:], OriginalSHA256: f.originalSHA256, Clean: f.isClean,
		Size: f.uploadedSize, StoredSize: f.staged.Size(), Type: f.info.Type, Kind: f.info.Kind,
		Width: f.info.Width, Height: f.info.Height, Duration: f.info.Duration,
		Detail: Detail{
			f.info.VideoCodec, f.info.AudioCodec, f.info.FrameRate, f.info.Orientation, f.info.Animated,
			f.info.DecodeBytes,
		}}
	i.Name, i.FileName = filename.ForType(p.name, p.ext, i.Type)
	i.Blob = newKey(p.owner.TeamID, digest[:])
	if err := s.recordPending(ctx, i.Blob); err != nil {
		return i, err
	}
	err := s.Blobs.Put(ctx, i.Blob, f.staged)
	if err == nil && f.thumbnail != nil {
		i.Thumbnail, i.ThumbnailType = i.Blob+thumbnailSuffix, f.thumbnail.Type
		err = blob.PutBytes(ctx, s.Blobs, i.Thumbnail, f.thumbnail.Bytes)
	}
	if err != nil {
		s.deleteBytes(ctx, i.Blob)
		return i, fmt.Errorf("storing a file: %w", err)
	}
	return i, nil
}

// recordPending records that bytes will be stored, so that the sweep finds them if the upload fails.
func (s *Service) recordPending(ctx context.Context, key string) error {
	err := s.db.InTx(ctx, "media.expect", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO media_pending (blob, created_at) VALUES (?, ?)`, key, db.Micros(tx.Now()))
		return err
	})
	if err != nil {
		return fmt.Errorf("recording that a file is to be stored: %w", err)
	}
	failpoint.Point("before media put")
	return nil
}

const (
	thumbnailSuffix = ".thumb"
	keySuffixLen    = 16 // length of the random suffix
)

// newKey returns a new blob key: TEAM/2 hex digits/SHA-256.TAIL. Because the random tail is never reused, a sweep can
// delete orphaned bytes without affecting later uploads.
func newKey(team int64, digest []byte) string {
	sum := hex.EncodeToString(digest)
	tail := strings.ToLower(rand.Text()[:keySuffixLen])
	return fmt.Sprintf("%d/%s/%s.%s", team, sum[:2], sum, tail)
}

// commit writes a file's item and counts its storage in one transaction. The same transaction completes the job or link
// that the file belongs to. If the transaction fails, the bytes are deleted. If its outcome is unknown, the sweep
// deletes the bytes if they have no item.
func (s *Service) commit(ctx context.Context, i Item, p placement) (Item, bool, error) {
	newItem, result, exists, rolledBack := i, i, i.ID != 0, false
	failpoint.Point("after media put")
	err := s.db.InTx(ctx, "media.add", func(ctx context.Context, tx *db.Tx) error {
		var err error
		result, exists, err = s.addItem(ctx, tx, newItem, p)
		rolledBack = err != nil
		return err
	})
	if newItem.ID == 0 && (rolledBack || err == nil && exists) {
		s.deleteBytes(ctx, newItem.Blob)
	}
	return result, exists, err
}

func (s *Service) addItem(ctx context.Context, tx *db.Tx, i Item, p placement) (Item, bool, error) {
	used, err := s.lockUsage(ctx, tx, p.owner.TeamID)
	if err != nil {
		return i, false, err
	}
	// Check again: another upload of the same file may have finished first.
	existing, exists, err := findByDigests(ctx, tx, p.owner.TeamID, i)
	switch {
	case err != nil:
		return i, false, err
	case exists:
		return existing, true, p.onAdded(ctx, tx, existing, true)
	case i.ID != 0:
		return i, false, fmt.Errorf("media item %d was deleted concurrently", i.ID)
	}
	if err := s.requireStorage(ctx, tx, used, i.Size, p); err != nil {
		return i, false, err
	}
	if err := confirmBytes(ctx, tx, i.Blob); err != nil {
		return i, false, err
	}
	if err := createItem(ctx, tx, &i, p); err != nil {
		return i, false, err
	}
	return i, false, p.onAdded(ctx, tx, i, false)
}

// findByDigests returns the team's item for a file, by the digest of the bytes to store or of the uploaded file, and
// reports whether there is one.
func findByDigests(ctx context.Context, tx *db.Tx, team int64, i Item) (Item, bool, error) {
	existing, exists, err := findByDigest(ctx, tx, team, i.SHA256)
	if err != nil || exists || i.OriginalSHA256 == nil {
		return existing, exists, err
	}
	return findByDigest(ctx, tx, team, i.OriginalSHA256)
}

// createItem inserts a new item in its folder, counts its bytes, and adds an entry to the audit log.
func createItem(ctx context.Context, tx *db.Tx, i *Item, p placement) error {
	if p.folderName != "" {
		var err error
		if i.FolderID, err = ensureFolder(ctx, tx, i.TeamID, p.folderName); err != nil {
			return err
		}
	}
	if err := insert(ctx, tx, i, p.owner); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `UPDATE storage SET used_bytes = used_bytes + ? WHERE team_id = ?`, i.Size,
		i.TeamID); err != nil {
		return fmt.Errorf("counting a file: %w", err)
	}
	by := auditlog.Actor{PersonID: p.owner.PersonID, KeyID: p.owner.KeyID, RequestID: p.owner.RequestID}
	return auditlog.Record(ctx, tx, i.TeamID, by, "media.added", formatID(i.ID),
		map[string]any{"size_bytes": i.Size, "type": i.Type})
}

var errStorageFull = apierr.New(apierr.PlanLimitReached,
	"The media library has too little free storage. Delete files in the app first.").With("limit", "storage_bytes")

// requireStorage returns an error if the plan has too little storage left for a file. Bytes that are reserved for open
// links count as used.
func (s *Service) requireStorage(ctx context.Context, tx *db.Tx, used, size int64, p placement) error {
	limit, err := s.storageLimit(ctx, tx, p.owner.TeamID, tx.Now())
	if err != nil || limit == plan.Unlimited {
		return err
	}
	if !p.isReserved {
		_, promised, err := openLinks(ctx, tx, p.owner.TeamID)
		if err != nil {
			return err
		}
		used += promised
	}
	if size > limit-used {
		return errStorageFull
	}
	return nil
}

// confirmBytes records that stored bytes belong to an item, so that the sweep keeps them. It returns an error if the
// sweep has already claimed them.
func confirmBytes(ctx context.Context, tx *db.Tx, key string) error {
	n, err := tx.Exec(ctx, `DELETE FROM media_pending WHERE blob = ? AND deleting = 0`, key)
	if err == nil && n == 0 {
		err = errors.New("the sweep deleted the bytes before their item was written")
	}
	if err != nil {
		return fmt.Errorf("adding a file: %w", err)
	}
	return nil
}

// deleteBytes deletes bytes without an item, and their thumbnail. If that fails, the sweep deletes them later.
func (s *Service) deleteBytes(ctx context.Context, key string) {
	ctx = context.WithoutCancel(ctx)
	if err := s.deleteOrphan(ctx, key); err != nil {
		s.Log.WarnContext(ctx, "deleting an unused file failed; the cleanup will retry", "blob", key, "error", err)
	}
}
