package stripmeta_test

import (
	"encoding/binary"
	"iter"
	"maps"
	"slices"
)

// readSamples returns the chunks of samples of the tracks that are shown or heard.
func readSamples(data []byte) []string {
	var out []string
	for trak := range within(data, "moov", "trak") {
		handler := ""
		for hdlr := range within(trak, "mdia", "hdlr") {
			handler = string(hdlr[8:12])
		}
		if !slices.Contains([]string{"vide", "soun", "auxv", "clcp"}, handler) {
			continue
		}
		tables := map[string][]byte{}
		for stbl := range within(trak, "mdia", "minf", "stbl") {
			maps.Insert(tables, eachBox(stbl))
		}
		offsets, runs, sizes := words(tables["stco"]), words(tables["stsc"]), words(tables["stsz"])
		if len(offsets) > 0 { // the first field is the number of offsets
			offsets, runs = offsets[:2+offsets[1]:2+offsets[1]], runs[:2+3*runs[1]:2+3*runs[1]]
		}
		sample := 0
		for n := 1; n+1 < len(offsets); n++ {
			count, length := 0, 0
			for i := 2; i+2 < len(runs); i += 3 {
				if int(runs[i]) <= n {
					count = int(runs[i+1])
				}
			}
			count = min(count, int(sizes[2])-sample)
			for i := range count {
				if length += int(sizes[1]); sizes[1] == 0 {
					length += int(sizes[3+sample+i])
				}
			}
			sample += count
			out = append(out, string(data[offsets[n+1]:int(offsets[n+1])+length]))
		}
	}
	return out
}

func words(p []byte) []uint32 {
	var out []uint32
	for ; len(p) >= 4; p = p[4:] {
		out = append(out, binary.BigEndian.Uint32(p))
	}
	return out
}

// eachBox returns boxes with their contents.
func eachBox(p []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for len(p) >= 8 {
			n := int(binary.BigEndian.Uint32(p))
			if n < 8 || n > len(p) || !yield(string(p[4:8]), p[8:n]) {
				return
			}
			p = p[n:]
		}
	}
}

// within returns the contents of the boxes at a path.
func within(p []byte, path ...string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for kind, content := range eachBox(p) {
			if kind != path[0] {
				continue
			}
			if len(path) == 1 {
				if !yield(content) {
					return
				}
				continue
			}
			within(content, path[1:]...)(yield)
		}
	}
}
