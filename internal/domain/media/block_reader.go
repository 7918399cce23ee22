package media

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"pressroom/internal/platform/blob"
)

const (
	blockSize  = 1 << 20 // bytes
	heldBlocks = 8       // of one blob: the tables of a video that are read side by side, and its samples
	// readThrough is up to how many blocks are read and thrown away so that a reading goes on. In S3 every gap costs a
	// request, which takes as long as reading some MiB.
	readThrough = 8
)

// blocks reads a blob at any offset, in blocks of which it holds the ones that were used last. A file in S3 is read by
// few requests so, although a video is looked at in many small places. It is for one goroutine at a time.
type blocks struct {
	from blob.Reader
	next int64    // the block at which the blob is read on
	held []*block // the one that was used last at the end
}

type block struct {
	number int64
	bytes  []byte
}

// ReadAt implements io.ReaderAt.
func (b *blocks) ReadAt(p []byte, off int64) (int, error) {
	read := 0
	for read < len(p) {
		at := off + int64(read)
		if at >= b.from.Size() {
			return read, io.EOF
		}
		in, err := b.block(at / blockSize)
		if err != nil {
			return read, err
		}
		read += copy(p[read:], in.bytes[at%blockSize:])
	}
	return read, nil
}

// block returns a block of the blob, and remembers that it was used.
func (b *blocks) block(number int64) (*block, error) {
	n := slices.IndexFunc(b.held, func(held *block) bool { return held.number == number })
	if n < 0 {
		return b.load(number)
	}
	in := b.held[n]
	b.held = append(slices.Delete(b.held, n, n+1), in)
	return in, nil
}

// load reads a block, into the memory of the one that was not used for longest.
func (b *blocks) load(number int64) (*block, error) {
	skip := int64(0)
	if gap := number - b.next; gap > 0 && gap <= readThrough {
		skip = gap * blockSize
	}
	if _, err := b.from.Seek(number*blockSize-skip, io.SeekStart); err != nil {
		return nil, fmt.Errorf("seeking in a blob: %w", err)
	}
	if _, err := io.CopyN(io.Discard, b.from, skip); err != nil {
		return nil, fmt.Errorf("reading a blob: %w", err)
	}
	in := &block{}
	if len(b.held) == heldBlocks {
		in, b.held = b.held[0], slices.Delete(b.held, 0, 1)
	}
	length := min(blockSize, b.from.Size()-number*blockSize)
	in.number, in.bytes = number, slices.Grow(in.bytes[:0], int(length))[:length]
	if _, err := io.ReadFull(b.from, in.bytes); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("reading a blob: %w", err)
	}
	b.held, b.next = append(b.held, in), number+1
	return in, nil
}
