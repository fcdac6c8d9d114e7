package cells

import (
	"slices"
	"strings"
)

// The kinds of subjects.
const (
	kindUser           = "User"
	kindGroup          = "Group"
	kindServiceAccount = "ServiceAccount"

	// The older forms in legacy bindings.
	kindSystemUser  = "SystemUser"
	kindSystemGroup = "SystemGroup"
)

func bindingTexts() map[string]func(s *Source) string {
	return map[string]func(s *Source) string{
		"role": func(s *Source) string {
			return s.Object.Lookup("roleRef", "kind").Str() + "/" + s.Object.Lookup("roleRef", "name").Str()
		},
		"legacyRole": func(s *Source) string { return "/" + s.Object.Lookup("roleRef", "name").Str() }, // cluster roles have no namespace
		"users":      func(s *Source) string { return subjects(s, kindUser) },
		"groups":     func(s *Source) string { return subjects(s, kindGroup) },

		"serviceAccounts": func(s *Source) string { return subjects(s, kindServiceAccount) },
		"otherSubjects":   otherSubjects,
	}
}

// subjects returns the names of the subjects of a kind, with their namespaces if they have any.
func subjects(s *Source, kind string) string {
	var names []string
	for _, subject := range s.Object.Field("subjects").Items() {
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

// otherSubjects returns the subjects of a legacy binding whose kinds have no column.
func otherSubjects(s *Source) string {
	shown := []string{kindUser, kindGroup, kindServiceAccount, kindSystemUser, kindSystemGroup}
	var names []string
	for _, subject := range s.Object.Field("subjects").Items() {
		if kind := subject.Field("kind").Str(); !slices.Contains(shown, kind) {
			names = append(names, kind+"/"+subject.Field("name").Str())
		}
	}
	return strings.Join(names, ",")
}
