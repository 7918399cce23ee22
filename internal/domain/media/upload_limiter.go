package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/platform/mediainfo"
)

const (
	// maxUploads is how many files a person may send to this node concurrently. It also limits concurrent uploads to
	// one link. A team's limit is OpenUploadLinks of the plan catalog, or Options.TeamUploads if that is set and
	// smaller.
	maxUploads = 3
	// maxStagedFiles times MaxVideoBytes is the maximum number of bytes that a team may stage on this node at a time.
	maxStagedFiles = 2
	// sniffBytes is the number of bytes after which a file's type must be known and accepted.
	sniffBytes = 64 << 10
	// checkStep is the interval, in received bytes, at which disk space and the team's limit are checked.
	checkStep = 8 << 20

	uploadsRetryAfter = 5 * time.Second  // Retry-After for too many uploads
	diskRetryAfter    = time.Minute      // Retry-After while the disk is almost full
	diskLogInterval   = 30 * time.Second // minimum interval between log messages about a full disk
)

var (
	errTooManyUploads = tooManyUploads("You are already uploading %d files. Wait until one of them has finished, then upload "+
		"this one.", maxUploads)
	errLinkInUse = tooManyUploads("A file is already being uploaded with this link. Wait until that upload ends. Send the " +
		"file again only if that upload fails.")
	errTooManyFiles = tooManyUploads("Too many files are being sent to this team's library. Wait until one of them " +
		"has finished, then send this one.")
	errTooManyBytes = tooManyUploads("The files being sent to this team's library are too large in total. Wait until " +
		"one of them has finished, then send this one.")
	errDiskFull = apierr.New(apierr.Unavailable,
		"The server's disk is almost full, so no files are accepted. Nothing was stored. Try again later; the "+
			"operator must free disk space.").With("reason", apierr.DiskFull).WithRetryAfter(diskRetryAfter)
)

func tooManyUploads(format string, args ...any) *apierr.Error {
	return apierr.Newf(apierr.RateLimited, format, args...).With("scope",
		"uploads_under_way").WithRetryAfter(uploadsRetryAfter)
}

// uploader identifies the sender of a file: an upload link or a person. It is empty for background work.
type uploader struct {
	person int64
	link   string
}

// uploadLimiter counts the files and bytes that this node is receiving, and limits them per uploader and per team.
type uploadLimiter struct {
	mu      sync.Mutex
	uploads map[uploader]int
	files   map[int64]int   // number of files from all uploaders, by team
	bytes   map[int64]int64 // staged or reserved, by team
}

func newUploadLimiter() *uploadLimiter {
	return &uploadLimiter{uploads: map[uploader]int{}, files: map[int64]int{}, bytes: map[int64]int64{}}
}

// acquire registers an upload, or returns an error if the uploader or the team already has too many in progress. limit
// is the maximum number of concurrent uploads for the team.
func (l *uploadLimiter) acquire(u uploader, team int64, limit int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch n := l.uploads[u]; {
	case u.link != "" && n >= maxUploads:
		return errLinkInUse
	case u.person != 0 && n >= maxUploads:
		return errTooManyUploads
	case l.files[team] >= limit:
		return errTooManyFiles
	}
	l.uploads[u]++
	l.files[team]++
	return nil
}

// reserve reserves bytes for a team, or returns an error if there are too many. limit is the maximum number of reserved
// bytes for the team.
func (l *uploadLimiter) reserve(team, bytes, limit int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bytes[team]+bytes > limit {
		return errTooManyBytes
	}
	l.bytes[team] += bytes
	return nil
}

// release undoes acquire and reserve. bytes is the total number of reserved bytes.
func (l *uploadLimiter) release(u uploader, team, bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.uploads[u]--; l.uploads[u] == 0 {
		delete(l.uploads, u)
	}
	if l.files[team]--; l.files[team] == 0 {
		delete(l.files, team)
	}
	if l.bytes[team] -= bytes; l.bytes[team] == 0 {
		delete(l.bytes, team)
	}
}

// sizeLimit is the maximum size of a file and the error for larger files.
type sizeLimit struct {
	max      int64
	tooLarge error
}

