// Package tokencrypt encrypts ("seals") secrets in the database, such as social network tokens. It uses Tink's
// authenticated encryption. The associated data identifies the record that a secret belongs to, so a secret that was
// moved to another row cannot be decrypted.
package tokencrypt

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// Sealer encrypts with the first of its keys and decrypts with any of them, so that the key can be changed while nodes
// are running.
type Sealer struct {
	keys []sealingKey
}

type sealingKey struct {
	aead tink.AEAD
	mark string // prefix of texts that are sealed with the key
	root []byte // key material that other keys are derived from
}

// NewKey creates a sealing key: a Tink keyset with one AES-256-GCM key, encoded in base64.
func NewKey() (string, error) {
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return "", fmt.Errorf("creating a sealing key: %w", err)
	}
	var buf bytes.Buffer
	if err := insecurecleartextkeyset.Write(handle, keyset.NewBinaryWriter(&buf)); err != nil {
		return "", fmt.Errorf("encoding a sealing key: %w", err)
	}
	return base64.StdEncoding.EncodeToString(buf.Bytes()), nil
}

// ErrInvalidKey means that a text is not a sealing key.
var ErrInvalidKey = errors.New("not a sealing key; create one with: pressroom admin sealing-key")

// New returns a Sealer for keys that NewKey created, separated by commas or white space. The first key seals texts. The
// other keys only open texts that they sealed earlier.
func New(keys string) (*Sealer, error) {
	s := &Sealer{}
	for _, key := range strings.FieldsFunc(keys, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		k, err := parseKey(key)
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, k)
	}
	if len(s.keys) == 0 {
		return nil, ErrInvalidKey
	}
	return s, nil
}

func parseKey(key string) (sealingKey, error) {
	raw, err := base64.StdEncoding.DecodeString(key)
	if err != nil || len(raw) == 0 {
		return sealingKey{}, ErrInvalidKey
	}
	handle, err := insecurecleartextkeyset.Read(keyset.NewBinaryReader(bytes.NewReader(raw)))
	if err != nil {
		return sealingKey{}, ErrInvalidKey
	}
	primitive, err := aead.New(handle)
	if err != nil {
		return sealingKey{}, ErrInvalidKey
	}
	primary, err := handle.Primary()
	if err != nil {
		return sealingKey{}, ErrInvalidKey
	}
	// Tink's wire format: a version byte, then the key's ID in four bytes.
	mark := binary.BigEndian.AppendUint32([]byte{tinkPrefix}, primary.KeyID())
	return sealingKey{primitive, string(mark), raw}, nil
}

const tinkPrefix = 1

// Mark returns the prefix of texts that are sealed with the first key.
func (s *Sealer) Mark() []byte { return []byte(s.keys[0].mark) }

// Knows reports whether texts with the prefix mark were sealed with one of the keys.
func (s *Sealer) Knows(mark []byte) bool {
	return slices.ContainsFunc(s.keys, func(k sealingKey) bool { return k.mark == string(mark) })
}

// Signer signs links for one purpose. It derives a signing key from each sealing key. It signs with the first signing
// key and accepts signatures by all of them, so that links remain valid after a key rotation.
type Signer struct{ keys [][]byte }

// Signer returns a Signer for a purpose. It derives the signing keys from the sealing keys with HKDF (RFC 5869) and
// SHA-256.
func (s *Sealer) Signer(purpose string) Signer {
	var out Signer
	for _, k := range s.keys {
		key, err := hkdf.Key(sha256.New, k.root, nil, "pressroom "+purpose, sha256.Size)
		if err != nil {
			panic(err) // unreachable: HKDF rejects only longer keys
		}
		out.keys = append(out.keys, key)
	}
	return out
}

// Sign returns a signature of body: its HMAC-SHA-256, which has 32 bytes.
func (s Signer) Sign(body []byte) []byte { return computeMAC(s.keys[0], body) }

// Verify reports whether signature is a signature of body. It also accepts the first 16 or more bytes of a signature.
func (s Signer) Verify(body, signature []byte) bool {
	if len(signature) < sha256.Size/2 || len(signature) > sha256.Size {
		return false
	}
	return slices.ContainsFunc(s.keys, func(key []byte) bool {
		return hmac.Equal(signature, computeMAC(key, body)[:len(signature)])
	})
}

func computeMAC(key, body []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(body)
	return mac.Sum(nil)
}

// ID returns an ID for the first key. The ID does not reveal the key.
func (s *Sealer) ID() string { return s.IDs()[0] }

// IDs returns the IDs of all keys, in order.
func (s *Sealer) IDs() []string {
	var out []string
	for _, key := range s.Signer("key id").keys {
		out = append(out, hex.EncodeToString(key[:8]))
	}
	return out
}

// Has reports whether one of the keys has the given ID.
func (s *Sealer) Has(id string) bool { return slices.Contains(s.IDs(), id) }

// Seal encrypts a text with the first key. To decrypt the text, Open needs the same associated data.
func (s *Sealer) Seal(plaintext []byte, associatedData string) ([]byte, error) {
	out, err := s.keys[0].aead.Encrypt(plaintext, []byte(associatedData))
	if err != nil {
		return nil, fmt.Errorf("sealing: %w", err)
	}
	return out, nil
}

// Open decrypts the result of Seal with the same associated data.
func (s *Sealer) Open(sealed []byte, associatedData string) ([]byte, error) {
	var lastErr error
	for _, k := range s.keys {
		out, err := k.aead.Decrypt(sealed, []byte(associatedData))
		if err == nil {
			return out, nil
		}
		lastErr = err
	}
	return nil, fmt.Errorf("opening a sealed text (was the sealing key changed?): %w", lastErr)
}
