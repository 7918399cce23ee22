package post

import (
	"encoding/json"
	"fmt"
	"reflect"

	"pressroom/internal/network"
)

// encodeOptions returns options as stored: JSON, or "" for none.
func encodeOptions(o network.Options) (string, error) {
	if o.IsZero() {
		return "", nil
	}
	encoded, err := json.Marshal(o)
	if err != nil {
		return "", fmt.Errorf("encoding a post's options: %w", err)
	}
	return string(encoded), nil
}

func decodeOptions(stored string) (network.Options, error) {
	var o network.Options
	if stored == "" {
		return o, nil
	}
	if err := json.Unmarshal([]byte(stored), &o); err != nil {
		return o, fmt.Errorf("decoding a post's options: %w", err)
	}
	return o, nil
}

// setOptions changes a post's options and reports whether they differ.
func setOptions(p *Record, o network.Options) bool {
	differs := !reflect.DeepEqual(p.Options, o)
	p.Options = o
	return differs
}

// inboxNotes says that a post in an inbox mode is not public yet.
func (p Record) inboxNotes() []string {
	if p.Options.TikTok == nil || p.Options.TikTok.Mode != network.TikTokInbox {
		return nil
	}
	for _, t := range p.Targets {
		if t.Platform == "tiktok" && t.State == TargetPublished {
			return []string{"On TikTok the post is in the account's inbox. It becomes visible once a person completes it in " +
				"the TikTok app."}
		}
	}
	return nil
}
