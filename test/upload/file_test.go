package upload

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"math/rand/v2"
	"slices"
)

// file is a file too large for memory, which is generated while it is read.
type file struct {
	head   []byte
	body   int64 // number of bytes after the header, which repeat the block
	size   int64
	digest string // SHA-256 in hexadecimal digits
}

// block is the content of every video's samples.
var block = func() []byte {
	out := make([]byte, 1<<20)
	rand.NewChaCha8([32]byte{}).Read(out)
	return out
}()

func (f file) reader() io.Reader {
	return io.MultiReader(bytes.NewReader(f.head), &repeatedBlock{left: f.body})
}

// repeatedBlock repeats the block.
type repeatedBlock struct{ left, at int64 }

func (p *repeatedBlock) Read(to []byte) (int, error) {
	if p.left == 0 {
		return 0, io.EOF
	}
	n := copy(to[:min(int64(len(to)), p.left)], block[p.at:])
	p.left, p.at = p.left-int64(n), (p.at+int64(n))%int64(len(block))
	return n, nil
}

// newFile returns a file with a header and a body.
func newFile(head []byte, body int64) file {
	f := file{head: head, body: body, size: int64(len(head)) + body}
	sum := sha256.New()
	if _, err := io.Copy(sum, f.reader()); err != nil {
		panic(err)
	}
	f.digest = hex.EncodeToString(sum.Sum(nil))
	return f
}

// newVideo returns an MP4 file with body bytes of samples. Files with different seeds differ.
func newVideo(seed uint64, body int64) file {
	tkhd := newBox("tkhd", u32(1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1<<16, 0, 0, 0, 1<<16, 0, 0, 0, 1<<30, 64<<16, 48<<16))
	stsd := newBox("stsd", u32(0, 1), newBox("avc1", make([]byte, 24), []byte{0, 64, 0, 48}, make([]byte, 50)))
	moov := func(at int) []byte { // one chunk of samples of eight bytes
		samples := uint32(1 + body/8)
		chunk := slices.Concat(newBox("stsc", u32(0, 1, 1, samples, 1)), newBox("stsz", u32(0, 8, samples)),
			newBox("stco", u32(0, 1, uint32(at))))
		stbl := newBox("stbl", stsd, newBox("stts", u32(0, 1, 90, 1000)), chunk)
		mdhd, hdlr := newBox("mdhd", u32(0, 0, 0, 30_000, 90_000)), newBox("hdlr", u32(0, 0), []byte("vide"))
		mdia := newBox("mdia", mdhd, hdlr, newBox("minf", stbl))
		return newBox("moov", newBox("mvhd", u32(0, 0, 0, 1000, 3000)), newBox("trak", tkhd, mdia))
	}
	unique := binary.BigEndian.AppendUint64(nil, seed)
	mdat := slices.Concat(u32(1), []byte("mdat"), binary.BigEndian.AppendUint64(nil, uint64(24+body)), unique)
	ftyp := newBox("ftyp", []byte("isom"), u32(0))
	return newFile(slices.Concat(ftyp, moov(len(ftyp)+len(moov(0))+16), mdat), body)
}

// newBox returns a box in the format of ISO/IEC 14496-12.
func newBox(kind string, content ...[]byte) []byte {
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
