// Package apikey defines the format of the secrets that pressroom issues: a prefix, 32 random base62 characters, and
// 6 characters for their CRC-32. With the checksum, typos and leaked keys are recognized without a database. Only
// the SHA-256 of a secret is stored.
package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"strings"
)

// Prefixes of the kinds of secrets.
const (
	APIKey  = "prk_" // a team's API key
	Upload  = "pru_" // a one-time upload secret
	Access  = "pra_" // an assistant's access token (OAuth)
	Refresh = "prr_" // an assistant's refresh token
	Code    = "prc_" // an assistant's authorization code
)

// prefixes lists the kinds of secrets that ContainsSecret searches for. Authorization codes are not included, because
// they expire quickly.
var prefixes = []string{APIKey, Upload, Access, Refresh}

const (
	alphabet    = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	bodyLen     = 32
	checksumLen = 6
	prefixLen   = 4
	length      = prefixLen + bodyLen + checksumLen
)

// New returns a new random secret.
func New(prefix string) string {
	body := make([]byte, 0, bodyLen)
	for len(body) < bodyLen {
		var buf [bodyLen]byte
		rand.Read(buf[:]) // never fails, crypto/rand
		for _, b := range buf {
			// 248 is the largest multiple of 62 in a byte. Larger values are skipped, because they would make some
			// characters more likely.
			if b < 248 && len(body) < bodyLen {
				body = append(body, alphabet[b%62])
			}
		}
	}
	return prefix + string(body) + checksum(string(body))
}

// Hash returns the hash that is stored instead of a secret.
func Hash(text string) [sha256.Size]byte { return sha256.Sum256([]byte(text)) }

// WellFormed reports whether text has the format of a secret with this prefix, including a correct checksum.
func WellFormed(prefix, text string) bool {
	if len(text) != length || !strings.HasPrefix(text, prefix) {
		return false
	}
	body := text[prefixLen : prefixLen+bodyLen]
	return text[prefixLen+bodyLen:] == checksum(body) && strings.Trim(body, alphabet) == ""
}

func checksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	out := make([]byte, checksumLen)
	for i := checksumLen - 1; i >= 0; i-- {
		out[i] = alphabet[sum%62]
		sum /= 62
	}
	return string(out)
}
