package stripmeta

import (
	"errors"
	"math"

	"pressroom.example/pressroom/internal/platform/mediainfo"
)

// action is a way to clean a box.
type action int

const (
	blank             action = iota // replace it with a free box of the same size, full of zeros
	enter                           // clean the boxes in it by the rules for this container
	sized                           // keep the first bytes
	listed                          // keep a header that ends with a 4-byte entry count, and that many entries
	brands                          // ftyp, styp
	header                          // mvhd, tkhd, mdhd
	handler                         // hdlr
	dataEntries                     // dref
	track                           // trak
	references                      // tref
	descriptions                    // stsd
	sampleTable                     // stsz, stz2
	groups                          // sbgp
	groupDescriptions               // sgpd
	trackExtends                    // trex
	fragment                        // traf
	fragmentHead                    // tfhd
	fragmentData                    // trun
	fragmentIndex                   // sidx
	color                           // colr
	decoder                         // esds
	parameterSets                   // avcC
	parameterArrays                 // hvcC, lhvC
	flac                            // dfLa
	amrDecoder                      // damr
)

// rule defines how to clean a box. Bytes that are not kept become zeros.
type rule struct {
	do    action
	size  int64 // bytes of the content to keep; for listed, the size of the header
	entry int64 // size of an entry in bytes
	more  int64 // additional bytes in version 1: per box for sized, per entry for listed
}

// keepBytes keeps the first size bytes of a box.
func keepBytes(size int64) rule { return rule{do: sized, size: size} }

// keepList keeps a table of entries. The first size bytes end with the number of entries, in four bytes.
func keepList(size, entry int64) rule { return rule{do: listed, size: size, entry: entry} }

// rules has the rules for the boxes in each container, from ISO/IEC 14496-12 and the QuickTime File Format. A box is
// kept only directly inside a container listed here, and blanked elsewhere. "picture" and "sound" are not box types.
// They stand for the video and audio sample descriptions in stsd.
var rules = map[string]map[string]rule{
	"": {
		"ftyp": {do: brands}, "styp": {do: brands}, "mdat": keepBytes(math.MaxInt64), "moov": {do: enter},
		"moof": {do: enter}, "sidx": {do: fragmentIndex},
	},
	"moov": {"mvhd": {do: header}, "trak": {do: track}, "mvex": {do: enter}},
	"trak": {
		"tkhd": {do: header}, "edts": {do: enter}, "mdia": {do: enter}, "tref": {do: references}, "tapt": {do: enter},
	},
	"edts": {"elst": {do: listed, size: 8, entry: 12, more: 8}},
	"tapt": {"clef": keepBytes(12), "prof": keepBytes(12), "enof": keepBytes(12)},
	"mdia": {"mdhd": {do: header}, "hdlr": {do: handler}, "minf": {do: enter}},
	"minf": {
		"vmhd": keepBytes(12), "smhd": keepBytes(8), "hmhd": keepBytes(20), "nmhd": keepBytes(4), "sthd": keepBytes(4),
		"gmhd": {do: enter}, "hdlr": {do: handler}, "dinf": {do: enter}, "stbl": {do: enter},
	},
	"gmhd": {"gmin": keepBytes(16)},
	"dinf": {"dref": {do: dataEntries}},
	"stbl": {
		"stsd": {do: descriptions}, "stts": keepList(8, 8), "ctts": keepList(8, 8),
		"cslg": {do: sized, size: 24, more: 20}, "stss": keepList(8, 4), "stps": keepList(8, 4),
		"stsc": keepList(8, 12),
		"stsz": {do: sampleTable}, "stz2": {do: sampleTable}, "stco": keepList(8, 4), "co64": keepList(8, 8),
		"sbgp": {do: groups}, "sgpd": {do: groupDescriptions},
	},
	"picture": {
		"avcC": {do: parameterSets}, "hvcC": {do: parameterArrays}, "lhvC": {do: parameterArrays},
		"esds": {do: decoder},
		"av1C": configuration, "vvcC": configuration, "vpcC": keepBytes(12), "d263": keepBytes(7),
		"dvcC": keepBytes(24), "dvvC": keepBytes(24), "dvwC": keepBytes(24), "hvcE": {do: parameterArrays},
		"pasp": keepBytes(8), "clap": keepBytes(32), "fiel": keepBytes(2), "gama": keepBytes(4), "btrt": keepBytes(12),
		"colr": {do: color}, "mdcv": keepBytes(24), "clli": keepBytes(4), "SmDm": keepBytes(28), "CoLL": keepBytes(8),
		"amve": keepBytes(8), "st3d": keepBytes(5), "sv3d": {do: enter}, "vexu": {do: enter}, "hfov": keepBytes(4),
	},
	"sv3d": {"svhd": keepBytes(4), "proj": {do: enter}},
	"proj": {"prhd": keepBytes(16), "equi": keepBytes(20), "cbmp": keepBytes(12), "prji": keepBytes(8)},
	"vexu": {"eyes": {do: enter}, "proj": {do: enter}, "pack": {do: enter}},
	"eyes": {"stri": keepBytes(5), "hero": keepBytes(5), "cams": {do: enter}, "cmfy": {do: enter}},
	"cams": {"blin": keepBytes(8)},
	"cmfy": {"dadj": keepBytes(8)},
	"pack": {"pkin": keepBytes(8)},
	"sound": {
		"esds": {do: decoder}, "wave": {do: enter}, "chan": keepList(16, 20), "dOps": configuration,
		"dac3": keepBytes(3),
		"dec3": configuration, "dac4": configuration, "alac": keepBytes(28), "dfLa": {do: flac}, "damr": {do: amrDecoder},
		"btrt": keepBytes(12), "pcmC": keepBytes(6), "srat": keepBytes(8), "chnl": configuration,
	},
	"wave": {
		"frma": keepBytes(4), "mp4a": keepBytes(4), "enda": keepBytes(2), "esds": {do: decoder}, "alac": keepBytes(28),
		"\x00\x00\x00\x00": keepBytes(0), // terminator of the list
	},
	"mvex": {"mehd": {do: sized, size: 8, more: 4}, "trex": {do: trackExtends}},
	"moof": {"mfhd": keepBytes(8), "traf": {do: fragment}},
	"traf": {
		"tfhd": {do: fragmentHead}, "tfdt": {do: sized, size: 8, more: 4}, "trun": {do: fragmentData},
		"sbgp": {do: groups}, "sgpd": {do: groupDescriptions},
	},
}

