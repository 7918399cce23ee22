package media

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/core/plan"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/blob"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/failpoint"
	"pressroom/internal/platform/mediainfo"
	"pressroom/internal/platform/stripmeta"
	"pressroom/internal/platform/thumbnail"
)

// thumbnailSide is the longest side of a thumbnail, in pixels.
const thumbnailSide = 512

// receive takes a file's bytes into the store's staging, within a bound. The caller discards what it returns.
func (s *Service) receive(ctx context.Context, team int64, by uploader, f Incoming, b bound) (*arrival, error) {
	a, err := s.begin(ctx, team, by, f.Size, b)
	if err != nil {
		return nil, err
	}
	sender := &sender{Reader: f.Body}
	_, err = a.ReadFrom(sender)
	if sender.err != nil {
		err = errCutOff.Wrap(sender.err)
	}
	if err != nil {
		a.Discard()
		return nil, fmt.Errorf("receiving a file: %w", err)
	}
	return a, nil
}

// sender keeps apart whose fault it was that a file did not arrive.
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
	"The bytes ended before the file did. Nothing was kept; send it again.")

var errTooLarge = apierr.New(apierr.UploadTooLarge, "The file is larger than it may be.")

// examined is a received file with what its bytes tell.
type examined struct {
	staged    *blob.Staged
	info      mediainfo.Info
	metadata  stripmeta.Edits // that remove it
	clean     bool            // it has none any more
	original  []byte          // SHA-256 of the file as it arrived, if its metadata was removed
	arrived   int64           // bytes of the file as it arrived
	thumbnail *thumbnail.Made
}

// examine reads what a received file is. A file of another type, and a damaged one, is type_refused.
func (s *Service) examine(ctx context.Context, staged *arrival) (examined, error) {
	out := examined{staged: staged.Staged}
	var err error
	if out.info, err = mediainfo.Read(staged, staged.Size()); err != nil {
		return out, refusedType(err)
	}
	if out.info.Kind == Image && staged.Size() > s.Terms.Limits.MaxImageBytes {
		return out, s.errImageTooLarge()
	}
	out.metadata, err = findMetadata(ctx, staged, staged.Size(), out.info)
	switch {
	case errors.Is(err, mediainfo.ErrDamaged):
		return out, refusedType(err)
	case errors.Is(err, thumbnail.ErrSlow):
		return out, errPictureSlow
	case err != nil:
		return out, err
	}
	if out.info.Kind == Video {
		return out, nil
	}
	// Every image of the library can be decoded: one that could not be made to fit a network later is refused now.
	made, err := s.pictures.Thumbnail(ctx, staged.team, io.NewSectionReader(staged, 0, staged.Size()), out.info,
		thumbnailSide)
	switch {
	case errors.Is(err, thumbnail.ErrTooLarge):
		return out, errTooManyPixels
	case errors.Is(err, thumbnail.ErrSlow):
		return out, errPictureSlow
	case errors.Is(err, thumbnail.ErrBusy):
		return out, errPicturesBusy
	case errors.Is(err, mediainfo.ErrDamaged), errors.Is(err, thumbnail.ErrUnsupported):
		return out, refusedType(err)
	case err != nil:
		return out, fmt.Errorf("making a thumbnail: %w", err)
	}
	out.thumbnail = &made
	return out, nil
}

// imageWithin bounds the search for the metadata of an image, which decompresses all its pixels.
const imageWithin = 30 * time.Second

// findMetadata finds the metadata in the first size bytes of r. It stops at the next read once the context is done, or
// with thumbnail.ErrSlow if an image takes longer than imageWithin. Other errors are those of stripmeta.Scan.
func findMetadata(ctx context.Context, r io.ReaderAt, size int64, info mediainfo.Info) (stripmeta.Edits, error) {
	if info.Kind == Image {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, imageWithin, thumbnail.ErrSlow)
		defer cancel()
	}
	edits, err := stripmeta.Scan(readerAt(func(p []byte, off int64) (int, error) {
		if err := context.Cause(ctx); err != nil {
			return 0, err
		}
		return r.ReadAt(p, off)
	}), size, info.Type)
	if err != nil {
		return edits, fmt.Errorf("looking for metadata: %w", err)
	}
	return edits, nil
}

// readerAt is a function that reads at an offset.
type readerAt func(p []byte, off int64) (int, error)

