package store

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

const incomingDir = "incoming" // subfolder for incomplete files

// FilePath returns the path of a file. Files with the same content are stored only once.
func (s *Store) FilePath(cid string) string { return filepath.Join(s.blobsDir, cid) }

// SaveFile saves the bytes of body. When SaveFile returns, the bytes are on disk. The returned blob has no MIME type.
func (s *Store) SaveFile(body io.Reader) (Blob, error) {
	file, err := os.CreateTemp(filepath.Join(s.blobsDir, incomingDir), "")
	if err != nil {
		return Blob{}, fmt.Errorf("creating a file: %w", err)
	}
	defer func() { _ = os.Remove(file.Name()) }() // fails after the rename
	digest := sha256.New()
	size, err := io.Copy(io.MultiWriter(file, digest), body)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return Blob{}, fmt.Errorf("writing a file: %w", err)
	}
	blob := Blob{CID: encodeCID(rawCodec, [sha256.Size]byte(digest.Sum(nil))), Size: size}
	if err := os.Rename(file.Name(), s.FilePath(blob.CID)); err != nil {
		return Blob{}, fmt.Errorf("naming a file: %w", err)
	}
	return blob, s.syncNames()
}

// syncNames syncs the folder of the files, so that the names of the files are on disk.
func (s *Store) syncNames() error {
	folder, err := os.Open(s.blobsDir)
	if err != nil {
		return fmt.Errorf("opening the folder: %w", err)
	}
	defer folder.Close()
	if err := folder.Sync(); err != nil {
		return fmt.Errorf("syncing the folder: %w", err)
	}
	return nil
}

// SaveBlob records that a file belongs to an account, unless this is already recorded.
func (t Tx) SaveBlob(ctx context.Context, platform, account string, b Blob) error {
	return t.Run(ctx, "saving a blob",
		`insert into blobs (platform, account, cid, type, size) values (?, ?, ?, ?, ?) on conflict do nothing`,
		platform, account, b.CID, b.MIME, b.Size)
}

const blobColumns = `select b.cid, b.type, b.size from blobs b where b.platform = ? and b.account = ? and b.cid = ?`

// Blob returns a file that the account has uploaded, and reports whether it exists.
func (t Tx) Blob(ctx context.Context, platform, account, cid string) (Blob, bool, error) {
	return scanBlob(t.QueryRowContext(ctx, blobColumns, platform, account, cid))
}

const referencedCondition = `exists (select 1 from posts p
	where p.platform = b.platform and p.account = b.account and instr(p.body, b.cid) > 0)`

// ReferencedBlob is like Blob, but finds only files that a post of the account refers to.
func (t Tx) ReferencedBlob(ctx context.Context, platform, account, cid string) (Blob, bool, error) {
	return scanBlob(t.QueryRowContext(ctx, blobColumns+` and `+referencedCondition, platform, account, cid))
}

// DeleteUnreferencedBlobs deletes the records of files that only the body of a deleted post referred to. The files
// remain on disk, because other accounts may share them.
func (t Tx) DeleteUnreferencedBlobs(ctx context.Context, platform, account string, body []byte) error {
	return t.Run(ctx, "deleting blobs",
		`delete from blobs as b where b.platform = ? and b.account = ? and instr(?, b.cid) > 0 and not `+referencedCondition,
		platform, account, body)
}

func scanBlob(row *sql.Row) (Blob, bool, error) {
	var blob Blob
	err := row.Scan(&blob.CID, &blob.MIME, &blob.Size)
	if errors.Is(err, sql.ErrNoRows) {
		return Blob{}, false, nil
	}
	if err != nil {
		return Blob{}, false, fmt.Errorf("finding a blob: %w", err)
	}
	return blob, true, nil
}
