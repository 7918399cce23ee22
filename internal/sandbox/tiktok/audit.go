package tiktok

// unauditedClient is the end of the key of an app that has not passed TikTok's audit.
const unauditedClient = "-unaudited"

// checkAudit refuses a post that others would see if the app is not audited.
func (c caller) checkAudit(p publication) error {
	if c.audited || p.privacy == audienceInbox || p.privacy == "SELF_ONLY" {
		return nil
	}
	return errUnaudited
}
