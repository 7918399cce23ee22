package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

const (
	maxWaitSeconds = 20 // maximum wait in one call to get_job
	firstPause     = 200 * time.Millisecond
	maxPause       = 5 * time.Second
)

// Wait waits until a job has finished or the context ends. If the job failed completely or partially, Wait returns the
// response, which lists what succeeded, and a [*JobFailedError]. For any other error, it returns the last response, or
// nil if there was none.
func (c *Client) Wait(ctx context.Context, jobID string) (*Answer[Job], error) {
	return c.wait(ctx, jobID, c.waitSeconds())
}

// waitSeconds returns how long the service should wait in one call. This is at most half of the timeout of an attempt.
func (c *Client) waitSeconds() int64 {
	if c.retry.attemptTimeout <= 0 {
		return maxWaitSeconds
	}
	return min(maxWaitSeconds, int64(c.retry.attemptTimeout/2/time.Second))
}

// wait polls the job. If the service responds without waiting for the job, the pauses between the calls grow.
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

// Result returns the result of a finished job. T depends on the kind of job: [ReportResult], [PostResult],
// [SearchResult], [ImportResult], [UploadResult] or [DownloadResult].
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
