package media

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/safehttp"
	"pressroom.example/pressroom/internal/testkit"
)

// fixture is a team's library with a new database and an empty blob store.
type fixture struct {
	*Service

	clock             *testkit.Clock
	url               string // database URL
	folder            string // path of the blob store; empty for S3
	team, person, key int64
}

func TestMain(m *testing.M) {
	for name, value := range map[string]string{"rapid.checks": "25", "rapid.nofailfile": "true"} { // rapid has flags only
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	m.Run()
}

// fatal is the common part of testing.T and rapid.T.
type fatal interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Context() context.Context
}

func must(t fatal, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func forEachDatabase(t *testing.T, run func(t *testing.T, w fixture)) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		store := testkit.Blobs(t)
		run(t, newFixture(t, url, openBlobs(t, store, blob.Credentials{}), strings.TrimPrefix(store, "file:")))
	})
}

func openBlobs(t *testing.T, url string, c blob.Credentials) blob.Store {
	t.Helper()
	s, err := blob.Open(t.Context(), url, blob.Options{Scratch: t.TempDir(), Credentials: c})
	must(t, err)
	return s
}

// newFixture returns a fixture. Its clock is ahead of the file times, so that the audit covers every file.
func newFixture(t *testing.T, url string, blobs blob.Store, folder string) fixture {
	t.Helper()
	clock := testkit.NewClock(time.Now().Add(2 * OrphanGracePeriod))
	w := fixture{Service: instance(t, url, clock, blobs), clock: clock, url: url, folder: folder}
	return w.newTeam(t)
}

// instance returns a service like that of another node.
func instance(t *testing.T, url string, clock *testkit.Clock, blobs blob.Store) *Service {
	t.Helper()
	d, log := testkit.Open(t, url, clock), slog.New(slog.DiscardHandler)
	queue, err := job.NewQueue(d, 1, log)
	must(t, err)
	client, err := safehttp.New(safehttp.Options{})
	must(t, err)
	key, err := tokencrypt.NewKey()
	must(t, err)
	sealer, err := tokencrypt.New(key)
	must(t, err)
	return New(Options{DB: d, Blobs: blobs, Jobs: job.NewStore(d, nil, 5), Worker: job.NewWorker(d, queue, log),
		Keys: team.New(d, nil, plan.Default()), Catalog: plan.Default(),
		Fetch: client, Sealer: sealer, PublicURL: "http://press.example", Log: log})
}

// newTeam returns the fixture with the empty library of a new team.
func (w fixture) newTeam(t fatal) fixture {
	t.Helper()
	must(t, w.db.InTx(t.Context(), "furnish", func(ctx context.Context, tx *db.Tx) error {
		err := tx.QueryRow(ctx, `INSERT INTO people (name, email, created_at) VALUES ('Ada', ?, 1) RETURNING id`,
			crand.Text()).Scan(&w.person)
		if err == nil {
			err = tx.QueryRow(ctx,
				`INSERT INTO teams (name, timezone, content_language, plan, created_at)
		VALUES ('Harbour', 'UTC', 'en', 'team', 1) RETURNING id`).Scan(&w.team)
		}
		if err == nil {
			_, err = tx.Exec(ctx,
				`INSERT INTO memberships (team_id, person_id, role, created_at) VALUES (?, ?, 'owner', 1)`, w.team, w.person)
		}
		if err == nil {
			err = tx.QueryRow(ctx,
				`INSERT INTO api_keys (team_id, person_id, name, level, hash, created_at)
		VALUES (?, ?, 'k', 'full', ?, 1) RETURNING id`, w.team, w.person, []byte(crand.Text())).Scan(&w.key)
		}
		return err
	}))
	return w
}

// setStorageLimit sets the plan's storage limit in bytes.
func (w fixture) setStorageLimit(bytes int64) {
	w.Catalog.Plans = slices.Clone(w.Catalog.Plans)
	for n := range w.Catalog.Plans {
		w.Catalog.Plans[n].StorageBytes = bytes
	}
}

