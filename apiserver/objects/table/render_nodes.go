package table

import (
	"slices"
	"strings"
)

// The labels that define a node's roles.
const (
	rolePrefix = "node-role.platform.io/"
	roleLabel  = "platform.io/role"
)

func nodeTexts() map[string]func(s *source) string {
	return map[string]func(s *source) string{
		"nodeStatus":     nodeStatus,
		"nodeRoles":      nodeRoles,
		"nodeInternalIP": func(s *source) string { return nodeAddress(s, "InternalIP") },
		"nodeExternalIP": func(s *source) string { return nodeAddress(s, "ExternalIP") },
	}
}

func nodeStatus(s *source) string {
	text := "NotReady"
	switch condition(s.root.Field("status"), "Ready") {
	case "True":
		text = "Ready"
	case "":
		text = "Unknown"
	}
	if s.root.Lookup("spec", "unschedulable").Bool() {
		text += ",SchedulingDisabled"
	}
	return text
}

func nodeRoles(s *source) string {
	var roles []string
	for key, v := range s.root.Lookup("metadata", "labels").Entries() {
		role, found := strings.CutPrefix(key, rolePrefix)
		if key == roleLabel {
			role, found = v.Str(), true
		}
		if found && role != "" {
			roles = append(roles, role)
		}
	}
	slices.Sort(roles)
	return strings.Join(slices.Compact(roles), ",")
}

func nodeAddress(s *source, kind string) string {
	for _, a := range s.root.Lookup("status", "addresses").Items() {
		if a.Field("type").Str() == kind {
			return a.Field("address").Str()
		}
	}
	return ""
}
