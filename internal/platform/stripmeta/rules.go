package stripmeta

import (
	"errors"
	"math"

	"pressroom.example/pressroom/internal/platform/mediainfo"
)

// action is a way to clean a box.
type action int

const (
	actionBlank             action = iota // replace it with a free box of the same size, full of zeros
	actionEnter                           // clean the boxes in it by the rules for this container
	actionSized                           // keep the first bytes
	actionListed                          // keep a header that ends with a 4-byte entry count, and that many entries
	actionBrands                          // ftyp, styp
	actionHeader                          // mvhd, tkhd, mdhd
	actionHandler                         // hdlr
	actionDataEntries                     // dref
	actionTrack                           // trak
	actionReferences                      // tref
	actionDescriptions                    // stsd
	actionSampleTable                     // stsz, stz2
	actionGroups                          // sbgp
	actionGroupDescriptions               // sgpd
	actionTrackExtends                    // trex
	actionFragment                        // traf
	actionFragmentHead                    // tfhd
	actionFragmentData                    // trun
	actionFragmentIndex                   // sidx
	actionColor                           // colr
	actionDecoder                         // esds
	actionParameterSets                   // avcC
	actionParameterArrays                 // hvcC, lhvC
	actionFlac                            // dfLa
	actionAmrDecoder                      // damr
)

// rule defines how to clean a box. Bytes that are not kept become zeros.
type rule struct {
	do         action
	size       int64 // number of bytes of the content to keep; for actionListed, the size of the header
	entry      int64 // size of an entry in bytes
	extraBytes int64 // additional bytes in version 1: per box for actionSized, per entry for actionListed
}

// keepBytes returns a rule that keeps the first size bytes of a box.
func keepBytes(size int64) rule { return rule{do: actionSized, size: size} }

// keepList returns a rule that keeps a table of entries. Its header has size bytes and ends with the number of entries,
// which has four bytes.
func keepList(size, entry int64) rule { return rule{do: actionListed, size: size, entry: entry} }

// rules maps each container to the rules for the boxes in it (ISO/IEC 14496-12, QuickTime File Format). A box that is
// not listed for its container is blanked. "picture" and "sound" are not box types: they stand for the video and audio
// sample descriptions in stsd.
var rules = map[string]map[string]rule{
	"": {
		"ftyp": {do: actionBrands}, "styp": {do: actionBrands}, "mdat": keepBytes(math.MaxInt64), "moov": {do: actionEnter},
		"moof": {do: actionEnter}, "sidx": {do: actionFragmentIndex},
	},
	"moov": {"mvhd": {do: actionHeader}, "trak": {do: actionTrack}, "mvex": {do: actionEnter}},
	"trak": {
		"tkhd": {do: actionHeader}, "edts": {do: actionEnter}, "mdia": {do: actionEnter},
		"tref": {do: actionReferences}, "tapt": {do: actionEnter},
	},
	"edts": {"elst": {do: actionListed, size: 8, entry: 12, extraBytes: 8}},
	"tapt": {"clef": keepBytes(12), "prof": keepBytes(12), "enof": keepBytes(12)},
	"mdia": {"mdhd": {do: actionHeader}, "hdlr": {do: actionHandler}, "minf": {do: actionEnter}},
	"minf": {
		"vmhd": keepBytes(12), "smhd": keepBytes(8), "hmhd": keepBytes(20), "nmhd": keepBytes(4), "sthd": keepBytes(4),
		"gmhd": {do: actionEnter}, "hdlr": {do: actionHandler}, "dinf": {do: actionEnter}, "stbl": {do: actionEnter},
	},
	"gmhd": {"gmin": keepBytes(16)},
	"dinf": {"dref": {do: actionDataEntries}},
	"stbl": {
		"stsd": {do: actionDescriptions}, "stts": keepList(8, 8), "ctts": keepList(8, 8),
		"cslg": {do: actionSized, size: 24, extraBytes: 20}, "stss": keepList(8, 4), "stps": keepList(8, 4),
		"stsc": keepList(8, 12),
		"stsz": {do: actionSampleTable}, "stz2": {do: actionSampleTable}, "stco": keepList(8, 4), "co64": keepList(8, 8),
		"sbgp": {do: actionGroups}, "sgpd": {do: actionGroupDescriptions},
	},
	"picture": {
		"avcC": {do: actionParameterSets}, "hvcC": {do: actionParameterArrays}, "lhvC": {do: actionParameterArrays},
		"esds": {do: actionDecoder},
		"av1C": configuration, "vvcC": configuration, "vpcC": keepBytes(12), "d263": keepBytes(7),
		"dvcC": keepBytes(24), "dvvC": keepBytes(24), "dvwC": keepBytes(24), "hvcE": {do: actionParameterArrays},
		"pasp": keepBytes(8), "clap": keepBytes(32), "fiel": keepBytes(2), "gama": keepBytes(4), "btrt": keepBytes(12),
		"colr": {do: actionColor}, "mdcv": keepBytes(24), "clli": keepBytes(4), "SmDm": keepBytes(28), "CoLL": keepBytes(8),
		"amve": keepBytes(8), "st3d": keepBytes(5), "sv3d": {do: actionEnter}, "vexu": {do: actionEnter}, "hfov": keepBytes(4),
	},
	"sv3d": {"svhd": keepBytes(4), "proj": {do: actionEnter}},
	"proj": {"prhd": keepBytes(16), "equi": keepBytes(20), "cbmp": keepBytes(12), "prji": keepBytes(8)},
	"vexu": {"eyes": {do: actionEnter}, "proj": {do: actionEnter}, "pack": {do: actionEnter}},
	"eyes": {"stri": keepBytes(5), "hero": keepBytes(5), "cams": {do: actionEnter}, "cmfy": {do: actionEnter}},
	"cams": {"blin": keepBytes(8)},
	"cmfy": {"dadj": keepBytes(8)},
	"pack": {"pkin": keepBytes(8)},
	"sound": {
		"esds": {do: actionDecoder}, "wave": {do: actionEnter}, "chan": keepList(16, 20), "dOps": configuration,
		"dac3": keepBytes(3),
		"dec3": configuration, "dac4": configuration, "alac": keepBytes(28), "dfLa": {do: actionFlac},
		"damr": {do: actionAmrDecoder},
		"btrt": keepBytes(12), "pcmC": keepBytes(6), "srat": keepBytes(8), "chnl": configuration,
	},
	"wave": {
		"frma": keepBytes(4), "mp4a": keepBytes(4), "enda": keepBytes(2), "esds": {do: actionDecoder}, "alac": keepBytes(28),
		"\x00\x00\x00\x00": keepBytes(0), // terminator of the list
	},
	"mvex": {"mehd": {do: actionSized, size: 8, extraBytes: 4}, "trex": {do: actionTrackExtends}},
	"moof": {"mfhd": keepBytes(8), "traf": {do: actionFragment}},
	"traf": {
		"tfhd": {do: actionFragmentHead}, "tfdt": {do: actionSized, size: 8, extraBytes: 4}, "trun": {do: actionFragmentData},
		"sbgp": {do: actionGroups}, "sgpd": {do: actionGroupDescriptions},
	},
}

