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

// newBox returns a box of ISO/IEC 14496-12.
func newBox(kind string, content ...[]byte) []byte {
	p := bytes.Join(content, nil)
	return slices.Concat(u32(uint32(8+len(p))), []byte(kind), p)
}

// newChunk returns a RIFF chunk.
func newChunk(kind string, content ...[]byte) []byte {
	p := bytes.Join(content, nil)
	head := binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(p)))
	return slices.Concat(head, p, make([]byte, len(p)&1))
}

func newWebP(chunks ...[]byte) []byte {
	return newChunk("RIFF", []byte("WEBP"), bytes.Join(chunks, nil))
}

// newEXIF returns EXIF data whose only tag is the orientation.
func newEXIF(order binary.AppendByteOrder, value uint16) []byte {
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

// newJPEG returns the beginning of a JPEG, before its first scan.
func newJPEG(segments ...[]byte) []byte {
	return slices.Concat([]byte{0xff, 0xd8}, bytes.Join(segments, nil), []byte{0xff, 0xda})
}

func newFrame(marker byte, width, height uint16, components ...byte) []byte {
	p := slices.Concat([]byte{8}, u16(height, width), []byte{byte(len(components))})
	for i, sampling := range components {
		p = append(p, byte(i+1), sampling, 0)
	}
	return segment(marker, p)
}

func newPNG(width, height uint32, depth, colour, interlaced byte, chunks ...[]byte) []byte {
	p := slices.Concat([]byte("\x89PNG\r\n\x1a\n"), u32(13), []byte("IHDR"), u32(width, height))
	p = append(p, depth, colour, 0, 0, interlaced, 0, 0, 0, 0)
	return append(p, bytes.Join(chunks, nil)...)
}

// film is a small video with parts that tests can change.
type film struct {
	mvhd, tkhd, mdhd, stsd, stts, mvex, tail []byte
	ftyp, mdat                               []byte
	handler                                  string
}

func matrix(a, b, c, d int32) []byte {
	return u32(uint32(a<<16), uint32(b<<16), 0, uint32(c<<16), uint32(d<<16), 0, 0, 0, 1<<30)
}

func newTkhd(width, height uint32, matrix []byte) []byte {
	return newBox("tkhd", u32(1, 0, 0, 1, 0, 0, 0, 0, 0, 0), matrix, u32(width<<16, height<<16))
}

func newEntry(fourcc string, width, height uint16) []byte {
	return newBox(fourcc, make([]byte, 24), u16(width, height), make([]byte, 50))
}

func newFilm() film {
	return film{
		ftyp:    newBox("ftyp", []byte("isom"), u32(0)),
		mvhd:    newBox("mvhd", u32(0, 0, 0, 1000, 3000)),
		tkhd:    newTkhd(64, 48, matrix(1, 0, 0, 1)),
		mdhd:    newBox("mdhd", u32(0, 0, 0, 30_000, 90_000)),
		handler: "vide",
		stsd:    newBox("stsd", u32(0, 1), newEntry("avc1", 64, 48)),
		stts:    newBox("stts", u32(0, 1, 90, 1000)),
		mdat:    newBox("mdat", []byte("pictures")),
	}
}

func (f film) bytes() []byte {
	stbl := newBox("stbl", f.stsd, f.stts)
	mdia := newBox("mdia", f.mdhd, newBox("hdlr", u32(0, 0), []byte(f.handler)), newBox("minf", stbl))
	moov := newBox("moov", f.mvhd, newBox("trak", f.tkhd, mdia), f.mvex)
	return slices.Concat(f.ftyp, f.mdat, moov, f.tail)
}
