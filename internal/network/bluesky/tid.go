package bluesky

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"regexp"
	"time"
)

const (
	tidDigits       = "234567abcdefghijklmnopqrstuvwxyz"
	tidLength       = 13
	clockIDBits     = 10
	microsPerSecond = 1_000_000
	maxTIDMicros    = 1 << 53
)

// validTID matches the record keys that servers accept for posts. The first digit leaves the top bit 0. Source:
// https://atproto.com/specs/tid.
var validTID = regexp.MustCompile(`^[234567abcdefghij][234567abcdefghijklmnopqrstuvwxyz]{12}$`)

// recordKey returns a post's record key. The key is a TID made from at, in whole seconds, and 30 bits of a hash of
// seed. Keys sort by time. Two posts of one account in the same second have the same key with a probability of 1 in
// 10^9. The server then rejects the second post.
func recordKey(seed string, at time.Time) (string, error) {
	second := at.Unix()
	if seed == "" {
		return "", errors.New("a record key needs a seed")
	}
	if second <= 0 || second >= maxTIDMicros/microsPerSecond {
		return "", errors.New("a record key needs a time between 1970 and 2255")
	}
	sum := sha256.Sum256([]byte(seed))
	micros := uint64(second)*microsPerSecond + binary.BigEndian.Uint64(sum[:8])%microsPerSecond
	clockID := uint64(binary.BigEndian.Uint16(sum[8:10])) % (1 << clockIDBits)
	return encodeTID(micros<<clockIDBits | clockID), nil
}

func encodeTID(value uint64) string {
	digits := make([]byte, tidLength)
	for i := tidLength - 1; i >= 0; i-- {
		digits[i] = tidDigits[value%uint64(len(tidDigits))]
		value /= uint64(len(tidDigits))
	}
	return string(digits)
}
