package preview

import (
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web/shell"
)

// BlueskyReplies are the restrictions of replies on Bluesky. Without one, everybody can reply.
var BlueskyReplies = []shell.Choice{
	{Value: "nobody", Name: "Nobody"}, {Value: "mentioned", Name: "Mentioned people"}, {Value: "followers", Name: "Followers"},
	{Value: "following", Name: "People the account follows"},
}

// BlueskyLabels are the content warnings of Bluesky.
var BlueskyLabels = []shell.Choice{
	{Value: "sexual", Name: "Suggestive"}, {Value: "nudity", Name: "Nudity"}, {Value: "porn", Name: "Adult"},
	{Value: "graphic-media", Name: "Graphic media"},
}

// Formats are the formats of a post on Facebook and Instagram. Without one, it is a post in the feed.
var Formats = []shell.Choice{
	{Value: "", Name: "Post in the feed"}, {Value: network.FormatStory, Name: "Story"}, {Value: network.FormatReel, Name: "Reel"},
}

// InstagramTrials are the ways in which Instagram shows a trial reel to followers.
var InstagramTrials = []shell.Choice{
	{Value: "", Name: "No trial"}, {Value: "MANUAL", Name: "Trial, shared with followers by hand"},
	{Value: "SS_PERFORMANCE", Name: "Trial, shared with followers if it performs well"},
}

// ThreadsReplies are the restrictions of replies on Threads. Without one, everybody can reply.
var ThreadsReplies = []shell.Choice{
	{Value: "followers_only", Name: "Followers"}, {Value: "accounts_you_follow", Name: "People the account follows"},
	{Value: "mentioned_only", Name: "Mentioned people"}, {Value: "parent_post_author_only", Name: "Only the account"},
	{Value: "everyone", Name: "Everyone"},
}

// XReplies are the restrictions of replies on X. Without one, everybody can reply.
var XReplies = []shell.Choice{
	{Value: "following", Name: "People the account follows"}, {Value: "mentionedUsers", Name: "Mentioned people"},
	{Value: "verified", Name: "Verified accounts"}, {Value: "subscribers", Name: "Subscribers"},
}

// YouTubeVisibilities are the visibilities of a video on YouTube.
var YouTubeVisibilities = []shell.Choice{
	{Value: "public", Name: "Public"}, {Value: "unlisted", Name: "Unlisted"}, {Value: "private", Name: "Private"},
}
