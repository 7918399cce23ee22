package sandbox

import (
	"encoding/json"
	"fmt"
	"time"
)

// formEarlierRecord sets the id, version and record of an earlier post.
func formEarlierRecord(p *post) error {
	raw, err := json.Marshal(map[string]any{
		"$type": blueskyCollection, "text": p.text, "createdAt": p.at.UTC().Format(time.RFC3339Nano),
	})
	if err != nil {
		return fmt.Errorf("writing a record: %w", err)
	}
	rec, err := readRecord(raw)
	p.id, p.version, p.body = recordURI(p.account, tidAt(p.at.UnixMicro())), rec.cid, rec.body
	return err
}
