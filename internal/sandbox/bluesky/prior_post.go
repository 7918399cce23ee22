package bluesky

import (
	"encoding/json"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/sandbox/store"
)

// FormatPriorPost sets the ID, version and record of a prior post.
func FormatPriorPost(p *store.Post) error {
	raw, err := json.Marshal(map[string]any{
		"$type": collection, "text": p.Text, "createdAt": p.At.UTC().Format(time.RFC3339Nano),
	})
	if err != nil {
		return fmt.Errorf("writing a record: %w", err)
	}
	rec, err := parseRecord(raw)
	p.ID, p.Version, p.Body = recordURI(p.Account, encodeTID(p.At.UnixMicro())), rec.cid, rec.body
	return err
}
