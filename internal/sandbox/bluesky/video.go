package bluesky

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const (
	videoPath         = "/video" // path of the video service, which has its own host in production
	uploadVideoMethod = "app.bsky.video.uploadVideo"
	limitsMethod      = "app.bsky.video.getUploadLimits"

	maxVideosPerDay   = 25
	maxBytesPerDay    = 10_000_000_000
	unconfirmedPrefix = "unconfirmed." // prefix of the handle if the account's email address is not confirmed
)

var videoMethods = map[string]xrpcMethod{
	limitsMethod:                  {http.MethodGet, (*Network).getUploadLimits},
	"app.bsky.video.getJobStatus": {http.MethodGet, (*Network).getJobStatus},
}

var errDailyLimit = &xrpcError{http.StatusBadRequest, "DailyLimitExceeded", "You have reached your daily limit of videos"}

func isUnconfirmed(a store.Account) bool { return strings.HasPrefix(a.Handle, unconfirmedPrefix) }

// videoJob is a job that processes an uploaded video.
type videoJob struct {
	id, account string
	file        store.Blob
	createdAt   time.Time
}

// jobView returns a job in the API's format.
func (b *Network) jobView(j videoJob) map[string]any {
	view := map[string]any{"jobId": j.id, "did": j.account, "state": "JOB_STATE_ENCODING", "progress": 50}
	switch {
	case b.Now().Sub(j.createdAt) < b.ProcessingTime:
	case j.file.MIME != "video/mp4":
		view["state"], view["failureCode"] = "JOB_STATE_FAILED", "validation_failure"
		view["error"], view["message"] = "validation_failure", "The file is not a video"
	default:
		view["state"], view["progress"] = "JOB_STATE_COMPLETED", 100
		view["blob"] = newBlobObject(j.file)
	}
	return view
}

func (b *Network) getUploadLimits(r *http.Request) (any, error) {
	limits := map[string]any{"canUpload": true}
	err := b.Store.InTx(r.Context(), func(t store.Tx) error {
		a, err := b.serviceAccount(r, t, b.serviceDID(r), limitsMethod)
		if err != nil {
			return err
		}
		count, size, err := videosSince(r.Context(), t, a.ID, b.Now().Add(-24*time.Hour))
		limits["remainingDailyVideos"], limits["remainingDailyBytes"] = max(0, maxVideosPerDay-count), max(0, maxBytesPerDay-size)
		switch {
		case isUnconfirmed(a):
			limits["canUpload"], limits["error"] = false, "unconfirmed_email"
			limits["message"] = "Please confirm your email address to upload videos"
		case count >= maxVideosPerDay || size >= maxBytesPerDay:
			limits["canUpload"], limits["message"] = false, errDailyLimit.message
		}
		return err
	})
	return limits, err
}

// uploadVideo saves a video and starts to process it. If the account has uploaded the video before, uploadVideo returns
// the existing job.
func (b *Network) uploadVideo(w http.ResponseWriter, r *http.Request) (any, error) {
	var a store.Account
	authorize := func(t store.Tx) error {
		var err error
		a, err = b.serviceAccount(r, t, b.serviceDID(r), uploadMethod)
		if err == nil && r.URL.Query().Get("did") != a.ID {
			err = invalidRequest("did must be the account of the token")
		}
		if err == nil && isUnconfirmed(a) {
			err = &xrpcError{http.StatusForbidden, "UploadForbidden", "Please confirm your email address to upload videos"}
		}
		return err
	}
	if err := b.Store.InTx(r.Context(), authorize); err != nil {
		return nil, err
	}
	if r.Header.Get("Content-Type") != "video/mp4" {
		return nil, invalidRequest("Wrong request encoding (Content-Type): %s", r.Header.Get("Content-Type"))
	}
	blob, err := b.saveUpload(w, r, maxVideoBytes, "")
	if err != nil {
		return nil, err
	}
	return b.startJob(r, a, blob)
}

// startJob starts to process a video. From then on, the account's records can refer to the blob.
func (b *Network) startJob(r *http.Request, a store.Account, blob store.Blob) (any, error) {
	ctx, cancel := base.WorkContext(r)
	defer cancel()
	j := videoJob{account: a.ID, file: blob, createdAt: b.Now()}
	var exists bool
	err := b.Store.InTx(ctx, func(t store.Tx) error {
		existing, found, err := findJob(ctx, t, `account = ? and cid = ?`, a.ID, blob.CID)
		if exists = found; found || err != nil {
			j = existing
			return err
		}
		count, size, err := videosSince(ctx, t, a.ID, b.Now().Add(-24*time.Hour))
		if err != nil {
			return err
		}
		if count >= maxVideosPerDay || size+blob.Size > maxBytesPerDay {
			return errDailyLimit
		}
		j.id = base.NewID()
		if err := t.SaveBlob(ctx, Name, a.ID, blob); err != nil {
			return err
		}
		return t.Run(ctx, "saving a video",
			`insert into bluesky_videos (job, account, cid, type, size, made_at) values (?, ?, ?, ?, ?, ?)`,
			j.id, a.ID, blob.CID, blob.MIME, blob.Size, j.createdAt.UnixMilli())
	})
	view := b.jobView(j)
	if exists && err == nil {
		view["state"], view["error"], view["message"] = "JOB_STATE_FAILED", "already_exists", "Video already processed"
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			base.WriteJSON(w, http.StatusConflict, view)
		}), nil
	}
	return view, err
}

func (b *Network) getJobStatus(r *http.Request) (any, error) {
	var j videoJob
	err := b.Store.InTx(r.Context(), func(t store.Tx) error {
		var found bool
		var err error
		j, found, err = findJob(r.Context(), t, `job = ?`, r.URL.Query().Get("jobId"))
		if err == nil && !found {
			err = invalidRequest("Job not found")
		}
		return err
	})
	return map[string]any{"jobStatus": b.jobView(j)}, err
}

// videosSince returns the number and the total size in bytes of the videos that an account has uploaded since a time.
func videosSince(ctx context.Context, t store.Tx, account string, since time.Time) (int, int64, error) {
	var count int
	var size int64
	err := t.QueryRowContext(ctx,
		`select count(*), coalesce(sum(size), 0) from bluesky_videos where account = ? and made_at > ?`,
		account, since.UnixMilli()).Scan(&count, &size)
	if err != nil {
		return 0, 0, fmt.Errorf("counting videos: %w", err)
	}
	return count, size, nil
}

// findJob returns the job that an SQL condition selects, and reports whether it exists.
func findJob(ctx context.Context, t store.Tx, condition string, args ...any) (videoJob, bool, error) {
	var j videoJob
	var createdAt int64
	err := t.QueryRowContext(ctx, `select job, account, cid, type, size, made_at from bluesky_videos where `+condition, args...).
		Scan(&j.id, &j.account, &j.file.CID, &j.file.MIME, &j.file.Size, &createdAt)
	if errors.Is(err, sql.ErrNoRows) {
		return videoJob{}, false, nil
	}
	if err != nil {
		return videoJob{}, false, fmt.Errorf("finding a video: %w", err)
	}
	j.createdAt = time.UnixMilli(createdAt).UTC()
	return j, true, nil
}

// serviceDID returns the DID of the sandbox's host, which serves as both the personal data server and the video
// service.
func (b *Network) serviceDID(r *http.Request) string {
	address, err := url.Parse(b.BaseURL(r))
	if err != nil {
		return ""
	}
	return "did:web:" + strings.ReplaceAll(address.Host, ":", "%3A")
}
