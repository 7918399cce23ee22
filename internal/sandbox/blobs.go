package sandbox

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const incoming = "incoming" // the folder of incomplete files, inside that of the files

// filePath returns the path of a file. Accounts that upload the same file share it.
func (s *store) filePath(cid string) string { return filepath.Join(s.blobs, cid) }

// keepFile saves the bytes of body, on disk when it returns. The caller sets the type.
func (s *store) keepFile(body io.Reader) (blobRef, error) {
	file, err := os.CreateTemp(filepath.Join(s.blobs, incoming), "")
	if err != nil {
		return blobRef{}, fmt.Errorf("creating a file: %w", err)
	}
	defer func() { _ = os.Remove(file.Name()) }() // the rename leaves nothing to remove
	digest := sha256.New()
	size, err := io.Copy(io.MultiWriter(file, digest), body)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return blobRef{}, fmt.Errorf("writing a file: %w", err)
	}
	blob := blobRef{cid: cidOf(rawCodec, [sha256.Size]byte(digest.Sum(nil))), size: size}
	if err := os.Rename(file.Name(), s.filePath(blob.cid)); err != nil {
		return blobRef{}, fmt.Errorf("naming a file: %w", err)
	}
	return blob, s.syncNames()
}

// syncNames flushes the names of the files to disk.
func (s *store) syncNames() error {
	folder, err := os.Open(s.blobs)
	if err != nil {
		return fmt.Errorf("opening the folder: %w", err)
	}
	defer folder.Close()
	if err := folder.Sync(); err != nil {
		return fmt.Errorf("syncing the folder: %w", err)
	}
	return nil
}

// keepBlob records a file of an account, unless it is recorded already.
func (t tx) keepBlob(ctx context.Context, platform, account string, b blobRef) error {
	_, err := t.ExecContext(ctx,
		`insert into blobs (platform, account, cid, type, size) values (?, ?, ?, ?, ?) on conflict do nothing`,
		platform, account, b.cid, b.mime, b.size)
	if err != nil {
		return fmt.Errorf("saving a blob: %w", err)
	}
	return nil
}

const blobColumns = `select b.cid, b.type, b.size from blobs b where b.platform = ? and b.account = ? and b.cid = ?`

// blob returns a file that the account has uploaded, and reports whether it exists.
func (t tx) blob(ctx context.Context, platform, account, cid string) (blobRef, bool, error) {
	return scanBlob(t.QueryRowContext(ctx, blobColumns, platform, account, cid))
}

const named = `exists (select 1 from posts p
	where p.platform = b.platform and p.account = b.account and instr(p.body, b.cid) > 0)`

// namedBlob is like blob for files that a post of the account refers to.
func (t tx) namedBlob(ctx context.Context, platform, account, cid string) (blobRef, bool, error) {
	return scanBlob(t.QueryRowContext(ctx, blobColumns+` and `+named, platform, account, cid))
}

// dropBlobs deletes the records of files that a deleted body referred to and no other post does. The bytes stay, as
// another account may share them.
func (t tx) dropBlobs(ctx context.Context, platform, account string, body []byte) error {
	_, err := t.ExecContext(ctx,
		`delete from blobs as b where b.platform = ? and b.account = ? and instr(?, b.cid) > 0 and not `+named,
		platform, account, body)
	if err != nil {
		return fmt.Errorf("deleting blobs: %w", err)
	}
	return nil
}

func scanBlob(row *sql.Row) (blobRef, bool, error) {
	var found blobRef
	err := row.Scan(&found.cid, &found.mime, &found.size)
	if errors.Is(err, sql.ErrNoRows) {
		return blobRef{}, false, nil
	}
	if err != nil {
		return blobRef{}, false, fmt.Errorf("finding a blob: %w", err)
	}
	return found, true, nil
}
