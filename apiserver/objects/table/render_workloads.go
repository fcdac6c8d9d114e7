package table

import "strconv"

func workloadTexts() map[string]func(s *source) string {
	return map[string]func(s *source) string{"readyReplicas": readyReplicas}
}

func readyReplicas(s *source) string {
	return strconv.FormatInt(s.root.Lookup("status", "readyReplicas").Int(), 10) + "/" +
		strconv.FormatInt(s.root.Lookup("spec", "replicas").Int(), 10)
}
