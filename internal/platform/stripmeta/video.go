package stripmeta

import (
	"encoding/binary"
	"errors"
	"slices"

	"pressroom.example/pressroom/internal/platform/mediainfo"
)

// maxBoxes is the maximum number of boxes that are read in a video.
const maxBoxes = 20_000

// maxTracks is the maximum number of tracks in a video. It limits the use of memory, because each track has its own
// windows.
const maxTracks = 64

// shownTracks lists the handlers of the tracks to keep: pictures, sound, transparency and closed captions. Timed
// metadata and text are removed, because drones record their location as text.
var shownTracks = []string{"vide", "soun", "auxv", "clcp"}

// shownReferences lists the types of references between tracks to keep.
var shownReferences = []string{"auxl", "vdep", "fall", "folw"}

type video struct {
	*source
	*Edits

	boxes           int
	moov            bool
	data            []span          // the contents of mdat boxes
	keptSpans       []span          // the samples of the tracks that are kept
	tracks          []trackBoxes    // the tracks that are kept
	shown           map[uint32]bool // whether each track is kept
	sound, captions bool            // type of the track that is being cleaned
	run             fragmentRun
}

// span is a range of bytes of the file.
type span struct{ at, end int64 }

// scanVideo blanks metadata in place, so that the sample tables stay valid.
func scanVideo(s *source, e *Edits) error {
	v := &video{source: s, Edits: e, shown: map[uint32]bool{}, run: fragmentRun{sizes: map[uint32]uint32{}}}
	if err := v.cleanTopLevel(); err != nil {
		return err
	}
	if err := v.recordSamples(); err != nil {
		return err
	}
	return v.zeroUnused()
}

// cleanTopLevel processes the top-level boxes. It removes data after the video that does not consist of boxes. Phones
// append such data.
func (v *video) cleanTopLevel() error {
	for at := int64(0); at < v.size; {
		b, err := v.next(at, v.size)
		if errors.Is(err, mediainfo.ErrDamaged) && !errors.Is(err, errTooManyParts) && v.moov && v.data != nil {
			return v.remove(at, v.size)
		}
		if err != nil {
			return err
		}
		switch b.Kind {
		case "moov":
			if v.moov {
				return errBrokenStructure
			}
			v.moov = true
		case "mdat":
			v.data = append(v.data, span{b.Content, b.End})
		case "moof":
			if !v.moov {
				return errBrokenStructure // the tracks of the fragment are not known yet
			}
			v.run.begin(b.Start)
		}
		if err := v.clean("", b); err != nil {
			return err
		}
		at = b.End
	}
	return nil
}

func (v *video) next(at, end int64) (mediainfo.Box, error) {
	if v.boxes++; v.boxes > maxBoxes {
		return mediainfo.Box{}, errTooManyParts
	}
	return mediainfo.NextBox(v.source, at, end)
}

// each calls visit for each box in a container. It skips trailing bytes that are too short for a box.
func (v *video) each(in mediainfo.Box, visit func(mediainfo.Box) error) error {
	at := in.Content
	for in.End-at >= 8 {
		b, err := v.next(at, in.End)
		if err == nil {
			err = visit(b)
		}
		if err != nil {
			return err
		}
		at = b.End
	}
	return nil
}

// walk cleans the boxes in a container, and zeroes trailing bytes that are too short for a box.
func (v *video) walk(in mediainfo.Box) error { return v.walkFrom(in.Kind, in.Content, in.End) }

func (v *video) walkFrom(container string, at, end int64) error {
	err := v.each(mediainfo.Box{Content: at, End: end}, func(b mediainfo.Box) error {
		at = b.End
		return v.clean(container, b)
	})
	if err != nil {
		return err
	}
	return v.zero(v.source, at, end)
}

// blank replaces a box with a free box of the same size that is filled with zeros.
func (v *video) blank(b mediainfo.Box) error {
	if !slices.Contains([]string{"free", "skip", "wide"}, b.Kind) {
		if err := v.replace(b.Start+4, b.Start+8, []byte("free")); err != nil {
			return err
		}
	}
	return v.zero(v.source, b.Content, b.End)
}

// content returns n bytes of a box's content at off.
func (v *video) content(b mediainfo.Box, off int64, n int) ([]byte, error) {
	if b.Content+off+int64(n) > b.End {
		return nil, errBrokenStructure
	}
	return v.peek(b.Content+off, n)
}

// cleanReferences blanks a box of references to tracks, unless all of the tracks are kept.
func (v *video) cleanReferences(b mediainfo.Box) error {
	allShown := true
	err := v.each(b, func(r mediainfo.Box) error {
		allShown = allShown && slices.Contains(shownReferences, r.Kind)
		return nil
	})
	if err != nil || allShown {
		return err
	}
	return v.blank(b)
}

// cleanTrack keeps a track that is shown or heard and records where its samples are. It blanks any other track.
func (v *video) cleanTrack(b mediainfo.Box) error {
	t := trackBoxes{tables: map[string]mediainfo.Box{}}
	if err := v.find(b, &t); err != nil {
		return err
	}
	if !slices.Contains(shownTracks, t.handler) {
		return v.blank(b)
	}
	if len(v.tracks) >= maxTracks {
		return errTooManyParts
	}
	if v.shown[t.id] {
		return errBrokenStructure // fragments could belong to either track
	}
	v.shown[t.id], v.sound, v.captions = true, t.handler == "soun", t.handler == "clcp"
	v.tracks = append(v.tracks, t)
	return v.walk(b)
}

// trackBoxes holds a track's ID and handler, and the boxes with the location of its samples.
type trackBoxes struct {
	id      uint32
	handler string
	tables  map[string]mediainfo.Box // boxes in stbl by type
}

func (v *video) find(in mediainfo.Box, t *trackBoxes) error {
	return v.each(in, func(b mediainfo.Box) error {
		switch in.Kind + "/" + b.Kind {
		case "trak/mdia", "mdia/minf", "minf/stbl":
			return v.find(b, t)
		case "trak/tkhd":
			return v.trackID(b, t)
		case "mdia/hdlr":
			p, err := v.content(b, 8, 4)
			t.handler = string(p)
			return err
		case "stbl/stsd", "stbl/stco", "stbl/co64", "stbl/stsc", "stbl/stsz", "stbl/stz2":
			if _, twice := t.tables[b.Kind]; twice {
				return errBrokenStructure
			}
			t.tables[b.Kind] = b
		}
		return nil
	})
}

func (v *video) trackID(b mediainfo.Box, t *trackBoxes) error {
	p, err := v.content(b, 0, 16)
	if err == nil && p[0] == 1 {
		p, err = v.content(b, 8, 16)
	}
	if err == nil {
		t.id = binary.BigEndian.Uint32(p[12:])
	}
	return err
}
