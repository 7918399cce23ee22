package stripmeta

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"pressroom/internal/probe"
)

// maxBoxes bounds how many boxes of a video are looked at, as package probe does.
const maxBoxes = 20_000

// rule says what becomes of a box.
type rule int

const (
	blank rule = iota // becomes a free box of the same size, full of zeros
	keep
	enter // its boxes have rules of their own
	dates // a header whose dates become 0
	track
	fragment
	references
	defaults
)

// rules are what becomes of the boxes in each container, by ISO/IEC 14496-12 and the QuickTime File Format. What is not
// named is blanked. The containers nest as the table says, however a file nests them.
var rules = map[string]map[string]rule{
	"": {
		"ftyp": keep, "styp": keep, "mdat": keep, "moov": enter, "moof": enter, "sidx": keep, "ssix": keep, "mfra": keep,
		"pdin": keep,
	},
	"moov": {"mvhd": dates, "trak": track, "mvex": enter, "iods": keep, "pssh": keep, "clip": keep},
	"trak": {
		"tkhd": dates, "edts": keep, "mdia": enter, "tref": references, "tapt": keep, "clip": keep, "matt": keep,
		"load": keep, "imap": keep, "trgr": keep,
	},
	"mdia": {"mdhd": dates, "hdlr": keep, "minf": enter, "elng": keep},
	"minf": {
		"vmhd": keep, "smhd": keep, "hmhd": keep, "nmhd": keep, "sthd": keep, "gmhd": keep, "hdlr": keep, "dinf": keep,
		"stbl": enter,
	},
	"stbl": {
		"stsd": keep, "stts": keep, "ctts": keep, "cslg": keep, "stss": keep, "stps": keep, "stsc": keep, "stsz": keep,
		"stz2": keep, "stco": keep, "co64": keep, "sdtp": keep, "sbgp": keep, "sgpd": keep, "subs": keep, "saiz": keep,
		"saio": keep, "senc": keep, "stdp": keep, "padb": keep, "stsh": keep,
	},
	"mvex": {"mehd": keep, "trex": defaults, "leva": keep},
	"moof": {"mfhd": keep, "traf": fragment},
	"traf": {
		"tfhd": keep, "tfdt": keep, "trun": keep, "sdtp": keep, "sbgp": keep, "sgpd": keep, "subs": keep, "saiz": keep,
		"saio": keep, "senc": keep,
	},
}

// shownTracks are the handlers of the tracks that stay: pictures, sound, transparency and closed captions. Timed
// metadata goes, and with it text, in which drones write where they are.
var shownTracks = []string{"vide", "soun", "auxv", "clcp"}

// shownReferences are the references between tracks that stay.
var shownReferences = []string{"auxl", "vdep", "fall", "folw"}

type video struct {
	*source
	*Edits

	boxes   int
	moov    bool
	data    []span // the contents of mdat boxes
	hidden  []span // the samples of tracks that go, wherever they claim to be
	dropped map[uint32]bool
	run     fragmentRun
}

// span is a range of bytes of the file.
type span struct{ at, end int64 }

// scanVideo blanks metadata in place, so that everything else stays where the sample tables say.
func scanVideo(s *source, e *Edits) error {
	v := &video{source: s, Edits: e, dropped: map[uint32]bool{}, run: fragmentRun{sizes: map[uint32]uint32{}}}
	if err := v.top(); err != nil {
		return err
	}
	return v.zeroHidden()
}

// zeroHidden zeroes the samples of tracks that go, as far as they are in an mdat box.
func (v *video) zeroHidden() error {
	slices.SortFunc(v.hidden, func(a, b span) int { return cmp.Compare(a.at, b.at) })
	done := int64(0) // tracks may claim the same bytes
	for _, h := range v.hidden {
		h.at = max(h.at, done)
		first, _ := slices.BinarySearchFunc(v.data, h.at, func(d span, at int64) int { return cmp.Compare(d.end, at) })
		for _, d := range v.data[first:] {
			if d.at >= h.end {
				break
			}
			if err := v.zero(v.source, max(h.at, d.at), min(h.end, d.end)); err != nil {
				return err
			}
		}
		done = max(done, h.end)
	}
	return nil
}