func (r readerAt) ReadAt(p []byte, off int64) (int, error) { return r(p, off) }

func (s *Service) errImageTooLarge() error {
	return apierr.New(apierr.UploadTooLarge,
		fmt.Sprintf("An image may have at most %d bytes.", s.Terms.Limits.MaxImageBytes))
}

var errTooManyPixels = apierr.New(apierr.UploadTooLarge,
	"The image has more pixels than the library works with: about 60 megapixels of a PNG, 85 of a JPEG. Make "+
		"it smaller.")

// picturesWait is how long a caller waits before pictures of a team with a backlog are asked for again.
const picturesWait = 5 * time.Second

var errPicturesBusy = apierr.New(apierr.Unavailable,
	"Too many images of this team are being processed. Nothing was kept: send the file again after the wait.").
	With("reason", apierr.Busy).After(picturesWait)

var errPictureSlow = apierr.New(apierr.Unavailable,
	"The image took too long to decode. Nothing was kept: send it again later, or save it again with fewer pixels or "+
		"as a baseline JPEG.").
	With("reason", apierr.Busy).After(picturesWait)

var errVideosBusy = apierr.New(apierr.Unavailable,
	"Too many videos of this team are being processed. Nothing was changed: try again after the wait.").
	With("reason", apierr.Busy).After(picturesWait)

// refusedType tells why a file is not taken; what a probe says is made for people.
func refusedType(err error) error {
	detail := "The library takes JPEG, PNG, WebP and GIF images and MP4 and QuickTime videos; the file's bytes are " +
		"none of these."
	if damaged, ok := errors.AsType[*mediainfo.DamageError](err); ok {
		detail = "The file is damaged or out of bounds: " + damaged.Reason + "."
	}
	if errors.Is(err, thumbnail.ErrUnsupported) {
		detail = "The image is of a variant of its type that networks and browsers do not show. Save it anew."
	}
	return apierr.Invalid(apierr.TypeRefused, "", detail).Wrap(err)
}

// Add puts a file into a team's library that neither a link nor a page was opened for.
func (s *Service) Add(ctx context.Context, by Owner, f Incoming) (Arrived, error) {
	most, err := s.bound(ctx, by.TeamID, f.Size)
	if err != nil {
		return Arrived{}, err
	}
	staged, err := s.receive(ctx, by.TeamID, uploader{person: by.PersonID}, f, most)
	if err != nil {
		return Arrived{}, err
	}
	defer staged.Discard()
	e, err := s.examine(ctx, staged)
	if err != nil {
		return Arrived{}, err
	}
	i, already, err := s.keep(ctx, e, placement{by: by, name: stem(f.Name), ext: extension(f.Name),
		settle: func(context.Context, *db.Tx, Item, bool) error { return nil }})
	return Arrived{MediaID: i.ID, Name: i.Name, Already: already}, err
}

// placement says where a file goes in the library.
type placement struct {
	by       Owner
	folder   int64
	into     string // name of the folder, made where it is not there, in place of its id
	name     string // what it is called
	ext      string // the extension that its sender gave it, with the dot
	promised bool   // room was set aside for it when its link was opened
	// settle runs in the transaction that adds the file, with the item that stands for it.
	settle func(ctx context.Context, tx *db.Tx, i Item, already bool) error
}

// keep puts a file into the library: the item that is there already where the team has the file, else a new one.
func (s *Service) keep(ctx context.Context, e examined, p placement) (Item, bool, error) {
	original := e.staged.Sum()
	e.arrived = e.staged.Size()
	i, already, err := byDigest(ctx, s.db, p.by.TeamID, original[:])
	if err == nil && !already {
		i, err = s.store(ctx, e, p, original[:])
	}
	if err != nil {
		return i, false, err
	}
	return s.enter(ctx, i, p)
}

// store stores a file that the team does not have, without its metadata unless the team keeps that. The bytes that
// are left may be those of an item; then it returns that item.
func (s *Service) store(ctx context.Context, e examined, p placement, original []byte) (Item, error) {
	if e.metadata.Empty() {
		e.clean = true
		return s.put(ctx, e, p)
	}
	kept, err := keepsOriginals(ctx, s.db, p.by.TeamID)
	if err != nil {
		return Item{}, err
	}
	if kept {
		return s.put(ctx, e, p)
	}
	e.clean, e.original = true, original
	if e.staged, err = s.strip(ctx, e); err != nil {
		return Item{}, err
	}
	defer e.staged.Discard()
	digest := e.staged.Sum()
	i, already, err := byDigest(ctx, s.db, p.by.TeamID, digest[:])
	if err != nil || already {
		return i, err
	}
	return s.put(ctx, e, p)
}

