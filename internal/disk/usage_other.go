//go:build !linux && !darwin && !freebsd

package disk

import "errors"

func usage(string) (free, total int64, err error) { return 0, 0, errors.ErrUnsupported }
