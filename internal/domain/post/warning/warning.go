// Package warning stores and describes steps that failed after a post was published, such as setting its thumbnail.
package warning

import (
	"context"
	"encoding/json"
	"fmt"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
)

const published = "published" // same as post.TargetPublished; importing package post would create an import cycle

// FailedStep is a step that failed after a post was published.
type FailedStep struct {
	Step string `json:"step"` // name of the step; see network.Finisher
	Code string `json:"code"` // error code, such as network.CodeAccountLost
}

// PostWarning describes a failed step in API responses.
type PostWarning struct {
	Code    string `json:"code" enum:"thumbnail_not_set|playlist_not_set|other"`
	Message string `json:"message" jsonschema:"What happened, and what people can do."`
}

// stepTexts are the messages for failed steps.
var stepTexts = map[string]string{
	"thumbnail": "The thumbnail was not set.", "playlist": "The video was not added to the playlist.",
}

// describe converts a failed step to its API representation.
func (f FailedStep) describe(platform string) PostWarning {
	text, known := stepTexts[f.Step]
	if !known {
		return PostWarning{"other", "The network rejected a part of the post."}
	}
	switch f.Code {
	case network.CodeAccountLost:
		text += " The connection to the account was lost."
	case network.CodePostUnknown:
		text += " The link of the post is not known."
	}
	return PostWarning{f.Step + "_not_set", text + " " + network.FinishAdvice(platform, f.Step, f.Code)}
}

// List converts the failed steps of an account to their API representation.
func List(platform string, steps []FailedStep) []PostWarning {
	var out []PostWarning
	for _, f := range steps {
		out = append(out, f.describe(platform))
	}
	return out
}

// Decode decodes the failed steps that Set stored.
func Decode(stored string) ([]FailedStep, error) {
	if stored == "" {
		return nil, nil
	}
	var steps []FailedStep
	if err := json.Unmarshal([]byte(stored), &steps); err != nil {
		return nil, fmt.Errorf("decoding the warnings of an account: %w", err)
	}
	return steps, nil
}

// Set stores the failed steps for a published account of a post.
func Set(ctx context.Context, tx *db.Tx, id string, account int64, steps []FailedStep) error {
	stored := []byte{}
	if len(steps) > 0 {
		var err error
		if stored, err = json.Marshal(steps); err != nil {
			return fmt.Errorf("encoding the warnings of an account: %w", err)
		}
	}
	_, err := tx.Exec(ctx, `UPDATE post_targets SET warnings = ? WHERE post_id = ? AND account_id = ? AND state = ?`,
		string(stored), id, account, published)
	if err != nil {
		return fmt.Errorf("storing the warnings of an account: %w", err)
	}
	return nil
}
