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

const incoming = "incoming" // the folder, in that of the files, of what is still being written

// filePath is where the bytes of a file stand. Two accounts that upload the same file share them.
func (s *store) filePath(cid string) string { return filepath.Join(s.blobs, cid) }

// keepFile keeps what body holds, on disk when it returns; its type is for the caller to say.
func (s *store) keepFile(body io.Reader) (blobRef, error) {
	file, err := os.CreateTemp(filepath.Join(s.blobs, incoming), "")
	if err != nil {
		return blobRef{}, fmt.Errorf("making a file: %w", err)
	}
	defer func() { _ = os.Remove(file.Name()) }() // nothing is left of it once it has its name
	digest := sha256.New()
	size, err := io.Copy(io.MultiWriter(file, digest), body)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return blobRef{}, fmt.Errorf("writing a file: %w", err)
	}
	kept := blobRef{cid: cidOf(rawCodec, [sha256.Size]byte(digest.Sum(nil))), size: size}
	if err := os.Rename(file.Name(), s.filePath(kept.cid)); err != nil {
		return blobRef{}, fmt.Errorf("naming a file: %w", err)
	}
	return kept, s.syncNames()
}

// syncNames makes the names of the files last.
func (s *store) syncNames() error {
	folder, err := os.Open(s.blobs)
	if err != nil {
		return fmt.Errorf("opening the folder: %w", err)
	}
	defer folder.Close()
	if err := folder.Sync(); err != nil {
		return fmt.Errorf("keeping the folder: %w", err)
	}
	return nil
}

// keepBlob notes a file of an account. One that it has already stays as it is.
func (t tx) keepBlob(ctx context.Context, platform, account string, b blobRef) error {
	_, err := t.ExecContext(ctx,
		`insert into blobs (platform, account, cid, type, size) values (?, ?, ?, ?, ?) on conflict do nothing`,
		platform, account, b.cid, b.mime, b.size)
	if err != nil {
		return fmt.Errorf("keeping a blob: %w", err)
	}
	return nil
}

const blobColumns = `select b.cid, b.type, b.size from blobs b where b.platform = ? and b.account = ? and b.cid = ?`

// blob finds a file that the account has uploaded. It is false where there is none.
func (t tx) blob(ctx context.Context, platform, account, cid string) (blobRef, bool, error) {
	return scanBlob(t.QueryRowContext(ctx, blobColumns, platform, account, cid))
}

const named = `exists (select 1 from posts p where p.platform = b.platform and p.account = b.account and instr(p.body, b.cid) > 0)`

// namedBlob is blob for files that a post of the account names.
func (t tx) namedBlob(ctx context.Context, platform, account, cid string) (blobRef, bool, error) {
	return scanBlob(t.QueryRowContext(ctx, blobColumns+` and `+named, platform, account, cid))
}

// dropBlobs forgets the files that the body of a post named, which is no more, and no other post does. The bytes stay,
// as another account may have the same ones.
func (t tx) dropBlobs(ctx context.Context, platform, account string, body []byte) error {
	_, err := t.ExecContext(ctx,
		`delete from blobs as b where b.platform = ? and b.account = ? and instr(?, b.cid) > 0 and not `+named,
		platform, account, body)
	if err != nil {
		return fmt.Errorf("forgetting blobs: %w", err)
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
