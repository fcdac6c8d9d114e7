package cells

import "strconv"

func workloadTexts() map[string]func(s *Source) string {
	return map[string]func(s *Source) string{"readyReplicas": readyReplicas}
}

func readyReplicas(s *Source) string {
	return strconv.FormatInt(s.Object.Lookup("status", "readyReplicas").Int(), 10) + "/" +
		strconv.FormatInt(s.Object.Lookup("spec", "replicas").Int(), 10)
}
