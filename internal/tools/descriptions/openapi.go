package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

type object = map[string]any

// proseMembers lists members that contain text for people.
var proseMembers = []string{
	"description", "descriptions", "enumDescriptions", "summary", "example", "examples", "externalDocs", "tags", "security",
	"annotations", "title", "operationId", "enumDeprecated", "deprecated",
}

// mapMembers lists members whose values are objects with arbitrary member names.
var mapMembers = []string{"properties", "schemas", "parameters", "responses", "requestBodies", "headers", "paths",
	"content", "methods", "defs"}

// withoutProse returns a copy of a description without prose.
func withoutProse(value any, isMap bool) any {
	switch v := value.(type) {
	case object:
		kept := object{}
		for name, member := range v {
			if !isMap && (slices.Contains(proseMembers, name) || strings.HasPrefix(name, "x-")) {
				continue
			}
			kept[name] = withoutProse(member, !isMap && slices.Contains(mapMembers, name))
		}
		return kept
	case []any:
		kept := make([]any, len(v))
		for i, member := range v {
			kept[i] = withoutProse(member, false)
		}
		return kept
	}
	return value
}

func keepX(original any) (any, error) {
	return keepPaths(original, "/2/tweets", "/2/users/me", "/2/users/{id}/tweets", "/2/media/upload",
		"/2/media/upload/initialize", "/2/media/upload/{id}/append", "/2/media/upload/{id}/finalize", "/2/media/metadata",
		"/2/usage/tweets")
}

func keepPinterest(original any) (any, error) {
	return keepPaths(original, "/oauth/token", "/user_account", "/boards", "/boards/{board_id}/pins", "/boards/{board_id}/sections",
		"/pins", "/pins/{pin_id}", "/pins/{pin_id}/analytics", "/pins/analytics", "/media", "/media/{media_id}")
}

// keepPaths returns an OpenAPI description with only the given paths and the components to which they refer.
func keepPaths(original any, paths ...string) (any, error) {
	document, _ := withoutProse(original, false).(object)
	allPaths, _ := document["paths"].(object)
	kept := object{}
	for _, path := range paths {
		if allPaths[path] == nil {
			return nil, fmt.Errorf("the description has no %s", path)
		}
		kept[path] = allPaths[path]
	}
	components := object{}
	queue := refsIn(kept)
	for len(queue) > 0 {
		parts := strings.Split(strings.TrimPrefix(queue[0], "#/components/"), "/")
		queue = queue[1:]
		if len(parts) != 2 {
			continue
		}
		group, _ := components[parts[0]].(object)
		if group == nil {
			group = object{}
			components[parts[0]] = group
		}
		if group[parts[1]] != nil {
			continue
		}
		found, _ := document["components"].(object)[parts[0]].(object)
		group[parts[1]] = found[parts[1]]
		queue = append(queue, refsIn(found[parts[1]])...)
	}
	info, _ := original.(object)["info"].(object)
	return object{
		"openapi": document["openapi"], "info": object{"title": info["title"], "version": info["version"],
			"license": info["license"]},
		"servers": document["servers"], "paths": kept, "components": components,
	}, nil
}

// refsIn returns the values of all $ref members.
func refsIn(value any) []string {
	var found []string
	switch v := value.(type) {
	case object:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if ref, ok := v[name].(string); ok && name == "$ref" {
				found = append(found, ref)
			} else {
				found = append(found, refsIn(v[name])...)
			}
		}
	case []any:
		for _, member := range v {
			found = append(found, refsIn(member)...)
		}
	}
	return found
}

func keepYouTube(original any) (any, error) {
	return keepMethods(original,
		"channels.list", "commentThreads.insert", "commentThreads.list", "playlistItems.insert",
		"playlistItems.list", "thumbnails.set", "videos.insert", "videos.list")
}

func keepAnalytics(original any) (any, error) { return keepMethods(original, "reports.query") }

// keepMethods returns a discovery document with only the given methods and the schemas to which they refer.
func keepMethods(original any, names ...string) (any, error) {
	document, _ := withoutProse(original, false).(object)
	methods := object{}
	for _, name := range names {
		resource, method, _ := strings.Cut(name, ".")
		resources, _ := document["resources"].(object)
		found, _ := resources[resource].(object)
		all, _ := found["methods"].(object)
		if all[method] == nil {
			return nil, fmt.Errorf("the description has no %s", name)
		}
		methods[name] = all[method]
	}
	allSchemas, _ := document["schemas"].(object)
	schemas := object{}
	queue := refsIn(methods)
	for ; len(queue) > 0; queue = queue[1:] {
		if name := queue[0]; schemas[name] == nil && allSchemas[name] != nil {
			schemas[name] = allSchemas[name]
			queue = append(queue, refsIn(allSchemas[name])...)
		}
	}
	return object{
		"name": document["name"], "version": document["version"], "revision": document["revision"],
		"servicePath": document["servicePath"],
		"parameters":  document["parameters"], "methods": methods, "schemas": schemas,
	}, nil
}
