package network

import "cmp"

// nextSteps maps a platform and the network's error code to what the app's operator has to do. The empty code applies
// to all other codes. The sources are in docs/networks.
var nextSteps = map[string]map[string]string{
	"facebook": {
		"": "Complete App Review for the permissions, set the app to Live mode, and verify the business.",
	},
	"instagram": {
		"": "Complete App Review for the permissions, set the app to Live mode, and verify the business.",
	},
	"linkedin": {
		"426":                 "Set a current API version: \"version\" in the settings of linkedin.",
		"NONEXISTENT_VERSION": "Set a current API version: \"version\" in the settings of linkedin.",
		"": "Compare the scopes with the app's products in LinkedIn's developer console, and choose the settings " +
			"that match: \"organizations\", \"company\" or \"scopes\" in linkedin.",
	},
	"pinterest": {
		"29": "The app has Trial access. Request Standard access in Pinterest's developer console. Until then, " +
			"set \"api_host\" to https://api-sandbox.pinterest.com to try the app.",
		"": "Compare the app's ID and secret with Pinterest's developer console.",
	},
	"threads": {"": "Complete App Review for the permissions, and set the app to Live mode."},
	"tiktok": {
		"unaudited_client_can_only_post_to_private_accounts": "Apply for the audit of the Content Posting API. Until " +
			"then, post with privacy_level SELF_ONLY from private accounts, or with mode inbox.",
		"reached_active_user_cap": "Wait a day. An app without the audit can post for five accounts in 24 hours: apply for the audit " +
			"of the Content Posting API.",
		"url_ownership_unverified": "Verify the domain of --public-url in TikTok's developer console. TikTok fetches photos from it.",
		"scope_not_authorized": "Add the scope to the app in TikTok's developer console and to \"scopes\" in the settings of tiktok, " +
			"then connect the account again.",
		"": "Compare the app's key, secret and scopes with TikTok's developer console.",
	},
	"x": {
		"": "Buy credit for the app in X's developer console, and check that the app may read and write.",
	},
	"youtube": {
		"privacyStatus": "Apply for YouTube's audit of the Google project. Until then, YouTube keeps all " +
			"uploads private.",
		"accessNotConfigured": "Enable the YouTube Data API v3 and the YouTube Analytics API in the Google project.",
		"invalid_grant": "Connect the account again. If this happens every seven days, choose Publish app in the Google project: " +
			"while the project's status is Testing, connections end after seven days.",
		"": "Compare the app's ID, secret and enabled APIs with the Google project.",
	},
}

// NextStep returns what the operator has to do if a network does not accept the app, or "" if that is unknown.
func NextStep(platform, code string) string {
	return cmp.Or(nextSteps[platform][code], nextSteps[platform][""])
}
