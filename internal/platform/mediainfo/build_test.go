package mediainfo_test

import (
	"bytes"
	"encoding/binary"
	"slices"
)

func u16(values ...uint16) []byte {
	var p []byte
	for _, v := range values {
		p = binary.BigEndian.AppendUint16(p, v)
	}
	return p
}

func u32(values ...uint32) []byte {
	var p []byte
	for _, v := range values {
		p = binary.BigEndian.AppendUint32(p, v)
	}
	return p
}

// boxOf returns a box of ISO/IEC 14496-12.
func boxOf(kind string, content ...[]byte) []byte {
	p := bytes.Join(content, nil)
	return slices.Concat(u32(uint32(8+len(p))), []byte(kind), p)
}

// chunkOf returns a RIFF chunk.
func chunkOf(kind string, content ...[]byte) []byte {
	p := bytes.Join(content, nil)
	head := binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(p)))
	return slices.Concat(head, p, make([]byte, len(p)&1))
}

func webpOf(chunks ...[]byte) []byte {
	return chunkOf("RIFF", []byte("WEBP"), bytes.Join(chunks, nil))
}

// exifOf returns EXIF data whose only tag is the orientation.
func exifOf(order binary.AppendByteOrder, value uint16) []byte {
	p := []byte("MM")
	if order.AppendUint16(nil, 1)[0] == 1 {
		p = []byte("II")
	}
	p = order.AppendUint16(p, 42)
	p = order.AppendUint32(p, 8)
	for _, v := range []uint16{1, 0x0112, 3} {
		p = order.AppendUint16(p, v)
	}
	p = order.AppendUint32(p, 1)
	p = order.AppendUint16(p, value)
	return append(p, 0, 0, 0, 0, 0, 0)
}

func segment(marker byte, content ...[]byte) []byte {
	p := bytes.Join(content, nil)
	return slices.Concat([]byte{0xff, marker}, u16(uint16(2+len(p))), p)
}

// jpegOf returns a JPEG up to its first scan.
func jpegOf(segments ...[]byte) []byte {
	return slices.Concat([]byte{0xff, 0xd8}, bytes.Join(segments, nil), []byte{0xff, 0xda})
}

func frameOf(marker byte, width, height uint16, components ...byte) []byte {
	p := slices.Concat([]byte{8}, u16(height, width), []byte{byte(len(components))})
	for i, sampling := range components {
		p = append(p, byte(i+1), sampling, 0)
	}
	return segment(marker, p)
}

func pngOf(width, height uint32, depth, colour, interlaced byte, chunks ...[]byte) []byte {
	p := slices.Concat([]byte("\x89PNG\r\n\x1a\n"), u32(13), []byte("IHDR"), u32(width, height))
	p = append(p, depth, colour, 0, 0, interlaced, 0, 0, 0, 0)
	return append(p, bytes.Join(chunks, nil)...)
}

// film is a small video, parts of which tests change.
type film struct {
	mvhd, tkhd, mdhd, stsd, stts, mvex, tail []byte
	ftyp, mdat                               []byte
	handler                                  string
}

func matrix(a, b, c, d int32) []byte {
	return u32(uint32(a<<16), uint32(b<<16), 0, uint32(c<<16), uint32(d<<16), 0, 0, 0, 1<<30)
}

func tkhdOf(width, height uint32, matrix []byte) []byte {
	return boxOf("tkhd", u32(1, 0, 0, 1, 0, 0, 0, 0, 0, 0), matrix, u32(width<<16, height<<16))
}

func entryOf(fourcc string, width, height uint16) []byte {
	return boxOf(fourcc, make([]byte, 24), u16(width, height), make([]byte, 50))
}

func newFilm() film {
	return film{
		ftyp:    boxOf("ftyp", []byte("isom"), u32(0)),
		mvhd:    boxOf("mvhd", u32(0, 0, 0, 1000, 3000)),
		tkhd:    tkhdOf(64, 48, matrix(1, 0, 0, 1)),
		mdhd:    boxOf("mdhd", u32(0, 0, 0, 30_000, 90_000)),
		handler: "vide",
		stsd:    boxOf("stsd", u32(0, 1), entryOf("avc1", 64, 48)),
		stts:    boxOf("stts", u32(0, 1, 90, 1000)),
		mdat:    boxOf("mdat", []byte("pictures")),
	}
}

func (f film) bytes() []byte {
	stbl := boxOf("stbl", f.stsd, f.stts)
	mdia := boxOf("mdia", f.mdhd, boxOf("hdlr", u32(0, 0), []byte(f.handler)), boxOf("minf", stbl))
	moov := boxOf("moov", f.mvhd, boxOf("trak", f.tkhd, mdia), f.mvex)
	return slices.Concat(f.ftyp, f.mdat, moov, f.tail)
}
