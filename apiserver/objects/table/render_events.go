package table

import "strings"

func eventTexts() map[string]func(s *source) string {
	return map[string]func(s *source) string{"involvedObject": involvedObject, "eventSource": eventSource}
}

func involvedObject(s *source) string {
	about := s.root.Field("involvedObject")
	return strings.ToLower(about.Field("kind").Str()) + "/" + about.Field("name").Str()
}

func eventSource(s *source) string {
	component, host := s.root.Lookup("source", "component").Str(), s.root.Lookup("source", "host").Str()
	if component == "" || host == "" {
		return component + host
	}
	return component + ", " + host
}
