package team

import (
	"fmt"
	"time"

	"pressroom/internal/auth/passwords"
	"pressroom/internal/platform/loadshed"
)

// hashTimeout is how long a request waits for a password hash.
const hashTimeout = 5 * time.Second

func clientCaller(from string) passwords.Caller {
	return passwords.Caller{Key: "client " + loadshed.SitePrefix(from)}
}

func invitationCaller(id int64) passwords.Caller {
	return passwords.Caller{Key: fmt.Sprint("invitation ", id)}
}

func personCaller(id int64) passwords.Caller {
	return passwords.Caller{Key: fmt.Sprint("person ", id), Known: true}
}