// strip stages the file without its metadata. The caller discards it.
func (s *Service) strip(ctx context.Context, e examined) (*blob.Staged, error) {
	if err := s.diskTakes(ctx, e.staged.Size()); err != nil {
		return nil, err
	}
	staged, err := s.Blobs.Stage(ctx)
	if err != nil {
		return nil, fmt.Errorf("removing metadata: %w", err)
	}
	if _, err := io.Copy(staged, e.metadata.Apply(e.staged)); err != nil {
		staged.Discard()
		return nil, fmt.Errorf("removing metadata: %w", err)
	}
	return staged, nil
}

// keepsOriginals reports whether a team stores files with their metadata.
func keepsOriginals(ctx context.Context, q db.Querier, team int64) (bool, error) {
	var keeps int64
	if err := q.QueryRow(ctx, `SELECT keep_originals FROM teams WHERE id = ?`, team).Scan(&keeps); err != nil {
		return false, fmt.Errorf("reading whether a team keeps original files: %w", err)
	}
	return keeps != 0, nil
}

// put stores a file's bytes under a key of their own.
func (s *Service) put(ctx context.Context, e examined, p placement) (Item, error) {
	digest := e.staged.Sum()
	i := Item{TeamID: p.by.TeamID, FolderID: p.folder, SHA256: digest[:], Original: e.original, Clean: e.clean,
		Size: e.arrived, Stored: e.staged.Size(), Type: e.info.Type, Kind: e.info.Kind,
		Width: e.info.Width, Height: e.info.Height, Duration: e.info.Duration,
		Detail: Detail{
			e.info.VideoCodec, e.info.AudioCodec, e.info.FrameRate, e.info.Orientation, e.info.Animated,
			e.info.DecodeBytes,
		}}
	i.Name, i.FileName = called(p.name, p.ext, i.Type)
	i.Blob = newKey(p.by.TeamID, digest[:])
	if err := s.expect(ctx, i.Blob); err != nil {
		return i, err
	}
	err := s.Blobs.Put(ctx, i.Blob, e.staged)
	if err == nil && e.thumbnail != nil {
		i.Thumbnail, i.ThumbnailType = i.Blob+thumbnailEnding, e.thumbnail.Type
		err = s.putBytes(ctx, i.Thumbnail, e.thumbnail.Bytes)
	}
	if err != nil {
		s.drop(ctx, i.Blob)
		return i, fmt.Errorf("storing a file: %w", err)
	}
	return i, nil
}

