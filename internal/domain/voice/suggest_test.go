package voice

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGuideFrom(t *testing.T) {
	for name, c := range map[string]struct {
		texts []string
		want  Guide
	}{
		"too few": {[]string{"We roast.", "We roast."}, Guide{}},
		"we": {
			[]string{
				"Roastery news: the new blend is here and we love it ☕ #roastery", "Our roastery is open for you.",
				"Visit the Roastery, our blend is back.", "The quay and the blend are waiting.",
			},
			Guide{PointOfView: FirstPlural, EmojiPolicy: FewEmoji, Use: BrandVoiceUse{Words: []string{"blend", "roastery"}}},
		},
		"I": {
			[]string{"I bake and my cat watches.", "My oven is hot.", "Bread for me."},
			Guide{PointOfView: FirstSingular, EmojiPolicy: NoEmoji},
		},
		"German": {
			[]string{"Wir rösten und das Café ist offen.", "Das Café ist zu.", "Unser Café ist klein und fein."},
			Guide{PointOfView: FirstPlural, EmojiPolicy: NoEmoji, Use: BrandVoiceUse{Words: []string{"Café"}}},
		},
		"Italian article": {
			[]string{"I nostri caffè", "I chicchi", "I fiori"}, Guide{EmojiPolicy: NoEmoji},
		},
		"many emoji": {[]string{"🎉🎉🎉🎉🎉", "🎉🎉🎉🎉", "🎉🎉🎉🎉"}, Guide{EmojiPolicy: EmojiAtWill}},
	} {
		t.Run(name, func(t *testing.T) {
			got := deriveGuide(c.texts)
			if len(got.Use.Words) == 0 {
				got.Use.Words = nil
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
