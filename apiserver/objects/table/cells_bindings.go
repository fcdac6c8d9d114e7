package table

import (
	"slices"
	"strings"
)

// The kinds of subjects.
const (
	kindUser           = "User"
	kindGroup          = "Group"
	kindServiceAccount = "ServiceAccount"

	// Older forms of them, in legacy bindings.
	kindSystemUser  = "SystemUser"
	kindSystemGroup = "SystemGroup"
)

func bindingTexts() map[string]func(s *source) string {
	return map[string]func(s *source) string{
		"role": func(s *source) string {
			return s.root.Lookup("roleRef", "kind").Str() + "/" + s.root.Lookup("roleRef", "name").Str()
		},
		"legacyRole": func(s *source) string { return "/" + s.root.Lookup("roleRef", "name").Str() }, // its namespace is that of all
		"users":      func(s *source) string { return subjects(s, kindUser) },
		"groups":     func(s *source) string { return subjects(s, kindGroup) },

		"serviceAccounts": func(s *source) string { return subjects(s, kindServiceAccount) },
		"otherSubjects":   otherSubjects,
	}
}

// subjects names the subjects of a kind; those in a namespace with it.
func subjects(s *source, kind string) string {
	var names []string
	for _, subject := range s.root.Field("subjects").Items() {
		if subject.Field("kind").Str() != kind {
			continue
		}
		name := subject.Field("name").Str()
		if kind == kindServiceAccount {
			name = subject.Field("namespace").Str() + "/" + name
		}
		names = append(names, name)
	}
	return strings.Join(names, ",")
}

// otherSubjects names the subjects of a legacy binding that its other columns do not show.
func otherSubjects(s *source) string {
	shown := []string{kindUser, kindGroup, kindServiceAccount, kindSystemUser, kindSystemGroup}
	var names []string
	for _, subject := range s.root.Field("subjects").Items() {
		if kind := subject.Field("kind").Str(); !slices.Contains(shown, kind) {
			names = append(names, kind+"/"+subject.Field("name").Str())
		}
	}
	return strings.Join(names, ",")
}
