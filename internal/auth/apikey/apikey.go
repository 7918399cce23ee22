// Package apikey is the form of the secrets that pressroom hands out: a prefix, 32 random base62 characters
// and 6 of their CRC-32, so that a typo, and a key that leaked into a text, can be told without a database.
// Only the SHA-256 of a secret is ever stored.
package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"strings"
)

// The prefixes.
const (
	APIKey  = "prk_" // a team's API key
	Upload  = "pru_" // a one-time upload secret
	Access  = "pra_" // an assistant's access token
	Refresh = "prr_" // by which an assistant gets the next access token
	Code    = "prc_" // by which an assistant gets its first tokens
)

// prefixes are those of secrets that are worth something for longer than a moment, and so are looked for in texts.
var prefixes = []string{APIKey, Upload, Access, Refresh}

const (
	alphabet  = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	bodyLen   = 32
	checkLen  = 6
	prefixLen = 4
	length    = prefixLen + bodyLen + checkLen
)

// New makes a secret from the system's random source.
func New(prefix string) string {
	body := make([]byte, 0, bodyLen)
	for len(body) < bodyLen {
		var buf [bodyLen]byte
		rand.Read(buf[:]) // never fails, crypto/rand
		for _, b := range buf {
			// 248 is the largest multiple of 62 in a byte: beyond it some letters would come more often.
			if b < 248 && len(body) < bodyLen {
				body = append(body, alphabet[b%62])
			}
		}
	}
	return prefix + string(body) + check(string(body))
}

// Hash is what is stored of a secret.
func Hash(text string) [sha256.Size]byte { return sha256.Sum256([]byte(text)) }

// WellFormed tells whether a text is a secret of this prefix with the right check characters.
func WellFormed(prefix, text string) bool {
	if len(text) != length || !strings.HasPrefix(text, prefix) {
		return false
	}
	body := text[prefixLen : prefixLen+bodyLen]
	return text[prefixLen+bodyLen:] == check(body) && strings.Trim(body, alphabet) == ""
}

func check(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	out := make([]byte, checkLen)
	for i := checkLen - 1; i >= 0; i-- {
		out[i] = alphabet[sum%62]
		sum /= 62
	}
	return string(out)
}
