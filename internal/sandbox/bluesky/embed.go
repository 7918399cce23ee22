package bluesky

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"pressroom.example/pressroom/internal/sandbox/store"
)

const (
	maxImages     = 4
	maxImageBytes = 1_000_000
	maxVideoBytes = 300_000_000
)

// rawCIDPattern matches an uploaded file's ID: CIDv1, raw, SHA-256.
var rawCIDPattern = regexp.MustCompile(`^bafkrei[a-z2-7]{52}$`)

// embeddedBlob is a file that a record embeds.
type embeddedBlob struct {
	store.Blob

	alt string
}

// parseEmbed returns the files that a record embeds. It checks the embed against the lexicons app.bsky.embed.images,
// video, external, record and recordWithMedia. It does not check other types, which the protocol allows.
func parseEmbed(members map[string]any) ([]embeddedBlob, error) {
	value, given := members["embed"]
	if !given {
		return nil, nil
	}
	return parseEmbedAt("$.record.embed", value)
}

func parseEmbedAt(path string, value any) ([]embeddedBlob, error) {
	embed, _ := value.(map[string]any)
	kind, ok := embed["$type"].(string)
	if !ok {
		return nil, invalidRecord(`Expected an object which includes the "$type" property value type (got %s) at %s`,
			describeValue(value), path)
	}
	switch kind {
	case "app.bsky.embed.images":
		return parseImages(path, embed)
	case "app.bsky.embed.video":
		video, err := parseMedia(path, embed, "video", "video/mp4", maxVideoBytes)
		return []embeddedBlob{video}, err
	case "app.bsky.embed.external":
		return nil, checkExternal(path, embed)
	case "app.bsky.embed.record":
		return nil, checkQuote(path, embed)
	case "app.bsky.embed.recordWithMedia":
		return parseRecordWithMedia(path, embed)
	}
	return nil, nil
}

func parseImages(path string, embed map[string]any) ([]embeddedBlob, error) {
	if err := requireKey(path, embed, "images"); err != nil {
		return nil, err
	}
	images, err := arrayMember(path, embed, "images", maxImages)
	if err != nil {
		return nil, err
	}
	var media []embeddedBlob
	for i, value := range images {
		itemPath := fmt.Sprintf("%s.images[%d]", path, i)
		image, ok := value.(map[string]any)
		if !ok {
			return nil, invalidRecord("Expected object value type (got %s) at %s", describeValue(value), itemPath)
		}
		blob, err := parseMedia(itemPath, image, "image", "image/*", maxImageBytes)
		if err != nil {
			return nil, err
		}
		if err := requireKey(itemPath, image, "alt"); err != nil {
			return nil, err
		}
		media = append(media, blob)
	}
	return media, nil
}

// parseMedia parses the members that images and videos share: the file, the alt text and the aspect ratio.
func parseMedia(path string, members map[string]any, name, accept string, maxSize int64) (embeddedBlob, error) {
	if err := requireKey(path, members, name); err != nil {
		return embeddedBlob{}, err
	}
	ref, err := parseBlob(path+"."+name, members[name], accept, maxSize)
	if err != nil {
		return embeddedBlob{}, err
	}
	media := embeddedBlob{Blob: ref}
	if value, given := members["alt"]; given {
		alt, ok := value.(string)
		if !ok {
			return embeddedBlob{}, invalidRecord("Expected string value type (got %s) at %s.alt",
				describeValue(value), path)
		}
		if name == "video" {
			if err := checkText(path+".alt", alt, 10000, 1000); err != nil {
				return embeddedBlob{}, err
			}
		}
		media.alt = alt
	}
	return media, checkRatio(path+".aspectRatio", members)
}

func parseBlob(path string, value any, accept string, maxSize int64) (store.Blob, error) {
	ref, ok := blobFrom(value)
	if !ok {
		return store.Blob{}, invalidRecord("Expected blob value type (got %s) at %s", describeValue(value), path)
	}
	if family, anySubtype := strings.CutSuffix(accept, "*"); !anySubtype && ref.MIME != accept || !strings.HasPrefix(ref.MIME,
		family) {
		return store.Blob{}, invalidRecord("Expected %q (got %q) at %s.mimeType", accept, ref.MIME, path)
	}
	if ref.Size > maxSize {
		return store.Blob{}, invalidRecord("blob too big (maximum %d, got %d) at %s", maxSize, ref.Size, path)
	}
	return ref, nil
}

// blobFrom parses a blob object, which must have exactly four members.
func blobFrom(value any) (store.Blob, bool) {
	members, _ := value.(map[string]any)
	link, _ := members["ref"].(map[string]any)
	ref := store.Blob{}
	ref.CID, _ = link["$link"].(string)
	ref.MIME, _ = members["mimeType"].(string)
	number, _ := members["size"].(json.Number)
	var err error
	ref.Size, err = number.Int64()
	wellFormed := members["$type"] == "blob" && len(members) == 4 && len(link) == 1 &&
		rawCIDPattern.MatchString(ref.CID)
	return ref, wellFormed && strings.Contains(ref.MIME, "/") && err == nil && ref.Size >= 0
}

// collectBlobs returns all blobs that a record's value contains, at any depth.
func collectBlobs(value any) []store.Blob {
	if ref, ok := blobFrom(value); ok {
		return []store.Blob{ref}
	}
	var blobs []store.Blob
	switch v := value.(type) {
	case map[string]any:
		for _, member := range v {
			blobs = append(blobs, collectBlobs(member)...)
		}
	case []any:
		for _, member := range v {
			blobs = append(blobs, collectBlobs(member)...)
		}
	}
	return blobs
}

func checkRatio(path string, members map[string]any) error {
	value, given := members["aspectRatio"]
	if !given {
		return nil
	}
	ratio, ok := value.(map[string]any)
	if !ok {
		return invalidRecord("Expected object value type (got %s) at %s", describeValue(value), path)
	}
	for _, side := range []string{"width", "height"} {
		if err := requireKey(path, ratio, side); err != nil {
			return err
		}
		number, ok := ratio[side].(json.Number)
		if !ok {
			return invalidRecord("Expected integer value type (got %s) at %s.%s",
				describeValue(ratio[side]), path, side)
		}
		if pixels, err := number.Int64(); err != nil || pixels < 1 {
			return invalidRecord("integer too small (minimum 1, got %s) at %s.%s", number, path, side)
		}
	}
	return nil
}

func requireKey(path string, members map[string]any, name string) error {
	if _, given := members[name]; !given {
		return invalidRecord("Missing required key %q at %s", name, path)
	}
	return nil
}

// describeValue formats a value as the real server does in errors. For objects and arrays, it returns only the kind.
func describeValue(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("%q", v)
	case map[string]any:
		return "object"
	case []any:
		return "array"
	}
	return fmt.Sprint(value)
}
