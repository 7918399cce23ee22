package tiktok

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	privacyPublic = "PUBLIC_TO_EVERYONE"
	privacySelf   = "SELF_ONLY"
	privacyInbox  = "INBOX" // not a TikTok value: the audience is chosen in the TikTok app

	codePrivacyMismatch = "privacy_level_option_mismatch"
	codeCaptionNotSent  = "caption_not_sent"
	codeInteractionOff  = "interaction_disabled"
)

// choicesFor returns a post's choices, or the operator's defaults if the post has none. Without either, the post goes
// to the inbox if the operator's apps may not publish directly.
func (n *Network) choicesFor(o network.Options) network.TikTokOptions {
	switch {
	case o.TikTok != nil:
		return *o.TikTok
	case n.opts.Defaults == (network.TikTokOptions{}) && n.opts.isInboxOnly():
		return network.TikTokOptions{Mode: network.TikTokInbox}
	}
	return n.opts.Defaults
}

// isInboxOnly reports whether the operator's apps request permission for the inbox but no permission to publish. If
// only the app for business accounts is configured, the scopes of the main app do not count.
func (o Options) isInboxOnly() bool {
	scopes := o.Business.Scopes
	if o.ClientID != "" || o.Business.ClientID == "" {
		scopes = slices.Concat(o.Scopes, scopes)
	}
	return slices.Contains(scopes, scopeVideoUpload) && !slices.Contains(scopes, scopeVideoPublish)
}

// checkChoices returns problems with missing, contradictory or ineffective choices. TikTok requires that a person
// chooses the audience of each direct post and agrees to the use of music. Source:
// https://developers.tiktok.com/doc/content-sharing-guidelines.
func checkChoices(o network.TikTokOptions, text string, media []network.Media) []network.Problem {
	if o.Mode == network.TikTokInbox {
		return checkInbox(o, text, media)
	}
	var problems []network.Problem
	add := func(field, code string, isBlocking bool, message string) {
		problems = append(problems, network.OptionProblem(platform, field, code, isBlocking, message))
	}
	photos := len(media) > 0 && media[0].Kind == network.Image
	if o.PrivacyLevel == "" {
		add("privacy_level", network.CodeOptionMissing, true,
			"TikTok requires a choice of who can see the post (options.tiktok.privacy_level), or inbox mode.")
	}
	if !o.MusicUsageConfirmed {
		add("music_usage_confirmed", network.CodeOptionMissing, true,
			"TikTok requires agreement to its Music Usage Confirmation "+
				"(options.tiktok.music_usage_confirmed), or inbox mode.")
	}
	if o.BrandContent && o.PrivacyLevel == privacySelf {
		add("brand_content_toggle", network.CodeOptionUnsupported, true,
			"TikTok does not allow a paid partnership (options.tiktok.brand_content_toggle) that only "+
				"the account can see. Choose another audience.")
	}
	if photos && o.IsAIGC {
		add("is_aigc", network.CodeOptionUnsupported, true,
			"TikTok labels only videos as AI-generated. Set options.tiktok.mode to inbox and "+
				"label the photos in the TikTok app.")
	}
	if photos && (o.AllowDuet || o.AllowStitch) {
		add("allow_duet", network.CodeOptionUnsupported, false, "Duets and stitches are only possible with videos.")
	}
	return problems
}

// checkInbox returns warnings about the parts of a post that do not reach the account's inbox. In the inbox, TikTok
// accepts a text only with photos. Source:
// https://developers.tiktok.com/doc/content-posting-api-reference-upload-video.
func checkInbox(o network.TikTokOptions, text string, media []network.Media) []network.Problem {
	var problems []network.Problem
	add := func(field, code, message string) {
		problems = append(problems, network.OptionProblem(platform, field, code, false, message))
	}
	if o != (network.TikTokOptions{Mode: o.Mode}) {
		add("mode", network.CodeOptionUnsupported,
			"In inbox mode, the other choices are made in the TikTok app. The ones in options.tiktok are not sent.")
	}
	if len(media) == 0 || media[0].Kind != network.Video {
		return problems
	}
	if strings.TrimSpace(text) != "" {
		problems = append(problems, network.Problem{
			Code: codeCaptionNotSent,
			Message: "In inbox mode, TikTok does not accept captions for videos. The caption is not sent; write it in " +
				"the TikTok app.",
		})
	}
	if media[0].Cover > 0 {
		add("mode", network.CodeOptionUnsupported,
			"In inbox mode, TikTok does not accept a cover frame. Choose the cover in the TikTok app.")
	}
	return problems
}

// isForInbox reports whether the media go to the account's inbox, where a person completes the post.
func (d draft) isForInbox() bool { return d.Choices.Mode == network.TikTokInbox }

