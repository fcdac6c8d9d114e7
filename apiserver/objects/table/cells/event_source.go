package cells

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/duration"
)

// EventSeen is the renderer of the time since an event happened last.
const EventSeen = "eventSeen"

func eventTexts() map[string]func(s *Source) string {
	return map[string]func(s *Source) string{"involvedObject": involvedObject, "eventSource": eventSource, EventSeen: eventSeen}
}

// eventSeen returns the time since an event of events.k8s.io was last observed.
func eventSeen(s *Source) string {
	for _, path := range [][]string{{"series", "lastObservedTime"}, {"deprecatedLastTimestamp"}, {"eventTime"}} {
		if v := s.Object.Lookup(path...); v.IsSet() {
			return duration.HumanDuration(s.Now.Sub(v.Time()))
		}
	}
	return ""
}

// involvedObject returns the object that an event is about, of which each group has another name.
func involvedObject(s *Source) string {
	about := s.Object.Field("involvedObject")
	if about == nil {
		about = s.Object.Field("regarding")
	}
	return strings.ToLower(about.Field("kind").Str()) + "/" + about.Field("name").Str()
}

func eventSource(s *Source) string {
	component, host := s.Object.Lookup("source", "component").Str(), s.Object.Lookup("source", "host").Str()
	if component == "" || host == "" {
		return component + host
	}
	return component + ", " + host
}
