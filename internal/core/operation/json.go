package operation

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// JSONEncoder is response data that encodes itself as JSON. It is faster than encoding/json but produces the same
// result.
type JSONEncoder interface {
	JSON() ([]byte, error)
}

// JSON encodes a value as JSON for a response. It does not escape HTML, because people read responses in terminals.
func JSON(value any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, fmt.Errorf("encoding JSON: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
