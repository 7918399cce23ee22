package openapi

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// Sample is an example call of an operation in one programming language. Sites that render the document show it.
type Sample struct {
	Lang   string `json:"lang"`
	Label  string `json:"label"`
	Source string `json:"source"`
}

// samplesFile contains the samples. The generator of the client libraries creates it from the examples in this
// document.
//
//go:embed samples.json
var samplesFile []byte

// samples returns the samples for each operation, by the name of its tool.
var samples = sync.OnceValue(func() map[string][]Sample {
	var out map[string][]Sample
	if err := json.Unmarshal(samplesFile, &out); err != nil {
		panic(err) // unreachable: a test checks the file
	}
	return out
})
