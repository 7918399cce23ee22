package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/core/plan"
	"pressroom/internal/platform/blob"
	"pressroom/internal/platform/mediainfo"
)

const (
	// maxUploads is how many files a person sends to this node at once, and how often the file of one link is sent. A
	// team sends as many as it may have links open, and at most Options.TeamUploads.
	maxUploads = 3
	// stagedFiles is how many files of the largest size a team may have on their way to this node at once, in bytes.
	stagedFiles = 2
	// sniffed is after how many bytes a file has to be of a type that the library takes.
	sniffed = 64 << 10
	// clearStep is after how many bytes each the disk and the team's bytes are looked at again, while a file comes.
	clearStep = 8 << 20

	uploadsWait = 5 * time.Second  // before somebody with too many uploads tries again
	diskWait    = time.Minute      // before anybody tries again while the disk is almost full
	diskLogged  = 30 * time.Second // how often a full disk is logged at most
)

var (
	errManyUploads = underWay(fmt.Sprintf("You are sending %d files already. Wait until one of them has arrived, then "+
		"send this one.", maxUploads))
	errManySends = underWay("The file of this link is being sent already. Wait until that has ended, then send it " +
		"again if it has not arrived.")
	errManyFiles = underWay("Too many files are being sent to this team's library. Wait until one of them has " +
		"arrived, then send this one.")
	errManyBytes = underWay("The files that are being sent to this team's library are too large together. Wait until " +
		"one of them has arrived, then send this one.")
	errDiskFull = apierr.New(apierr.Unavailable,
		"The service's disk is almost full, so it takes no files now. Nothing was kept. Try again later; the operator "+
			"has to make room.").With("reason", apierr.DiskFull).After(diskWait)
)

func underWay(detail string) *apierr.Error {
	return apierr.New(apierr.RateLimited, detail).With("scope", "uploads_under_way").After(uploadsWait)
}

// uploader is who sends a file: somebody with an upload link, else a person; nobody for background work.
type uploader struct {
	person int64
	link   string
}

// intake counts what is on its way to this node, in memory: each node has these bounds for itself.
type intake struct {
	mu      sync.Mutex
	uploads map[uploader]int
	files   map[int64]int   // of all uploaders, by team
	bytes   map[int64]int64 // staged or reserved, by team
}

func newIntake() *intake {
	return &intake{uploads: map[uploader]int{}, files: map[int64]int{}, bytes: map[int64]int64{}}
}

// enter counts a file of an uploader for a team, of which there may be so many in all.
func (in *intake) enter(by uploader, team int64, most int) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch n := in.uploads[by]; {
	case by.link != "" && n >= maxUploads:
		return errManySends
	case by.person != 0 && n >= maxUploads:
		return errManyUploads
	case in.files[team] >= most:
		return errManyFiles
	}
	in.uploads[by]++
	in.files[team]++
	return nil
}

// reserve sets bytes of a team aside, of which there may be at most so many.
func (in *intake) reserve(team, bytes, most int64) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.bytes[team]+bytes > most {
		return errManyBytes
	}
	in.bytes[team] += bytes
	return nil
}

// leave gives back what enter and reserve took.
func (in *intake) leave(by uploader, team, bytes int64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.uploads[by]--; in.uploads[by] == 0 {
		delete(in.uploads, by)
	}
	if in.files[team]--; in.files[team] == 0 {
		delete(in.files, team)
	}
	if in.bytes[team] -= bytes; in.bytes[team] == 0 {
		delete(in.bytes, team)
	}
}

// bound is how many bytes a file may have, and the refusal of more.
type bound struct {
	most int64
	over error
}

// bound returns what a file of that size, -1 if unknown, is held to before its bytes are known: the largest size of any
// type, and what the team's plan has left. A file of the same size as one of the library may be that one, which takes
// no room.
func (s *Service) bound(ctx context.Context, team, size int64) (bound, error) {
	out := bound{s.Terms.Limits.MaxVideoBytes, errTooLarge}
	left, err := s.roomLeft(ctx, team)
	if err != nil || left == plan.Unlimited || left >= out.most || size >= 0 && size <= left || size > out.most {
		return out, err
	}
	if size >= 0 {
		var n int64
		err := s.db.QueryRow(ctx,
			`SELECT COUNT(*) FROM (SELECT 1 FROM media WHERE team_id = ? AND size_bytes = ? AND deleted_at = 0
		LIMIT 1) same`, team, size).Scan(&n)
		if err != nil || n > 0 {
			return bound{size, errStorageFull}, err
		}
	}
	return bound{left, errStorageFull}, nil
}

// MaxFormFiles is how many files a form may bring at once.
const MaxFormFiles = 100

// formFrame is more bytes than a form has besides its files: 64 KiB for each.
const formFrame = MaxFormFiles * 64 << 10

// TooManyFormFiles tells people what became of a form's files beyond MaxFormFiles.
var TooManyFormFiles = fmt.Sprintf("A form takes %d files at once. The files after those were not added: send them in "+
	"another form.", MaxFormFiles)

// CheckForm refuses a form for a team's library before its files are read, if its length in bytes, -1 if unknown, is
// more than the plan has left or than MaxFormFiles files of the largest size, or if the disk takes no file at all.
func (s *Service) CheckForm(ctx context.Context, team, length int64) error {
	return s.checkForm(ctx, team, 0, length)
}

// checkForm is CheckForm with the bytes that the plan has set aside for the form's files.
func (s *Service) checkForm(ctx context.Context, team, promised, length int64) error {
	left, err := s.roomLeft(ctx, team)
	switch {
	case err != nil:
		return err
	case length-formFrame > MaxFormFiles*s.Terms.Limits.MaxVideoBytes:
		return errTooLarge
	case left != plan.Unlimited && length-formFrame > left+promised:
		return errStorageFull
	}
	return s.diskTakes(ctx, 0)
}

