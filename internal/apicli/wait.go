package apicli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"pressroom.example/pressroom/client"
)

// getJob is the only read that accepts --wait. It waits for a job that another call has started.
const getJob = "get_job"

// unfinishedError means that a job was accepted but did not finish in time, or that its state could not be read.
type unfinishedError struct {
	error

	job string
	key string // idempotency key of the call that started the job; empty for get_job
}

func (e *unfinishedError) Unwrap() error { return e.error }

// wait makes a call that starts a job, and waits for the job. For get_job, it waits for the job that the arguments
// name.
func (t Terminal) wait(ctx context.Context, c *client.Client, s settings, callArgs arguments) error {
	if callArgs.operation.Name == getJob {
		return t.waitForJob(ctx, c, s, callArgs)
	}
	a, err := c.Call(ctx, callArgs.operation.Name, callArgs.values, callArgs.callOptions(s.key)...)
	if err != nil {
		return err
	}
	var started struct {
		JobID string `json:"job_id"`
	}
	if err := json.Unmarshal(a.Data, &started); err != nil {
		return errors.Join(fmt.Errorf("reading the job ID: %w", err),
			t.printResponse(callArgs.operation.Name, a.Raw, a.IdempotencyKey, output{format: s.output.format}))
	}
	last := a.Raw
	finishedJob, err := c.Wait(ctx, started.JobID)
	if finishedJob != nil {
		last = finishedJob.Raw
	}
	if _, ok := errors.AsType[*client.JobFailedError](err); err != nil && !ok {
		err = &unfinishedError{err, started.JobID, a.IdempotencyKey}
	}
	return errors.Join(t.printResponse(callArgs.operation.Name, last, a.IdempotencyKey, s.output), err)
}

// waitForJob runs get_job with --wait. Arguments other than the job's ID, such as a cursor, apply to the finished job.
func (t Terminal) waitForJob(ctx context.Context, c *client.Client, s settings, callArgs arguments) error {
	var in client.GetJobInput
	raw, err := json.Marshal(callArgs.values)
	if err := cmp.Or(err, json.Unmarshal(raw, &in)); err != nil {
		return usagef("%s: an argument has the wrong type", getJob)
	}
	finishedJob, err := c.Wait(ctx, in.JobID)
	if _, ok := errors.AsType[*client.JobFailedError](err); err != nil && !ok {
		if finishedJob != nil {
			err = errors.Join(t.printAs(finishedJob.Raw, s.output), err)
		}
		if ctx.Err() != nil {
			return &unfinishedError{err, in.JobID, ""}
		}
		return err
	}
	s.wait = false
	return errors.Join(t.call(ctx, c, s, callArgs), err)
}