// expect notes that bytes are about to be stored, so that they are found if nothing comes of them.
func (s *Service) expect(ctx context.Context, key string) error {
	err := s.db.InTx(ctx, "media.expect", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO media_pending (blob, created_at) VALUES (?, ?)`, key, db.Micros(tx.Now()))
		return err
	})
	if err != nil {
		return fmt.Errorf("noting that a file is to be stored: %w", err)
	}
	failpoint.Point("before media put")
	return nil
}

func (s *Service) putBytes(ctx context.Context, key string, raw []byte) error {
	staged, err := s.Blobs.Stage(ctx)
	if err != nil {
		return err
	}
	defer staged.Discard()
	if _, err := staged.Write(raw); err != nil {
		return err
	}
	return s.Blobs.Put(ctx, key, staged)
}

const (
	thumbnailEnding = ".thumb"
	keyTail         = 16 // letters that make a key unlike any other of the same file
)

// newKey makes the key of a blob: TEAM/2 hex digits/SHA-256.TAIL. The tail makes it one that was never used, so that
// a sweep that found it without an item can take it away whatever arrives meanwhile.
func newKey(team int64, digest []byte) string {
	sum := hex.EncodeToString(digest)
	tail := strings.ToLower(rand.Text()[:keyTail])
	return fmt.Sprintf("%d/%s/%s.%s", team, sum[:2], sum, tail)
}

// enter writes a file's item, counts it and settles what brought it, in one transaction. The bytes of an item that
// does not come to stand are taken away again, unless it is unclear whether it does: the sweep finds those.
func (s *Service) enter(ctx context.Context, i Item, p placement) (Item, bool, error) {
	fresh, standing, already, undone := i, i, i.ID != 0, false
	failpoint.Point("after media put")
	err := s.db.InTx(ctx, "media.add", func(ctx context.Context, tx *db.Tx) error {
		var err error
		standing, already, err = s.add(ctx, tx, fresh, p)
		undone = err != nil
		return err
	})
	if fresh.ID == 0 && (undone || err == nil && already) {
		s.drop(ctx, fresh.Blob)
	}
	return standing, already, err
}

func (s *Service) add(ctx context.Context, tx *db.Tx, i Item, p placement) (Item, bool, error) {
	used, err := s.used(ctx, tx, p.by.TeamID)
	if err != nil {
		return i, false, err
	}
	// Looked for again: another arrival of the same file may have been quicker.
	standing, already, err := byDigests(ctx, tx, p.by.TeamID, i)
	switch {
	case err != nil:
		return i, false, err
	case already:
		return standing, true, p.settle(ctx, tx, standing, true)
	case i.ID != 0:
		return i, false, fmt.Errorf("media item %d is gone", i.ID)
	}
	if err := s.fits(ctx, tx, used, i.Size, p); err != nil {
		return i, false, err
	}
	if err := arrived(ctx, tx, i.Blob); err != nil {
		return i, false, err
	}
	if err := create(ctx, tx, &i, p); err != nil {
		return i, false, err
	}
	return i, false, p.settle(ctx, tx, i, false)
}

// byDigests finds the item that a team has of a file, by the digest of what would be stored or of the file as it
// arrived.
func byDigests(ctx context.Context, tx *db.Tx, team int64, i Item) (Item, bool, error) {
	standing, already, err := byDigest(ctx, tx, team, i.SHA256)
	if err != nil || already || i.Original == nil {
		return standing, already, err
	}
	return byDigest(ctx, tx, team, i.Original)
}

// create writes a new item into its folder, counts its bytes and records that it was added.
func create(ctx context.Context, tx *db.Tx, i *Item, p placement) error {
	if p.into != "" {
		var err error
		if i.FolderID, err = ensureFolder(ctx, tx, i.TeamID, p.into); err != nil {
			return err
		}
	}
	if err := insert(ctx, tx, i, p.by); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `UPDATE storage SET used_bytes = used_bytes + ? WHERE team_id = ?`, i.Size,
		i.TeamID); err != nil {
		return fmt.Errorf("counting a file: %w", err)
	}
	by := auditlog.Actor{PersonID: p.by.PersonID, KeyID: p.by.KeyID, RequestID: p.by.RequestID}
	return auditlog.Record(ctx, tx, i.TeamID, by, "media.added", text(i.ID),
		map[string]any{"size_bytes": i.Size, "type": i.Type})
}

var errStorageFull = apierr.New(apierr.PlanLimitReached,
	"The media library has too little room left for this. Make room in the app first.").With("limit", "storage_bytes")

// fits refuses a file for which the plan has no room left. What open links were promised is kept free for them.
func (s *Service) fits(ctx context.Context, tx *db.Tx, used, size int64, p placement) error {
	limit, err := s.allowance(ctx, tx, p.by.TeamID, tx.Now())
	if err != nil || limit == plan.Unlimited {
		return err
	}
	if !p.promised {
		_, promised, err := waiting(ctx, tx, p.by.TeamID)
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

// arrived ends the time in which stored bytes have no item.
func arrived(ctx context.Context, tx *db.Tx, key string) error {
	n, err := tx.Exec(ctx, `DELETE FROM media_pending WHERE blob = ? AND doomed = 0`, key)
	if err == nil && n == 0 {
		err = errors.New("the bytes waited for their item for too long and were swept")
	}
	if err != nil {
		return fmt.Errorf("adding a file: %w", err)
	}
	return nil
}

// drop takes away bytes that did not come to have an item, with their thumbnail. What it cannot take away is left to
// the sweep.
func (s *Service) drop(ctx context.Context, key string) {
	ctx = context.WithoutCancel(ctx)
	if err := s.takeAway(ctx, key); err != nil {
		s.Log.WarnContext(ctx, "bytes without an item were left for the sweep", "blob", key, "error", err)
	}
}
