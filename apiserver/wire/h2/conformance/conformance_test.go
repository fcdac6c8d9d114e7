package conformance

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"quorate/apiserver"
	"quorate/apiserver/internal/testserver"
	"quorate/apiserver/wire/h2"
)

// cases is the number of cases in the suite.
const cases = 146

// exception is a case that the API server need not pass, and does not.
type exception struct {
	reason  string // what in RFC 9113 allows it
	netHTTP bool   // whether net/http's server passes it
}

// exceptions maps the ids of the cases that the API server need not pass to the reasons.
var exceptions = map[string]exception{}

// onUnfinishedRequest lists the cases that break a rule on a stream whose request has not ended yet
// and that expect an error on that stream. The API server refuses these unauthenticated requests as
// soon as it has their header (RFC 9113 §8.1) and closes the stream, after which it must ignore the
// frame that the case is about (§5.1). The refusal and the frame race: the cases failed in 3 to 18
// of 100 runs. They therefore run against a handler that reads the whole request before it answers.
var onUnfinishedRequest = []string{
	"http2/5.1/8", "http2/5.1/9", "http2/6.9.1/3", "http2/8.1/1", "http2/8.1.2.1/3", "http2/8.1.2.6/1", "http2/8.1.2.6/2",
}

// caseTimeout is how long a case waits for a frame. net/http's server closes connections after one
// second.
const caseTimeout = 3 * time.Second

// TestSuite runs the suite against the API server and against net/http's server. The API server
// must pass every case that is not an exception. No case is repeated.
func TestSuite(t *testing.T) {
	// One case sends more than a thousand requests without credentials at once. The refusals of the
	// cases behind it would be delayed.
	api := testserver.Start(t, func(cfg *apiserver.Config) { cfg.Limits.Shares.AuthFailureRate = -1 }).URL
	reading := readingServer(t, configureH2)
	ours := run(t, func(id string) string {
		if slices.Contains(onUnfinishedRequest, id) {
			return reading
		}
		return api
	})
	netHTTP := readingServer(t, func(*http.Server) error { return nil })
	yardstick := run(t, func(string) string { return netHTTP })
	for _, problem := range judge(ours, yardstick, exceptions) {
		t.Error(problem)
	}
	for _, id := range onUnfinishedRequest {
		if _, ran := ours[id]; !ran {
			t.Errorf("the suite has no case %s", id)
		}
	}
	if len(ours) != cases {
		t.Errorf("%d cases ran, want %d", len(ours), cases)
	}
	report(t, "API server", ours)
	report(t, "net/http", yardstick)
	if count(yardstick, isFailed) == 0 {
		t.Error("net/http's server, which is lenient on purpose, failed no case: which means that the suite proves nothing")
	}
}

// configureH2 makes a server serve HTTP/2 with package h2.
func configureH2(s *http.Server) error { return h2.Configure(s, h2.Options{}) }

// readingServer starts a server whose handler reads each request to its end before it answers, and
// returns the server's URL. It speaks HTTP/2 as configure has it, or as net/http does by default.
func readingServer(t *testing.T, configure func(s *http.Server) error) string {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err == nil {
			// An error means that the client has closed the connection.
			_, _ = io.WriteString(w, "some bytes")
		}
	}))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if err := configure(s.Config); err != nil {
		t.Fatal(err)
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL
}

// judge returns the problems of the outcomes: cases that were skipped, cases that failed without an
// exception, and exceptions that do not hold.
func judge(ours, yardstick map[string]outcome, exceptions map[string]exception) (problems []string) {
	complain := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	for id, o := range ours {
		e, excepted := exceptions[id]
		switch {
		case o.skipped:
			complain("%s (%s) was skipped", id, o.desc)
		case o.failed && !excepted:
			complain("%s (%s) failed; net/http's server passes it: %v\n%s", id, o.desc, !yardstick[id].failed, o.why)
		case !o.failed && excepted:
			complain("%s (%s) holds, so it is no exception any more: %s", id, o.desc, e.reason)
		case excepted && e.netHTTP == yardstick[id].failed:
			complain("%s (%s): net/http's server passes it: %v, unlike what the exception says", id, o.desc, !e.netHTTP)
		}
	}
	for id, e := range exceptions {
		if _, ran := ours[id]; !ran {
			complain("%s, an exception, is no case of the suite: %s", id, e.reason)
		}
	}
	slices.Sort(problems)
	return problems
}

func TestJudge(t *testing.T) {
	t.Parallel()
	held, failed, skipped := outcome{}, outcome{failed: true}, outcome{skipped: true}
	for name, tc := range map[string]struct {
		ours, yardstick outcome
		exceptions      map[string]exception
		problems        int
	}{
		"held":                             {held, failed, nil, 0},
		"failed":                           {failed, failed, nil, 1},
		"skipped":                          {skipped, held, nil, 1},
		"failed as excepted":               {failed, failed, map[string]exception{"a": {}}, 0},
		"failed, and net/http's passes":    {failed, held, map[string]exception{"a": {netHTTP: true}}, 0},
		"net/http's fails unexpectedly":    {failed, failed, map[string]exception{"a": {netHTTP: true}}, 1},
		"net/http's passes unexpectedly":   {failed, held, map[string]exception{"a": {}}, 1},
		"held though excepted":             {held, held, map[string]exception{"a": {}}, 1},
		"exception of a case that is none": {held, held, map[string]exception{"b": {}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := judge(map[string]outcome{"a": tc.ours}, map[string]outcome{"a": tc.yardstick}, tc.exceptions)
			if len(got) != tc.problems {
				t.Errorf("got %q, want %d problems", got, tc.problems)
			}
		})
	}
}

func isFailed(o outcome) bool { return o.failed }

func count(outcomes map[string]outcome, is func(outcome) bool) (n int) {
	for _, o := range outcomes {
		if is(o) {
			n++
		}
	}
	return n
}

// report logs the numbers of cases that ran, held, failed and were skipped, and which ones failed.
func report(t *testing.T, server string, outcomes map[string]outcome) {
	t.Helper()
	failed, skipped := count(outcomes, isFailed), count(outcomes, func(o outcome) bool { return o.skipped })
	t.Logf("%s: %d cases ran, %d held, %d failed, %d skipped", server, len(outcomes), len(outcomes)-failed-skipped, failed, skipped)
	var lines []string
	for id, o := range outcomes {
		if o.failed {
			lines = append(lines, fmt.Sprintf("%s: %s", id, o.desc))
		}
	}
	slices.Sort(lines)
	for _, line := range lines {
		t.Logf("%s failed %s", server, line)
	}
}
