package team

import (
	"fmt"
	"time"

	"pressroom/internal/auth/passwords"
	"pressroom/internal/platform/loadshed"
)

const hashWait = 5 * time.Second // how long a request waits for a password hash

func askingClient(from string) passwords.Asker {
	return passwords.Asker{Key: "client " + loadshed.SiteOf(from)}
}

func askingInvitation(id int64) passwords.Asker {
	return passwords.Asker{Key: fmt.Sprint("invitation ", id)}
}

func askingPerson(id int64) passwords.Asker {
	return passwords.Asker{Key: fmt.Sprint("person ", id), Known: true}
}
