// Package disk keeps a reserve of free space on the volumes that files and the database are written to.
package disk

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrLow means that a volume has less free space than its reserve.
var ErrLow = errors.New("the disk is almost full")

// Volume is a folder on a volume that has a reserve.
type Volume struct {
	Name string // what the folder contains, for messages and metrics
	Dir  string
}

// AutoReserve is a reserve of 1 GiB or 5% of the volume, whichever is smaller.
const AutoReserve = -1

const (
	autoBytes = 1 << 30
	autoPart  = 20 // fraction of the volume: 1/20
)

// Reserve is space to keep free on volumes. A nil Reserve reserves nothing.
type Reserve struct {
	bytes   int64 // AutoReserve, or the number of bytes; 0 for none
	volumes []Volume
}

// NewReserve returns a reserve on each volume. bytes is the size of the reserve, or AutoReserve.
func NewReserve(bytes int64, volumes ...Volume) *Reserve {
	return &Reserve{bytes: bytes, volumes: volumes}
}

// Check returns an error that wraps ErrLow if writing the needed bytes would leave less free space than the reserve on
// a volume. It ignores volumes whose free space cannot be read.
func (r *Reserve) Check(needed int64) error {
	if r == nil || r.bytes == 0 {
		return nil
	}
	for _, v := range r.volumes {
		freeBytes, total, err := usage(v.Dir)
		if err != nil {
			continue
		}
		if reserve := r.size(total); freeBytes-needed < reserve {
			return fmt.Errorf("%w: the volume of the %s has %d bytes free, but %d are reserved (--disk-reserve)", ErrLow,
				v.Name, freeBytes, reserve)
		}
	}
	return nil
}

// size returns the reserve in bytes for a volume of total bytes.
func (r *Reserve) size(total int64) int64 {
	if r.bytes == AutoReserve {
		return min(autoBytes, total/autoPart)
	}
	return r.bytes
}

// Volumes returns the volumes.
func (r *Reserve) Volumes() []Volume { return r.volumes }

// Free returns the number of bytes that this process can still write to the volume. On systems that do not report free
// space, the error is errors.ErrUnsupported.
func (v Volume) Free() (int64, error) {
	free, _, err := usage(v.Dir)
	return free, err
}

// ErrSize means that a size is invalid.
var ErrSize = errors.New("a size must be auto, 0, or a whole number with KiB, MiB, GiB or TiB, such as 2GiB")

// ParseSize parses a size such as 512MiB and returns it in bytes. It returns AutoReserve for "auto".
func ParseSize(text string) (int64, error) {
	if text == "auto" {
		return AutoReserve, nil
	}
	number, unit := text, int64(1)
	for n, name := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if rest, ok := strings.CutSuffix(text, name); ok {
			number, unit = strings.TrimSpace(rest), int64(1)<<(10*(n+1))
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > (1<<62)/unit || unit == 1 && n != 0 {
		return 0, ErrSize
	}
	return n * unit, nil
}
