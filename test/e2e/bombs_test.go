package e2e

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"net/http"
	"slices"
	"testing"
	"time"
)

// pngChunk returns a PNG chunk with its checksum.
func pngChunk(kind string, content []byte) []byte {
	body := append([]byte(kind), content...)
	out := binary.BigEndian.AppendUint32(nil, uint32(len(content)))
	return binary.BigEndian.AppendUint32(append(out, body...), crc32.ChecksumIEEE(body))
}

func pngOf(width, height uint32) []byte {
	size := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	return slices.Concat([]byte("\x89PNG\r\n\x1a\n"), pngChunk("IHDR", append(size, 8, 6, 0, 0, 0)),
		pngChunk("IDAT", []byte{0x78, 0x9c, 0x63, 0, 0}), pngChunk("IEND", nil))
}

// nestBoxes nests MP4 boxes to the given depth.
func nestBoxes(kind string, deep int, within []byte) []byte {
	out := make([]byte, 0, 8*deep+len(within))
	for left := deep; left > 0; left-- {
		out = binary.BigEndian.AppendUint32(out, uint32(8*left+len(within)))
		out = append(out, kind...)
	}
	return append(out, within...)
}

// bombs returns small files that declare a huge or unlimited size.
func bombs() map[string][]byte {
	mp4 := append(nestBoxes("ftyp", 1, []byte("isom\x00\x00\x02\x00isomavc1mp41")), nestBoxes("mdat", 1, make([]byte, 64))...)
	large := make([]byte, 16)
	copy(large, "\x00\x00\x00\x01moov\x7f\xff\xff\xff\xff\xff\xff\xff")
	table := nestBoxes("stsz", 1, []byte("\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff"))
	webp := func(width, height uint32) []byte {
		canvas := []byte{0, 0, 0, 0, byte(width), byte(width >> 8), byte(width >> 16), byte(height), byte(height >> 8),
			byte(height >> 16)}
		return slices.Concat([]byte("RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00"), canvas)
	}
	return map[string][]byte{
		"a PNG of 4 billion squared":  pngOf(1<<31-1, 1<<31-1),
		"a PNG of 60,000 squared":     pngOf(60_000, 60_000),
		"a PNG that is one line":      pngOf(1, 1<<31-1),
		"a PNG of 0 × 0 pixels":       pngOf(0, 0),
		"a PNG of chunks without end": slices.Concat(pngOf(10, 10)[:33], bytes.Repeat(pngChunk("tEXt", nil), 100_000)),
		"a PNG with a chunk of 4 GB":  append(pngOf(10, 10)[:33], "\xff\xff\xff\xffIDAT"...),
		"a GIF of 65,535 squared": []byte(
			"GIF89a\xff\xff\xff\xff\x00\x00\x00,\x00\x00\x00\x00\xff\xff\xff\xff\x00\x08\x01\x00\x00;"),
		"a GIF of frames without end": append([]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00"),
			bytes.Repeat([]byte("!\xf9\x04\x00\x00\x00\x00\x00"), 100_000)...),
		"a JPEG of 65,500 squared": []byte(
			"\xff\xd8\xff\xc0\x00\x11\x08\xff\xdc\xff\xdc\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01" +
				"\xff\xda\x00\x0c\x03\x01\x00\x02\x11\x03\x11\x00\x3f\x00\x00\xff\xd9"),
		"a JPEG of segments":           append([]byte("\xff\xd8"), bytes.Repeat([]byte("\xff\xe0\x00\x02"), 100_000)...),
		"a WebP of 16 million squared": webp(1<<24-1, 1<<24-1),
		"an MP4 of boxes in boxes":     append(slices.Clone(mp4), nestBoxes("moov", 100_000, nil)...),
		"an MP4 of containers": append(slices.Clone(mp4),
			nestBoxes("moov", 1, nestBoxes("trak", 1, nestBoxes("mdia", 1, nestBoxes("minf", 1, nestBoxes("stbl", 50_000, table)))))...),
		"an MP4 with a box of 8 EB":    append(slices.Clone(mp4), large...),
		"an MP4 with boxes of no size": append(slices.Clone(mp4), bytes.Repeat([]byte("\x00\x00\x00\x02moov"), 1000)...),
		"an MP4 with a table of 4 G": append(slices.Clone(mp4),
			nestBoxes("moov", 1, nestBoxes("trak", 1, nestBoxes("mdia", 1, nestBoxes("minf", 1, nestBoxes("stbl", 1, table)))))...),
		"an MP4 with 100,000 tracks": append(slices.Clone(mp4),
			nestBoxes("moov", 1, bytes.Repeat(nestBoxes("trak", 1, nil), 100_000))...),
		"an archive that unpacks itself": append([]byte("PK\x03\x04"), make([]byte, 5000)...),
	}
}

// A file that declares a huge size is rejected quickly, and its upload link can be used again.
func TestDecompressionBombs(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		pixel := aPNG("pixel.png")
		for name, content := range bombs() {
			f := pixel
			f.bytes = content
			_, to := w.openUpload(f)
			began := time.Now()
			got := w.put(to, f)
			if got.status != http.StatusUnprocessableEntity || got.code() != "validation_failed" {
				t.Errorf("%s: %d %s", name, got.status, got.raw)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("%s: took %v", name, took)
			}
		}
		if n := w.count("media WHERE team_id = ?", w.team); n != 0 {
			t.Errorf("%d of the files are in the library", n)
		}
	})
}