// roomLeft returns how many bytes the team's plan takes besides what its open links were promised; plan.Unlimited for
// any number. The transaction that adds a file looks again.
func (s *Service) roomLeft(ctx context.Context, team int64) (int64, error) {
	limit, err := s.allowance(ctx, s.db, team, s.db.Now())
	if err != nil || limit == plan.Unlimited {
		return limit, err
	}
	used, err := s.Used(ctx, team)
	if err != nil {
		return 0, err
	}
	_, promised, err := waiting(ctx, s.db, team)
	return max(0, limit-used-promised), err
}

// diskTakes refuses that many bytes more if the disk would be left with less than its reserve.
func (s *Service) diskTakes(ctx context.Context, bytes int64) error {
	err := s.Disk.Check(bytes)
	if err == nil {
		return nil
	}
	if now, last := time.Now().
		UnixNano(), s.diskTold.Load(); now-last > int64(diskLogged) && s.diskTold.CompareAndSwap(last, now) {
		s.Log.ErrorContext(ctx, "files are refused", "error", err)
	}
	return errDiskFull.Wrap(err)
}

// arrival is a file on its way in: it is staged as its bytes come, within the bounds of its sender, its team and the
// disk. What it is beyond them is refused as soon as that is known. Discard gives back what it holds; it may be called
// again.
type arrival struct {
	*blob.Staged
	bound

	ctx      context.Context //nolint:containedctx // it is an io.Writer, and lives as long as the call that made it
	s        *Service
	by       uploader
	team     int64
	size     int64 // as its sender declared it; -1 if unknown
	came     int64
	cleared  int64 // how far the disk was looked at and bytes are reserved
	reserved int64
	known    bool // of a type that the library takes, by its beginning
	ended    sync.Once
}

// begin begins a file of that declared size, -1 if unknown, or refuses it before its first byte.
func (s *Service) begin(ctx context.Context, team int64, by uploader, size int64, b bound) (*arrival, error) {
	switch {
	case size > s.Terms.Limits.MaxVideoBytes:
		return nil, errTooLarge
	case size > b.most:
		return nil, b.over
	}
	if err := s.diskTakes(ctx, max(0, size)); err != nil {
		return nil, err
	}
	a := &arrival{bound: b, ctx: ctx, s: s, by: by, team: team, size: size}
	most := s.Terms.Limits.OpenUploadLinks
	if s.TeamUploads > 0 {
		most = min(most, s.TeamUploads)
	}
	if err := s.intake.enter(by, team, most); err != nil {
		return nil, err
	}
	err := a.reserve(max(0, size))
	if err == nil {
		a.Staged, err = s.Blobs.Stage(ctx)
	}
	if err != nil {
		a.leave()
		return nil, fmt.Errorf("receiving a file: %w", err)
	}
	return a, nil
}

// Discard ends the file, if it was not put, and gives back what was reserved for it.
func (a *arrival) Discard() {
	a.Staged.Discard()
	a.leave()
}

func (a *arrival) leave() {
	a.ended.Do(func() { a.s.intake.leave(a.by, a.team, a.reserved) })
}

// reserve sets aside so many bytes in all.
func (a *arrival) reserve(bytes int64) error {
	if bytes <= a.reserved {
		return nil
	}
	if err := a.s.intake.reserve(a.team, bytes-a.reserved, stagedFiles*a.s.Terms.Limits.MaxVideoBytes); err != nil {
		return err
	}
	a.reserved = bytes
	return nil
}

// take counts bytes that have come, before they are staged.
func (a *arrival) take(n int) error {
	a.came += int64(n)
	if a.came > a.most {
		return a.over
	}
	if a.came <= a.cleared {
		return nil
	}
	a.cleared = min(a.came+clearStep, a.most)
	if err := a.s.diskTakes(a.ctx, 0); err != nil {
		return err
	}
	return a.reserve(a.cleared)
}

// Write adds to the file.
func (a *arrival) Write(p []byte) (int, error) {
	if err := a.take(len(p)); err != nil {
		return 0, err
	}
	n, err := a.Staged.Write(p)
	if err == nil && a.came >= sniffed {
		err = a.sniff()
	}
	return n, err
}

// ReadFrom adds everything that a reader gives.
func (a *arrival) ReadFrom(r io.Reader) (int64, error) {
	from := metered{r, a}
	n, err := a.Staged.ReadFrom(io.LimitReader(from, sniffed))
	if err != nil || n < sniffed {
		return n, err
	}
	if err := a.sniff(); err != nil {
		return n, err
	}
	rest, err := a.Staged.ReadFrom(from)
	return n + rest, err
}

// metered counts what is read for an arrival.
type metered struct {
	io.Reader
	to *arrival
}

func (m metered) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if refused := m.to.take(n); refused != nil {
		return 0, refused
	}
	return n, err //nolint:wrapcheck // it stands in for the reader
}

// sniff refuses a file that begins as none that the library takes. From then on an image is held to the size of images.
func (a *arrival) sniff() error {
	if a.known {
		return nil
	}
	head := make([]byte, mediainfo.Beginning)
	n, err := a.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the beginning of a file: %w", err)
	}
	kind, err := mediainfo.Sniff(head[:n])
	if err != nil {
		return refusedType(err)
	}
	a.known = true
	if most := a.s.Terms.Limits.MaxImageBytes; kind == Image && most < a.most {
		a.bound = bound{most, a.s.errImageTooLarge()}
		if a.size > most || a.came > most {
			return a.over
		}
	}
	return nil
}