// configuration keeps a decoder's configuration, up to a size that is sufficient in practice.
var configuration = keepBytes(1024)

// clean cleans a box by the rule for its kind in the container.
func (v *video) clean(container string, b mediainfo.Box) error {
	r := rules[container][b.Kind]
	switch r.do {
	case enter:
		return v.walk(b)
	case sized:
		return v.keepSized(b, r)
	case listed:
		return v.keepListed(b, r)
	case header:
		return v.header(b)
	case handler:
		return v.handlerName(b)
	case track:
		return v.track(b)
	case references:
		return v.references(b)
	case trackExtends, fragment, fragmentHead, fragmentData, fragmentIndex:
		return v.cleanFragmentBox(r.do, b)
	case blank:
		return v.blank(b)
	default:
		return v.cleanOther(r.do, b)
	}
}

func (v *video) cleanFragmentBox(do action, b mediainfo.Box) error {
	switch do {
	case trackExtends:
		return v.defaults(b)
	case fragment:
		return v.fragment(b)
	case fragmentHead:
		return v.fragmentHeadFields(b)
	case fragmentData:
		return v.fragmentDataFields(b)
	default: // fragmentIndex
		return v.fragmentIndexFields(b)
	}
}

func (v *video) cleanOther(do action, b mediainfo.Box) error {
	switch do {
	case brands:
		return v.brands(b)
	case dataEntries:
		return v.dataEntries(b)
	case descriptions:
		return v.descriptions(b)
	case sampleTable:
		return v.sampleTable(b)
	case groups:
		return v.groups(b)
	case groupDescriptions:
		return v.groupDescriptions(b)
	case color:
		return v.color(b)
	case decoder:
		return v.decoder(b)
	case parameterSets:
		return v.parameterSets(b)
	case parameterArrays:
		return v.parameterArrays(b)
	case flac:
		return v.flac(b)
	case amrDecoder: // zero the vendor and the decoder's version, and keep the rest of the 9 bytes
		return errors.Join(v.zero(v.source, b.Content, min(b.Content+5, b.End)), v.keepFirst(b, 9))
	default:
		return v.blank(b)
	}
}
