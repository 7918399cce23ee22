package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// storage contains seeded databases of one kind, and copies them. Pressroom and the floor each get a copy, so that they
// do not wait for each other's locks.
type storage interface {
	name() string
	// copy returns the URL of a new copy of a database with the given number of posts.
	copy(ctx context.Context, posts int, label string) (string, dataset, error)
	// empty returns the URL of a new empty database. size returns a database's size in bytes.
	empty(ctx context.Context, label string) (string, error)
	size(ctx context.Context, url string) (int64, error)
	// drop removes a database.
	drop(ctx context.Context, url string) error
	// close removes all databases that the next run cannot reuse.
	close(ctx context.Context) error
}

// sqliteFiles stores seeded files, which later runs reuse. Their names contain a digest of the migrations and the seed.
type sqliteFiles struct {
	data, binary, digest string

	temporary bool // whether the data is removed after this run
}

func newSQLiteFiles(binary string) (*sqliteFiles, error) {
	digest, err := seedDigest()
	if err != nil {
		return nil, err
	}
	s := &sqliteFiles{binary: binary, digest: digest}
	s.data, s.temporary = dataDir()
	return s, nil
}

const (
	memoryDir     = "/dev/shm"
	minMemoryFree = 4 << 30 // bytes; enough for three copies of a million posts, plus a reserve
)

// dataDir returns a new directory in memory and true, or a directory on disk and false if there is not enough memory.
// The varying speed of a shared disk would hide the cost of a write. For the same reason, scripts/with-postgres keeps
// PostgreSQL's files in memory.
func dataDir() (string, bool) {
	var room syscall.Statfs_t
	if err := syscall.Statfs(memoryDir, &room); err != nil || room.Bavail*uint64(room.Bsize) < minMemoryFree {
		return workDir, false
	}
	made, err := os.MkdirTemp(memoryDir, "pressroom-bench-")
	if err != nil {
		return workDir, false
	}
	return made, true
}

// seedDigest returns a digest of the migrations and the seed.
func seedDigest() (string, error) {
	names, err := filepath.Glob("internal/platform/db/migrations/*.sql")
	if err != nil || len(names) == 0 {
		return "", errors.Join(errors.New("no migrations found: run this in the root of the module"), err)
	}
	slices.Sort(names)
	sum := sha256.New()
	fmt.Fprintln(sum, "seed", seedVersion)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("reading a migration: %w", err)
		}
		fmt.Fprintln(sum, name, len(text))
		sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil)[:6]), nil
}

func (*sqliteFiles) name() string { return "sqlite" }

// ensureSeed returns the path of the seeded file and its dataset. It creates both if they do not exist.
func (s *sqliteFiles) ensureSeed(ctx context.Context, posts int) (string, dataset, error) {
	path := filepath.Join(workDir, "seed-"+s.digest+"-"+sizeName(posts)+".db")
	var d dataset
	if raw, err := os.ReadFile(path + ".json"); err == nil {
		err = json.Unmarshal(raw, &d)
		d.posts = posts
		return path, d, err
	}
	partial := path + ".making"
	if err := removeSQLite(partial); err != nil {
		return "", d, err
	}
	d, err := seed(ctx, s.binary, "sqlite:"+partial, posts)
	if err != nil {
		return "", d, err
	}
	if err := os.Rename(partial, path); err != nil {
		return "", d, fmt.Errorf("storing a seeded file: %w", err)
	}
	raw, err := json.Marshal(d)
	if err != nil {
		return "", d, fmt.Errorf("writing the description of a seeded file: %w", err)
	}
	if err := os.WriteFile(path+".json", raw, 0o600); err != nil {
		return "", d, fmt.Errorf("writing the description of a seeded file: %w", err)
	}
	return path, d, nil
}

func (s *sqliteFiles) copy(ctx context.Context, posts int, label string) (string, dataset, error) {
	from, d, err := s.ensureSeed(ctx, posts)
	if err != nil {
		return "", d, err
	}
	to := filepath.Join(s.data, "run-"+label+"-"+sizeName(posts)+".db")
	if err := removeSQLite(to); err != nil {
		return "", d, err
	}
	return "sqlite:" + to, d, copyFile(from, to)
}

// empty returns the URL of a database on disk, because years of data do not fit into memory.
func (*sqliteFiles) empty(_ context.Context, label string) (string, error) {
	path := filepath.Join(workDir, "years-"+label+".db")
	return "sqlite:" + path, removeSQLite(path)
}

func (*sqliteFiles) size(_ context.Context, url string) (int64, error) {
	file, err := os.Stat(url[len("sqlite:"):])
	if err != nil {
		return 0, fmt.Errorf("reading the size of a database: %w", err)
	}
	return file.Size(), nil
}

func (*sqliteFiles) drop(_ context.Context, url string) error {
	return removeSQLite(url[len("sqlite:"):])
}

func (s *sqliteFiles) close(context.Context) error {
	if !s.temporary {
		return nil
	}
	if err := os.RemoveAll(s.data); err != nil {
		return fmt.Errorf("removing the measured files: %w", err)
	}
	return nil
}

func removeSQLite(path string) error {
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + end); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("removing a database: %w", err)
		}
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("copying a database: %w", err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return fmt.Errorf("copying a database: %w", err)
	}
	_, err = io.Copy(out, in)
	// Flush now, so that the writes do not affect later measurements.
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return fmt.Errorf("copying a database: %w", err)
	}
	return nil
}

// sizeName returns 10k for 10000 and 1m for 1000000.
func sizeName(posts int) string {
	if posts%1_000_000 == 0 {
		return strconv.Itoa(posts/1_000_000) + "m"
	}
	return strconv.Itoa(posts/1000) + "k"
}