func (w fixture) call(operationName string) operation.Call {
	actor := &access.Actor{TeamID: w.team, PersonID: w.person, KeyID: w.key, Zone: time.UTC, Plan: "team"}
	return operation.Call{Actor: actor, Operation: operationName, Now: w.clock.Now()}
}

func (w fixture) queryInt(t fatal, query string, args ...any) int64 {
	t.Helper()
	var n int64
	must(t, w.db.QueryRow(t.Context(), query, args...).Scan(&n))
	return n
}

func (w fixture) exec(t fatal, statement string, args ...any) {
	t.Helper()
	must(t, w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, statement, args...)
		return err
	}))
}

func (w fixture) items(t fatal) []Item {
	t.Helper()
	out, err := db.All(t.Context(), w.db, scanItems, `SELECT `+columns+` FROM media m WHERE m.team_id = ? ORDER BY m.id`, w.team)
	must(t, err)
	return out
}

func (w fixture) usedBytes(t fatal) int64 {
	t.Helper()
	return w.queryInt(t, `SELECT COALESCE(SUM(used_bytes), 0) FROM storage WHERE team_id = ?`, w.team)
}

// blobs returns the team's sorted blob keys, checked against the folder behind the store.
func (w fixture) blobs(t fatal) []string {
	t.Helper()
	out := []string{}
	must(t, w.Blobs.Each(t.Context(), fmt.Sprint(w.team, "/"), func(b blob.Info) error {
		out = append(out, b.Key)
		return nil
	}))
	slices.Sort(out)
	if w.folder != "" {
		if diff := cmp.Diff(out, w.onDisk(t)); diff != "" {
			t.Fatalf("store and folder differ (-store +folder)\n%s", diff)
		}
	}
	return out
}

func (w fixture) onDisk(t fatal) []string {
	t.Helper()
	out := []string{}
	root := filepath.Join(w.folder, fmt.Sprint(w.team))
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			key, _ := filepath.Rel(w.folder, name)
			out = append(out, filepath.ToSlash(key))
		}
		return err
	})
	if len(out) > 0 {
		must(t, err)
	}
	slices.Sort(out)
	return out
}

// blobKeys returns the sorted keys of items.
func blobKeys(items []Item) []string {
	out := []string{}
	for _, i := range items {
		out = append(out, i.Blob)
		if i.Thumbnail != "" {
			out = append(out, i.Thumbnail)
		}
	}
	slices.Sort(out)
	return out
}

// checkConsistent fails unless items, bytes and storage are consistent.
func (w fixture) checkConsistent(t fatal) {
	t.Helper()
	items, sum := w.items(t), int64(0)
	for _, i := range items {
		sum += i.Size
	}
	if used := w.usedBytes(t); used != sum {
		t.Fatalf("%d bytes are counted, the items have %d", used, sum)
	}
	if n := w.queryInt(t, `SELECT COUNT(*) FROM media_pending`); n != 0 {
		t.Fatalf("%d files are still pending", n)
	}
	if diff := cmp.Diff(blobKeys(items), w.blobs(t)); diff != "" {
		t.Fatalf("items and stored blobs differ (-items +stored)\n%s", diff)
	}
	if found, err := w.Audit(t.Context()); err != nil || len(found) > 0 {
		t.Fatalf("the audit finds %+v (%v)", found, err)
	}
}

// describeFile returns the description of a file for an upload link.
func describeFile(file []byte) UploadFile {
	sum := sha256.Sum256(file)
	return UploadFile{SHA256: hex.EncodeToString(sum[:]), SizeBytes: int64(len(file)), FileName: "a file.mp4"}
}

func (w fixture) open(t fatal, files ...[]byte) UploadBatch {
	t.Helper()
	in := UploadsInput{}
	for _, f := range files {
		in.Files = append(in.Files, describeFile(f))
	}
	answer, err := w.createUploads(t.Context(), w.call("create_uploads"), in)
	must(t, err)
	return answer.Data
}

