package stripmeta

import "encoding/binary"

// jpegTables tracks which tables of a JPEG its scans use. Unused tables may contain any data, because decoders skip
// them.
type jpegTables struct {
	defined []jpegTable
	current map[tableID]int // tables that the next scan would use, as indexes of defined
	quants  []byte          // number of the quantization table of each of the frame's components
}

// tableID identifies a table by its marker, DQT or DHT, and its number. For DHT, the upper four bits of number are the
// table's class.
type tableID struct{ marker, number byte }

type jpegTable struct {
	span         // range of the table
	segment span // range of its segment, starting with the length field
	used    bool
}

// recordTables records the tables of a DQT or DHT segment whose length field is at body (ITU-T T.81, B.2.4).
func (j *jpegScan) recordTables(marker byte, body, end int64) error {
	for at := body + 2; at < end; {
		p, err := j.peek(at, int(min(17, end-at)))
		if err != nil {
			return err
		}
		id, size := tableID{marker, p[0] & 15}, 1+64*(1+int64(p[0]>>4))
		if marker == dht {
			if len(p) < 17 {
				return errBrokenStructure
			}
			id.number, size = p[0], 17
			for _, codes := range p[1:] {
				size += int64(codes)
			}
		}
		if at+size > end {
			return errBrokenStructure
		}
		if len(j.tables.defined) >= maxEdits/4 {
			return errTooManyParts
		}
		if j.tables.current == nil {
			j.tables.current = map[tableID]int{}
		}
		j.tables.current[id] = len(j.tables.defined)
		j.tables.defined = append(j.tables.defined, jpegTable{segment: span{body, end}, span: span{at, at + size}})
		at += size
	}
	return nil
}

// frame records the quantization tables that a frame header selects (T.81, B.2.2).
func (j *jpegScan) frame(body, end int64) error {
	p, err := j.peek(body, int(min(8+3*255, end-body)))
	if err != nil {
		return err
	}
	if len(p) < 8 || len(p) != 8+3*int(p[7]) {
		return errBrokenStructure
	}
	for p = p[8:]; len(p) > 0; p = p[3:] {
		j.tables.quants = append(j.tables.quants, p[2])
	}
	if len(j.tables.quants) > 255 {
		return errBrokenStructure
	}
	return nil
}

// scan marks the tables that a scan uses (T.81, B.2.3).
func (j *jpegScan) scan(body, end int64) error {
	p, err := j.peek(body, int(min(6+2*255, end-body)))
	if err != nil {
		return err
	}
	if len(p) < 6 || len(p) != 6+2*int(p[2]) {
		return errBrokenStructure
	}
	for _, number := range j.tables.quants {
		j.use(tableID{dqt, number})
	}
	for p = p[3 : len(p)-3]; len(p) > 0; p = p[2:] {
		j.use(tableID{dht, p[1] >> 4})
		j.use(tableID{dht, 1<<4 | p[1]&15})
	}
	return nil
}

func (j *jpegScan) use(id tableID) {
	if n, there := j.tables.current[id]; there {
		j.tables.defined[n].used = true
	}
}

// dropTables removes the tables that no scan uses.
func (j *jpegScan) dropTables() error {
	for remaining := j.tables.defined; len(remaining) > 0; {
		segment, n, unused := remaining[0].segment, 0, int64(0)
		for n < len(remaining) && remaining[n].segment == segment {
			if !remaining[n].used {
				unused += remaining[n].end - remaining[n].at
			}
			n++
		}
		if err := j.dropFrom(segment, remaining[:n], unused); err != nil {
			return err
		}
		remaining = remaining[n:]
	}
	return nil
}

// dropFrom removes the unused tables of a segment. unused is their total size in bytes.
func (j *jpegScan) dropFrom(segment span, tables []jpegTable, unused int64) error {
	length := segment.end - segment.at - unused
	switch {
	case unused == 0:
		return nil
	case length == 2:
		return j.remove(segment.at-2, segment.end)
	}
	field := binary.BigEndian.AppendUint16(nil, uint16(length)) //nolint:gosec // shorter than before
	if err := j.replace(segment.at, segment.at+2, field); err != nil {
		return err
	}
	for _, t := range tables {
		if !t.used {
			if err := j.remove(t.at, t.end); err != nil {
				return err
			}
		}
	}
	return nil
}
