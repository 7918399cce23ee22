package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

const (
	askFor       = 20 // seconds that the service holds a question about a job
	firstPause   = 200 * time.Millisecond
	longestPause = 5 * time.Second
)

// Wait waits until a job has ended, as long as the context lasts. One that failed, wholly or in part, is a
// [*JobFailedError] beside the answer, which tells what did succeed. Beside any other error the answer is the last
// that came, nil where none did.
func (c *Client) Wait(ctx context.Context, jobID string) (*Answer[Job], error) {
	return c.wait(ctx, jobID, c.held())
}

// held is for how many seconds the service is asked to hold a question: the answer has to come well before the attempt
// ends.
func (c *Client) held() int64 {
	if c.retry.attempt <= 0 {
		return askFor
	}
	return min(askFor, int64(c.retry.attempt/2/time.Second))
}

// wait asks; a service that answers sooner than it was asked to, or is not asked to wait, is asked ever more rarely.
func (c *Client) wait(ctx context.Context, jobID string, seconds int64) (*Answer[Job], error) {
	var last *Answer[Job]
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		asked := time.Now()
		a, err := c.GetJob(ctx, GetJobInput{JobID: jobID, WaitSeconds: seconds})
		if err != nil {
			return last, fmt.Errorf("waiting for %s: %w", jobID, err)
		}
		last = a
		if a.Data.Finished {
			return a, failure(a.Data)
		}
		if seconds > 0 && time.Since(asked) > time.Duration(seconds)*time.Second/2 {
			pause = firstPause
		}
		if err := c.retry.sleep(ctx, jittered(pause)); err != nil {
			return a, fmt.Errorf("waiting for %s: %w", jobID, err)
		}
	}
}

func failure(j Job) error {
	if j.State != JobStateFailed && j.State != JobStatePartiallySucceeded {
		return nil
	}
	failed := &JobFailedError{JobID: j.JobID, State: j.State}
	if j.Error != nil {
		failed.Code, failed.Text = j.Error.Code, j.Error.Message
	}
	return failed
}

// What finished jobs produce, by their type. [Result] reads them.
type (
	// ReportResult is that of profile_report and hashtag_report.
	ReportResult struct {
		Report struct {
			ID     string       `json:"id"`
			Kind   ReportKind   `json:"kind"`
			Status ReportStatus `json:"status"` // empty of a report that is gone by now
		} `json:"report"`
		CreditsCharged int64 `json:"credits_charged"`
	}

	// PostResult is that of social_post.
	PostResult struct {
		PostID   string              `json:"post_id"`
		Accounts []PostResultAccount `json:"accounts"`
	}

	// PostResultAccount is what became of a post on one account.
	PostResultAccount struct {
		ID             int64                `json:"id"`
		State          PostAccountState     `json:"state"`
		Permalink      string               `json:"permalink"`
		ErrorCode      PostAccountErrorCode `json:"error_code"`
		Explanation    string               `json:"explanation"`
		NetworkMessage *Pointer             `json:"network_message"`
	}

	// ImportResult is that of media_import, when one address was imported.
	ImportResult struct {
		Media struct {
			ID int64 `json:"id"`
		} `json:"media"`
		AlreadyInLibrary bool `json:"already_in_library"`
	}

	// UploadResult is that of media_import, when links were opened.
	UploadResult struct {
		Files []UploadResultFile `json:"files"`
	}

	// UploadResultFile is what became of one file, in the order of the batch.
	UploadResultFile struct {
		File    UploadFile  `json:"file"`
		State   UploadState `json:"state"`
		MediaID int64       `json:"media_id"` // 0 where it is not stored
		Reason  string      `json:"reason"`
	}

	// SearchResult is that of hashtag_search; the hashtags come a page at a time.
	SearchResult struct {
		Hashtags       []FoundHashtag   `json:"hashtags"`
		Incomplete     []FoundHashtag   `json:"incomplete"` // those of which too little is known
		Related        []RelatedHashtag `json:"related"`
		CreditsCharged int64            `json:"credits_charged"`
	}

	// FoundHashtag is a hashtag with its figures.
	FoundHashtag struct {
		HashtagFigures

		MeasuredAt *Moment `json:"measured_at"`
	}

	// RelatedHashtag often appears alongside a search's own.
	RelatedHashtag struct {
		FoundHashtag

		Support int64   `json:"support"` // remembered posts that carry both
		Share   float64 `json:"share"`   // of the remembered posts of the search's own hashtags
		Lift    float64 `json:"lift"`    // how many times as often it stands there as elsewhere
	}

	// DownloadResult is that of content_fetch; the items come a page at a time.
	DownloadResult struct {
		Items          []DownloadResultItem `json:"items"`
		NextCursor     string               `json:"next_cursor"` // for another, paid call
		CreditsCharged int64                `json:"credits_charged"`
	}

	// DownloadResultItem is a file of a public profile.
	DownloadResultItem struct {
		Item            string    `json:"item"`
		Kind            MediaKind `json:"kind"`
		MediaID         int64     `json:"media_id"` // 0 where it was not saved
		Reason          string    `json:"reason"`   // why not
		TakenAt         *Moment   `json:"taken_at"`
		Caption         *Pointer  `json:"caption"`
		Width           int64     `json:"width"`
		Height          int64     `json:"height"`
		DurationSeconds float64   `json:"duration_seconds"`
	}
)

// Result reads what a finished job produced as one of the types above, the one that its type names.
func Result[T any](j Job) (T, error) {
	var out T
	if len(j.Result) == 0 {
		return out, errors.New("the job has produced nothing")
	}
	if err := json.Unmarshal(j.Result, &out); err != nil {
		return out, fmt.Errorf("reading what job %s produced: %w", j.JobID, err)
	}
	return out, nil
}
