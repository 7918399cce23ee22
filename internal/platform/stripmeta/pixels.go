package stripmeta

import (
	"compress/zlib"
	"encoding/binary"
	"io"
)

// byteReader reads a range of a file byte by byte, so that a decompressor does not read ahead.
type byteReader struct {
	*source

	at, end int64
}

// ReadByte implements io.ByteReader.
func (r *byteReader) ReadByte() (byte, error) {
	if r.at >= r.end {
		return 0, io.EOF
	}
	p, err := r.peek(r.at, 1)
	if err != nil {
		return 0, err
	}
	r.at++
	return p[0], nil
}

// Read implements io.Reader.
func (r *byteReader) Read(p []byte) (int, error) {
	if r.at >= r.end {
		return 0, io.EOF
	}
	buffered, err := r.rest(r.at)
	if err != nil {
		return 0, err
	}
	n := copy(p[:min(int64(len(p)), r.end-r.at)], buffered)
	r.at += int64(n)
	return n, nil
}

// pixelChunks reads the contents of consecutive PNG chunks of one kind.
type pixelChunks struct {
	byteReader

	kind string
	next int64 // offset of the next chunk
	skip int64 // bytes before the pixels in each chunk
}

// ReadByte implements io.ByteReader.
func (c *pixelChunks) ReadByte() (byte, error) {
	if err := c.advance(); err != nil {
		return 0, err
	}
	return c.byteReader.ReadByte()
}

// Read implements io.Reader.
func (c *pixelChunks) Read(p []byte) (int, error) {
	if err := c.advance(); err != nil {
		return 0, err
	}
	return c.byteReader.Read(p)
}

// advance continues with the next chunk if the current chunk has ended.
func (c *pixelChunks) advance() error {
	for c.at >= c.end {
		p, err := c.peek(c.next, 8)
		if err != nil {
			return err
		}
		if string(p[4:]) != c.kind {
			return io.EOF
		}
		c.at = c.next + 8 + c.skip
		c.end = c.next + 8 + int64(binary.BigEndian.Uint32(p))
		c.next = c.end + 4
		if c.next > c.size || c.at > c.end {
			return errBrokenStructure
		}
	}
	return nil
}

// zlibReader is a reusable zlib reader.
type zlibReader struct{ io.ReadCloser }

func (z *zlibReader) open(in io.Reader) error {
	var err error
	if z.ReadCloser == nil {
		z.ReadCloser, err = zlib.NewReader(in)
		return err //nolint:wrapcheck // the caller only checks whether the error is nil
	}
	return z.ReadCloser.(zlib.Resetter).Reset(in, nil) //nolint:wrapcheck,forcetypeassert // documented by zlib.NewReader
}
