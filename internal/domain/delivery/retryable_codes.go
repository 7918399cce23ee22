package delivery

// retryableCodes maps the error codes of failed accounts to whether a retry can succeed without a change to the post.
var retryableCodes = map[string]bool{
	"rejected_content":        false,
	"rejected_media":          false,
	"duplicate_content":       false,
	"preflight_blocked":       false,
	"account_needs_reauth":    true,
	"rate_limited":            true,
	"quota_used_up":           true,
	"network_error":           true,
	"server_not_allowed":      true,
	"app_not_approved":        true,
	"missed_waiting_approval": true,
	"missed_while_held":       true,
	"plan_limit_reached":      true,
	"thread_interrupted":      true,
}

// IsRetryableCode reports whether a retry of an account that failed with the error code can succeed without a change to
// the post.
func IsRetryableCode(code string) bool { return retryableCodes[code] }
