package main

// Help returns the details of `pressroom serve --help`.
func (serveCmd) Help() string {
	return `Every flag can also be set by its environment variable. docs/running.md describes all settings.

With SQLite, the media files and the sealing key are stored next to the database unless --blobs and --sealing-key are
set. With PostgreSQL, both flags are required and must be the same on every node. --sealing-key accepts several keys,
separated by commas: the first key encrypts, the others only decrypt. To store the media files in S3, set --blobs to
s3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION, and the credentials in AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY.

Set secrets in the environment only: PRESSROOM_SEALING_KEY, PRESSROOM_SMTP (if it contains a password),
PRESSROOM_OIDC_CLIENT_SECRET, PRESSROOM_BRIDGE_TOKEN, and the client secret of your app at each network, such as
PRESSROOM_THREADS_CLIENT_SECRET.

A node with --role api only serves requests. A node with --role worker or all also does background work.

--disk-reserve auto keeps 1 GiB or 5% of the volume free, whichever is less. While less is free, no files are accepted.

--trust-replica keeps publishing after a PostgreSQL failover, instead of putting the service on hold. Use it only if
replication is synchronous.`
}

// Help returns the details of `pressroom admin reseal --help`.
func (adminReseal) Help() string {
	return `Exits with status 1 if a node that ran within the last minute lacks the first key; nothing is re-encrypted
then. Also exits with status 1 if a node meanwhile encrypted something with another key. In this case, put the new
key first in the keys of every node, then run the command again.

After it exits with status 0, stored data no longer needs the other keys, but links that were signed with them do:
approval links, which are valid for 30 days, and unsubscribe links in report emails, which do not expire. Restoring a
backup that was made before also needs them. docs/running.md describes the whole rotation.`
}

// Help returns the details of `pressroom admin hold --help`.
func (adminHold) Help() string {
	return `During the hold, reading and drafting continue. Use --copied if the database is a physical copy of another
one, such as a base backup or a volume snapshot: pressroom admin resume then asks the networks what was published
after the last activity in the copy. Without --copied, it does not ask them.`
}

// Help returns the details of `pressroom admin resume --help`.
func (adminResume) Help() string {
	return `With --service, --team or --key, it ends a pause. Otherwise, it ends the hold of the service. If the database
was restored or copied, it first asks the networks what was published meanwhile. Then it publishes posts that are
overdue by at most --late, and marks posts that are overdue by more as failed. Failed posts can be retried.

If a network cannot be reached, the command stops. With --unasked, it continues: due posts on that network become
unconfirmed, and future posts stay scheduled. If a person has already published such a future post, it is published
twice.`
}

// Help returns the details of `pressroom admin pauses --help`.
func (adminPauses) Help() string {
	return `Closed teams and suspended people are not pauses. To see them, run pressroom admin teams list and pressroom
admin people list.`
}

// Help returns the details of `pressroom admin events export --help`.
func (adminEventsExport) Help() string {
	return `To continue an export, set --after to the ID in its last line. An export that is continued in this way misses
and repeats no event. With PostgreSQL, events of the last two minutes are left for the next export.`
}

// Help returns the details of `pressroom admin people unlink --help`.
func (adminPeopleUnlink) Help() string {
	return `The next sign-in through the directory (the OpenID Connect provider) with this email address links the
account again. It removes the account's password, passkeys, authenticator app and assistants, because the address may
belong to another person by then. Teams, roles and API keys stay.`
}
