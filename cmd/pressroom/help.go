package main

// Help returns the details of `pressroom serve --help`.
func (serveCmd) Help() string {
	return `Every flag can also be set with its environment variable. docs/running.md describes all settings.

With SQLite, the media files and the sealing key are stored next to the database unless --blobs and --sealing-key are
set. With PostgreSQL, both flags are required and must be the same on every node. --sealing-key accepts several keys,
separated by commas: the first key encrypts, the others only decrypt. To store the media files in S3, set --blobs to
s3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION, and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to the
credentials.

Set secrets only in the environment: PRESSROOM_SEALING_KEY, PRESSROOM_SMTP (if it contains a password),
PRESSROOM_OIDC_CLIENT_SECRET, PRESSROOM_BRIDGE_TOKEN, and the client secrets of your network apps, such as
PRESSROOM_THREADS_CLIENT_SECRET.

A node with --role api only serves requests. A node with --role worker or all also does background work.

--disk-reserve auto keeps 1 GiB or 5% of the volume free, whichever is less. While less space is free, the node does not
accept files.

With --trust-replica, publishing continues after a PostgreSQL failover. Otherwise, a failover puts the service on hold.
Use this flag only if replication is synchronous.`
}

// Help returns the details of `pressroom admin reseal --help`.
func (adminReseal) Help() string {
	return `If a node that ran within the last minute lacks the first key, the command re-encrypts nothing and exits with
status 1. It also exits with status 1 if a node has encrypted something with another key in the meantime. In this case,
put the new key first in the keys of every node, then run the command again.

After the command exits with status 0, stored data no longer needs the other keys. You still need them for links that
were signed with them: approval links, which are valid for 30 days, and unsubscribe links in report emails, which do not
expire. You also need them to restore an earlier backup. docs/running.md describes the whole key rotation.`
}

// Help returns the details of `pressroom admin hold --help`.
func (adminHold) Help() string {
	return `During the hold, people can still read data and write drafts. Use --copied if the database is a physical copy
of another database, such as a base backup or a volume snapshot. With --copied, pressroom admin resume asks the networks
which posts were published after the last activity in the copy. Otherwise, it does not ask them.`
}

// Help returns the details of `pressroom admin resume --help`.
func (adminResume) Help() string {
	return `With --service, --team or --key, the command ends a pause. Otherwise, it ends the hold of the service. If the
database was restored or copied, the command first asks the networks which posts were published in the meantime. Then it
publishes posts that are overdue by at most --late, and marks posts that are overdue by more as failed. Failed posts can
be retried.

If a network cannot be reached, the command stops. With --unasked, it continues: posts that are due on that network
become unconfirmed, and future posts stay scheduled. If somebody has already published such a future post, it is
published twice.`
}

// Help returns the details of `pressroom admin pauses --help`.
func (adminPauses) Help() string {
	return `The list does not include closed teams and suspended people. To see them, run pressroom admin teams list and
pressroom admin people list.`
}

// Help returns the details of `pressroom admin events export --help`.
func (adminEventsExport) Help() string {
	return `To continue an export, set --after to the ID in its last line. Every event is then exported exactly once.
With PostgreSQL, an export does not include the events of the last two minutes. The next export includes them.`
}

// Help returns the details of `pressroom admin people unlink --help`.
func (adminPeopleUnlink) Help() string {
	return `The next sign-in through the directory (the OpenID Connect provider) with this email address links the
account again. That sign-in removes the account's password, passkeys, authenticator app and assistants, because the
address may belong to another person by then. The account keeps its teams, roles and API keys.`
}
