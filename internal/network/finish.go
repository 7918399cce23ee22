package network

import (
	"cmp"
	"context"
)

// Finisher is a network at which a published post may need further calls, such as one that sets a thumbnail. A call that
// fails leaves the post published. The network's receipts have a permalink.
type Finisher interface {
	Network
	// FinishSteps returns the names of the calls that a post needs after its publication, in order. The draft may be
	// unprepared.
	FinishSteps(d Draft) []string
	// PostID returns the ID of a post that a person found on the network. It reads it from the permalink, or else from
	// the draft. It returns "" if neither has it.
	PostID(d Draft, permalink string) string
	// Finish makes a call for the post with this ID. It may be repeated, also after a lost answer.
	Finish(ctx context.Context, g Grant, d Draft, id, step string, files Files) error
}

// CodeAccountLost is the code of a step that was not done because the account is no longer connected.
const CodeAccountLost = "account_lost"

// CodePostUnknown is the code of a step that was not done because the post's ID is not known, such as that of a post
// that a person marked as published without its permalink.
const CodePostUnknown = "post_unknown"

// finishAdvice says what people can do about a step that failed, by platform, step and the network's code. The empty code
// is for all others.
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

// FinishAdvice returns what people can do about a step that failed with the network's code, or "" if unknown.
func FinishAdvice(platform, step, code string) string {
	return cmp.Or(finishAdvice[platform][step][code], finishAdvice[platform][step][""])
}
