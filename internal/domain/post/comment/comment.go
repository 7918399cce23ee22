// Package comment implements the first comment of a post. The account that published the post adds it afterwards.
package comment

import (
	"encoding/json"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/network"
)

// Part is the number of the first comment among the parts of a post. The post itself is part 0, and the other parts of
// a thread are numbered from 1.
const Part = -1

// Result is the result of the first comment on one account.
type Result struct {
	State       string    `json:"state"` // a post.TargetState; empty before the post is published
	NetworkID   string    `json:"id,omitempty"`
	Permalink   string    `json:"permalink,omitempty"`
	At          time.Time `json:"at,omitzero"` // time of publication
	ErrorCode   string    `json:"error_code,omitempty"`
	NetworkText string    `json:"network_text,omitempty"` // untrusted
	RetriesUsed int       `json:"retries_used,omitempty"`
	RetriedAt   time.Time `json:"retried_at,omitzero"`
}

// States of a comment. They are the same as post.TargetPublished and post.TargetSending. Importing package post would
// create an import cycle.
const (
	published = "published"
	sending   = "sending"
)

// RetriesLeft returns how many more times the comment can be retried. It returns 0 for a published comment.
func (r Result) RetriesLeft(limit int) int {
	if r.State == published {
		return 0
	}
	return max(0, limit-r.RetriesUsed)
}

// RetryBlockReason returns the reason why the comment cannot be retried now, or "".
func (r Result) RetryBlockReason(limit int, between time.Duration, now time.Time) string {
	switch {
	case r.State == "unconfirmed":
		return "unconfirmed"
	case r.State != "failed":
		return "not_failed"
	case r.RetriesLeft(limit) == 0:
		return "no_retries_left"
	case now.Sub(r.RetriedAt) < between:
		return "retried_moments_ago"
	}
	return ""
}

// WithRetry returns the result at the start of a retry.
func (r Result) WithRetry(now time.Time) Result {
	return Result{State: sending, RetriesUsed: r.RetriesUsed + 1, RetriedAt: now}
}

// Encode encodes a result for the database. It returns "" for the zero Result.
func Encode(r Result) (string, error) {
	if r == (Result{}) {
		return "", nil
	}
	encoded, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("encoding the result of a comment: %w", err)
	}
	return string(encoded), nil
}

// Decode returns the result that Encode encoded.
func Decode(stored string) (Result, error) {
	var r Result
	if stored == "" {
		return r, nil
	}
	if err := json.Unmarshal([]byte(stored), &r); err != nil {
		return r, fmt.Errorf("decoding the result of a comment: %w", err)
	}
	return r, nil
}

// Check returns the problems of a first comment on a network.
func Check(n network.Network, rules network.Rules, c network.Content) []network.Problem {
	switch {
	case !rules.HasFirstComment():
		return []network.Problem{{Code: "first_comment_not_supported",
			Message: rules.Title + " takes no first comment. The post is published there without it."}}
	case rules.Thread: // The comment is a reply.
		return n.Check(c)
	}
	return rules.CheckFirstComment(c.Text)
}

// messages explain error codes for a comment whose post is published. Explanation describes the other codes.
var messages = map[string]string{
	"thread_interrupted": "The network confirmed the post only later, so the first comment was not sent. Retry to send it. " +
		"If that is not possible, write the comment on the network.",
	"not_confirmed": "The network did not confirm the first comment, so it may exist. It is not sent again. " +
		"Check the post on the network.",
	"missed_while_held": "Publishing was on hold, so the first comment was not sent. Retry to send it.",
}

// Explanation returns what the error code of a comment means. general is what the code means for a post.
func Explanation(code, general string) string {
	if code == "" {
		return ""
	}
	if message := messages[code]; message != "" {
		return message
	}
	return "The post is published, but not its first comment. " + general
}
