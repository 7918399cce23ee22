package team

import (
	"fmt"
	"time"

	"pressroom/internal/auth/passwords"
	"pressroom/internal/platform/loadshed"
)

const hashWait = 5 * time.Second // how long a request waits for a password hash

func askingClient(from string) passwords.Caller {
	return passwords.Caller{Key: "client " + loadshed.SitePrefix(from)}
}

func askingInvitation(id int64) passwords.Caller {
	return passwords.Caller{Key: fmt.Sprint("invitation ", id)}
}

func askingPerson(id int64) passwords.Caller {
	return passwords.Caller{Key: fmt.Sprint("person ", id), Known: true}
}
