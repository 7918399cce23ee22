package network

import (
	"cmp"
	"context"
)

// Finisher is a network on which a published post may need further calls, such as a call that sets a thumbnail. The
// post remains published if such a call fails. The network's receipts always have a permalink.
type Finisher interface {
	Network
	// FinishSteps returns the names of the calls that a post needs after its publication, in order. The draft need not
	// be prepared.
	FinishSteps(d Draft) []string
	// PostID returns the ID in permalink, which a person entered for the post. If permalink is empty, it returns the ID in
	// the draft. It returns "" if there is no ID.
	PostID(d Draft, permalink string) string
	// Finish makes the call of a step for the post with this ID. A repeated call is safe, even if the response was
	// lost.
	Finish(ctx context.Context, g Grant, d Draft, id, step string, files Files) error
}

// CodeAccountLost is the code of a step that did not run because the account is no longer connected.
const CodeAccountLost = "account_lost"

// CodePostUnknown is the code of a step that did not run because the post's ID is unknown. For example, a person marked
// the post as published without a permalink.
const CodePostUnknown = "post_unknown"

// finishAdvice says what people can do about a failed step, by platform, step and the network's code. The empty code
// applies to all other codes.
var finishAdvice = map[string]map[string]map[string]string{
	"youtube": {
		"thumbnail": {
			"forbidden": "Verify the channel at youtube.com/verify, then set the thumbnail in YouTube Studio.",
			"":          "Set the thumbnail in YouTube Studio.",
		},
		"playlist": {
			"playlistNotFound": "The channel has no such playlist. Add the video to a playlist in YouTube Studio, and correct " +
				"the ID in other posts.",
			"insufficientPermissions": "Connect the account again and allow everything. Add this video to the playlist in " +
				"YouTube Studio.",
			"": "Add the video to the playlist in YouTube Studio.",
		},
	},
}

// FinishAdvice returns what people can do about a step that failed with the given code, or "" if there is no advice.
func FinishAdvice(platform, step, code string) string {
	return cmp.Or(finishAdvice[platform][step][code], finishAdvice[platform][step][""])
}
