package blob_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pressroom/internal/platform/blob"
)

// A read-only store creates nothing and lists existing blobs.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "files")
	empty, err := blob.Open(t.Context(), "file:"+dir, blob.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := empty.Open(t.Context(), "a"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("a blob of a missing folder: %v", err)
	}
	if _, err := empty.Stage(t.Context()); err == nil {
		t.Error("a missing folder stages files")
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder: %v", err)
	}
	store, err := blob.Open(t.Context(), "file:"+dir, blob.Options{})
	if err != nil {
		t.Fatal(err)
	}
	staged, err := store.Stage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer staged.Discard()
	if err := store.Put(t.Context(), "a", staged); err != nil {
		t.Fatal(err)
	}
	readOnly, err := blob.Open(t.Context(), "file:"+dir, blob.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	if err := readOnly.Each(t.Context(), "", func(blob.Info) error { seen++; return nil }); err != nil || seen != 1 {
		t.Errorf("%d blobs, %v", seen, err)
	}
}