// applyChoices checks that the account allows the choices, and stores the privacy level in the draft. For a post in
// inbox mode, it checks only the scope.
func (n *Network) applyChoices(ctx context.Context, g network.Grant, d *draft) error {
	canUpload := slices.Contains(g.Scopes, scopeVideoUpload)
	switch {
	case d.isForInbox() && !canUpload:
		return missingScope(scopeVideoUpload,
			"Inbox mode needs the scope video.upload. Add it to the network's scopes and reconnect the account.")
	case d.isForInbox():
		d.Privacy = privacyInbox
		return nil
	case canUpload && !slices.Contains(g.Scopes, scopeVideoPublish):
		return missingScope(scopeVideoPublish, "This account can only send posts to the inbox. Choose inbox mode "+
			"(options.tiktok.mode), or add the scope video.publish to the network's scopes and reconnect the account.")
	}
	return n.queryCreator(ctx, g, d)
}

// missingScope returns the error for an account that lacks the scope of a post's mode.
func missingScope(scope, message string) *network.Error {
	return &network.Error{
		Class: network.AppNotApproved, Code: codeScopeNotAuthorized, Message: message,
		Err: errors.New("the grant lacks the scope " + scope),
	}
}

// creator holds the posting settings of an account.
type creator struct {
	Privacy         []string `json:"privacy_level_options"`
	NoComment       bool     `json:"comment_disabled"`
	NoDuet          bool     `json:"duet_disabled"`
	NoStitch        bool     `json:"stitch_disabled"`
	MaxVideoSeconds int64    `json:"max_video_post_duration_sec"`
}

// queryCreator checks the draft's choices against the account's current settings, and stores the privacy level in the
// draft. TikTok requires apps to read the settings before each post.
func (n *Network) queryCreator(ctx context.Context, g network.Grant, d *draft) error {
	info, err := n.readCreatorInfo(ctx, g)
	if err != nil {
		return err
	}
	if err := info.checkAllowed(*d); err != nil {
		return err
	}
	d.Privacy = d.Choices.PrivacyLevel
	return nil
}

// readCreatorInfo returns the account's posting settings. Source:
// https://developers.tiktok.com/doc/content-posting-api-reference-query-creator-info.
func (n *Network) readCreatorInfo(ctx context.Context, g network.Grant) (creator, error) {
	var info creator
	err := n.callAPI(ctx, g, newPostCall(network.PurposeRead, struct{}{}), "post/publish/creator_info/query/", &info)
	if err == nil && len(info.Privacy) == 0 {
		err = network.InvalidResponse(errors.New("reading the account's settings: the response has no privacy levels"))
	}
	if err == nil {
		n.videos.store(g.Account, time.Duration(info.MaxVideoSeconds)*time.Second)
	}
	return info, err
}

// audienceName returns the name of an audience, or its code if it has none.
func audienceName(code string) string {
	for _, a := range network.TikTokAudiences {
		if a.Level == code {
			return a.Name
		}
	}
	return code
}

// audienceList returns the names of audiences.
func audienceList(codes []string) string {
	names := make([]string, len(codes))
	for i, code := range codes {
		names[i] = audienceName(code)
	}
	return network.Clip(strings.Join(names, ", "), maxName)
}

// checkAllowed returns an error if the account's settings do not allow one of the draft's choices.
func (c creator) checkAllowed(d draft) error {
	reject := func(class network.ErrorClass, code, message string) error {
		return &network.Error{
			Class: class, Status: http.StatusOK, Code: code, Message: message,
			Err: errors.New("the account's settings do not allow the post"),
		}
	}
	if d.isVideo() && c.MaxVideoSeconds > 0 && d.Media[0].Duration.Seconds() > float64(c.MaxVideoSeconds) {
		return reject(network.RejectedMedia, codeDurationCheckFailed,
			fmt.Sprintf("Videos on this account can be at most %d seconds long. Use a shorter video.", c.MaxVideoSeconds))
	}
	if !slices.Contains(c.Privacy, d.Choices.PrivacyLevel) {
		return reject(network.Rejected, codePrivacyMismatch, fmt.Sprintf(
			"This account does not offer the audience “%s”. Choose from: %s.", audienceName(d.Choices.PrivacyLevel),
			audienceList(c.Privacy)))
	}
	var deniedFeatures []string
	for _, feature := range []struct {
		name           string
		chosen, denied bool
	}{
		{"comments", d.Choices.AllowComment, c.NoComment},
		{"duets", d.isVideo() && d.Choices.AllowDuet, c.NoDuet},
		{"stitches", d.isVideo() && d.Choices.AllowStitch, c.NoStitch},
	} {
		if feature.chosen && feature.denied {
			deniedFeatures = append(deniedFeatures, feature.name)
		}
	}
	if len(deniedFeatures) > 0 {
		return reject(network.Rejected, codeInteractionOff,
			"This account's settings in the TikTok app do not allow "+strings.Join(deniedFeatures,
				" and ")+". Turn them off in the post.")
	}
	return nil
}
