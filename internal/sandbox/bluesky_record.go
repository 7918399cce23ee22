package sandbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/rivo/uniseg"
)

// blueskyRecord is a post's record that the server takes.
type blueskyRecord struct {
	text  string
	at    time.Time
	media []shownBlob
	blobs []blobRef // every blob that it names
	body  []byte    // JSON with its members in order
	cid   string
}

var (
	tidForm      = regexp.MustCompile(`^[234567abcdefghij][234567abcdefghijklmnopqrstuvwxyz]{12}$`)
	cidForm      = regexp.MustCompile(`^bafyrei[a-z2-7]{52}$`)
	didForm      = regexp.MustCompile(`^did:[a-z]+:[A-Za-z0-9._:%-]*[A-Za-z0-9._-]$`)
	uriForm      = regexp.MustCompile(`^\w+:(//)?[^\s/]\S*$`)
	languageForm = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)
)

// readRecord checks a record by the rules of app.bsky.feed.post. Replies, labels and embeds other than images and
// videos are kept as they come.
func readRecord(raw json.RawMessage) (blueskyRecord, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var members map[string]any
	if err := decoder.Decode(&members); err != nil || members == nil {
		return blueskyRecord{}, invalidRequest("Expected object value type (got %.100s) at $.record", raw)
	}
	if _, given := members["$type"]; !given {
		members["$type"] = blueskyCollection
	}
	if members["$type"] != blueskyCollection {
		return blueskyRecord{}, invalidRequest("Invalid $type: expected %s, got %v", blueskyCollection,
			members["$type"])
	}
	at, err := checkRecord(members)
	if err != nil {
		return blueskyRecord{}, err
	}
	media, err := readEmbed(members)
	if err != nil {
		return blueskyRecord{}, err
	}
	body, err := json.Marshal(members)
	if err != nil {
		return blueskyRecord{}, fmt.Errorf("writing the record: %w", err)
	}
	text, _ := members["text"].(string) // checked
	return blueskyRecord{text: text, at: at, media: media, blobs: blobsIn(members), body: body, cid: contentID(body)},
		nil
}

// contentID has the form of the genuine identifiers (CIDv1, DAG-CBOR, SHA-256) and, like them, is the same
// for the same content; what it hashes is JSON.
func contentID(content []byte) string {
	return cidOf(recordCodec, sha256.Sum256(content))
}

// The codecs of content identifiers, from the multicodec table.
const (
	rawCodec    = 0x55
	recordCodec = 0x71
)

func cidOf(codec byte, digest [sha256.Size]byte) string {
	id := append([]byte{0x01, codec, 0x12, 0x20}, digest[:]...)
	return "b" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(id))
}

func checkRecord(members map[string]any) (time.Time, error) {
	if err := checkNumbers("$.record", members); err != nil {
		return time.Time{}, err
	}
	if err := checkText("$.record.text", members["text"], 3000, 300); err != nil {
		return time.Time{}, missing("text", members, err)
	}
	created, _ := members["createdAt"].(string)
	at, err := time.Parse(time.RFC3339, created)
	if err != nil {
		return time.Time{}, missing("createdAt", members,
			invalidRecord("Invalid datetime (got %q) at $.record.createdAt", created))
	}
	if err := checkLangs(members); err != nil {
		return time.Time{}, err
	}
	if err := checkTags(members); err != nil {
		return time.Time{}, err
	}
	return at, checkFacets(members)
}

func invalidRecord(format string, args ...any) error {
	return invalidRequest("Invalid "+blueskyCollection+" record: "+format, args...)
}

// missing turns the error about a member into one about its absence where it is not there at all.
func missing(name string, members map[string]any, otherwise error) error {
	if _, given := members[name]; given {
		return otherwise
	}
	return invalidRecord("Missing required key %q at $.record", name)
}

func checkText(path string, value any, maxBytes, maxGraphemes int) error {
	text, ok := value.(string)
	if !ok {
		return invalidRecord("Expected string value type (got %s) at %s", got(value), path)
	}
	if len(text) > maxBytes {
		return invalidRecord("string too big (maximum %d, got %d) at %s", maxBytes, len(text), path)
	}
	if count := uniseg.GraphemeClusterCount(text); count > maxGraphemes {
		return invalidRecord("grapheme too big (maximum %d, got %d) at %s", maxGraphemes, count, path)
	}
	return nil
}

// checkNumbers refuses what is not a whole number anywhere in value: the protocol has no others.
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
