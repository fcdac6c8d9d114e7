package solo

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Summary collects the latencies and outcomes of a client's requests. It is for one goroutine.
type Summary struct {
	took  []time.Duration
	codes map[string]int
}

// Add records a request.
func (s *Summary) Add(took time.Duration, code int, err error) {
	if s.codes == nil {
		s.codes = make(map[string]int)
	}
	s.took = append(s.took, took)
	if err != nil {
		s.codes["error"]++
		return
	}
	s.codes[fmt.Sprint(code)]++
}

// Len returns the number of requests.
func (s *Summary) Len() int { return len(s.took) }

// Percentile returns the latency that so many percent of the requests did not exceed. There must be
// a request.
func (s *Summary) Percentile(percent int) time.Duration {
	slices.Sort(s.took)
	at := min(len(s.took)*percent/100, len(s.took)-1)
	return s.took[at].Round(10 * time.Microsecond)
}

// Codes returns how often each code was returned, as text.
func (s *Summary) Codes() string { return Listed(s.codes) }

// Listed returns counts as text, in the order of their names.
func Listed(counts map[string]int) string {
	var parts []string
	for name, n := range counts {
		parts = append(parts, fmt.Sprintf("%s: %d", name, n))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
