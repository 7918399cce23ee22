package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/s3"
)

// location is the location in the metadata of the test files.
var location = []byte("+52.5200+013.4050/")

// jpegWithLocation returns a JPEG with a location and an orientation of 90 degrees.
func jpegWithLocation(seed uint64) []byte {
	plain := jpegOf(noise(seed, 60, 40))
	const entry = "\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00" // orientation 6
	tiff := slices.Concat([]byte("Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x01"+entry+"\x00\x00\x00\x00"), location)
	return slices.Concat(plain[:2], []byte{0xff, 0xe1, 0, byte(2 + len(tiff))}, tiff, plain[2:])
}

// videoWithLocation returns a video with a location.
func videoWithLocation(seed uint64) []byte {
	return slices.Concat(film(seed, 100), boxOf("udta", boxOf("\xa9xyz", location)))
}

// keepOriginals sets whether the team keeps originals.
func (w fixture) keepOriginals(t fatal, on int64) {
	t.Helper()
	w.exec(t, `UPDATE teams SET keep_originals = ? WHERE id = ?`, on, w.team)
}

// addUncleaned adds a file with its metadata, as older versions did.
func (w fixture) addUncleaned(t fatal, file []byte) Item {
	t.Helper()
	w.keepOriginals(t, 1)
	i := w.add(t, file)
	w.keepOriginals(t, 0)
	w.exec(t, `UPDATE media SET clean = 0 WHERE id = ?`, i.ID)
	i.Clean = false
	if i.OriginalSHA256 != nil || !bytes.Equal(w.storedBytes(t, i.Blob), file) {
		t.Fatalf("not the file as it came: %+v", i)
	}
	return i
}

func (w fixture) storedBytes(t fatal, key string) []byte {
	t.Helper()
	r, err := w.Blobs.Open(t.Context(), key)
	must(t, err)
	return contentOf(t, r)
}

func contentOf(t fatal, r io.ReadCloser) []byte {
	t.Helper()
	raw, err := io.ReadAll(r)
	must(t, errors.Join(err, r.Close()))
	return raw
}

// allOutputs returns the bytes of an item as returned by each function that sends files.
func (w fixture) allOutputs(t *testing.T, i Item) map[string][]byte {
	t.Helper()
	ctx, out := t.Context(), map[string][]byte{}
	opened := func(name string, r io.ReadCloser, err error) {
		t.Helper()
		must(t, err)
		out[name] = contentOf(t, r)
	}
	for name, fit := range map[string]network.FileLimits{"network": {}, "network, by type": {Types: []string{i.Type}}} {
		file, err := w.Files(w.team).Open(ctx, i.ID, fit)
		opened(name, file.ReadCloser, err)
		if int64(len(out[name])) != file.Size || file.Type != i.Type {
			t.Errorf("%s: got %d bytes of %s, the file states %d of %s", name, len(out[name]), i.Type, file.Size, file.Type)
		}
	}
	public, err := w.OpenPublic(ctx, w.tokenOf(i, w.clock.Now().Add(time.Hour)))
	opened("signed link", public, err)
	shown, err := w.OpenFile(ctx, w.person, i.ID, false)
	opened("download", shown, err)
	video, err := w.OpenForTeam(ctx, w.team, i.ID)
	opened("approval video", video, err)
	if i.Kind == Image {
		approval, err := w.Files(w.team).Open(ctx, i.ID, network.FileLimits{Types: []string{"image/jpeg", "image/png"}, MaxSide: 640})
		opened("approval picture", approval.ReadCloser, err)
		small, err := w.Files(w.team).Open(ctx, i.ID, network.FileLimits{MaxSide: 20})
		opened("made to fit", small.ReadCloser, err)
		thumbnail, err := w.OpenFile(ctx, w.person, i.ID, true)
		opened("thumbnail", thumbnail, err)
	}
	return out
}

func (w fixture) checkNoLocation(t *testing.T, i Item) {
	t.Helper()
	for way, raw := range w.allOutputs(t, i) {
		if bytes.Contains(raw, location) || len(raw) == 0 {
			t.Errorf("%s of a %s: %q", way, i.Type, raw)
		}
	}
}

