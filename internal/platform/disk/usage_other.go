//go:build !linux && !darwin && !freebsd

package disk

import "errors"

func usage(string) (int64, int64, error) { return 0, 0, errors.ErrUnsupported }
