// Package authenticator implements a passkey device for tests without a browser. It accepts options and returns
// responses as JSON, like a browser's navigator.credentials (W3C Web Authentication, level 3).
package authenticator

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
)

// Device is a device with one passkey.
type Device struct {
	Origin     string // origin of the requesting page
	SignCount  uint32 // number of signatures so far
	Unverified bool   // whether to skip user verification

	key    *ecdsa.PrivateKey
	id     []byte
	handle []byte
}

// pageOptions are the options that a page passes.
type pageOptions struct {
	PublicKey struct {
		Challenge string `json:"challenge"`
		RPID      string `json:"rpId"` //nolint:tagliatelle // the name in the standard
		RP        struct {
			ID string `json:"id"`
		} `json:"rp"`
		User struct {
			ID string `json:"id"`
		} `json:"user"`
	} `json:"publicKey"` //nolint:tagliatelle // the name in the standard
}

var base64URL = base64.RawURLEncoding

// The flags of authenticator data: user present, user verified, attested credential data included.
const (
	flagUserPresent  = 0x01
	flagUserVerified = 0x04
	flagAttestedData = 0x40
)

// Create creates a passkey for a page's options and returns the response.
func (d *Device) Create(options []byte) ([]byte, error) {
	var a pageOptions
	if err := json.Unmarshal(options, &a); err != nil {
		return nil, fmt.Errorf("reading the options: %w", err)
	}
	var err error
	if d.handle, err = base64URL.DecodeString(a.PublicKey.User.ID); err != nil {
		return nil, fmt.Errorf("reading the user handle: %w", err)
	}
	if d.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, fmt.Errorf("creating a key: %w", err)
	}
	d.id = []byte(rand.Text())
	publicKey, err := d.key.PublicKey.Bytes() // 4, then x and y
	if err != nil {
		return nil, fmt.Errorf("encoding the key: %w", err)
	}
	// The key in COSE format (RFC 9053, section 7.1): EC2, ES256, P-256, x, y.
	cose := append([]byte{0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32}, publicKey[1:33]...)
	cose = append(append(cose, 0x22, 0x58, 32), publicKey[33:]...)
	data := d.authenticatorData(a.PublicKey.RP.ID, flagAttestedData)
	data = append(data, make([]byte, 16)...) // AAGUID of no model
	data = binary.BigEndian.AppendUint16(data, uint16(len(d.id)))
	data = append(append(data, d.id...), cose...)
	object := []byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59")
	object = append(binary.BigEndian.AppendUint16(object, uint16(len(data))), data...)
	return d.encodeResponse(map[string]any{
		"clientDataJSON":    base64URL.EncodeToString(d.clientData("webauthn.create", a)),
		"attestationObject": base64URL.EncodeToString(object), "transports": []string{"internal"},
	})
}

// Get returns the signed response to a page's options.
func (d *Device) Get(options []byte) ([]byte, error) {
	var a pageOptions
	if err := json.Unmarshal(options, &a); err != nil {
		return nil, fmt.Errorf("reading the options: %w", err)
	}
	d.SignCount++
	data, client := d.authenticatorData(a.PublicKey.RPID, 0), d.clientData("webauthn.get", a)
	hash := sha256.Sum256(client)
	sum := sha256.Sum256(append(slices.Clip(data), hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, d.key, sum[:])
	if err != nil {
		return nil, fmt.Errorf("signing: %w", err)
	}
	return d.encodeResponse(map[string]any{
		"clientDataJSON": base64URL.EncodeToString(client), "authenticatorData": base64URL.EncodeToString(data),
		"signature": base64URL.EncodeToString(signature), "userHandle": base64URL.EncodeToString(d.handle),
	})
}

func (d *Device) authenticatorData(rpID string, flags byte) []byte {
	sum := sha256.Sum256([]byte(rpID))
	if flags |= flagUserPresent; !d.Unverified {
		flags |= flagUserVerified
	}
	return binary.BigEndian.AppendUint32(append(sum[:], flags), d.SignCount)
}

func (d *Device) clientData(kind string, a pageOptions) []byte {
	raw, _ := json.Marshal(map[string]any{
		"type": kind, "challenge": a.PublicKey.Challenge, "origin": d.Origin, "crossOrigin": false,
	}) // Strings cannot fail to encode.
	return raw
}

func (d *Device) encodeResponse(response map[string]any) ([]byte, error) {
	id := base64URL.EncodeToString(d.id)
	return json.Marshal(map[string]any{
		"id": id, "rawId": id, "type": "public-key", "response": response, "clientExtensionResults": map[string]any{},
	})
}
