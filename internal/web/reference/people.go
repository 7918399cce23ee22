package reference

// peopleTexts maps the names of tools to descriptions for people. The descriptions in the OpenAPI document are for
// assistants. Names of operations in these texts become links.
var peopleTexts = map[string]string{
	"list_brand_voices": "Lists the team's brand voices, newest first, with the default voice in full. Voices are created and edited in " +
		"the app.",
	"get_brand_voice": "Returns a brand voice in full. Its text block has all instructions: tone, point of view, emoji, words to use and " +
		"words to avoid.",
	"get_connect_link": "Returns a link to connect a new account or to reconnect a lost one. Send either platform or account_id. Nothing " +
		"is connected until a person confirms it in the browser. slots_left is the number of accounts that the plan still " +
		"allows.",
	"get_credits": "Returns the team's balance, the credits used and reserved today, and the daily limits of this key and the team. " +
		"A day starts at midnight in the team's time zone. Free; does not use the daily allowance. " +
		"balance is omitted if the person's role may not see it.",
	"list_hashtag_lists": "Lists the team's hashtag lists, newest first, then the ready-made ones. Lists for all networks match every " +
		"platform. See also: get_hashtag_list.",
	"create_hashtag_list": "Creates a list, empty or with hashtags. The response names rejected hashtags with the reason; the others are " +
		"added. Metrics of new hashtags are measured in the background. Without an Idempotency-Key, each call creates " +
		"another list. See also: add_hashtags.",
	"get_hashtag_list": "Returns a list with all of its hashtags and their metrics: number of posts (measured or estimated), posts per " +
		"day, tier and score. Unknown metrics are omitted. Ready-made lists are read-only.",
	"add_hashtags": "Adds hashtags to one of the team's lists. Hashtags already in the list stay as they are, so you can repeat the " +
		"call. Metrics of new hashtags are measured in the background. list_full means that the plan's limit is reached.",
	"search_hashtags": "Starts a search by keyword, phrase or hashtag. The result has hashtags with their number of posts, posts per " +
		"day, tier and score, and related hashtags. Another search for the same keyword is free for some time and returns " +
		"the stored result. A search that finds nothing is refunded. Read the result with: get_job.",
	"get_job": "Returns the state of background work. When finished is true, result has the output. Send wait_seconds to wait " +
		"for the job, or repeat the call every few seconds. For partially_succeeded and failed jobs, error says what " +
		"failed and why; unused credits are refunded. Jobs are kept for 30 days.",
	"get_limits": "Returns the team's plan, its limits, whether it includes API and tool access, and the free calls left today. -1 " +
		"means unlimited, 0 means none. Never counts against the free calls.",
	"get_identity": "Returns the person and team that the key acts for, the person's role, the key's capabilities, and the team's " +
		"time zone and content language. Times without an offset are in timezone. Never counts against the free calls.",
	"list_media": "Lists images and videos, newest first, with the library's folders and storage usage. Search by file name or alt " +
		"text with query. Use the IDs in: create_post.",
	"import_media": "Fetches an image or video from a public HTTPS URL into the library. The type is determined from the content. " +
		"Private, local and numeric addresses are rejected. Uses storage, no credits. A file that is already in the " +
		"library is returned as it is. Read the result with: get_job. To upload files instead: create_uploads.",
	"list_posts": "Lists posts, newest first. With from or to, lists the posts scheduled or published in that range, latest first. " +
		"Each post is an excerpt. recurrence marks the template of a series, which is never published, and its " +
		"occurrences. For the full text: get_post.",
	"create_post": "Creates a draft. Nothing is sent to a network. Account IDs come from list_social_accounts, media IDs from " +
		"list_media. To go live, continue with: schedule_post or publish_post. Both check the networks' rules, which you " +
		"can do earlier: validate_post. Without an Idempotency-Key, each call creates another draft.",
	"get_post": "Returns the full text, the media and every account with its result: state, error_code, explanation and " +
		"retries_left. A network's own message is in untrusted_content. After a temporary error, use retry_post. Rejected " +
		"content cannot be changed in a submitted post: create another post for the failed accounts. unconfirmed means " +
		"that the network may have the post, so it is not sent again until this is known.",
	"update_post": "Changes the given fields; a list replaces the whole list. Send null as scheduled_at to clear the time of a " +
		"draft. Changing an approved post sends it back for approval. The response has the problems found after the " +
		"change.",
	"archive_post": "Archives a post that failed on some or all accounts and will not be retried. It stays readable and no longer " +
		"needs attention. Networks are not contacted. Send false as archived to restore it.",
	"cancel_post": "Turns a scheduled post into a draft without a time; its content stays. For an occurrence of a series, the whole " +
		"series is paused; resume it in the app. A draft stays as it is, and a submitted post is rejected. To schedule it " +
		"again: schedule_post.",
	"publish_post": "Publishes the post immediately. This cannot be undone. The job has each account's result. A submitted post is " +
		"never sent again; the response then has already_submitted. Read the result with: get_job.",
	"retry_post": "Sends the post again to accounts that failed. Accounts that did not fail, have no retries left, were retried " +
		"moments ago, are unconfirmed or were taken over by an edited copy are skipped and listed with the reason. Read " +
		"the result with: get_job.",
	"schedule_post": "Publishes the post at a time, without further confirmation. A time without an offset is in the team's time zone, " +
		"at most ten years ahead. Rejected if the post waits for approval, breaks a network's rule, or exceeds the " +
		"month's posts. To unschedule: cancel_post.",
	"validate_post": "Returns what the networks would reject, whether the post waits for the client's approval, and how many posts are " +
		"left this month. Changes and sends nothing. Blocking problems must be fixed before publishing; others are hints.",
	"download_profile_media": "Fetches media " +
		"of a public Instagram or TikTok profile into the folder Downloads, or only lists them. Respect " +
		"their copyright. Charged per call, even if nothing is found; refunded if the profile does not exist, is private " +
		"or cannot be read. Send next_cursor of the result as cursor to get the next page, which is charged again. Read " +
		"the result with: get_job.",
	"list_reports": "Lists the team's reports on public profiles and hashtags, newest first. A pending report is still being created; " +
		"a report with status error could not be created. To read one: get_report.",
	"create_report": "Starts a report on a public profile or, on Instagram, a hashtag. If the report exists or is being created, it is " +
		"returned without charge. You aren't charged for failed reports. Wait for the job, then read the report: get_job, " +
		"get_report.",
	"get_report": "Returns the summary of a report and the requested sections. sections_available lists them; long sections are " +
		"paged. Texts of the analyzed account are in untrusted_content. Missing metrics are unknown, and notes say which " +
		"are based on too little data. refreshed_at is the time of the last measurement. For newer metrics: " +
		"refresh_report.",
	"refresh_report": "Fetches current metrics and extends the report's data. You aren't charged if nothing is fetched. A report can be " +
		"refreshed again after a short time. Read the result with: get_job.",
	"set_report_tracking": "Turns automatic refreshes of a report on or off. While tracking is on, every refresh is charged without a " +
		"further call. Turning it on charges the first refresh of a hashtag report at once; a profile report is charged " +
		"at its next refresh. Turning it off and changing the frequency are free. frequency_days becomes 3 if you omit " +
		"it. The response has the time and price of the next refresh.",
	"list_social_accounts": "Lists the team's connected accounts, newest first, with the state of each connection. Nothing can be " +
		"sent to an account whose connection_state is lost. To reconnect it: get_connect_link.",
	"get_account_analytics": "Returns reach, engagement, best post, publishing cadence and formats of a connected account, for all " +
		"its posts, " +
		"however they were published. Metrics are collected every few hours. Metrics that the network does not provide " +
		"are omitted; notes say why a response is empty or partial.",
	"create_uploads": "Creates a one-time link for each described file: send the bytes by PUT to its url with its Authorization header. " +
		"Or send no files and open upload_page_url in a browser. Repeating the call with the same Idempotency-Key returns " +
		"the same batch with new secrets; the old ones stop working. Links work once, for an hour. The batch's job shows " +
		"which files have arrived. Uses storage, no credits.",
}
