package apiserver_test

import (
	"regexp"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// Of a histogram without an observation, a server exports nothing.
func TestMetricsHaveUsedHistogramsOnly(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	text := s.Do("GET", "/metrics", "").Body
	histograms := regexp.MustCompile(`(?m)^# TYPE (\S+) histogram$`).FindAllStringSubmatch(text, -1)
	if len(histograms) == 0 {
		t.Error("no histogram is used")
	}
	for _, unused := range regexp.MustCompile(`(?m)^\S+_count(\{.*\})? 0$`).FindAllString(text, -1) {
		t.Errorf("exported without an observation: %s", unused)
	}
}