// TestRemoveMetadata checks that files are stored without metadata, for each way to add them.
func TestRemoveMetadata(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		for n, file := range [][]byte{jpegWithLocation(1), videoWithLocation(2)} {
			ways := map[string]func(t *testing.T, w fixture, file []byte) int64{
				"a link": func(t *testing.T, w fixture, file []byte) int64 { return w.add(t, file).ID },
				"no link": func(t *testing.T, w fixture, file []byte) int64 {
					arrived, err := w.Add(t.Context(), Owner{TeamID: w.team},
						Incoming{Name: "a file", Size: -1, Body: bytes.NewReader(file)})
					must(t, err)
					return arrived.MediaID
				},
				"the page": func(t *testing.T, w fixture, file []byte) int64 {
					page := pageOfBatch(w.open(t))
					arrived, err := w.AddToBatch(t.Context(), w.person, page,
						Incoming{Name: "a file", Size: -1, Body: bytes.NewReader(file)})
					must(t, err)
					return arrived.MediaID
				},
			}
			for name, add := range ways {
				w := w.newTeam(t)
				i, err := findItem(t.Context(), w.db, w.team, add(t, w, file))
				must(t, err)
				raw, digest := w.storedBytes(t, i.Blob), sha256.Sum256(file)
				if bytes.Contains(raw, location) || !i.Clean || !bytes.Equal(i.OriginalSHA256, digest[:]) ||
					i.Size != int64(len(file)) || i.StoredSize != int64(len(raw)) {
					t.Errorf("file %d by %s: %+v: %q", n, name, i, raw)
				}
				if i.Kind == Image && (i.Width != 40 || i.Height != 60 || i.Detail.Orientation != 6) {
					t.Errorf("by %s the image lost its orientation: %+v", name, i)
				}
				w.checkConsistent(t)
				w.checkNoLocation(t, i)
				if look, err := w.View(t.Context(), w.callAs(access.Viewer), i.ID); err != nil || !look.Stripped || !look.Clean {
					t.Errorf("%+v (%v)", look, err)
				}
			}
		}
	})
}

func pageOfBatch(b UploadBatch) string {
	return b.PageURL[strings.LastIndexByte(b.PageURL, '/')+1:]
}

// TestRecognizeOriginal checks that a file is identified by its digests before and after the removal of metadata.
func TestRecognizeOriginal(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		file := jpegWithLocation(1)
		i := w.add(t, file)
		clean := w.storedBytes(t, i.Blob)
		for name, again := range map[string][]byte{"the original": file, "what is stored": clean} {
			if u := w.open(t, again).Upload.Uploads[0]; u.MediaID != i.ID || u.URL != "" {
				t.Errorf("%s got an upload link although it exists: %+v", name, u)
			}
			arrived, err := w.Add(t.Context(), Owner{TeamID: w.team}, Incoming{Size: -1, Body: bytes.NewReader(again)})
			if err != nil || !arrived.AlreadyExists || arrived.MediaID != i.ID {
				t.Errorf("%s is another item: %+v (%v)", name, arrived, err)
			}
		}
		elsewhere := slices.Replace(bytes.Clone(file), bytes.Index(file, location), bytes.Index(file, location)+3, []byte("-11")...)
		arrived, err := w.Add(t.Context(), Owner{TeamID: w.team}, Incoming{Size: -1, Body: bytes.NewReader(elsewhere)})
		if err != nil || !arrived.AlreadyExists || arrived.MediaID != i.ID {
			t.Errorf("the same pixels with another location: %+v (%v)", arrived, err)
		}
		other := w.newTeam(t)
		if u := other.open(t, file).Upload.Uploads[0]; u.MediaID != 0 {
			t.Errorf("another team learns of the file: %+v", u)
		}
		w.checkConsistent(t)
		must(t, w.Delete(t.Context(), w.callAs(access.Editor), i.ID))
		if u := w.open(t, file).Upload.Uploads[0]; u.MediaID != 0 {
			t.Errorf("a deleted file is treated as existing: %+v", u)
		}
	})
}

// TestOlderItems checks that files stored with metadata are sent without it, and that each is processed once.
func TestOlderItems(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		photo, video := w.addUncleaned(t, jpegWithLocation(1)), w.addUncleaned(t, videoWithLocation(2))
		plain := w.addUncleaned(t, pngOf(noise(3, 30, 20)))
		for _, i := range []Item{photo, video, plain} {
			w.checkNoLocation(t, i)
			export, err := w.OpenForExport(t.Context(), w.team, i.ID)
			must(t, err)
			if raw := contentOf(t, export); bytes.Contains(raw, location) || len(raw) == 0 {
				t.Errorf("the export has %q", raw)
			}
		}
		const kept = `SELECT COUNT(*) FROM media_derived WHERE media_id = ? AND variant = 'clean-1' AND `
		for name, n := range map[string]int64{
			"of the photo": w.queryInt(t, kept+`blob <> ''`, photo.ID), "of the video": w.queryInt(t, kept+`blob <> ''`, video.ID),
			"of what has none": w.queryInt(t, kept+`blob = ''`, plain.ID),
		} {
			if n != 1 {
				t.Errorf("%d copies %s, want one", n, name)
			}
		}
		if found, err := w.Audit(t.Context()); err != nil || len(found) > 0 {
			t.Errorf("the audit finds %+v (%v)", found, err)
		}
	})
}

