package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"pressroom/internal/platform/blob"
)

// RestoreFiles copies the backup's files to a store that has none but some of these, as of a restore that was cut off.
// What else lies there is refused.
func (w *Whole) RestoreFiles(ctx context.Context, to blob.Store) error {
	named := map[string]File{}
	for _, f := range w.Files {
		named[f.Name] = f
	}
	strangers, one := 0, ""
	err := to.Each(ctx, "", func(b blob.Info) error {
		if _, ok := named[b.Key]; !ok {
			strangers, one = strangers+1, b.Key
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("looking what the store of files holds: %w", err)
	}
	if strangers > 0 {
		return fmt.Errorf("the store of files is not empty: %d files lie there that are not of this backup, such as "+
			"%s; give an empty one by PRESSROOM_BLOBS (--blobs)", strangers, one)
	}
	for _, f := range w.Files {
		if err := w.restoreFile(ctx, to, f); err != nil {
			return err
		}
	}
	return nil
}

func (w *Whole) restoreFile(ctx context.Context, to blob.Store, f File) error {
	there, err := to.Open(ctx, f.Name)
	if err == nil {
		is, err := read(ctx, f.Name, there)
		if err := errors.Join(err, there.Close()); err != nil {
			return err
		}
		if is != f {
			return fmt.Errorf("the store of files has another file %s: give an empty store", f.Name)
		}
		return nil
	}
	if !errors.Is(err, blob.ErrNotFound) {
		return fmt.Errorf("looking for %s: %w", f.Name, err)
	}
	is, err := carry(ctx, w.files, to, f.Name, false)
	if err != nil {
		return err
	}
	if is != f {
		return errors.Join(fmt.Errorf("%s changed while it was restored", f.Name), to.Delete(ctx, f.Name))
	}
	return nil
}

// CopyFile copies a file, whole on disk before it returns, to a name that is not taken.
func CopyFile(ctx context.Context, from, to string) error {
	in, err := os.Open(from) //nolint:gosec // G304: of the operator's backup
	if err != nil {
		return fmt.Errorf("opening the copy of the database: %w", err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // G304: where the operator wants it
	if err != nil {
		return fmt.Errorf("making the database's file: %w", err)
	}
	_, err = io.Copy(out, &stoppable{ctx, in})
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		return errors.Join(fmt.Errorf("copying the database: %w", err), os.Remove(to))
	}
	return nil
}