// findSizeLimit returns the size limit for a file whose type is not known yet. size is the declared size, or -1 if
// unknown. The limit is the largest size of any type, or less if the team's plan has less storage left. A copy of an
// existing item needs no storage. Therefore, if the team has an item of the declared size, that size is allowed even if
// less storage is left.
func (s *Service) findSizeLimit(ctx context.Context, team, size int64) (sizeLimit, error) {
	out := sizeLimit{s.Catalog.Limits.MaxVideoBytes, errTooLarge}
	left, err := s.freeStorage(ctx, team)
	if err != nil || left == plan.Unlimited || left >= out.max || size >= 0 && size <= left || size > out.max {
		return out, err
	}
	if size >= 0 {
		var n int64
		err := s.db.QueryRow(ctx,
			`SELECT COUNT(*) FROM (SELECT 1 FROM media WHERE team_id = ? AND size_bytes = ? AND deleted_at = 0
		LIMIT 1) same`, team, size).Scan(&n)
		if err != nil || n > 0 {
			return sizeLimit{size, errStorageFull}, err
		}
	}
	return sizeLimit{left, errStorageFull}, nil
}

// MaxFormFiles is the maximum number of files in a form.
const MaxFormFiles = 100

// maxFormOverhead is how many bytes of a form may be something other than file content: 64 KiB for each file.
const maxFormOverhead = MaxFormFiles * 64 << 10

// TooManyFormFiles is the message for a form with more than MaxFormFiles files. Format it with MaxFormFiles.
const TooManyFormFiles = "A form can contain at most %d files. The remaining files were not added. Send them in another form."

// CheckForm checks a form for a team's library before its files are read. It returns an error if the disk is full or
// the form is too long. The maximum length is maxFormOverhead plus the smaller of the plan's remaining storage and
// MaxFormFiles times MaxVideoBytes. length is -1 if unknown.
func (s *Service) CheckForm(ctx context.Context, team, length int64) error {
	return s.checkForm(ctx, team, 0, length)
}

// checkForm is like CheckForm, but also allows reservedBytes, the bytes that are already reserved for the form's files.
func (s *Service) checkForm(ctx context.Context, team, reservedBytes, length int64) error {
	left, err := s.freeStorage(ctx, team)
	switch {
	case err != nil:
		return err
	case length-maxFormOverhead > MaxFormFiles*s.Catalog.Limits.MaxVideoBytes:
		return errTooLarge
	case left != plan.Unlimited && length-maxFormOverhead > left+reservedBytes:
		return errStorageFull
	}
	return s.requireDisk(ctx, 0)
}

// freeStorage returns how many bytes of the team's plan are neither used nor reserved for open links, or
// plan.Unlimited. The transaction that adds a file checks the storage again.
func (s *Service) freeStorage(ctx context.Context, team int64) (int64, error) {
	limit, err := s.storageLimit(ctx, s.db, team, s.db.Now())
	if err != nil || limit == plan.Unlimited {
		return limit, err
	}
	used, err := s.UsedBytes(ctx, team)
	if err != nil {
		return 0, err
	}
	_, promised, err := openLinks(ctx, s.db, team)
	return max(0, limit-used-promised), err
}

// requireDisk returns an error if storing a number of bytes would use up the disk's reserve.
func (s *Service) requireDisk(ctx context.Context, bytes int64) error {
	err := s.Disk.Check(bytes)
	if err == nil {
		return nil
	}
	if now, last := time.Now().
		UnixNano(), s.diskLoggedAt.Load(); now-last > int64(diskLogInterval) && s.diskLoggedAt.CompareAndSwap(last,
		now) {
		s.Log.ErrorContext(ctx, "uploads are rejected: the disk is almost full", "error", err)
	}
	return errDiskFull.Wrap(err)
}

// incomingFile is a file being received. Its bytes are staged as they are received. The file is rejected as soon as it
// exceeds a limit of its sender, its team or the disk. Discard releases its reservations and may be called more than
// once.
type incomingFile struct {
	*blob.Staged
	sizeLimit

	ctx           context.Context //nolint:containedctx // it is an io.Writer, and lives as long as the call that made it
	s             *Service
	uploader      uploader
	team          int64
	size          int64 // declared size; -1 if unknown
	receivedBytes int64
	checkedBytes  int64 // number of bytes up to which disk space and the team's limit were checked
	reservedBytes int64
	typeAccepted  bool // whether the first bytes are of an accepted type
	ended         sync.Once
}

