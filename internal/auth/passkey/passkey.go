// Package passkey signs people in with passkeys (W3C Web Authentication, level 3). A passkey is a key pair in the
// person's device or password manager. It is bound to this site and can be used only after the device has verified the
// person.
package passkey

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/db"
)

const (
	challengeTTL = 5 * time.Minute // maximum time for the browser to respond
	maxPasskeys  = 20              // maximum number of passkeys per person
	maxName      = 100             // maximum number of characters in a passkey's name
)

// Service registers passkeys and verifies sign-ins with them.
type Service struct {
	db       *db.DB
	ceremony *webauthn.WebAuthn // nil if passkeys are not supported
}

// New returns a Service for a public URL. Passkeys are bound to a host name, so they are not available if the URL's
// host is an IP address.
func New(d *db.DB, publicURL string) (*Service, error) {
	u, err := url.Parse(publicURL)
	if err != nil {
		return nil, fmt.Errorf("parsing the public URL: %w", err)
	}
	host := u.Hostname()
	if _, err := netip.ParseAddr(host); err == nil || host == "" {
		return &Service{db: d}, nil
	}
	ceremony, err := webauthn.New(&webauthn.Config{
		RPID: host, RPDisplayName: "pressroom", RPOrigins: []string{u.Scheme + "://" + u.Host},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(),
			UserVerification: protocol.VerificationRequired,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("setting up passkeys: %w", err)
	}
	return &Service{db: d, ceremony: ceremony}, nil
}

// Possible reports whether passkeys can be used at the public URL.
func (s *Service) Possible() bool { return s.ceremony != nil }

// Passkey is a registered passkey of a person.
type Passkey struct {
	ID        int64
	Name      string
	CreatedAt time.Time
	UsedAt    time.Time // zero if never used
	Copied    bool      // the passkey may have been cloned and can no longer be used to sign in
}

// Challenge contains the options for the browser, and the state to store until the browser responds.
type Challenge struct {
	Options json.RawMessage // options for navigator.credentials
	State   []byte          // must not be visible to the browser
}

// ceremonyState is the state of a registration or sign-in in progress. Web Authentication calls these ceremonies.
type ceremonyState struct {
	Session webauthn.SessionData `json:"session"`
	Handle  []byte               `json:"handle,omitempty"` // user handle of the new passkey
	Person  int64                `json:"person,omitempty"` // the new passkey's future owner; 0 if the person is new
	BegunAt time.Time            `json:"begun"`
}

var (
	errUnavailable    = apierr.BadState("unavailable", "Passkeys cannot be used at this address.")
	errExpired        = apierr.BadState("ended", "This took too long. Try again.")
	errInvalidPasskey = apierr.Invalid(apierr.Malformed, "passkey",
		"The passkey could not be used. Try again, or sign in another way.")
	errUnknownPasskey = apierr.New(apierr.Unauthorized, "Unknown passkey. Sign in another way.")
	errCopiedPasskey  = apierr.New(apierr.Unauthorized,
		"This passkey may have been copied and no longer works. Sign in another way and remove it from your account.")
	errTooManyPasskeys = apierr.Invalidf(apierr.OutOfRange, "passkey",
		"You already have %d passkeys, the maximum. Remove one first.", maxPasskeys)
	errInvalidName = apierr.Invalidf(apierr.Malformed, "name",
		"Enter a name of at most %d characters on one line.", maxName)
	errOnlySignInMethod = apierr.BadState("needed",
		"This is your only way to sign in. Set a password or add another passkey first.")
)

// newChallenge returns a challenge with the given options and state.
func (s *Service) newChallenge(options any, state ceremonyState) (Challenge, error) {
	state.BegunAt = s.db.Now()
	optionsJSON, err := json.Marshal(options)
	if err != nil {
		return Challenge{}, fmt.Errorf("requesting a passkey: %w", err)
	}
	stateJSON, err := json.Marshal(state)
	if err != nil {
		return Challenge{}, fmt.Errorf("encoding a challenge for a passkey: %w", err)
	}
	return Challenge{optionsJSON, stateJSON}, nil
}

// decodeState decodes the state of a ceremony. It returns errExpired if the ceremony has expired.
func (s *Service) decodeState(raw []byte) (ceremonyState, error) {
	var state ceremonyState
	if s.ceremony == nil {
		return state, errUnavailable
	}
	if len(raw) == 0 {
		return state, errExpired
	}
	if err := json.Unmarshal(raw, &state); err != nil {
		return state, fmt.Errorf("decoding the state of a passkey challenge: %w", err)
	}
	if age := s.db.Now().Sub(state.BegunAt); age < 0 || age > challengeTTL {
		return state, errExpired
	}
	return state, nil
}

// BeginSignIn returns a challenge that any of this site's passkeys can answer. The browser's response identifies the
// passkey's owner.
func (s *Service) BeginSignIn() (Challenge, error) {
	if s.ceremony == nil {
		return Challenge{}, errUnavailable
	}
	options, session, err := s.ceremony.BeginDiscoverableLogin(
		webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return Challenge{}, fmt.Errorf("requesting a passkey: %w", err)
	}
	return s.newChallenge(options, ceremonyState{Session: *session})
}

// SignIn returns the owner of the passkey in the browser's response. It returns unauthorized if the passkey is unknown
// or its signature count has decreased, which is a sign of a clone.
func (s *Service) SignIn(ctx context.Context, state, response []byte) (int64, error) {
	k, err := s.decodeState(state)
	if err != nil {
		return 0, err
	}
	if k.Handle != nil {
		return 0, errExpired // the challenge was for a registration
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(response)
	if err != nil {
		return 0, errInvalidPasskey
	}
	var owner owner
	var lookupErr error
	find := func(_, handle []byte) (webauthn.User, error) {
		if owner, lookupErr = s.ownerByHandle(ctx, handle); lookupErr != nil {
			return nil, lookupErr
		}
		return owner, nil
	}
	credential, err := s.ceremony.ValidateDiscoverableLogin(find, k.Session, parsed)
	if lookupErr != nil && !errors.Is(lookupErr, errUnknownPasskey) {
		return 0, lookupErr
	}
	if err != nil {
		return 0, errUnknownPasskey
	}
	return owner.person, s.recordUse(ctx, owner, credential)
}

// Registrant is a person who is creating a passkey.
type Registrant struct {
	Person      int64 // 0 if the person is new
	Name, Email string
}

// BeginRegistration returns a challenge for a new passkey.
func (s *Service) BeginRegistration(ctx context.Context, registrant Registrant) (Challenge, error) {
	if s.ceremony == nil {
		return Challenge{}, errUnavailable
	}
	o, err := s.newOwner(ctx, registrant)
	if err != nil {
		return Challenge{}, err
	}
	if len(o.credentials) >= maxPasskeys {
		return Challenge{}, errTooManyPasskeys
	}
	options, session, err := s.ceremony.BeginRegistration(o,
		webauthn.WithExclusions(webauthn.Credentials(o.credentials).CredentialDescriptors()))
	if err != nil {
		return Challenge{}, fmt.Errorf("requesting a new passkey: %w", err)
	}
	return s.newChallenge(options, ceremonyState{Session: *session, Handle: o.handle, Person: registrant.Person})
}

// NewPasskey is a verified new passkey that is not yet stored.
type NewPasskey struct {
	handle     []byte
	name       string
	credential webauthn.Credential
}

// FinishRegistration verifies the browser's response to a challenge from BeginRegistration for the same person.
func (s *Service) FinishRegistration(person int64, state, response []byte, name string) (NewPasskey, error) {
	k, err := s.decodeState(state)
	if err != nil {
		return NewPasskey{}, err
	}
	if k.Handle == nil || k.Person != person {
		return NewPasskey{}, errExpired
	}
	if name = strings.TrimSpace(name); !isValidName(name) {
		return NewPasskey{}, errInvalidName
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(response)
	if err != nil {
		return NewPasskey{}, errInvalidPasskey
	}
	credential, err := s.ceremony.CreateCredential(owner{handle: k.Handle}, k.Session, parsed)
	if err != nil {
		return NewPasskey{}, errInvalidPasskey
	}
	return NewPasskey{k.Handle, name, *credential}, nil
}

func isValidName(name string) bool {
	return name != "" && utf8.ValidString(name) && utf8.RuneCountInString(name) <= maxName &&
		!strings.ContainsFunc(name, unicode.IsControl)
}

// owner is a person. It implements webauthn.User.
type owner struct {
	person      int64
	handle      []byte
	name, email string
	credentials []webauthn.Credential
}

// WebAuthnID returns the person's handle.
func (o owner) WebAuthnID() []byte { return o.handle }

// WebAuthnName returns the email address.
func (o owner) WebAuthnName() string { return o.email }

// WebAuthnDisplayName returns the person's name.
func (o owner) WebAuthnDisplayName() string { return o.name }

// WebAuthnCredentials returns the person's passkeys.
func (o owner) WebAuthnCredentials() []webauthn.Credential { return o.credentials }
