package server

import (
	"context"
	"fmt"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/voice"
)

// demoVoices lists the demo team's brand voices. The first one is the default.
var demoVoices = []voice.Draft{
	{Name: "Harbour Coffee", Guide: voice.Guide{
		BusinessDescription: "Harbour Coffee roasts coffee and runs a café on the quay. The beans come from four " +
			"farms that the owners visit each year; what is roasted on Monday is sold out by Sunday.",
		Tone:        "Warm, plain and a little dry. Short sentences. We describe rather than praise.",
		PointOfView: voice.FirstPlural,
		Audiences: []voice.BrandVoiceAudience{
			{Name: "Regulars", Description: "They live nearby, come before work and know the staff by name."},
			{Name: "Weekend visitors",
				Description: "They walk along the water and want to know when the café is open and what there is to eat."},
		},
		EmojiPolicy: voice.FewEmoji,
		Use: voice.BrandVoiceUse{
			Words: []string{"roastery", "quay", "blend"}, Phrases: []string{"see you at the harbour"},
		},
		Avoid: voice.BrandVoiceUse{
			Words: []string{"passion", "artisanal"}, Phrases: []string{"best coffee in town", "limited offer"},
		},
		CustomInstructions: "Name the farm when a post is about beans.\nEnd posts about the café with the " +
			"opening hours.",
		ContentLanguage: "en-GB",
	}},
	{Name: "Wholesale", Guide: voice.Guide{
		BusinessDescription: "Harbour Coffee supplies offices and restaurants with beans, and looks after " +
			"their machines.",
		Tone:        "Precise and friendly, as one business speaks to another.",
		PointOfView: voice.Second,
		Audiences: []voice.BrandVoiceAudience{
			{Name: "Buyers", Description: "They compare suppliers by price, delivery and service."},
		},
		EmojiPolicy: voice.NoEmoji,
		Use: voice.BrandVoiceUse{
			Words: []string{"delivery", "service"}, Phrases: []string{"within two working days"},
		},
		Avoid:              voice.BrandVoiceUse{Words: []string{"cheap"}, Phrases: []string{}},
		CustomInstructions: "Give prices without tax and say so.",
	}},
}

// addSampleVoices creates the brand voices as the owner would in the app.
func (q *Quickstart) addSampleVoices(ctx context.Context, team int64) error {
	owner, err := q.Teams.InApp(ctx, q.owner, team)
	if err != nil {
		return fmt.Errorf("acting as the demo team's owner: %w", err)
	}
	call := operation.Call{Actor: owner, RequestID: "quickstart", Now: q.db.Now()}
	for _, d := range demoVoices {
		if _, err := q.Voices.Create(ctx, call, d); err != nil {
			return fmt.Errorf("creating a demo voice: %w", err)
		}
	}
	return nil
}
