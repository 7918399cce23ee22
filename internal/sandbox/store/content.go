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

// Blob describes a stored file.
type Blob struct {
	CID, MIME string
	Size      int64 // bytes
}

// NewMedium returns the medium for a file of an account.
func NewMedium(platform, account string, blob Blob, alt string) Medium {
	return Medium{Path: platform + "/media/" + account + "/" + blob.CID, Type: blob.MIME, Alt: alt}
}

// The codecs of content identifiers, from the multicodec table.
const (
	rawCodec    = 0x55
	recordCodec = 0x71
)

// ContentID returns a content identifier in Bluesky's format (CIDv1, DAG-CBOR, SHA-256). Unlike Bluesky, it hashes the
// content itself, not the content's DAG-CBOR encoding.
func ContentID(content []byte) string { return encodeCID(recordCodec, sha256.Sum256(content)) }

func encodeCID(codec byte, digest [sha256.Size]byte) string {
	id := append([]byte{0x01, codec, 0x12, 0x20}, digest[:]...)
	return "b" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(id))
}

const sniffLength = 512 // bytes that http.DetectContentType reads

// MediaType detects the MIME type of an image, a video or an audio file from its first bytes. For other files, it
// returns fallback.
func MediaType(head []byte, fallback string) string {
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
	detected := http.DetectContentType(head)
	if family, _, _ := strings.Cut(detected, "/"); family == "image" || family == "video" || family == "audio" {
		return detected
	}
	return fallback
}

// SaveMedia is like SaveFile, but it sets the MIME type to the result of MediaType.
func (s *Store) SaveMedia(body io.Reader, fallback string) (Blob, error) {
	buffered := bufio.NewReader(body)
	head, _ := buffered.Peek(sniffLength) // SaveFile returns the same error
	mimeType := MediaType(head, fallback)
	blob, err := s.SaveFile(buffered)
	blob.MIME = mimeType
	return blob, err
}

// Join concatenates files and saves the result.
func (s *Store) Join(cids []string) (Blob, error) {
	parts := &partReader{store: s, cids: cids}
	defer parts.close()
	return s.SaveMedia(parts, "")
}

// partReader reads the concatenation of files.
type partReader struct {
	store *Store
	cids  []string // files that are not open yet
	file  *os.File
}

func (p *partReader) Read(buf []byte) (int, error) {
	for {
		if p.file != nil {
			count, err := p.file.Read(buf)
			if count > 0 || !errors.Is(err, io.EOF) {
				return count, err //nolint:wrapcheck // callers compare the errors of a reader
			}
			p.close()
		}
		if len(p.cids) == 0 {
			return 0, io.EOF
		}
		var err error
		if p.file, err = os.Open(p.store.FilePath(p.cids[0])); err != nil {
			return 0, fmt.Errorf("opening a part: %w", err)
		}
		p.cids = p.cids[1:]
	}
}

func (p *partReader) close() {
	if p.file != nil {
		_ = p.file.Close() // the file was only read
		p.file = nil
	}
}
