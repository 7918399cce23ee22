package thumbnail

import (
	"image"
	"image/draw"
)

// upright returns src, rotated according to its orientation (EXIF 2.3) and scaled down to size, which is the size after
// the rotation. Every pixel is the mean of the area that it covers. To save memory, upright reads src once, row by row.
func upright(src layer, orientation int, size image.Point) *image.RGBA {
	dst := image.NewRGBA(image.Rectangle{Max: size})
	storedSize := size
	if orientation >= 5 {
		storedSize = image.Pt(size.Y, size.X)
	}
	s := &shrinker{
		pix: dst.Pix, walk: newWalk(orientation, storedSize), srcSize: src.canvas, dstSize: storedSize,
		rowSums: make([]uint32, 4*storedSize.X), sum: make([]uint64, 4*storedSize.X), remaining: src.canvas.Y,
	}
	row := image.NewRGBA(image.Rect(0, 0, src.canvas.X, 1))
	coversCanvas := src.Bounds().Size() == src.canvas
	for y := range src.canvas.Y {
		if !coversCanvas {
			clear(row.Pix)
		}
		draw.Draw(row, row.Rect, src.Image, src.Bounds().Min.Add(image.Pt(0, y)).Sub(src.at), draw.Src)
		s.add(row.Pix)
	}
	return dst
}

// walk maps stored pixels to displayed pixels. Pixel x, y is displayed at origin + x·right + y·down.
type walk struct {
	origin, right, down int
}

// newWalk returns the walk for an image with the given orientation and stored size.
func newWalk(orientation int, storedSize image.Point) walk {
	w, h := storedSize.X, storedSize.Y
	switch orientation {
	case 2:
		return walk{w - 1, -1, w}
	case 3:
		return walk{w*h - 1, -1, -w}
	case 4:
		return walk{w * (h - 1), 1, -w}
	case 5:
		return walk{0, h, 1}
	case 6:
		return walk{h - 1, h, -1}
	case 7:
		return walk{w*h - 1, -h, -1}
	case 8:
		return walk{h * (w - 1), -h, 1}
	}
	return walk{0, 1, w}
}

// shrinker computes the means of areas. It measures both pictures in parts of a pixel: a source pixel is dstSize.X
// parts wide and dstSize.Y parts high. A new pixel is srcSize.X parts wide and srcSize.Y parts high. All overlaps are
// therefore integers, and there are no rounding errors that change colors. The sums for a source row stay below
// 255·16,384, and the sums for a new row below 255·10⁸.
type shrinker struct {
	pix              []byte
	walk             walk
	srcSize, dstSize image.Point
	rowSums          []uint32 // sums of the current source row
	sum              []uint64 // sums of the current new row

	remaining int // parts of the new row's height that are still to be added
	rows      int // number of finished new rows
}

// add processes the next row of the source.
func (s *shrinker) add(source []byte) {
	if s.srcSize == s.dstSize {
		s.copy(source)
		return
	}
	s.addAcross(source)
	height := s.dstSize.Y
	if height >= s.remaining {
		s.addDown(s.remaining)
		height -= s.remaining
		s.remaining = s.srcSize.Y
		s.emit()
	}
	s.addDown(height)
	s.remaining -= height
}

// addAcross sets s.row to the sums for a source row. A source pixel overlaps at most two new pixels.
func (s *shrinker) addAcross(source []byte) {
	clear(s.rowSums)
	to, room, width := s.rowSums, s.srcSize.X, s.dstSize.X
	for ; len(source) >= 4; source = source[4:] {
		part := min(width, room)
		gather(to, source, uint32(part)) //nolint:gosec // no side is longer than 16,384
		if room -= part; room > 0 {
			continue
		}
		to, room = to[4:], s.srcSize.X
		if rest := width - part; rest > 0 {
			gather(to, source, uint32(rest)) //nolint:gosec // as above
			room -= rest
		}
	}
}

func gather(to []uint32, pixel []byte, parts uint32) {
	_, _ = to[3], pixel[3]
	to[0] += parts * uint32(pixel[0])
	to[1] += parts * uint32(pixel[1])
	to[2] += parts * uint32(pixel[2])
	to[3] += parts * uint32(pixel[3])
}

// addDown adds a number of parts of the source row's height to the new row.
func (s *shrinker) addDown(parts int) {
	for i, v := range s.rowSums {
		s.sum[i] += uint64(v) * uint64(parts) //nolint:gosec // never below zero
	}
}

// emit writes the completed row and begins the next row.
func (s *shrinker) emit() {
	area := uint64(s.srcSize.X) * uint64(s.srcSize.Y) //nolint:gosec // never below zero
	at := s.walk.origin + s.rows*s.walk.down
	for i := 0; i < len(s.sum); i += 4 {
		for j := range 4 {
			s.pix[4*at+j] = uint8((s.sum[i+j] + area/2) / area) //nolint:gosec // a mean of bytes
		}
		at += s.walk.right
	}
	clear(s.sum)
	s.rows++
}

func (s *shrinker) copy(source []byte) {
	at := s.walk.origin + s.rows*s.walk.down
	for ; len(source) >= 4; source = source[4:] {
		copy(s.pix[4*at:], source[:4])
		at += s.walk.right
	}
	s.rows++
}
