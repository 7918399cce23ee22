package sandbox

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

const (
	maxImages     = 4
	maxImageBytes = 1_000_000
	maxVideoBytes = 100_000_000
)

// rawCIDForm matches an uploaded file's id: CIDv1, raw, SHA-256.
var rawCIDForm = regexp.MustCompile(`^bafkrei[a-z2-7]{52}$`)

// shownBlob is an embedded file.
type shownBlob struct {
	blobRef

	alt string
}

// readEmbed parses an embed by the rules of app.bsky.embed.images and app.bsky.embed.video. Other types are open.
func readEmbed(members map[string]any) ([]shownBlob, error) {
	value, given := members["embed"]
	if !given {
		return nil, nil
	}
	const path = "$.record.embed"
	embed, _ := value.(map[string]any)
	kind, ok := embed["$type"].(string)
	switch {
	case !ok:
		return nil, invalidRecord(`Expected an object which includes the "$type" property value type (got %s) at %s`,
			got(value), path)
	case kind == "app.bsky.embed.images":
		return readImages(path, embed)
	case kind == "app.bsky.embed.video":
		video, err := readShown(path, embed, "video", "video/mp4", maxVideoBytes)
		return []shownBlob{video}, err
	}
	return nil, nil
}

func readImages(path string, embed map[string]any) ([]shownBlob, error) {
	if err := has(path, embed, "images"); err != nil {
		return nil, err
	}
	images, err := list(path, embed, "images", maxImages)
	if err != nil {
		return nil, err
	}
	var media []shownBlob
	for i, value := range images {
		at := fmt.Sprintf("%s.images[%d]", path, i)
		image, ok := value.(map[string]any)
		if !ok {
			return nil, invalidRecord("Expected object value type (got %s) at %s", got(value), at)
		}
		one, err := readShown(at, image, "image", "image/*", maxImageBytes)
		if err != nil {
			return nil, err
		}
		if err := has(at, image, "alt"); err != nil {
			return nil, err
		}
		media = append(media, one)
	}
	return media, nil
}

// readShown parses what images and videos have in common: the file, the alt text and the aspect ratio.
func readShown(path string, members map[string]any, name, accept string, maxSize int64) (shownBlob, error) {
	if err := has(path, members, name); err != nil {
		return shownBlob{}, err
	}
	ref, err := readBlob(path+"."+name, members[name], accept, maxSize)
	if err != nil {
		return shownBlob{}, err
	}
	media := shownBlob{blobRef: ref}
	if value, given := members["alt"]; given {
		alt, ok := value.(string)
		if !ok {
			return shownBlob{}, invalidRecord("Expected string value type (got %s) at %s.alt", got(value), path)
		}
		if name == "video" {
			if err := checkText(path+".alt", alt, 10000, 1000); err != nil {
				return shownBlob{}, err
			}
		}
		media.alt = alt
	}
	return media, checkRatio(path+".aspectRatio", members)
}

func readBlob(path string, value any, accept string, maxSize int64) (blobRef, error) {
	ref, ok := blobOf(value)
	if !ok {
		return blobRef{}, invalidRecord("Expected blob value type (got %s) at %s", got(value), path)
	}
	if family, all := strings.CutSuffix(accept, "*"); !all && ref.mime != accept || !strings.HasPrefix(ref.mime,
		family) {
		return blobRef{}, invalidRecord("Expected %q (got %q) at %s.mimeType", accept, ref.mime, path)
	}
	if ref.size > maxSize {
		return blobRef{}, invalidRecord("blob too big (maximum %d, got %d) at %s", maxSize, ref.size, path)
	}
	return ref, nil
}

// blobOf parses a blob object, which has exactly these four members.
func blobOf(value any) (blobRef, bool) {
	members, _ := value.(map[string]any)
	link, _ := members["ref"].(map[string]any)
	ref := blobRef{}
	ref.cid, _ = link["$link"].(string)
	ref.mime, _ = members["mimeType"].(string)
	number, _ := members["size"].(json.Number)
	var err error
	ref.size, err = number.Int64()
	wellFormed := members["$type"] == "blob" && len(members) == 4 && len(link) == 1 && rawCIDForm.MatchString(ref.cid)
	return ref, wellFormed && strings.Contains(ref.mime, "/") && err == nil && ref.size >= 0
}

// blobsIn returns the blobs anywhere in a record.
func blobsIn(value any) []blobRef {
	if ref, ok := blobOf(value); ok {
		return []blobRef{ref}
	}
	var found []blobRef
	switch v := value.(type) {
	case map[string]any:
		for _, member := range v {
			found = append(found, blobsIn(member)...)
		}
	case []any:
		for _, member := range v {
			found = append(found, blobsIn(member)...)
		}
	}
	return found
}

func checkRatio(path string, members map[string]any) error {
	value, given := members["aspectRatio"]
	if !given {
		return nil
	}
	ratio, ok := value.(map[string]any)
	if !ok {
		return invalidRecord("Expected object value type (got %s) at %s", got(value), path)
	}
	for _, side := range []string{"width", "height"} {
		if err := has(path, ratio, side); err != nil {
			return err
		}
		number, ok := ratio[side].(json.Number)
		if !ok {
			return invalidRecord("Expected integer value type (got %s) at %s.%s", got(ratio[side]), path, side)
		}
		if pixels, err := number.Int64(); err != nil || pixels < 1 {
			return invalidRecord("integer too small (minimum 1, got %s) at %s.%s", number, path, side)
		}
	}
	return nil
}

func has(path string, members map[string]any, name string) error {
	if _, given := members[name]; !given {
		return invalidRecord("Missing required key %q at %s", name, path)
	}
	return nil
}

// got returns a value as the genuine server writes it in errors: objects and arrays by their kind.
func got(value any) string {
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
