package client

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// File is one that is to be uploaded: its description, and how to read it, from its beginning each time.
type File struct {
	Name   string // as the library is to show it
	Size   int64  // in bytes
	SHA256 string // of the bytes, in small hexadecimal digits
	Open   func() (io.ReadCloser, error)
}

// FileAt describes a file on disk. It reads all of it once, in small pieces, and it is read again when it is sent.
func FileAt(path string) (File, error) {
	f, err := os.Open(path) //nolint:gosec // the caller says which
	if err != nil {
		return File{}, fmt.Errorf("opening what is to be uploaded: %w", err)
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	if err != nil {
		return File{}, fmt.Errorf("reading what is to be uploaded: %w", err)
	}
	return File{
		Name: filepath.Base(path), Size: size, SHA256: hex.EncodeToString(sum.Sum(nil)),
		Open: func() (io.ReadCloser, error) { return os.Open(path) }, //nolint:gosec // as above
	}, nil
}

// FileOf describes bytes in memory.
func FileOf(name string, content []byte) File {
	sum := sha256.Sum256(content)
	return File{
		Name: name, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:]),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
	}
}
