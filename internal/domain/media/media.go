// Package media is a team's library: images and videos, the folders they lie in, and the ways by which they arrive:
// one-time upload links, the upload page, imports from public addresses and downloads of profiles' media.
//
// A file is in a team's library once: its SHA-256 names it. Its bytes lie in a blob store under a key that is used
// once, for this item; the row that names the key is written in the transaction that counts the file against the
// team's storage. That bytes are about to be stored is written before, so that those of an interrupted arrival are
// found and taken away.
//
// Files that are made from an item, such as an image that fits a network, are made once and kept as blobs of their own
// (derive.go). They are not counted.
//
// Metadata such as the place where a photograph was taken is removed before a file is stored, unless the team keeps
// originals. Whatever leaves the service has none: outgoing.go.
package media

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"pressroom/internal/auth/tokencrypt"
	"pressroom/internal/core/access"
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/job"
	"pressroom/internal/domain/provider"
	"pressroom/internal/platform/blob"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/disk"
	"pressroom/internal/platform/loadshed"
	"pressroom/internal/platform/safehttp"
	"pressroom/internal/platform/thumbnail"
)

// The kinds of media.
const (
	Image = "image"
	Video = "video"
)

// Types are the MIME types that the library takes.
var Types = []string{"image/jpeg", "image/png", "image/webp", "image/gif", "video/mp4", "video/quicktime"}

// Item is one file of a library, as it is stored.
type Item struct {
	ID            int64
	TeamID        int64
	FolderID      int64 // 0 for none
	FolderName    string
	SHA256        []byte // of the stored bytes
	Original      []byte // SHA-256 of the file as it arrived, if its metadata was removed
	Clean         bool   // the stored bytes have no metadata; of older items it is not known
	Blob          string
	Thumbnail     string // blob of the thumbnail, empty where there is none
	ThumbnailType string // MIME
	Name          string
	FileName      string
	Type          string // MIME
	Kind          string
	Size          int64 // bytes of the file as it arrived; they count against the plan
	Stored        int64 // bytes of its blob, fewer if metadata was removed
	Width, Height int   // pixels, as it is shown
	Duration      time.Duration
	Detail        Detail
	Alt           string // what an image shows, for those who cannot see it
	CreatedAt     time.Time
	DeletedAt     time.Time // zero while the file is there
	DeletedBy     int64     // the person; 0 while the file is there
}

// Detail is what else the bytes of a file tell.
type Detail struct {
	VideoCodec  string  `json:"video_codec,omitempty"`
	AudioCodec  string  `json:"audio_codec,omitempty"`
	FrameRate   float64 `json:"frame_rate,omitempty"`  // frames a second
	Orientation int     `json:"orientation,omitempty"` // of EXIF, 1 to 8
	Animated    bool    `json:"animated,omitempty"`
	DecodeBytes int64   `json:"decode_bytes,omitempty"` // what decoding the image takes
}

// Owner is for whom a file arrives.
type Owner struct {
	TeamID, PersonID, KeyID int64
	RequestID               string
}

// Incoming is a file on its way in.
type Incoming struct {
	Name string // as its sender calls it; may be empty
	Type string // MIME as its sender calls it; what counts is what the bytes say
	Size int64  // bytes; -1 where unknown
	Body io.Reader
}

// Arrived is what became of it.
type Arrived struct {
	MediaID int64
	Name    string
	Already bool // the library had it already
}

// Source is where profiles' media come from.
type Source interface {
	// ProfileMedia describes media of a profile, the newest first. The errors are those of package provider.
	ProfileMedia(ctx context.Context, q provider.Query) (provider.Page, error)
	// Fetch writes the bytes behind an item's address, at most so many.
	Fetch(ctx context.Context, address string, most int64, into io.Writer) error
}

// Options are what the service stands on.
type Options struct {
	DB        *db.DB
	Blobs     blob.Store
	Jobs      *job.Store
	Worker    *job.Worker
	Keys      Keys
	Credits   Credits
	Terms     plan.Terms
	Fetch     *safehttp.Client
	Source    Source // nil where the operator has joined none
	Sealer    *tokencrypt.Sealer
	Disk      *disk.Reserve // of where files are staged and the database lies; nil for none
	PublicURL string
	Log       *slog.Logger
	// Described runs in the transaction that changes an item's alternative text; nil for nothing.
	Described func(ctx context.Context, tx *db.Tx, person, team, media int64) error
	// TeamUploads is how many files of one team may be on their way to this node at once, by whatever way they come.
	// If it is 0, it is as many as a team may have upload links open.
	TeamUploads int
}

// Keys tells how a key stands that opened links: nil where it is no more.
type Keys interface {
	Standing(ctx context.Context, q db.Querier, key int64) (*access.Actor, error)
}

// Credits settles what was reserved for a download, in the transaction that ends it: all of it, or none.
type Credits interface {
	Charge(ctx context.Context, tx *db.Tx, reservation int64) (bool, error)
	Refund(ctx context.Context, tx *db.Tx, reservation int64) (bool, error)
}

// Service does what the operations say.
type Service struct {
	Options

	db       *db.DB
	pictures *thumbnail.Maker
	links    tokencrypt.Signer // of public links
	videos   *loadshed.Turns   // videos whose metadata is being removed on their way out
	deriving singleflight.Group
	intake   *intake
	diskTold atomic.Int64 // when a full disk was logged last, in nanoseconds since 1970
}

// pictureMemory bounds the decoded pixels that are held at once, in bytes. It takes images as cameras make them: about
// 60 megapixels of a PNG, 85 of a JPEG.
const pictureMemory = 256 << 20

// videosAtOnce is how many videos this node removes metadata from at once on their way out. Each is read as a whole,
// and written as a whole.
const videosAtOnce = 2

// New makes the service.
func New(o Options) *Service {
	s := &Service{
		Options: o, db: o.DB, pictures: thumbnail.New(pictureMemory), videos: loadshed.NewTurns(videosAtOnce),
		intake: newIntake(), links: o.Sealer.Signer("public links to media"),
	}
	o.Worker.Handle(job.MediaImport, s.doImport)
	o.Worker.Handle(job.ContentFetch, s.doDownload)
	return s
}
