package failpoint_test

import (
	"bufio"
	"crypto/tls"
	"net/http"
	"strconv"
	"strings"
)

// gauge reads one of the node's metrics; known is false while it doesn't answer.
func (s *server) gauge(name string) (value float64, known bool) {
	s.t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // who it is doesn't matter here
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, "https://"+s.api()+"/metrics", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := (&http.Client{Transport: transport, Timeout: requestTimeout}).Do(req)
	if err != nil {
		return 0, false
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if text, found := strings.CutPrefix(lines.Text(), name+" "); found {
			value, err = strconv.ParseFloat(text, 64)
			return value, err == nil
		}
	}
	return 0, false
}

// logSpan is the first and the last entry in the node's log, as soon as it answers.
func (s *server) logSpan() (first, last float64) {
	s.t.Helper()
	await(s.t, s.name+" to tell of its log", func() bool {
		var knowsFirst, knowsLast bool
		first, knowsFirst = s.gauge("quorate_raftstore_log_first_index")
		last, knowsLast = s.gauge("quorate_raftstore_log_last_index")
		return knowsFirst && knowsLast
	})
	return first, last
}