// top walks the boxes of the file. Behind the video, phones put things that are no boxes; they are cut off.
func (v *video) top() error {
	for at := int64(0); at < v.size; {
		b, err := v.next(at, v.size)
		if errors.Is(err, probe.ErrDamaged) && !errors.Is(err, errParts) && v.moov && v.data != nil {
			return v.remove(at, v.size)
		}
		if err != nil {
			return err
		}
		switch b.Kind {
		case "moov":
			v.moov = true
		case "mdat":
			v.data = append(v.data, span{b.Content, b.End})
		case "moof":
			v.run.begin(b.Start)
		}
		if err := v.apply("", b); err != nil {
			return err
		}
		at = b.End
	}
	return nil
}

func (v *video) next(at, end int64) (probe.Box, error) {
	if v.boxes++; v.boxes > maxBoxes {
		return probe.Box{}, errParts
	}
	return probe.NextBox(v.source, at, end)
}

// each shows the boxes of a container. What is too short for a box at its end is left out.
func (v *video) each(in probe.Box, visit func(probe.Box) error) error {
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

// walk applies the rules of a container to its boxes, and zeroes what is too short for a box at its end.
func (v *video) walk(in probe.Box) error {
	at := in.Content
	err := v.each(in, func(b probe.Box) error {
		at = b.End
		return v.apply(in.Kind, b)
	})
	if err != nil {
		return err
	}
	return v.zero(v.source, at, in.End)
}

func (v *video) apply(container string, b probe.Box) error {
	switch rules[container][b.Kind] {
	case keep:
		return nil
	case enter:
		return v.walk(b)
	case dates:
		return v.dates(b)
	case track:
		return v.track(b)
	case fragment:
		return v.fragment(b)
	case references:
		return v.references(b)
	case defaults:
		return v.defaults(b)
	case blank:
	}
	return v.blank(b)
}

// blank makes a box a free one of zeros.
func (v *video) blank(b probe.Box) error {
	if !slices.Contains([]string{"free", "skip", "wide"}, b.Kind) {
		if err := v.replace(b.Start+4, b.Start+8, []byte("free")); err != nil {
			return err
		}
	}
	return v.zero(v.source, b.Content, b.End)
}

// dates zeroes the creation and modification times of a mvhd, tkhd or mdhd, which begin alike.
func (v *video) dates(b probe.Box) error {
	p, err := v.content(b, 0, 1)
	if err != nil {
		return err
	}
	n := int64(8)
	if p[0] == 1 {
		n = 16
	}
	if b.Content+4+n > b.End {
		return errStructure
	}
	return v.zero(v.source, b.Content+4, b.Content+4+n)
}

// content returns n bytes of a box's content at off.
func (v *video) content(b probe.Box, off int64, n int) ([]byte, error) {
	if b.Content+off+int64(n) > b.End {
		return nil, errStructure
	}
	return v.peek(b.Content+off, n)
}

// references blanks references to tracks, unless all are among those that stay.
func (v *video) references(b probe.Box) error {
	stay := true
	err := v.each(b, func(r probe.Box) error {
		stay = stay && slices.Contains(shownReferences, r.Kind)
		return nil
	})
	if err != nil || stay {
		return err
	}
	return v.blank(b)
}

// track keeps the tracks that are shown or heard. Of others it notes where their samples are, and blanks the rest.
func (v *video) track(b probe.Box) error {
	t := trackBoxes{tables: map[string]probe.Box{}}
	if err := v.find(b, &t); err != nil {
		return err
	}
	if slices.Contains(shownTracks, t.handler) {
		return v.walk(b)
	}
	v.dropped[t.id] = true
	if err := v.samples(t); err != nil {
		return err
	}
	return v.blank(b)
}

// trackBoxes is what of a track says what it is and where its samples are.
type trackBoxes struct {
	id      uint32
	handler string
	tables  map[string]probe.Box // of stbl, by kind
}

func (v *video) find(in probe.Box, t *trackBoxes) error {
	return v.each(in, func(b probe.Box) error {
		switch in.Kind + "/" + b.Kind {
		case "trak/mdia", "mdia/minf", "minf/stbl":
			return v.find(b, t)
		case "trak/tkhd":
			return v.trackID(b, t)
		case "mdia/hdlr":
			p, err := v.content(b, 8, 4)
			t.handler = string(p)
			return err
		case "stbl/stco", "stbl/co64", "stbl/stsc", "stbl/stsz", "stbl/stz2":
			t.tables[b.Kind] = b
		}
		return nil
	})
}

func (v *video) trackID(b probe.Box, t *trackBoxes) error {
	p, err := v.content(b, 0, 16)
	if err == nil && p[0] == 1 {
		p, err = v.content(b, 8, 16)
	}
	if err == nil {
		t.id = binary.BigEndian.Uint32(p[12:])
	}
	return err
}
