package store

import (
	"bufio"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// Blob refers to a file.
type Blob struct {
	CID, MIME string
	Size      int64
}

// NewMedium returns the medium that shows an account's file. It is served below the network's folder.
func NewMedium(platform, account string, blob Blob, alt string) Medium {
	return Medium{Path: platform + "/media/" + account + "/" + blob.CID, Type: blob.MIME, Alt: alt}
}

// Codecs of content identifiers, from the multicodec table.
const (
	rawCodec    = 0x55
	recordCodec = 0x71
)

// ContentID returns an ID in the genuine format (CIDv1, DAG-CBOR, SHA-256). Equal content has equal IDs. It hashes
// JSON.
func ContentID(content []byte) string { return encodeCID(recordCodec, sha256.Sum256(content)) }

func encodeCID(codec byte, digest [sha256.Size]byte) string {
	id := append([]byte{0x01, codec, 0x12, 0x20}, digest[:]...)
	return "b" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(id))
}

const sniffed = 512 // bytes that show a file's type

// MediaType returns the type that a file's first bytes show if it is an image, a video or a sound, otherwise given.
func MediaType(head []byte, given string) string {
	if len(head) >= 12 && string(head[4:8]) == "ftyp" {
		switch string(head[8:12]) { // the brand
		case "qt  ":
			return "video/quicktime"
		case "avif":
			return "image/avif"
		case "heic":
			return "image/heic"
		}
		return "video/mp4"
	}
	found := http.DetectContentType(head)
	if family, _, _ := strings.Cut(found, "/"); family == "image" || family == "video" || family == "audio" {
		return found
	}
	return given
}

// SaveMedia saves a file and detects its type.
func (s *Store) SaveMedia(body io.Reader, given string) (Blob, error) {
	buffered := bufio.NewReader(body)
	head, _ := buffered.Peek(sniffed) // saving the file returns the same error
	kind := MediaType(head, given)
	blob, err := s.SaveFile(buffered)
	blob.MIME = kind
	return blob, err
}

// Join saves a file made of the files with these IDs.
func (s *Store) Join(cids []string) (Blob, error) {
	parts := &partReader{store: s, left: cids}
	defer parts.close()
	return s.SaveMedia(parts, "")
}

// partReader reads files one after the other.
type partReader struct {
	store *Store
	left  []string // cids
	open  *os.File
}

func (p *partReader) Read(into []byte) (int, error) {
	for {
		if p.open != nil {
			count, err := p.open.Read(into)
			if count > 0 || !errors.Is(err, io.EOF) {
				return count, err //nolint:wrapcheck // a reader's errors are its own
			}
			p.close()
		}
		if len(p.left) == 0 {
			return 0, io.EOF
		}
		var err error
		if p.open, err = os.Open(p.store.FilePath(p.left[0])); err != nil {
			return 0, fmt.Errorf("opening a part: %w", err)
		}
		p.left = p.left[1:]
	}
}

func (p *partReader) close() {
	if p.open != nil {
		_ = p.open.Close() // it was only read
		p.open = nil
	}
}
