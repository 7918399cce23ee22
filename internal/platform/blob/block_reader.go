package blob

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

const (
	blockSize    = 1 << 20 // bytes
	cachedBlocks = 8       // enough for the sample tables of a video that are read in parallel
	// maxSkip is the maximum number of blocks that are read and discarded instead of seeking. With S3, each seek causes
	// a request, which takes as long as reading several MiB.
	maxSkip = 8
)

// BlockReader reads a blob at any offset through a cache of recently used blocks, so that many small reads from a video
// cause only a few requests to S3. It is not safe for concurrent use.
type BlockReader struct {
	src       Reader
	nextBlock int64    // the block at the reader's position
	cached    []*block // most recently used last
}

// NewBlockReader returns a BlockReader that reads from the given Reader and changes the Reader's position.
func NewBlockReader(from Reader) *BlockReader { return &BlockReader{src: from} }

// Size returns the size of the blob in bytes.
func (b *BlockReader) Size() int64 { return b.src.Size() }

type block struct {
	number int64
	bytes  []byte
}

// ReadAt implements io.ReaderAt.
func (b *BlockReader) ReadAt(p []byte, off int64) (int, error) {
	read := 0
	for read < len(p) {
		at := off + int64(read)
		if at >= b.src.Size() {
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

// block returns a block of the blob and marks it as recently used.
func (b *BlockReader) block(number int64) (*block, error) {
	n := slices.IndexFunc(b.cached, func(cached *block) bool { return cached.number == number })
	if n < 0 {
		return b.load(number)
	}
	in := b.cached[n]
	b.cached = append(slices.Delete(b.cached, n, n+1), in)
	return in, nil
}

// load reads a block, reusing the buffer of the least recently used block.
func (b *BlockReader) load(number int64) (*block, error) {
	skip := int64(0)
	if gap := number - b.nextBlock; gap > 0 && gap <= maxSkip {
		skip = gap * blockSize
	}
	if _, err := b.src.Seek(number*blockSize-skip, io.SeekStart); err != nil {
		return nil, fmt.Errorf("seeking in a blob: %w", err)
	}
	if _, err := io.CopyN(io.Discard, b.src, skip); err != nil {
		return nil, fmt.Errorf("reading a blob: %w", err)
	}
	blk := &block{}
	if len(b.cached) == cachedBlocks {
		blk, b.cached = b.cached[0], slices.Delete(b.cached, 0, 1)
	}
	length := min(blockSize, b.src.Size()-number*blockSize)
	blk.number, blk.bytes = number, slices.Grow(blk.bytes[:0], int(length))[:length]
	if _, err := io.ReadFull(b.src, blk.bytes); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("reading a blob: %w", err)
	}
	b.cached, b.nextBlock = append(b.cached, blk), number+1
	return blk, nil
}
