package openapi

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// Sample is an example call of an operation in a programming language, for pages that show the document.
type Sample struct {
	Lang   string `json:"lang"`
	Label  string `json:"label"`
	Source string `json:"source"`
}

// samplesFile has the samples. The clients' generator writes it from the examples of this document.
//
//go:embed samples.json
var samplesFile []byte

// samples returns the samples of each operation.
var samples = sync.OnceValue(func() map[string][]Sample {
	var out map[string][]Sample
	if err := json.Unmarshal(samplesFile, &out); err != nil {
		panic(err) // A test checks the file.
	}
	return out
})