// configuration is the rule for a decoder's configuration. It keeps a size that is sufficient in practice.
var configuration = keepBytes(1024)

// clean cleans a box by the rule for its type in the container.
func (v *video) clean(container string, b mediainfo.Box) error {
	r := rules[container][b.Kind]
	switch r.do {
	case actionEnter:
		return v.walk(b)
	case actionSized:
		return v.keepSized(b, r)
	case actionListed:
		return v.keepListed(b, r)
	case actionHeader:
		return v.cleanHeader(b)
	case actionHandler:
		return v.handlerName(b)
	case actionTrack:
		return v.cleanTrack(b)
	case actionReferences:
		return v.cleanReferences(b)
	case actionTrackExtends, actionFragment, actionFragmentHead, actionFragmentData, actionFragmentIndex:
		return v.cleanFragmentBox(r.do, b)
	case actionBlank:
		return v.blank(b)
	default:
		return v.cleanOther(r.do, b)
	}
}

func (v *video) cleanFragmentBox(do action, b mediainfo.Box) error {
	switch do {
	case actionTrackExtends:
		return v.defaults(b)
	case actionFragment:
		return v.fragment(b)
	case actionFragmentHead:
		return v.fragmentHeadFields(b)
	case actionFragmentData:
		return v.fragmentDataFields(b)
	default: // actionFragmentIndex
		return v.fragmentIndexFields(b)
	}
}

func (v *video) cleanOther(do action, b mediainfo.Box) error {
	switch do {
	case actionBrands:
		return v.cleanBrands(b)
	case actionDataEntries:
		return v.cleanDataEntries(b)
	case actionDescriptions:
		return v.descriptions(b)
	case actionSampleTable:
		return v.cleanSampleTable(b)
	case actionGroups:
		return v.cleanGroups(b)
	case actionGroupDescriptions:
		return v.cleanGroupDescriptions(b)
	case actionColor:
		return v.cleanColor(b)
	case actionDecoder:
		return v.decoder(b)
	case actionParameterSets:
		return v.cleanParameterSets(b)
	case actionParameterArrays:
		return v.cleanParameterArrays(b)
	case actionFlac:
		return v.cleanFLAC(b)
	case actionAmrDecoder: // zero the vendor and the decoder's version, and keep the rest of the 9 bytes
		return errors.Join(v.zero(v.source, b.Content, min(b.Content+5, b.End)), v.keepFirst(b, 9))
	default:
		return v.blank(b)
	}
}
