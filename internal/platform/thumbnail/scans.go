package thumbnail

import (
	"bytes"
	"io"

	"pressroom.example/pressroom/internal/platform/mediainfo"
)

// The limits on the scans of a JPEG. In a progressive image, a scan of fewer than 100 bytes can visit every block. The
// sizes of the file and the image therefore do not limit the work. Cameras and encoders write about 10 scans. The fuzz
// targets of libjpeg-turbo stop at 500.
const (
	maxScans  = 100
	maxBlocks = 16 << 20 // blocks of 8 × 8 samples in all scans combined, about 10 seconds of work
)

var errScans = &mediainfo.DamageError{
	Reason: "the JPEG has more scans than the library decodes; save it again as a baseline (not progressive) JPEG",
}

// The JPEG markers that have no segment, and the marker that begins a scan (ITU-T T.81, table B.1).
const (
	rst0, rst7 = 0xd0, 0xd7
	eoi, sos   = 0xd9, 0xda
)

// scanReader reads a JPEG. It returns errScans once the scans exceed the limits. Like the decoder, it skips stray and
// entropy-coded bytes up to the next 0xff that is not followed by 0 or 0xff.
type scanReader struct {
	r                  io.Reader
	scans              int
	remainingBlocks    int64 // blocks that may still be visited
	blocksPerComponent int64 // number of blocks of a component that is not subsampled

	state  scanState
	marker byte
	length int // remaining bytes of the segment
}

type scanState int

const (
	stateSeeking    scanState = iota // looking for the 0xff of a marker
	stateMarked                      // after a 0xff
	stateLengthHigh                  // at the first byte of a segment's length
	stateLengthLow
	stateComponents // at the number of components in a scan
	stateInside     // inside a segment
	stateEnded      // after the end of the image
)

func newScanReader(r io.Reader, info mediainfo.Info) *scanReader {
	each := int64(info.Width+7) / 8 * (int64(info.Height+7) / 8)
	// The two bytes that begin the image are a marker without a segment.
	return &scanReader{r: r, remainingBlocks: maxBlocks, blocksPerComponent: each, state: stateInside, length: 2}
}

func (s *scanReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if over := s.count(p[:n]); over != nil {
		return 0, over
	}
	return n, err //nolint:wrapcheck // io.EOF must stay unwrapped
}

// count processes the next bytes of the file.
func (s *scanReader) count(p []byte) error {
	for len(p) > 0 && s.state != stateEnded {
		n, err := 1, error(nil)
		switch s.state {
		case stateSeeking:
			if n = 1 + bytes.IndexByte(p, 0xff); n == 0 {
				return nil
			}
			s.state = stateMarked
		case stateMarked:
			s.mark(p[0])
		case stateLengthHigh:
			s.length, s.state = int(p[0])<<8, stateLengthLow
		case stateLengthLow:
			s.length += int(p[0]) - 2 // the length includes its own two bytes
			s.enter(s.marker == sos)
		case stateComponents:
			s.length--
			s.enter(false)
			err = s.scan(p[0])
		case stateInside:
			n = min(s.length, len(p))
			s.length -= n
			s.enter(false)
		case stateEnded:
		}
		if err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// enter continues with the rest of a segment. In the header of a scan, the number of components comes next.
func (s *scanReader) enter(scan bool) {
	switch {
	case s.length <= 0:
		s.state = stateSeeking
	case scan:
		s.state = stateComponents
	default:
		s.state = stateInside
	}
}

// mark processes the byte after a 0xff byte.
func (s *scanReader) mark(b byte) {
	switch {
	case b == 0xff:
	case b == 0, b >= rst0 && b <= rst7:
		s.state = stateSeeking
	case b == eoi:
		s.state = stateEnded
	default:
		s.marker, s.state = b, stateLengthHigh
	}
}

// scan counts a scan with the given number of components, and returns errScans if a limit is exceeded.
func (s *scanReader) scan(components byte) error {
	s.scans++
	s.remainingBlocks -= int64(min(components, 4)) * s.blocksPerComponent
	if s.scans > maxScans || s.remainingBlocks < 0 {
		return errScans
	}
	return nil
}
