package blob_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/testkit/must"
)

// A read-only store creates nothing and lists existing blobs.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "files")
	empty := must.Get(blob.Open(t.Context(), "file:"+dir, blob.Options{ReadOnly: true}))(t)
	if _, err := empty.Open(t.Context(), "a"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("a blob of a missing folder: %v", err)
	}
	if _, err := empty.Stage(t.Context()); err == nil {
		t.Error("a missing folder stages files")
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder: %v", err)
	}
	store := must.Get(blob.Open(t.Context(), "file:"+dir, blob.Options{}))(t)
	staged := must.Get(store.Stage(t.Context()))(t)
	defer staged.Discard()
	must.NoError(t, store.Put(t.Context(), "a", staged))
	readOnly := must.Get(blob.Open(t.Context(), "file:"+dir, blob.Options{ReadOnly: true}))(t)
	seen := 0
	if err := readOnly.Each(t.Context(), "", func(blob.Info) error { seen++; return nil }); err != nil || seen != 1 {
		t.Errorf("%d blobs, %v", seen, err)
	}
}
