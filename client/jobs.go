package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

const (
	maxWaitSeconds = 20 // of one call to get_job
	firstPause     = 200 * time.Millisecond
	maxPause       = 5 * time.Second
)

// Wait waits until a job has finished or the context ends. If the job failed completely or partially, it returns a
// [*JobFailedError] together with the response, which has what succeeded. With any other error it returns the last
// response, or nil.
func (c *Client) Wait(ctx context.Context, jobID string) (*Answer[Job], error) {
	return c.wait(ctx, jobID, c.waitSeconds())
}

// waitSeconds returns the time that the service may wait in one call, which is well below the timeout of an attempt.
func (c *Client) waitSeconds() int64 {
	if c.retry.attempt <= 0 {
		return maxWaitSeconds
	}
	return min(maxWaitSeconds, int64(c.retry.attempt/2/time.Second))
}

// wait polls the job, with growing pauses if the service does not wait.
func (c *Client) wait(ctx context.Context, jobID string, seconds int64) (*Answer[Job], error) {
	var last *Answer[Job]
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		sent := time.Now()
		a, err := c.GetJob(ctx, GetJobInput{JobID: jobID, WaitSeconds: seconds})
		if err != nil {
			return last, fmt.Errorf("waiting for %s: %w", jobID, err)
		}
		last = a
		if a.Data.Finished {
			return a, jobError(a.Data)
		}
		if seconds > 0 && time.Since(sent) > time.Duration(seconds)*time.Second/2 {
			pause = firstPause
		}
		if err := c.retry.sleep(ctx, jitter(pause)); err != nil {
			return a, fmt.Errorf("waiting for %s: %w", jobID, err)
		}
	}
}

func jobError(j Job) error {
	if j.State != JobStateFailed && j.State != JobStatePartiallySucceeded {
		return nil
	}
	failed := &JobFailedError{JobID: j.JobID, State: j.State}
	if j.Error != nil {
		failed.Code, failed.Text = j.Error.Code, j.Error.Message
	}
	return failed
}

// Results of finished jobs by type. [Result] reads them.
type (
	// ReportResult is the result of profile_report and hashtag_report.
	ReportResult struct {
		Report struct {
			ID     string       `json:"id"`
			Kind   ReportKind   `json:"kind"`
			Status ReportStatus `json:"status"` // empty if the report no longer exists
		} `json:"report"`
		CreditsCharged int64 `json:"credits_charged"`
	}

	// PostResult is the result of social_post.
	PostResult struct {
		PostID   string              `json:"post_id"`
		Accounts []PostResultAccount `json:"accounts"`
	}

	// PostResultAccount is the result of one account.
	PostResultAccount struct {
		ID             int64                `json:"id"`
		State          PostAccountState     `json:"state"`
		Permalink      string               `json:"permalink"`
		ErrorCode      PostAccountErrorCode `json:"error_code"`
		Explanation    string               `json:"explanation"`
		NetworkMessage *Pointer             `json:"network_message"`
	}

	// ImportResult is the result of media_import for an imported URL.
	ImportResult struct {
		Media struct {
			ID int64 `json:"id"`
		} `json:"media"`
		AlreadyInLibrary bool `json:"already_in_library"`
	}

	// UploadResult is the result of media_import for upload links.
	UploadResult struct {
		Files []UploadResultFile `json:"files"`
	}

	// UploadResultFile is the result of one file, in the order of the batch.
	UploadResultFile struct {
		File    UploadFile  `json:"file"`
		State   UploadState `json:"state"`
		MediaID int64       `json:"media_id"` // 0 if it was not stored
		Reason  string      `json:"reason"`
	}

	// SearchResult is the result of hashtag_search. The hashtags are paged.
	SearchResult struct {
		Hashtags       []FoundHashtag   `json:"hashtags"`
		Incomplete     []FoundHashtag   `json:"incomplete"` // those without enough data
		Related        []RelatedHashtag `json:"related"`
		CreditsCharged int64            `json:"credits_charged"`
	}

	// FoundHashtag is a hashtag with its statistics.
	FoundHashtag struct {
		ListedHashtag

		MeasuredAt *Moment `json:"measured_at"`
	}

	// RelatedHashtag often appears together with the hashtags of the search.
	RelatedHashtag struct {
		FoundHashtag

		Support int64   `json:"support"` // stored posts that have both
		Share   float64 `json:"share"`   // of the stored posts with the search's hashtags
		Lift    float64 `json:"lift"`    // frequency there relative to other posts
	}

	// DownloadResult is the result of content_fetch. The items are paged.
	DownloadResult struct {
		Items          []DownloadResultItem `json:"items"`
		NextCursor     string               `json:"next_cursor"` // for another paid call
		CreditsCharged int64                `json:"credits_charged"`
	}

	// DownloadResultItem is a file of a public profile.
	DownloadResultItem struct {
		Item            string    `json:"item"`
		Kind            MediaKind `json:"kind"`
		MediaID         int64     `json:"media_id"` // 0 if it was not saved
		Reason          string    `json:"reason"`   // why it was not saved
		TakenAt         *Moment   `json:"taken_at"`
		Caption         *Pointer  `json:"caption"`
		Width           int64     `json:"width"`
		Height          int64     `json:"height"`
		DurationSeconds float64   `json:"duration_seconds"`
	}
)

// Result returns the result of a finished job as one of the types above.
func Result[T any](j Job) (T, error) {
	var out T
	if len(j.Result) == 0 {
		return out, errors.New("the job has no result")
	}
	if err := json.Unmarshal(j.Result, &out); err != nil {
		return out, fmt.Errorf("reading the result of job %s: %w", j.JobID, err)
	}
	return out, nil
}
