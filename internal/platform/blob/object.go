package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/minio/minio-go/v7"
)

// The sizes in bytes of the ranges to request. The first range after a seek is small, because the caller may need only
// a few bytes. The following ranges grow. Reading a range to its end returns the connection to the pool.
const (
	minRange = 1 << 20
	maxRange = 16 << 20
)

// object reads an S3 object with range requests.
type object struct {
	ctx      context.Context //nolint:containedctx // io.Reader takes no context
	bucket   *bucket
	key      string
	size, at int64

	body      io.ReadCloser // body of the current range; nil between ranges
	remaining int64         // unread bytes of the current range
	nextRange int64         // size of the next range
	closed    bool
}

func (o *object) Size() int64 { return o.size }

func (o *object) Read(p []byte) (int, error) {
	switch {
	case o.closed:
		return 0, fs.ErrClosed
	case o.at >= o.size:
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	}
	if o.body == nil {
		if err := o.request(); err != nil {
			return 0, err
		}
	}
	n, err := o.body.Read(p[:min(int64(len(p)), o.remaining)])
	o.at += int64(n)
	o.remaining -= int64(n)
	if o.remaining == 0 {
		o.closeBody()
		return n, nil
	}
	if err != nil {
		o.closeBody() // the next Read requests a new range from here
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return n, fmt.Errorf("reading an object: %w", err)
	}
	return n, nil
}

func (o *object) request() error {
	o.nextRange = min(max(2*o.nextRange, minRange), maxRange)
	length := min(o.nextRange, o.size-o.at)
	var options minio.GetObjectOptions
	if err := options.SetRange(o.at, o.at+length-1); err != nil {
		return fmt.Errorf("requesting a range: %w", err)
	}
	body, info, header, err := o.bucket.core.GetObject(o.ctx, o.bucket.name, o.bucket.prefix+o.key, options)
	if isMissing(err) {
		return ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("reading an object: %w", err)
	}
	if info.Size != length || !strings.HasPrefix(header.Get("Content-Range"), fmt.Sprintf("bytes %d-", o.at)) {
		return errors.Join(errors.New("the server returned a different range"), body.Close())
	}
	o.body, o.remaining = body, length
	return nil
}

// closeBody closes the current range.
func (o *object) closeBody() {
	if o.body != nil {
		_ = o.body.Close() // the body was only read
		o.body = nil
	}
}

func (o *object) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += o.at
	case io.SeekEnd:
		offset += o.size
	default:
		return 0, fmt.Errorf("seeking from %d: %w", whence, fs.ErrInvalid)
	}
	if offset < 0 {
		return 0, fmt.Errorf("seeking before the start: %w", fs.ErrInvalid)
	}
	if offset != o.at {
		o.closeBody()
		o.at, o.nextRange = offset, 0
	}
	return offset, nil
}

func (o *object) Close() error {
	o.closeBody()
	o.closed = true
	return nil
}