// begin starts to receive a file. size is the declared size, or -1 if unknown. If the file cannot be accepted, begin
// returns an error before the first byte is read.
func (s *Service) begin(ctx context.Context, team int64, u uploader, size int64, b sizeLimit) (*incomingFile, error) {
	switch {
	case size > s.Catalog.Limits.MaxVideoBytes:
		return nil, errTooLarge
	case size > b.max:
		return nil, b.tooLarge
	}
	if err := s.requireDisk(ctx, max(0, size)); err != nil {
		return nil, err
	}
	file := &incomingFile{sizeLimit: b, ctx: ctx, s: s, uploader: u, team: team, size: size}
	limit := s.Catalog.Limits.OpenUploadLinks
	if s.TeamUploads > 0 {
		limit = min(limit, s.TeamUploads)
	}
	if err := s.uploadLimiter.acquire(u, team, limit); err != nil {
		return nil, err
	}
	err := file.reserve(max(0, size))
	if err == nil {
		file.Staged, err = s.Blobs.Stage(ctx)
	}
	if err != nil {
		file.release()
		return nil, fmt.Errorf("receiving a file: %w", err)
	}
	return file, nil
}

// Discard discards the staged bytes unless they were stored, and releases the reservations.
func (f *incomingFile) Discard() {
	f.Staged.Discard()
	f.release()
}

func (f *incomingFile) release() {
	f.ended.Do(func() { f.s.uploadLimiter.release(f.uploader, f.team, f.reservedBytes) })
}

// reserve raises the reservation to bytes in total.
func (f *incomingFile) reserve(bytes int64) error {
	if bytes <= f.reservedBytes {
		return nil
	}
	if err := f.s.uploadLimiter.reserve(f.team, bytes-f.reservedBytes,
		maxStagedFiles*f.s.Catalog.Limits.MaxVideoBytes); err != nil {
		return err
	}
	f.reservedBytes = bytes
	return nil
}

// countBytes counts n received bytes before they are staged, and returns an error if they exceed a limit.
func (f *incomingFile) countBytes(n int) error {
	f.receivedBytes += int64(n)
	if f.receivedBytes > f.max {
		return f.tooLarge
	}
	if f.receivedBytes <= f.checkedBytes {
		return nil
	}
	f.checkedBytes = min(f.receivedBytes+checkStep, f.max)
	if err := f.s.requireDisk(f.ctx, 0); err != nil {
		return err
	}
	return f.reserve(f.checkedBytes)
}

// Write stages the bytes of p.
func (f *incomingFile) Write(p []byte) (int, error) {
	if err := f.countBytes(len(p)); err != nil {
		return 0, err
	}
	n, err := f.Staged.Write(p)
	if err == nil && f.receivedBytes >= sniffBytes {
		err = f.sniff()
	}
	return n, err
}

// ReadFrom stages all bytes of r.
func (f *incomingFile) ReadFrom(r io.Reader) (int64, error) {
	counter := countingReader{r, f}
	n, err := f.Staged.ReadFrom(io.LimitReader(counter, sniffBytes))
	if err != nil || n < sniffBytes {
		return n, err
	}
	if err := f.sniff(); err != nil {
		return n, err
	}
	rest, err := f.Staged.ReadFrom(counter)
	return n + rest, err
}

// countingReader is a reader that counts the bytes of an incoming file before they are staged.
type countingReader struct {
	io.Reader
	file *incomingFile
}

func (r countingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if limitErr := r.file.countBytes(n); limitErr != nil {
		return 0, limitErr
	}
	return n, err //nolint:wrapcheck // it wraps the reader
}

// sniff returns an error if the first bytes do not match an accepted type. If the file is an image, the size limit for
// images applies from then on.
func (f *incomingFile) sniff() error {
	if f.typeAccepted {
		return nil
	}
	head := make([]byte, mediainfo.SniffBytes)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the beginning of a file: %w", err)
	}
	kind, err := mediainfo.Sniff(head[:n])
	if err != nil {
		return errRejectedType(err)
	}
	f.typeAccepted = true
	if maxBytes := f.s.Catalog.Limits.MaxImageBytes; kind == Image && maxBytes < f.max {
		f.sizeLimit = sizeLimit{maxBytes, f.s.errImageTooLarge()}
		if f.size > maxBytes || f.receivedBytes > maxBytes {
			return f.tooLarge
		}
	}
	return nil
}
