package stripmeta_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"slices"
	"testing"

	"pressroom.example/pressroom/internal/platform/mediainfo"
	"pressroom.example/pressroom/internal/platform/stripmeta"
)

// hollow is a large file whose middle consists of zeros. The zeros are not stored.
type hollow struct {
	head, tail []byte
	size, read int64
}

func (h *hollow) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	if off < int64(len(h.head)) {
		copy(p, h.head[off:])
	}
	if start := h.size - int64(len(h.tail)); off+int64(len(p)) > start {
		copy(p[max(start-off, 0):], h.tail[max(off-start, 0):])
	}
	h.read += int64(len(p))
	return len(p), nil
}

// TestBoxesAfterLargeData checks that boxes after 4 GB of media data are found with few reads.
func TestBoxesAfterLargeData(t *testing.T) {
	t.Parallel()
	const size = 4e9
	head := slices.Concat([]byte(ftyp), u32(1), []byte("mdat"), binary.BigEndian.AppendUint64(nil, size))
	tables := [][]byte{
		box("stsc", u32(0, 1, 1, 4000, 1)), box("co64", u32(0, 1, 0, uint32(len(head)))), box("stsz", u32(0, 1e6-1, 4000)),
	}
	moov := box("moov", box("mvhd", make([]byte, 100)), telemetry("vide", tables...), box("udta", []byte(secret)))
	h := &hollow{head: head, tail: moov}
	h.size = int64(len(ftyp)) + size + int64(len(h.tail))
	edits, err := stripmeta.Scan(h, h.size, mediainfo.MP4)
	if err != nil {
		t.Fatal(err)
	}
	if h.read > 1<<20 {
		t.Errorf("%d bytes read, want at most 1 MiB", h.read)
	}
	clean := edits.Apply(h)
	tail := make([]byte, len(h.tail))
	_, err = clean.ReadAt(tail, h.size-int64(len(tail)))
	if err != nil || clean.Size() != h.size || bytes.Contains(tail, []byte(secret)) {
		t.Errorf("%d bytes (%v), want %d without the location", clean.Size(), err, h.size)
	}
}

// TestManyChunks checks that a video of several hours with alternating chunks is stripped, and that a video with too
// many scattered chunks is rejected. Both need little memory.
func TestManyChunks(t *testing.T) { // not parallel, because it measures memory
	const count, each = 200_000, 8
	scan := func(offset func(track, chunk int) int) error {
		mdat := box("mdat", make([]byte, 4*count*each))
		var traks []byte
		for track := range 2 {
			offsets := u32(0, count)
			for chunk := range count {
				offsets = append(offsets, u32(uint32(mdatAt+each*offset(track, chunk)))...)
			}
			tables := [][]byte{box("stsc", u32(0, 1, 1, 1, 1)), box("stsz", u32(0, each, count)), box("stco", offsets)}
			trak := bytes.Replace(telemetry("vide", tables...), u32(0, 0, 0, 2), u32(0, 0, 0, uint32(track)), 1)
			traks = append(traks, trak...)
		}
		data := slices.Concat([]byte(ftyp), mdat, box("moov", traks))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := stripmeta.Scan(bytes.NewReader(data), int64(len(data)), mediainfo.MP4)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
			t.Errorf("%d bytes of memory allocated", took)
		}
		return err
	}
	if err := scan(func(track, chunk int) int { return 2*chunk + track }); err != nil {
		t.Error(err)
	}
	err := scan(func(track, chunk int) int { return 2 * (2*(count-chunk-1) + track) })
	if !errors.Is(err, mediainfo.ErrDamaged) {
		t.Errorf("scattered: %v, want ErrDamaged", err)
	}
}

// TestReading checks that reads of any size return the same bytes.
func TestReading(t *testing.T) {
	t.Parallel()
	data := film{moov: box("udta", []byte(secret)), tail: []byte("trailer")}.bytes()
	edits, err := stripmeta.Scan(bytes.NewReader(data), int64(len(data)), mediainfo.MP4)
	if err != nil {
		t.Fatal(err)
	}
	want := apply(t, edits, data)
	for portion := range 20 {
		got, err := io.ReadAll(&slow{edits.Apply(bytes.NewReader(data)), portion + 1})
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("by %d bytes: %d of %d (%v)", portion+1, len(got), len(want), err)
		}
	}
	if _, err := io.ReadAll(edits.Apply(bytes.NewReader(data[:50]))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a file that became shorter: %v, want io.ErrUnexpectedEOF", err)
	}
}

type slow struct {
	io.Reader
	n int
}

func (s *slow) Read(p []byte) (int, error) { return s.Reader.Read(p[:min(len(p), s.n)]) }

// TestBrokenReader checks that read errors are not ErrDamaged.
func TestBrokenReader(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is gone")
	for _, mime := range []string{mediainfo.JPEG, mediainfo.PNG, mediainfo.GIF, mediainfo.WebP, mediainfo.MP4} {
		_, err := stripmeta.Scan(failing{broken}, 1000, mime)
		if !errors.Is(err, broken) || errors.Is(err, mediainfo.ErrDamaged) {
			t.Errorf("%s: %v, want the reader's error", mime, err)
		}
	}
}

type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }
