package preview

import (
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web/shell"
)

// BlueskyReplies are the ways to limit who can reply on Bluesky. By default, everyone can reply.
var BlueskyReplies = []shell.Choice{
	{Value: "nobody", Name: "Nobody"}, {Value: "mentioned", Name: "Mentioned people"}, {Value: "followers", Name: "Followers"},
	{Value: "following", Name: "People the account follows"},
}

// BlueskyLabels are the content warnings that Bluesky supports.
var BlueskyLabels = []shell.Choice{
	{Value: "sexual", Name: "Suggestive"}, {Value: "nudity", Name: "Nudity"}, {Value: "porn", Name: "Adult"},
	{Value: "graphic-media", Name: "Graphic media"},
}

// Formats are the formats of a post on Facebook and Instagram. The default is a post in the feed.
var Formats = []shell.Choice{
	{Value: "", Name: "Post in the feed"}, {Value: network.FormatStory, Name: "Story"}, {Value: network.FormatReel, Name: "Reel"},
}

// InstagramTrials are the ways to share a trial reel with followers on Instagram. By default, a reel is not a trial.
var InstagramTrials = []shell.Choice{
	{Value: "", Name: "No trial"}, {Value: "MANUAL", Name: "Trial, shared with followers by hand"},
	{Value: "SS_PERFORMANCE", Name: "Trial, shared with followers if it performs well"},
}

// ThreadsReplies are the ways to limit who can reply on Threads. By default, everyone can reply.
var ThreadsReplies = []shell.Choice{
	{Value: "followers_only", Name: "Followers"}, {Value: "accounts_you_follow", Name: "People the account follows"},
	{Value: "mentioned_only", Name: "Mentioned people"}, {Value: "parent_post_author_only", Name: "Only the account"},
	{Value: "everyone", Name: "Everyone"},
}

// XReplies are the ways to limit who can reply on X. By default, everyone can reply.
var XReplies = []shell.Choice{
	{Value: "following", Name: "People the account follows"}, {Value: "mentionedUsers", Name: "Mentioned people"},
	{Value: "verified", Name: "Verified accounts"}, {Value: "subscribers", Name: "Subscribers"},
}

// YouTubeVisibilities are the visibilities of a video on YouTube.
var YouTubeVisibilities = []shell.Choice{
	{Value: "public", Name: "Public"}, {Value: "unlisted", Name: "Unlisted"}, {Value: "private", Name: "Private"},
}
