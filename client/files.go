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

// File is a file to upload. Open is called once per attempt. It must return a reader at the start of the file.
type File struct {
	Name   string // file name in the library
	Size   int64  // in bytes
	SHA256 string // lowercase hexadecimal
	Open   func() (io.ReadCloser, error)
}

// FileFromPath returns a file on disk. It reads the file to compute the digest. The upload reads the file again.
func FileFromPath(path string) (File, error) {
	f, err := os.Open(path) //nolint:gosec // the caller chooses the path
	if err != nil {
		return File{}, fmt.Errorf("reading a file: %w", err)
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	if err != nil {
		return File{}, fmt.Errorf("reading a file: %w", err)
	}
	return File{
		Name: filepath.Base(path), Size: size, SHA256: hex.EncodeToString(sum.Sum(nil)),
		Open: func() (io.ReadCloser, error) { return os.Open(path) }, //nolint:gosec // as above
	}, nil
}

// FileFromBytes returns a file in memory.
func FileFromBytes(name string, content []byte) File {
	sum := sha256.Sum256(content)
	return File{
		Name: name, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:]),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
	}
}
