package main

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// metaCalls maps each object to the edges to keep. All fields of the objects are kept.
var metaCalls = map[string][]string{
	"AdVideo": nil, "InstagramInsightsResult": nil,
	"IGMedia":         {"insights", "children", "comments"},
	"IGUser":          {"media", "media_publish", "stories", "insights", "content_publishing_limit", "recently_searched_hashtags"},
	"Page":            {"feed", "photos", "videos", "video_reels", "photo_stories", "video_stories", "stories", "published_posts"},
	"PagePost":        {"insights", "comments"},
	"ShadowIGHashtag": {"recent_media", "top_media"}, "User": {"accounts", "businesses", "permissions"},
}

// keepMeta returns a summary of Meta's description. It contains the fields of each object and the parameters of each
// call, with the values of their enumerations.
func keepMeta(fetch reader) (any, error) {
	enums, err := readEnums(fetch)
	if err != nil {
		return nil, err
	}
	objects := object{}
	for name, edges := range metaCalls {
		original, err := fetch.json("meta-"+name+".json", metaRaw+name+".json")
		if err != nil {
			return nil, err
		}
		description, _ := original.(object)
		calls := object{}
		for _, api := range objectsIn(description["apis"]) {
			endpoint := strings.Trim(fmt.Sprint(api["endpoint"]), "/")
			if !slices.Contains(edges, endpoint) {
				continue
			}
			params := object{}
			for _, p := range objectsIn(api["params"]) {
				params[fmt.Sprint(p["name"])] = enums[strings.ToLower(elementType(fmt.Sprint(p["type"])))]
			}
			calls[fmt.Sprint(api["method"])+" "+endpoint] = params
		}
		objects[name] = object{"fields": names(description["fields"]), "calls": calls}
	}
	return objects, nil
}

// readEnums returns the values of all enumerations, by the lowercase name of the enumeration.
func readEnums(fetch reader) (map[string]any, error) {
	original, err := fetch.json("meta-enum_types.json", metaRaw+"enum_types.json")
	if err != nil {
		return nil, err
	}
	enums := map[string]any{}
	for _, e := range objectsIn(original) {
		enums[strings.ToLower(fmt.Sprint(e["name"]))] = e["values"]
	}
	return enums, nil
}

func elementType(name string) string {
	return strings.TrimSuffix(strings.TrimPrefix(name, "list<"), ">")
}

// objectsIn returns the objects of a list.
func objectsIn(value any) []object {
	var out []object
	members, _ := value.([]any)
	for _, member := range members {
		if o, ok := member.(object); ok {
			out = append(out, o)
		}
	}
	return out
}

func names(value any) []string {
	out := []string{}
	for _, o := range objectsIn(value) {
		out = append(out, fmt.Sprint(o["name"]))
	}
	return out
}

var postmanID = regexp.MustCompile(`\{\{[a-z_]+\}\}|\b[0-9]{10,}\b`)

// keepThreads returns a summary of Meta's Postman collection for Threads. It contains the parameters of each request,
// by method and path, and the sample values of fields, metrics and scopes.
func keepThreads(original any) (any, error) {
	collection, _ := original.(object)
	calls := map[string][]string{}
	addRequests(calls, collection["item"])
	samples := map[string][]string{}
	for _, v := range objectsIn(collection["variable"]) {
		key, value := fmt.Sprint(v["key"]), fmt.Sprint(v["value"])
		if key == "scope" || strings.HasPrefix(key, "fields_") || strings.HasPrefix(key, "metrics_") {
			samples[key] = strings.Split(value, ",")
		}
	}
	return object{"calls": calls, "samples": samples}, nil
}

func addRequests(calls map[string][]string, items any) {
	for _, item := range objectsIn(items) {
		addRequests(calls, item["item"])
		request, _ := item["request"].(object)
		address, _ := request["url"].(object)
		if address == nil {
			continue
		}
		var parts []string
		members, _ := address["path"].([]any)
		for _, part := range members {
			parts = append(parts, fmt.Sprint(part))
		}
		call := fmt.Sprint(request["method"]) + " " + strings.Trim(postmanID.ReplaceAllString(path.Join(parts...), "ID"), "/")
		params := map[string]bool{"access_token": true} // the collection's authorization adds it to every query
		for _, name := range calls[call] {
			params[name] = true
		}
		for _, q := range objectsIn(address["query"]) {
			params[fmt.Sprint(q["key"])] = true
		}
		calls[call] = slices.Sorted(maps.Keys(params))
	}
}

// lexicons lists the lexicons of the calls and records that the Bluesky adapter uses. Lexicons to which these refer are
// kept too.
var lexicons = []string{
	"com.atproto.server.createSession", "com.atproto.server.refreshSession", "com.atproto.server.deleteSession",
	"com.atproto.server.getSession",
	"com.atproto.server.getServiceAuth", "com.atproto.repo.uploadBlob", "com.atproto.repo.putRecord", "com.atproto.repo.applyWrites",
	"com.atproto.repo.getRecord", "com.atproto.identity.resolveHandle", "app.bsky.feed.post", "app.bsky.feed.threadgate",
	"app.bsky.feed.postgate", "app.bsky.feed.getAuthorFeed",
	"app.bsky.actor.getProfile", "app.bsky.video.uploadVideo", "app.bsky.video.getJobStatus", "app.bsky.video.getUploadLimits",
}

func keepLexicons(fetch reader) (any, error) {
	kept := object{}
	queue := slices.Clone(lexicons)
	for ; len(queue) > 0; queue = queue[1:] {
		id, _, _ := strings.Cut(queue[0], "#")
		if id == "" || kept[id] != nil {
			continue
		}
		file := strings.ReplaceAll(id, ".", "/") + ".json"
		original, err := fetch.json("atproto-lexicons/"+file, atprotoRaw+file)
		if err != nil {
			return nil, err
		}
		description, _ := withoutProse(original, false).(object)
		kept[id] = description["defs"]
		queue = append(queue, lexiconRefs(kept[id])...)
	}
	return kept, nil
}

// lexiconRefs returns the references in a lexicon, including references in unions.
func lexiconRefs(value any) []string {
	var found []string
	switch v := value.(type) {
	case object:
		if ref, ok := v["ref"].(string); ok {
			found = append(found, ref)
		}
		refs, _ := v["refs"].([]any)
		for _, ref := range refs {
			found = append(found, fmt.Sprint(ref))
		}
		for _, member := range v {
			found = append(found, lexiconRefs(member)...)
		}
	case []any:
		for _, member := range v {
			found = append(found, lexiconRefs(member)...)
		}
	}
	return found
}
