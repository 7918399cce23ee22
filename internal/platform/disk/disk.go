// Package disk keeps a reserve of free space on the volumes that files and the database are written to.
package disk

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrLow is wrapped by errors about a volume that has less free space than is to stay free.
var ErrLow = errors.New("the disk is almost full")

// Volume is a folder whose volume is watched.
type Volume struct {
	Name   string // what lies there, for people and for metrics
	Folder string
}

// Auto is a reserve of 1 GiB or 5 % of the volume, whichever is less.
const Auto = -1

const (
	autoBytes = 1 << 30
	autoPart  = 20 // one in so many bytes of the volume
)

// Reserve is space that stays free on volumes. A nil Reserve keeps none.
type Reserve struct {
	bytes   int64 // Auto, or how many bytes stay free; 0 keeps none
	volumes []Volume
}

// NewReserve returns a reserve of that many bytes, or Auto, on each of the volumes.
func NewReserve(bytes int64, volumes ...Volume) *Reserve {
	return &Reserve{bytes: bytes, volumes: volumes}
}

// Check returns an ErrLow if a volume would keep less than the reserve after that many bytes more were written to it. A
// volume whose space cannot be read passes: writing to it tells what is wrong.
func (r *Reserve) Check(more int64) error {
	if r == nil || r.bytes == 0 {
		return nil
	}
	for _, v := range r.volumes {
		free, total, err := usage(v.Folder)
		if err != nil {
			continue
		}
		if keep := r.keeps(total); free-more < keep {
			return fmt.Errorf("%w: the volume of the %s has %d bytes free, of which %d stay free (--disk-reserve)", ErrLow, v.Name, free, keep)
		}
	}
	return nil
}

func (r *Reserve) keeps(total int64) int64 {
	if r.bytes == Auto {
		return min(autoBytes, total/autoPart)
	}
	return r.bytes
}

// Volumes returns what is watched.
func (r *Reserve) Volumes() []Volume { return r.volumes }

// Free returns how many bytes this process may still write to a volume. The error is errors.ErrUnsupported on systems where
// that cannot be read.
func (v Volume) Free() (int64, error) {
	free, _, err := usage(v.Folder)
	return free, err
}

// ErrSize is returned for texts that are no reserve.
var ErrSize = errors.New("a size is auto, 0, or a whole number with KiB, MiB, GiB or TiB, such as 2GiB")

// ParseSize reads a size such as 512MiB in bytes; "auto" is Auto.
func ParseSize(text string) (int64, error) {
	if text == "auto" {
		return Auto, nil
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
