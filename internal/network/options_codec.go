package network

import (
	"encoding/json"
	"fmt"
)

// EncodeOptions returns options as JSON for the database, or "" for no options.
func EncodeOptions(o Options) (string, error) {
	if o.IsZero() {
		return "", nil
	}
	encoded, err := json.Marshal(o)
	if err != nil {
		return "", fmt.Errorf("encoding a post's options: %w", err)
	}
	return string(encoded), nil
}

// DecodeOptions returns the options that EncodeOptions encoded.
func DecodeOptions(encoded string) (Options, error) {
	var o Options
	if encoded == "" {
		return o, nil
	}
	if err := json.Unmarshal([]byte(encoded), &o); err != nil {
		return o, fmt.Errorf("decoding a post's options: %w", err)
	}
	return o, nil
}