// TestOriginalsKept checks that people with write access can get kept originals by their own link and in the export.
func TestOriginalsKept(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		w.keepOriginals(t, 1)
		for _, file := range [][]byte{jpegWithLocation(1), videoWithLocation(2)} {
			i := w.add(t, file)
			if i.Clean || !bytes.Equal(w.storedBytes(t, i.Blob), file) {
				t.Errorf("not the original: %+v", i)
			}
			w.checkNoLocation(t, i)
			original, err := w.OpenOriginal(t.Context(), w.person, i.ID)
			must(t, err)
			if !bytes.Equal(contentOf(t, original), file) {
				t.Error("the download of the original is another file")
			}
			export, err := w.OpenForExport(t.Context(), w.team, i.ID)
			must(t, err)
			if !bytes.Equal(contentOf(t, export), file) {
				t.Error("the export has another file")
			}
			for _, role := range []access.Role{access.Viewer, access.Client} {
				w.exec(t, `UPDATE memberships SET role = ? WHERE team_id = ?`, string(role), w.team)
				if _, err := w.OpenOriginal(t.Context(), w.person, i.ID); !apierr.Is(err, apierr.NotFound) {
					t.Errorf("the original for a %s: %v", role, err)
				}
			}
			w.exec(t, `UPDATE memberships SET role = 'owner' WHERE team_id = ?`, w.team)
			if _, err := w.OpenOriginal(t.Context(), w.newTeam(t).person, i.ID); !apierr.Is(err, apierr.NotFound) {
				t.Errorf("the original for another team: %v", err)
			}
		}
		if i := w.add(t, pngOf(noise(3, 30, 20))); !i.Clean {
			t.Errorf("a file without metadata is not clean: %+v", i)
		}
	})
}

// TestMetadataCannotBeRemoved checks that files whose metadata cannot be located are never sent. Images are re-encoded,
// videos are rejected, and new files are not accepted.
func TestMetadataCannotBeRemoved(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		chunk := append([]byte("ABCD"), location...) // critical, and unknown
		plain := pngOf(noise(1, 30, 20))
		sum := crc32.ChecksumIEEE(chunk)
		odd := slices.Concat(plain[:33], u32(uint32(len(location))), chunk, u32(sum), plain[33:])
		lying := boxOf("trak", boxOf("mdia", boxOf("minf", boxOf("stbl", boxOf("stco", u32(0, 9)))), boxOf("udta", location)))
		broken := slices.Concat(film(2, 100), boxOf("moov", lying))
		for _, file := range [][]byte{odd, broken} {
			_, err := w.Add(t.Context(), Owner{TeamID: w.team}, Incoming{Size: -1, Body: bytes.NewReader(file)})
			if !apierr.Is(err, apierr.ValidationFailed) {
				t.Errorf("a new file: %v", err)
			}
		}
		photo, video := w.replaceBytes(t, w.add(t, plain), odd), w.replaceBytes(t, w.add(t, film(2, 100)), broken)
		for _, fit := range []network.FileLimits{{}, {Types: []string{"image/png"}}} {
			file, err := w.Files(w.team).Open(t.Context(), photo.ID, fit)
			must(t, err)
			if raw := contentOf(t, file); bytes.Contains(raw, location) || len(raw) == 0 {
				t.Errorf("the network gets %q", raw)
			}
		}
		shown, err := w.OpenFile(t.Context(), w.person, photo.ID, false)
		must(t, err)
		if raw := contentOf(t, shown); bytes.Contains(raw, location) || shown.Type != "image/jpeg" || shown.Name != "a file.jpg" {
			t.Errorf("%s, %s: %q", shown.Name, shown.Type, raw)
		}
		var rejected *network.Error
		if _, err := w.Files(w.team).
			Open(t.Context(), video.ID, network.FileLimits{}); !errors.As(err, &rejected) || rejected.Class != network.RejectedMedia {
			t.Errorf("the video for a network: %v", err)
		}
		if _, err := w.OpenFile(t.Context(), w.person, video.ID, false); apierr.FromError(err).Context["state"] != "damaged" {
			t.Errorf("the video for a person: %v", err)
		}
		if _, err := w.OpenForExport(t.Context(), w.team, video.ID); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("the video for an export: %v", err)
		}
	})
}

// replaceBytes replaces an item's stored bytes.
func (w fixture) replaceBytes(t *testing.T, i Item, raw []byte) Item {
	t.Helper()
	key := newKey(w.team, []byte("another"))
	must(t, blob.PutBytes(t.Context(), w.Blobs, key, raw))
	must(t, w.Blobs.Delete(context.Background(), i.Blob))
	sum := sha256.Sum256(raw)
	w.exec(t, `UPDATE media SET clean = 0, blob = ?, sha256 = ?, size_bytes = ? WHERE id = ?`, key, sum[:], len(raw), i.ID)
	out, err := findItem(t.Context(), w.db, w.team, i.ID)
	must(t, err)
	return out
}

// TestMetadataInS3 checks that metadata is removed from new and older items in S3.
func TestMetadataInS3(t *testing.T) {
	t.Parallel()
	server := s3.Start(t)
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		w := newFixture(t, url, openBlobs(t, server.Bucket(t), blob.Credentials{ID: server.ID, Secret: server.Secret}), "")
		w.checkNoLocation(t, w.add(t, jpegWithLocation(1)))
		w.checkNoLocation(t, w.addUncleaned(t, jpegWithLocation(2)))
		w.checkNoLocation(t, w.addUncleaned(t, videoWithLocation(3)))
	})
}
