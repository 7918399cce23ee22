package team

import (
	"fmt"
	"strings"
	"time"

	"pressroom/internal/auth/passwords"
	"pressroom/internal/platform/loadshed"
)

const hashWait = 5 * time.Second // how long a request waits for a password hash

func askingClient(from string) passwords.Asker { return passwords.Asker{Key: "client " + siteOf(from)} }

func askingInvitation(invitation int64) passwords.Asker {
	return passwords.Asker{Key: fmt.Sprint("invitation ", invitation)}
}

func askingPerson(person int64) passwords.Asker {
	return passwords.Asker{Key: fmt.Sprint("person ", person), Known: true}
}

// siteOf returns the /48 that a client with IPv6 is in: providers give that much to one customer. Other clients are
// returned as they are.
func siteOf(from string) string {
	if !strings.Contains(from, ":") {
		return from
	}
	return loadshed.NetworkOf(from)
}
