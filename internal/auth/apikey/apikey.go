// Package apikey defines the format of the secrets that pressroom issues: a prefix, 32 random base62 characters, and a
// checksum of 6 characters (CRC-32). The checksum makes it possible to recognize typos and leaked keys without a
// database. Only the SHA-256 hash of a secret is stored.
package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"strings"
)

// The prefixes of the different kinds of secrets.
const (
	APIKey  = "prk_" // a team's API key
	Upload  = "pru_" // a one-time upload secret
	Access  = "pra_" // an assistant's access token (OAuth)
	Refresh = "prr_" // an assistant's refresh token
	Code    = "prc_" // an assistant's authorization code
)

// prefixes lists the prefixes of the secrets that ContainsSecret searches for. It does not include authorization codes,
// because they expire quickly.
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
		rand.Read(buf[:]) // crypto/rand.Read never fails
		for _, b := range buf {
			// 248 is the largest multiple of 62 that fits in a byte. Bytes from 248 on are skipped, because they would
			// make some characters more likely.
			if b < 248 && len(body) < bodyLen {
				body = append(body, alphabet[b%62])
			}
		}
	}
	return prefix + string(body) + checksum(string(body))
}

// Hash returns the hash that is stored instead of a secret.
func Hash(text string) [sha256.Size]byte { return sha256.Sum256([]byte(text)) }

// IsWellFormed reports whether text has the format of a secret with the given prefix, including a correct checksum.
func IsWellFormed(prefix, text string) bool {
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
