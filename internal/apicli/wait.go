package apicli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"pressroom/client"
)

// followed is the read that takes --wait too: its job was started before.
const followed = "get_job"

// unended is a job that was accepted and of which the end was not seen: the time was over, or it could not be asked for.
type unended struct {
	error

	job string
	key string // of the call that started it; empty where another command did
}

func (u *unended) Unwrap() error { return u.error }

// wait follows a job to its end: the one that the call starts, or the one that get_job names.
func (t Terminal) wait(ctx context.Context, c *client.Client, s settings, given arguments) error {
	if given.operation.Name == followed {
		return t.follow(ctx, c, s, given)
	}
	a, err := c.Call(ctx, given.operation.Name, given.values, given.keyed(s.key)...)
	if err != nil {
		return err
	}
	var started struct {
		JobID string `json:"job_id"`
	}
	if err := json.Unmarshal(a.Data, &started); err != nil {
		return errors.Join(fmt.Errorf("reading the job's id: %w", err), t.give(given.operation.Name, a.Raw, a.IdempotencyKey, ""))
	}
	last := a.Raw
	ended, err := c.Wait(ctx, started.JobID)
	if ended != nil {
		last = ended.Raw
	}
	if _, failed := errors.AsType[*client.JobFailedError](err); err != nil && !failed {
		err = &unended{err, started.JobID, a.IdempotencyKey}
	}
	return errors.Join(t.give(given.operation.Name, last, a.IdempotencyKey, s.field), err)
}

// follow is get_job with --wait. What it is asked of the job besides, such as a page, it asks for at the end.
func (t Terminal) follow(ctx context.Context, c *client.Client, s settings, given arguments) error {
	var in client.GetJobInput
	raw, err := json.Marshal(given.values)
	if err := cmp.Or(err, json.Unmarshal(raw, &in)); err != nil {
		return usage("%s: an argument is not of its type", followed)
	}
	ended, err := c.Wait(ctx, in.JobID)
	if _, failed := errors.AsType[*client.JobFailedError](err); err != nil && !failed {
		if ended != nil {
			err = errors.Join(t.show(ended.Raw, s.field), err)
		}
		if ctx.Err() != nil {
			return &unended{err, in.JobID, ""}
		}
		return err
	}
	s.wait = false
	return errors.Join(t.call(ctx, c, s, given), err)
}
