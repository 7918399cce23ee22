package bluesky

import "strings"

const maxThumbBytes = 1_000_000

// objectMember returns a required object member.
func objectMember(path string, members map[string]any, name string) (map[string]any, error) {
	if err := requireKey(path, members, name); err != nil {
		return nil, err
	}
	object, ok := members[name].(map[string]any)
	if !ok {
		return nil, invalidRecord("Expected object value type (got %s) at %s.%s", describeValue(members[name]), path, name)
	}
	return object, nil
}

// checkExternal checks a link card.
func checkExternal(path string, embed map[string]any) error {
	card, err := objectMember(path, embed, "external")
	if err != nil {
		return err
	}
	path += ".external"
	for _, name := range []string{"uri", "title", "description"} {
		if err := requireKey(path, card, name); err != nil {
			return err
		}
		text, ok := card[name].(string)
		if !ok {
			return invalidRecord("Expected string value type (got %s) at %s.%s", describeValue(card[name]), path, name)
		}
		if name == "uri" && !uriPattern.MatchString(text) {
			return invalidRecord("Invalid uri (got %q) at %s.uri", text, path)
		}
	}
	if thumb, given := card["thumb"]; given {
		_, err = parseBlob(path+".thumb", thumb, "image/*", maxThumbBytes)
	}
	return err
}

// checkQuote checks a reference to another record. Like the real server, it does not check that the record exists.
func checkQuote(path string, embed map[string]any) error {
	ref, err := objectMember(path, embed, "record")
	if err != nil {
		return err
	}
	path += ".record"
	for _, name := range []string{"cid", "uri"} {
		if err := requireKey(path, ref, name); err != nil {
			return err
		}
	}
	if uri, _ := ref["uri"].(string); !strings.HasPrefix(uri, "at://") {
		return invalidRecord("Invalid AT-URI (got %s) at %s.uri", describeValue(ref["uri"]), path)
	}
	if cid, _ := ref["cid"].(string); !cidPattern.MatchString(cid) {
		return invalidRecord("Invalid CID (got %s) at %s.cid", describeValue(ref["cid"]), path)
	}
	return nil
}

// parseRecordWithMedia parses a quote with media.
func parseRecordWithMedia(path string, embed map[string]any) ([]embeddedBlob, error) {
	if err := requireKey(path, embed, "media"); err != nil {
		return nil, err
	}
	media, err := parseEmbedAt(path+".media", embed["media"])
	if err != nil {
		return nil, err
	}
	quote, err := objectMember(path, embed, "record")
	if err != nil {
		return nil, err
	}
	return media, checkQuote(path+".record", quote)
}

// checkLabels checks a post's own labels.
func checkLabels(members map[string]any) error {
	value, given := members["labels"]
	if !given {
		return nil
	}
	const path = "$.record.labels"
	labels, _ := value.(map[string]any)
	if kind, ok := labels["$type"].(string); !ok {
		return invalidRecord(`Expected an object which includes the "$type" property value type (got %s) at %s`,
			describeValue(value), path)
	} else if kind != "com.atproto.label.defs#selfLabels" {
		return nil
	}
	if err := requireKey(path, labels, "values"); err != nil {
		return err
	}
	values, err := arrayMember(path, labels, "values", 10)
	if err != nil {
		return err
	}
	for _, value := range values {
		label, _ := value.(map[string]any)
		if err := requireKey(path+".values", label, "val"); err != nil {
			return err
		}
		if err := checkText(path+".values.val", label["val"], 128, 128); err != nil {
			return err
		}
	}
	return nil
}
