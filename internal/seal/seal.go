// Package seal keeps networks' tokens unreadable in the database: authenticated encryption by Tink, bound to
// the record that a token belongs to, so that a sealed token moved to another row does not open.
package seal

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// Sealer seals and opens.
type Sealer struct {
	aead tink.AEAD
	root []byte // what keys for other purposes are derived from
}

// NewKey makes a sealing key: a Tink keyset with one AES-256-GCM key, in base64.
func NewKey() (string, error) {
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return "", fmt.Errorf("making a sealing key: %w", err)
	}
	var buf bytes.Buffer
	if err := insecurecleartextkeyset.Write(handle, keyset.NewBinaryWriter(&buf)); err != nil {
		return "", fmt.Errorf("writing a sealing key: %w", err)
	}
	return base64.StdEncoding.EncodeToString(buf.Bytes()), nil
}

// ErrKey says that a text is no sealing key.
var ErrKey = errors.New("not a sealing key; make one with: pressroom admin sealing-key")

// New makes a sealer from a key that NewKey made.
func New(key string) (*Sealer, error) {
	raw, err := base64.StdEncoding.DecodeString(key)
	if err != nil || len(raw) == 0 {
		return nil, ErrKey
	}
	handle, err := insecurecleartextkeyset.Read(keyset.NewBinaryReader(bytes.NewReader(raw)))
	if err != nil {
		return nil, ErrKey
	}
	primitive, err := aead.New(handle)
	if err != nil {
		return nil, ErrKey
	}
	return &Sealer{primitive, raw}, nil
}

// Derive gives a key of 32 bytes for a purpose other than sealing: HKDF (RFC 5869) with SHA-256 of the sealing key.
func (s *Sealer) Derive(purpose string) []byte {
	key, err := hkdf.Key(sha256.New, s.root, nil, "pressroom "+purpose, sha256.Size)
	if err != nil {
		panic(err) // only of a length beyond what HKDF can give
	}
	return key
}

// Seal makes a text unreadable; it opens only with the same bond.
func (s *Sealer) Seal(plain []byte, bond string) ([]byte, error) {
	out, err := s.aead.Encrypt(plain, []byte(bond))
	if err != nil {
		return nil, fmt.Errorf("sealing: %w", err)
	}
	return out, nil
}

// Open reads what Seal made with the same bond.
func (s *Sealer) Open(sealed []byte, bond string) ([]byte, error) {
	out, err := s.aead.Decrypt(sealed, []byte(bond))
	if err != nil {
		return nil, fmt.Errorf("opening a sealed token (was the sealing key changed?): %w", err)
	}
	return out, nil
}