// send uploads a file by a link.
func send(ctx context.Context, s *Service, link UploadLink, body io.Reader) (AddResult, error) {
	l, err := s.Link(ctx, path.Base(link.URL), strings.TrimPrefix(link.Headers["Authorization"], "Bearer "))
	if err != nil {
		return AddResult{}, err
	}
	return s.Receive(ctx, l, Incoming{Type: "application/octet-stream", Size: -1, Body: body})
}

// add adds a file to the library and returns its item.
func (w fixture) add(t fatal, file []byte) Item {
	t.Helper()
	b := w.open(t, file)
	arrived, err := send(t.Context(), w.Service, b.Upload.Uploads[0], bytes.NewReader(file))
	must(t, err)
	i, err := findItem(t.Context(), w.db, w.team, arrived.MediaID)
	must(t, err)
	return i
}

func wantCode(t fatal, err error, want apierr.Code) {
	t.Helper()
	if got := apierr.FromError(err); err == nil || got.Code != want {
		t.Fatalf("%v instead of %s", err, want)
	}
}

// boxOf returns an ISO/IEC 14496-12 box.
func boxOf(kind string, content ...[]byte) []byte {
	p := bytes.Join(content, nil)
	return slices.Concat(u32(uint32(8+len(p))), []byte(kind), p)
}

func u32(values ...uint32) []byte {
	var p []byte
	for _, v := range values {
		p = binary.BigEndian.AppendUint32(p, v)
	}
	return p
}

// film returns an MP4 with n bytes of video data. The seed makes it unique.
func film(seed uint64, n int) []byte {
	pictures := make([]byte, n)
	rand.NewChaCha8([32]byte(binary.BigEndian.AppendUint64(make([]byte, 24), seed))).Read(pictures)
	tkhd := boxOf("tkhd", u32(1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1<<16, 0, 0, 0, 1<<16, 0, 0, 0, 1<<30, 64<<16, 48<<16))
	stsd := boxOf("stsd", u32(0, 1), boxOf("avc1", make([]byte, 24), []byte{0, 64, 0, 48}, make([]byte, 50)))
	moov := func(at int) []byte {
		chunk := slices.Concat(boxOf("stsc", u32(0, 1, 1, 1, 1)), boxOf("stsz", u32(0, uint32(n), uint32(min(n, 1)))),
			boxOf("stco", u32(0, 1, uint32(at))))
		stbl := boxOf("stbl", stsd, boxOf("stts", u32(0, 1, 90, 1000)), chunk)
		mdhd, hdlr := boxOf("mdhd", u32(0, 0, 0, 30_000, 90_000)), boxOf("hdlr", u32(0, 0), []byte("vide"))
		mdia := boxOf("mdia", mdhd, hdlr, boxOf("minf", stbl))
		return boxOf("moov", boxOf("mvhd", u32(0, 0, 0, 1000, 3000)), boxOf("trak", tkhd, mdia))
	}
	ftyp := boxOf("ftyp", []byte("isom"), u32(0))
	return slices.Concat(ftyp, moov(len(ftyp)+len(moov(0))+8), boxOf("mdat", pictures))
}

// noise returns an image of random pixels. The seed makes it unique.
func noise(seed uint64, width, height int) *image.Paletted {
	palette := color.Palette{color.White, color.Black, color.RGBA{R: 200, A: 255}, color.RGBA{B: 200, A: 255}}
	out, from := image.NewPaletted(image.Rect(0, 0, width, height), palette), rand.New(rand.NewPCG(seed, 1))
	for n := range out.Pix {
		out.Pix[n] = byte(from.IntN(len(palette)))
	}
	return out
}

func pngOf(m image.Image) []byte {
	var out bytes.Buffer
	if err := png.Encode(&out, m); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func jpegOf(m image.Image) []byte {
	var out bytes.Buffer
	if err := jpeg.Encode(&out, m, nil); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func unhex(t fatal, text string) []byte {
	t.Helper()
	out, err := hex.DecodeString(text)
	must(t, err)
	return out
}
