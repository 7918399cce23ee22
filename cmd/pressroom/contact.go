package main

import (
	"errors"
	"net/mail"
	"net/url"
	"strings"
)

var errContact = errors.New("PRESSROOM_SECURITY_CONTACT (--security-contact) must be an email address such as " +
	"security@example.com, or a mailto: or https: URL")

// contactURI returns the contact URI for security.txt (RFC 9116, section 2.5.3), or "" if text is empty. It converts a
// bare email address to a mailto: URI.
func contactURI(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || strings.ContainsAny(text, " \t\r\n"):
		return "", errContact
	case u.Scheme == "https" && u.Host != "":
		return u.String(), nil
	case u.Scheme == "" || u.Scheme == "mailto":
		address := strings.TrimPrefix(text, "mailto:")
		if found, err := mail.ParseAddress(address); err != nil || found.Address != address {
			return "", errContact
		}
		return "mailto:" + address, nil
	}
	return "", errContact
}
