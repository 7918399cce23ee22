package bluesky

import (
	"encoding/json"
	"fmt"
)

// arrayMember returns an array member, or nil if it is missing. It returns an error if the array has more than limit
// values.
func arrayMember(path string, members map[string]any, name string, limit int) ([]any, error) {
	value, given := members[name]
	if !given {
		return nil, nil
	}
	values, ok := value.([]any)
	if !ok {
		return nil, invalidRecord("Expected array value type (got %s) at %s.%s", describeValue(value), path, name)
	}
	if len(values) > limit {
		return nil, invalidRecord("array too big (maximum %d, got %d) at %s.%s", limit, len(values), path, name)
	}
	return values, nil
}

func checkLangs(members map[string]any) error {
	langs, err := arrayMember("$.record", members, "langs", 3)
	if err != nil {
		return err
	}
	for i, value := range langs {
		if lang, _ := value.(string); !languagePattern.MatchString(lang) {
			return invalidRecord("Invalid language (got %q) at $.record.langs[%d]", lang, i)
		}
	}
	return nil
}

func checkTags(members map[string]any) error {
	tags, err := arrayMember("$.record", members, "tags", 8)
	if err != nil {
		return err
	}
	for i, value := range tags {
		if err := checkText(fmt.Sprintf("$.record.tags[%d]", i), value, 640, 64); err != nil {
			return err
		}
	}
	return nil
}

// maxFacets is far higher than the number of facets that fit into 300 characters. The real server has no limit.
const maxFacets = 3000

// checkFacets checks the format of facets. Like the real server, it does not compare the offsets with the text.
func checkFacets(members map[string]any) error {
	facets, err := arrayMember("$.record", members, "facets", maxFacets)
	if err != nil {
		return err
	}
	for i, value := range facets {
		path := fmt.Sprintf("$.record.facets[%d]", i)
		facet, _ := value.(map[string]any)
		if err := checkIndex(path, facet["index"]); err != nil {
			return err
		}
		features, ok := facet["features"].([]any)
		if !ok {
			return invalidRecord("Missing required key %q at %s", "features", path)
		}
		for j, feature := range features {
			if err := checkFeature(fmt.Sprintf("%s.features[%d]", path, j), feature); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkIndex(path string, value any) error {
	index, ok := value.(map[string]any)
	if !ok {
		return invalidRecord("Missing required key %q at %s", "index", path)
	}
	for _, name := range []string{"byteStart", "byteEnd"} {
		number, ok := index[name].(json.Number)
		if !ok {
			return invalidRecord("Missing required key %q at %s.index", name, path)
		}
		if offset, err := number.Int64(); err != nil || offset < 0 {
			return invalidRecord("integer too small (minimum 0, got %s) at %s.index.%s", number, path, name)
		}
	}
	return nil
}

func checkFeature(path string, value any) error {
	feature, _ := value.(map[string]any)
	kind, ok := feature["$type"].(string)
	if !ok {
		return invalidRecord("Expected an object which includes the \"$type\" property value type at %s", path)
	}
	switch kind {
	case "app.bsky.richtext.facet#tag":
		return checkText(path+".tag", feature["tag"], 640, 64)
	case "app.bsky.richtext.facet#link":
		if uri, _ := feature["uri"].(string); !uriPattern.MatchString(uri) {
			return invalidRecord("Invalid uri (got %q) at %s.uri", uri, path)
		}
	case "app.bsky.richtext.facet#mention":
		if did, _ := feature["did"].(string); !didPattern.MatchString(did) {
			return invalidRecord("Invalid DID (got %q) at %s.did", did, path)
		}
	}
	return nil // the protocol allows other types
}
