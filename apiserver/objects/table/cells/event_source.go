package cells

import "strings"

func eventTexts() map[string]func(s *Source) string {
	return map[string]func(s *Source) string{"involvedObject": involvedObject, "eventSource": eventSource}
}

func involvedObject(s *Source) string {
	about := s.Object.Field("involvedObject")
	return strings.ToLower(about.Field("kind").Str()) + "/" + about.Field("name").Str()
}

func eventSource(s *Source) string {
	component, host := s.Object.Lookup("source", "component").Str(), s.Object.Lookup("source", "host").Str()
	if component == "" || host == "" {
		return component + host
	}
	return component + ", " + host
}
