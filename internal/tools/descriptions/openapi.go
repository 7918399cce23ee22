package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

type object = map[string]any

// prose lists members that are only for people.
var prose = []string{
	"description", "descriptions", "enumDescriptions", "summary", "example", "examples", "externalDocs", "tags", "security",
	"annotations", "title", "operationId", "enumDeprecated", "deprecated",
}

// named lists members whose own members have arbitrary names.
var named = []string{"properties", "schemas", "parameters", "responses", "requestBodies", "headers", "paths", "content", "methods", "defs"}

// withoutProse returns a copy of a description without prose.
func withoutProse(value any, isNamed bool) any {
	switch v := value.(type) {
	case object:
		kept := object{}
		for name, member := range v {
			if !isNamed && (slices.Contains(prose, name) || strings.HasPrefix(name, "x-")) {
				continue
			}
			kept[name] = withoutProse(member, !isNamed && slices.Contains(named, name))
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

// keepPaths returns an OpenAPI description with only the given paths and the components that they refer to.
func keepPaths(original any, paths ...string) (any, error) {
	full, _ := withoutProse(original, false).(object)
	all, _ := full["paths"].(object)
	kept := object{}
	for _, path := range paths {
		if all[path] == nil {
			return nil, fmt.Errorf("the description has no %s", path)
		}
		kept[path] = all[path]
	}
	components := object{}
	todo := refsIn(kept)
	for len(todo) > 0 {
		parts := strings.Split(strings.TrimPrefix(todo[0], "#/components/"), "/")
		todo = todo[1:]
		if len(parts) != 2 {
			continue
		}
		kind, _ := components[parts[0]].(object)
		if kind == nil {
			kind = object{}
			components[parts[0]] = kind
		}
		if kind[parts[1]] != nil {
			continue
		}
		found, _ := full["components"].(object)[parts[0]].(object)
		kind[parts[1]] = found[parts[1]]
		todo = append(todo, refsIn(found[parts[1]])...)
	}
	info, _ := original.(object)["info"].(object)
	return object{
		"openapi": full["openapi"], "info": object{"title": info["title"], "version": info["version"], "license": info["license"]},
		"servers": full["servers"], "paths": kept, "components": components,
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

// keepMethods returns a discovery document with only the given methods and the schemas that they refer to.
func keepMethods(original any, names ...string) (any, error) {
	full, _ := withoutProse(original, false).(object)
	methods := object{}
	for _, name := range names {
		resource, method, _ := strings.Cut(name, ".")
		resources, _ := full["resources"].(object)
		found, _ := resources[resource].(object)
		all, _ := found["methods"].(object)
		if all[method] == nil {
			return nil, fmt.Errorf("the description has no %s", name)
		}
		methods[name] = all[method]
	}
	all, _ := full["schemas"].(object)
	schemas := object{}
	todo := refsIn(methods)
	for ; len(todo) > 0; todo = todo[1:] {
		if name := todo[0]; schemas[name] == nil && all[name] != nil {
			schemas[name] = all[name]
			todo = append(todo, refsIn(all[name])...)
		}
	}
	return object{
		"name": full["name"], "version": full["version"], "revision": full["revision"], "servicePath": full["servicePath"],
		"parameters": full["parameters"], "methods": methods, "schemas": schemas,
	}, nil
}
