package cells

import (
	"slices"
	"strings"
)

// The labels that define a node's roles.
const (
	rolePrefix = "node-role.platform.io/"
	roleLabel  = "platform.io/role"
)

func nodeTexts() map[string]func(s *Source) string {
	return map[string]func(s *Source) string{
		"nodeStatus":     nodeStatus,
		"nodeRoles":      nodeRoles,
		"nodeInternalIP": func(s *Source) string { return nodeAddress(s, "InternalIP") },
		"nodeExternalIP": func(s *Source) string { return nodeAddress(s, "ExternalIP") },
	}
}

func nodeStatus(s *Source) string {
	text := "NotReady"
	switch condition(s.Object.Field("status"), "Ready") {
	case "True":
		text = "Ready"
	case "":
		text = "Unknown"
	}
	if s.Object.Lookup("spec", "unschedulable").Bool() {
		text += ",SchedulingDisabled"
	}
	return text
}

func nodeRoles(s *Source) string {
	var roles []string
	for key, v := range s.Object.Lookup("metadata", "labels").Entries() {
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

func nodeAddress(s *Source, kind string) string {
	for _, a := range s.Object.Lookup("status", "addresses").Items() {
		if a.Field("type").Str() == kind {
			return a.Field("address").Str()
		}
	}
	return ""
}
