package media

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"pressroom.example/pressroom/internal/platform/blob"
)

// generatedBody is a body of any size that needs no memory. It has a head, followed by zeros. It counts the bytes read.
type generatedBody struct {
	head       []byte
	size, read int64
}

func (g *generatedBody) Read(p []byte) (int, error) {
	if g.read >= g.size {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), g.size-g.read))
	clear(p[:n])
	if g.read < int64(len(g.head)) {
		copy(p[:n], g.head[g.read:])
	}
	g.read += int64(n)
	return n, nil
}

const mib = 1 << 20

// limitedStore is a store that fails once more files than allowed are staged.
type limitedStore struct {
	blob.Store

	begun *int
}

func (s limitedStore) Stage(ctx context.Context) (*blob.Staged, error) {
	*s.begun++
	return s.Store.Stage(ctx)
}

// diskFillingBody is a body during which the disk fills up.
type diskFillingBody struct {
	generatedBody

	at   int64
	fill func()
}

func (f *diskFillingBody) Read(p []byte) (int, error) {
	n, err := f.generatedBody.Read(p)
	if f.read >= f.at {
		f.fill()
	}
	return n, err
}

// blockingBody is a body that blocks until it is released.
type blockingBody struct {
	io.Reader
	begun chan struct{}
	end   chan error
	once  *sync.Once
}

func newBlockingBody() blockingBody {
	return blockingBody{bytes.NewReader(film(1, 10)), make(chan struct{}), make(chan error, 1), &sync.Once{}}
}

func (d blockingBody) Read(p []byte) (int, error) {
	n, err := d.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		d.once.Do(func() { close(d.begun) })
		return n, <-d.end
	}
	return n, err
}
