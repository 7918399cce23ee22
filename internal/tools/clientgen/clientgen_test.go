package clientgen_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom/internal/testkit/must"
	"pressroom/internal/tools/clientgen"
)

var update = flag.Bool("update", false, "write the clients' generated files anew")

const description = "../../../api/openapi.json"

// The clients are those of today's description.
func TestGolden(t *testing.T) {
	t.Parallel()
	raw := must.Get(os.ReadFile(description))(t)
	for file, generate := range map[string]func([]byte) ([]byte, error){
		"../../../client/generated.go":                 clientgen.Go,
		"../../../clients/typescript/src/generated.ts": clientgen.TypeScript,
	} {
		made := must.Get(generate(raw))(t)
		if *update {
			must.NoError(t, os.WriteFile(file, made, 0o600))
			continue
		}
		held := must.Get(os.ReadFile(file))(t)
		if diff := cmp.Diff(string(held), string(made)); diff != "" {
			t.Errorf("%s is of another description; run: make generate\n%s", file, diff)
		}
	}
}

// A form of schema that it does not know is told, not guessed.
func TestUnknownForms(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]string{
		"does not know the keyword oneOf": `{"oneOf":[{"type":"string"}]}`,
		"does not know the type null":     `{"type":"null"}`,
		"objects of texts alone":          `{"type":"object","additionalProperties":{"type":"integer"}}`,
	} {
		document := `{"paths":{},"components":{"schemas":{"Thing":{"type":"object","properties":{"a":` + s + `}}}}}`
		if _, err := clientgen.Go([]byte(document)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", s, err)
		}
	}
}
