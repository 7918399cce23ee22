package operation

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Encoded is data of an answer that knows a quicker way to its JSON than to be encoded. Both ways give the same bytes.
type Encoded interface {
	JSON() ([]byte, error)
}

// JSON writes a value as answers have it: nothing is escaped for HTML, as people read answers in terminals.
func JSON(value any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, fmt.Errorf("writing JSON: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
