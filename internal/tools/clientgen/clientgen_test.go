package clientgen_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/tools/clientgen"
)

var update = flag.Bool("update", false, "regenerate the clients' files")

const description = "../../../api/openapi.json"

// TestGolden checks that the clients are generated from the current OpenAPI document.
func TestGolden(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(description)
	if err != nil {
		t.Fatal(err)
	}
	for file, generate := range map[string]func([]byte) ([]byte, error){
		"../../../client/generated.go":                        clientgen.Go,
		"../../../clients/typescript/src/generated.ts":        clientgen.TypeScript,
		"../../../clients/python/src/pressroom/_generated.py": clientgen.Python,
		"../../api/openapi/samples.json":                      clientgen.Samples,
	} {
		generated, err := generate(raw)
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(file, generated, 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		current, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(current), string(generated)); diff != "" {
			t.Errorf("%s is out of date; run: make generate\n%s", file, diff)
		}
	}
}

// TestUnsupportedSchemas checks that unsupported schemas are errors.
func TestUnsupportedSchemas(t *testing.T) {
	t.Parallel()
	for wantErr, s := range map[string]string{
		"does not support the keyword not":         `{"not":{"type":"string"}}`,
		"allOf only with the envelope":             `{"allOf":[{"type":"string"}]}`,
		"only unions of components":                `{"oneOf":[{"type":"string"}]}`,
		"does not support the type null":           `{"type":"null"}`,
		"supports only objects with string values": `{"type":"object","additionalProperties":{"type":"integer"}}`,
	} {
		document := `{"paths":{},"components":{"schemas":{"Thing":{"type":"object","properties":{"a":` + s + `}}}}}`
		if _, err := clientgen.Go([]byte(document)); err == nil || !strings.Contains(err.Error(), wantErr) {
			t.Errorf("%s: %v", s, err)
		}
	}
}
