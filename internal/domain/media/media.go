// Package media manages a team's library of images and videos, its folders, and the ways to add files: one-time
// upload links, the upload page, imports from public URLs and downloads of profiles' media.
//
// A library holds each file once, identified by its SHA-256. The bytes are stored in a blob store under a key that is
// never reused. The row with that key is written in the transaction that counts the file against the team's storage.
// The key is recorded before the bytes are stored, so that the sweep finds the bytes of interrupted uploads.
//
// Files derived from an item, such as an image resized for a network, are made once and cached as separate blobs
// (derive.go). They do not count against storage.
//
// Metadata such as the location of a photo is removed before a file is stored, unless the team keeps originals. Files
// leave the service without metadata, except in downloads of an original and in the export of a team that keeps
// originals: see outgoing.go.
package media

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/disk"
	"pressroom.example/pressroom/internal/platform/loadshed"
	"pressroom.example/pressroom/internal/platform/safehttp"
	"pressroom.example/pressroom/internal/platform/thumbnail"
)

// The kinds of media.
const (
	Image = "image"
	Video = "video"
)

// Types are the MIME types that the library accepts.
var Types = []string{"image/jpeg", "image/png", "image/webp", "image/gif", "video/mp4", "video/quicktime"}

// Item is one stored file of a library.
type Item struct {
	ID             int64
	TeamID         int64
	FolderID       int64 // 0 if none
	FolderName     string
	SHA256         []byte // SHA-256 of the stored bytes
	OriginalSHA256 []byte // SHA-256 of the uploaded file if its metadata was removed
	Clean          bool   // the stored bytes are known to have no metadata
	Blob           string
	Thumbnail      string // blob key; empty if there is none
	ThumbnailType  string // MIME
	Name           string
	FileName       string
	Type           string // MIME
	Kind           string
	Size           int64 // bytes of the uploaded file; counted against the plan
	StoredSize     int64 // bytes of the blob; fewer if metadata was removed
	Width, Height  int   // pixels, as displayed
	Duration       time.Duration
	Detail         Detail
	Alt            string // alternative text of an image
	CreatedAt      time.Time
	DeletedAt      time.Time // zero if not deleted
	DeletedBy      int64     // the person; 0 if not deleted
}

// Detail holds technical properties read from the bytes of a file.
type Detail struct {
	VideoCodec  string  `json:"video_codec,omitempty"`
	AudioCodec  string  `json:"audio_codec,omitempty"`
	FrameRate   float64 `json:"frame_rate,omitempty"`  // frames per second
	Orientation int     `json:"orientation,omitempty"` // EXIF orientation, 1 to 8
	Animated    bool    `json:"animated,omitempty"`
	DecodeBytes int64   `json:"decode_bytes,omitempty"` // memory needed to decode the image
}

// Owner identifies the team, person and key that add a file.
type Owner struct {
	TeamID, PersonID, KeyID int64
	RequestID               string
}

// Incoming is a file being added.
type Incoming struct {
	Name string // as sent by the uploader; may be empty
	Type string // MIME type as sent by the uploader; the real type is determined from the bytes
	Size int64  // bytes; -1 if unknown
	Body io.Reader
}

// AddResult is the outcome of adding a file.
type AddResult struct {
	MediaID       int64
	Name          string
	AlreadyExists bool // the library already had the file
}

// Provider fetches media of public profiles.
type Provider interface {
	// ProfileMedia lists media of a profile, newest first. See package provider for its errors.
	ProfileMedia(ctx context.Context, q provider.Query) (provider.Page, error)
	// Fetch writes the bytes at an item's URL to into, up to maxBytes bytes.
	Fetch(ctx context.Context, url string, maxBytes int64, into io.Writer) error
}

// Options configure the service.
type Options struct {
	DB        *db.DB
	Blobs     blob.Store
	Jobs      *job.Store
	Worker    *job.Worker
	Keys      Keys
	Credits   Credits
	Catalog   plan.Catalog
	Fetch     *safehttp.Client
	Provider  Provider // nil if none is configured
	Sealer    *tokencrypt.Sealer
	Disk      *disk.Reserve // reserve of the disk that holds staged files and the database; nil for none
	PublicURL string
	Log       *slog.Logger
	// OnAltTextChanged runs in the transaction that changes an item's alternative text. It may be nil.
	OnAltTextChanged func(ctx context.Context, tx *db.Tx, person, team, media int64) error
	// TeamUploads limits how many files of one team this node receives concurrently. 0 means the number of upload links
	// that a team may have open.
	TeamUploads int
}

// Keys finds the current actor of an API key. The actor is nil if the key no longer exists.
type Keys interface {
	ActorByKeyID(ctx context.Context, q db.Querier, key int64) (*access.Actor, error)
}

// Credits charges or refunds the full reservation of a download, in the transaction that ends the download.
type Credits interface {
	Charge(ctx context.Context, tx *db.Tx, reservation int64) (bool, error)
	Refund(ctx context.Context, tx *db.Tx, reservation int64) (bool, error)
}

// Service implements the library and its operations.
type Service struct {
	Options

	db            *db.DB
	images        *thumbnail.Maker
	links         tokencrypt.Signer     // signs public links
	videos        *loadshed.FairLimiter // limits concurrent removal of metadata from videos
	deriveGroup   singleflight.Group
	uploadLimiter *uploadLimiter
	diskLoggedAt  atomic.Int64 // when a full disk was last logged, Unix nanoseconds
}

// maxImageMemory limits the memory for decoded images, in bytes. It suffices for camera images: about 60 megapixels of
// PNG, 85 of JPEG.
const maxImageMemory = 256 << 20

// maxVideos is the maximum number of stored videos from which this node removes metadata concurrently. Each video is
// read and written completely.
const maxVideos = 2

// New returns a Service and registers its job handlers.
func New(o Options) *Service {
	s := &Service{
		Options: o, db: o.DB, images: thumbnail.New(maxImageMemory), videos: loadshed.NewFairLimiter(maxVideos),
		uploadLimiter: newUploadLimiter(), links: o.Sealer.Signer("public links to media"),
	}
	o.Worker.Handle(job.MediaImport, s.runImport)
	o.Worker.Handle(job.ContentFetch, s.runDownload)
	return s
}

// Pictures returns the image processor, so that all work on images shares one memory limit.
func (s *Service) Pictures() *thumbnail.Maker { return s.images }
