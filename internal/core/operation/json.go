package operation

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Encoded is data of an answer that encodes itself as JSON faster. The result is the same.
type Encoded interface {
	JSON() ([]byte, error)
}

// JSON returns a value as JSON for an answer. It does not escape HTML, because people read answers in terminals.
func JSON(value any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, fmt.Errorf("encoding JSON: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
