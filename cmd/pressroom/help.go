package main

// Help returns the details of `pressroom serve --help`.
func (serveCmd) Help() string {
	return `Every flag can also be set by its environment variable. docs/running.md describes all settings.

With SQLite, the media files and the sealing key are stored next to the database unless --blobs and --sealing-key are set.
PostgreSQL needs both, the same on every node. The first sealing key encrypts; those after a comma only decrypt.
S3 takes s3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION, with credentials in AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY.

Set secrets in the environment only: PRESSROOM_SEALING_KEY, PRESSROOM_SMTP (if it contains a password),
PRESSROOM_OIDC_CLIENT_SECRET, PRESSROOM_BRIDGE_TOKEN, and PRESSROOM_THREADS_CLIENT_SECRET and the like for networks.

--role api serves requests only. --role worker does background work and serves requests sent to it.

--disk-reserve auto is 1 GiB or 5% of the volume, whichever is less. Below it, uploads are rejected.

--trust-replica skips the hold after a PostgreSQL failover. Only use it if replication is synchronous.`
}

// Help returns the details of `pressroom admin reseal --help`.
func (adminReseal) Help() string {
	return `Once it exits with status 0, the other keys can be removed. It exits with status 1 while a node still encrypts with
another key, and fails if a node that served within the last minute does not have the first key.`
}

// Help returns the details of `pressroom admin hold --help`.
func (adminHold) Help() string {
	return `Reading and drafting continue. Use --copied for a physical copy of a database, such as a base backup or a volume
snapshot: resume then asks the networks what was published since the original was last active.`
}

// Help returns the details of `pressroom admin resume --help`.
func (adminResume) Help() string {
	return `With --service, --team or --key, it ends a pause. Otherwise, it ends the hold of a restored or copied database: it
asks the networks what was published meanwhile, publishes what is due, and fails what is later than --late. Failed
posts can be retried.

With --unasked, due posts on a network that cannot be reached become unconfirmed. Future posts stay scheduled and are
published twice if a person already published them.`
}

// Help returns the details of `pressroom admin pauses --help`.
func (adminPauses) Help() string {
	return `Closed teams and suspended people are in the lists of teams and people.`
}

// Help returns the details of `pressroom admin events export --help`.
func (adminEventsExport) Help() string {
	return `To continue an export, pass the ID of its last line to --after. No event is missed or repeated. With PostgreSQL,
events of the last two minutes are left for the next export.`
}

// Help returns the details of `pressroom admin people unlink --help`.
func (adminPeopleUnlink) Help() string {
	return `The next directory sign-in with this email address links the account again and removes its password, passkeys,
authenticator app and assistants, because the address may belong to another person now. Teams, roles and API keys stay.`
}
