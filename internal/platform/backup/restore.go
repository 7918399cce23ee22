package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"pressroom.example/pressroom/internal/platform/blob"
)

// RestoreFiles copies the backup's files to an empty store. After an interrupted restore, the store may already contain
// files of this backup.
func (a *Archive) RestoreFiles(ctx context.Context, dst blob.Store) error {
	expectedNames := map[string]bool{}
	for _, f := range a.Files {
		expectedNames[f.Name] = true
	}
	unexpectedCount, example := 0, ""
	err := dst.Each(ctx, "", func(b blob.Info) error {
		if !expectedNames[b.Key] {
			unexpectedCount, example = unexpectedCount+1, b.Key
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("listing the file store: %w", err)
	}
	if unexpectedCount > 0 {
		return fmt.Errorf("the file store is not empty: it has %d files that are not in this backup, such as %s; "+
			"set PRESSROOM_BLOBS (--blobs) to an empty store", unexpectedCount, example)
	}
	for _, f := range a.Files {
		if err := a.restoreFile(ctx, dst, f); err != nil {
			return err
		}
	}
	return nil
}

func (a *Archive) restoreFile(ctx context.Context, dst blob.Store, f File) error {
	existing, err := dst.Open(ctx, f.Name)
	if err == nil {
		existingFile, err := digestFile(ctx, f.Name, existing)
		if err := errors.Join(err, existing.Close()); err != nil {
			return err
		}
		if existingFile != f {
			return fmt.Errorf("the file store contains a different file named %s: use an empty store", f.Name)
		}
		return nil
	}
	if !errors.Is(err, blob.ErrNotFound) {
		return fmt.Errorf("finding %s: %w", f.Name, err)
	}
	restored, err := copyBlob(ctx, a.files, dst, f.Name, false)
	if err != nil {
		return err
	}
	if restored != f {
		changeErr := fmt.Errorf("%s changed while it was being restored; run the restore again", f.Name)
		return errors.Join(changeErr, dst.Delete(ctx, f.Name))
	}
	return nil
}

// CopyFile copies a file to a path that must not exist, and syncs it to disk.
func CopyFile(ctx context.Context, src, dst string) error {
	srcFile, err := os.Open(src) //nolint:gosec // G304: part of the operator's backup
	if err != nil {
		return fmt.Errorf("opening the copy of the database: %w", err)
	}
	defer srcFile.Close()
	out, err := os.OpenFile(dst, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // G304: the operator's path
	if err != nil {
		return fmt.Errorf("creating the database file: %w", err)
	}
	_, err = io.Copy(out, &contextReader{ctx, srcFile})
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		return errors.Join(fmt.Errorf("copying the database: %w", err), os.Remove(dst))
	}
	return nil
}
