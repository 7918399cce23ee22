package bluesky

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"github.com/rivo/uniseg"

	"pressroom.example/pressroom/internal/sandbox/store"
)

// record is a valid post record.
type record struct {
	text  string
	at    time.Time
	reply string // URI of the post that the record replies to; empty if it is not a reply
	media []embeddedBlob
	blobs []store.Blob // all blobs that the record refers to
	body  []byte       // JSON with sorted members
	cid   string
}

var (
	tidPattern      = regexp.MustCompile(`^[234567abcdefghij][234567abcdefghijklmnopqrstuvwxyz]{12}$`)
	cidPattern      = regexp.MustCompile(`^bafyrei[a-z2-7]{52}$`)
	didPattern      = regexp.MustCompile(`^did:[a-z]+:[A-Za-z0-9._:%-]*[A-Za-z0-9._-]$`)
	uriPattern      = regexp.MustCompile(`^\w+:(//)?[^\s/]\S*$`)
	languagePattern = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)
)

// parseRecord parses a record and checks it against the lexicon app.bsky.feed.post.
func parseRecord(raw json.RawMessage) (record, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var members map[string]any
	if err := decoder.Decode(&members); err != nil || members == nil {
		return record{}, invalidRequest("Expected object value type (got %.100s) at $.record", raw)
	}
	if _, given := members["$type"]; !given {
		members["$type"] = collection
	}
	if members["$type"] != collection {
		return record{}, invalidRequest("Invalid $type: expected %s, got %v", collection,
			members["$type"])
	}
	at, err := checkRecord(members)
	if err != nil {
		return record{}, err
	}
	media, err := parseEmbed(members)
	if err != nil {
		return record{}, err
	}
	reply, err := parseReply(members)
	if err != nil {
		return record{}, err
	}
	body, err := json.Marshal(members)
	if err != nil {
		return record{}, fmt.Errorf("writing the record: %w", err)
	}
	text, _ := members["text"].(string) // checkRecord checked its type
	return record{text: text, at: at, reply: reply, media: media, blobs: collectBlobs(members), body: body, cid: store.ContentID(body)},
		nil
}

func checkRecord(members map[string]any) (time.Time, error) {
	if err := checkNumbers("$.record", members); err != nil {
		return time.Time{}, err
	}
	if err := checkText("$.record.text", members["text"], 3000, 300); err != nil {
		return time.Time{}, memberError("text", members, err)
	}
	created, _ := members["createdAt"].(string)
	at, err := time.Parse(time.RFC3339, created)
	if err != nil {
		return time.Time{}, memberError("createdAt", members,
			invalidRecord("Invalid datetime (got %q) at $.record.createdAt", created))
	}
	if err := checkLangs(members); err != nil {
		return time.Time{}, err
	}
	if err := checkTags(members); err != nil {
		return time.Time{}, err
	}
	if err := checkLabels(members); err != nil {
		return time.Time{}, err
	}
	return at, checkFacets(members)
}

func invalidRecord(format string, args ...any) error {
	return invalidRequest("Invalid "+collection+" record: "+format, args...)
}

// memberError returns err if the member exists. Otherwise, it returns an error that says that the member is missing.
func memberError(name string, members map[string]any, err error) error {
	if _, given := members[name]; given {
		return err
	}
	return invalidRecord("Missing required key %q at $.record", name)
}

func checkText(path string, value any, maxBytes, maxGraphemes int) error {
	text, ok := value.(string)
	if !ok {
		return invalidRecord("Expected string value type (got %s) at %s", describeValue(value), path)
	}
	if len(text) > maxBytes {
		return invalidRecord("string too big (maximum %d, got %d) at %s", maxBytes, len(text), path)
	}
	if count := uniseg.GraphemeClusterCount(text); count > maxGraphemes {
		return invalidRecord("grapheme too big (maximum %d, got %d) at %s", maxGraphemes, count, path)
	}
	return nil
}

// checkNumbers rejects numbers that are not integers, because the protocol's data model has no other numbers.
func checkNumbers(path string, value any) error {
	switch v := value.(type) {
	case json.Number:
		if _, err := v.Int64(); err != nil {
			return invalidRequest("Expected one of null, boolean, integer, string, cid, bytes, array or object value "+
				"type (got %s) at %s", v, path)
		}
	case map[string]any:
		for name, member := range v {
			if err := checkNumbers(path+"."+name, member); err != nil {
				return err
			}
		}
	case []any:
		for i, member := range v {
			if err := checkNumbers(fmt.Sprintf("%s[%d]", path, i), member); err != nil {
				return err
			}
		}
	}
	return nil
}

// parseReply returns the URI of the post that a record replies to. Like the real server, it does not check that the
// post exists.
func parseReply(members map[string]any) (string, error) {
	value, given := members["reply"]
	if !given {
		return "", nil
	}
	refs, _ := value.(map[string]any)
	var parent string
	for _, name := range []string{"root", "parent"} {
		ref, _ := refs[name].(map[string]any)
		uri, _ := ref["uri"].(string)
		cid, _ := ref["cid"].(string)
		if !uriPattern.MatchString(uri) || !cidPattern.MatchString(cid) {
			return "", invalidRecord("Missing or invalid reference at $.record.reply.%s", name)
		}
		parent = uri
	}
	return parent, nil
}
