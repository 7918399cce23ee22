package blob_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pressroom/internal/platform/blob"
)

// Looking makes nothing, and sees what is there.
func TestLook(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "files")
	nothing, err := blob.Open(t.Context(), "file:"+dir, blob.Options{Look: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nothing.Open(t.Context(), "a"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("a blob of a folder that is not there: %v", err)
	}
	if _, err := nothing.Stage(t.Context()); err == nil {
		t.Error("a folder that is not there receives files")
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
	looking, err := blob.Open(t.Context(), "file:"+dir, blob.Options{Look: true})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	if err := looking.Each(t.Context(), "", func(blob.Info) error { seen++; return nil }); err != nil || seen != 1 {
		t.Errorf("%d blobs, %v", seen, err)
	}
}
