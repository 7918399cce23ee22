package approval

import (
	"encoding/binary"
	"time"
)

// LegacyToken returns a token in the format of earlier releases.
func (s *Service) LegacyToken(post string, round int64, expires time.Time, generation int64) string {
	version, numbers := byte(1), []int64{round, expires.Unix()}
	if generation > 0 {
		version, numbers = 2, append(numbers, generation)
	}
	body := []byte{version}
	for _, n := range numbers {
		body = binary.BigEndian.AppendUint64(body, uint64(n))
	}
	body = append(body, post...)
	return tokenEncoding.EncodeToString(append(body, s.links.Sign(body)...))
}
