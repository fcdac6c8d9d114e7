package apiserver_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"quorate/apiserver"
	"quorate/apiserver/internal/testserver"
)

// bindEverything lets a user do everything, outside of system:masters, and returns the header with
// its token.
func bindEverything(t *testing.T, s *testserver.Server, user string) string {
	t.Helper()
	body := `{"metadata":{"name":"` + user + `"},"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"ClusterRole",` +
		`"name":"cluster-admin"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.platform.io","name":"` + user + `"}]}`
	check(t, s.Do("POST", "/apis/rbac.authorization.platform.io/v1/clusterrolebindings", body), want{code: 200})
	return "Authorization: Bearer " + s.IssueToken(user)
}

// begin sends a request that ends with the returned function, and returns its code.
func begin(t *testing.T, s *testserver.Server, path, header string) (code int, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	resp, err := s.Client.Do(s.Request("GET", path, "", header).WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp.StatusCode, cancel
}

// wantLimit expects a 429 that names the flag of a limit, and that the limit's metric counts it.
func wantLimit(t *testing.T, s *testserver.Server, a testserver.Answer, flag, limit string) {
	t.Helper()
	after, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if a.Code != 429 || err != nil || after < 1 || !strings.Contains(a.Body, flag) || !strings.Contains(a.Body, `"TooManyRequests"`) {
		t.Errorf("%d %v %s, want a 429 that names %s", a.Code, a.Header, a.Body, flag)
	}
	if metricOf(t, s, `quorate_apiserver_limit_hits_total{limit="`+limit+`"}`) == 0 {
		t.Errorf("the limit %s is not counted", limit)
	}
}

// TestWatchShares: one user, and one address, can't take all watches, and an administrator can
// watch while others have everything.
func TestWatchShares(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, func(cfg *apiserver.Config) {
		cfg.Limits.Watches, cfg.Limits.Shares = 8, apiserver.Shares{WatchesPerUser: 3, WatchesPerAddress: 5}
	})
	ann, bob := bindEverything(t, s, "ann"), bindEverything(t, s, "bob")
	const path = "/api/v1/configmaps?watch=1"
	var end func()
	for _, user := range []string{ann, ann, ann, bob, bob} {
		var code int
		if code, end = begin(t, s, path, user); code != 200 {
			t.Fatalf("a watch within the bounds: %d", code)
		}
	}
	wantLimit(t, s, s.Do("GET", path, "", ann), "your user has 3 open watches, which is all that one user may have (--max-watches-per-user)", "watches-per-user")
	wantLimit(t, s, s.Do("GET", path, "", bob), "--max-watches-per-address", "watches-per-address")
	wantLimit(t, s, s.Do("GET", path, "", bob, "Impersonate-User: ann"), "--max-watches-per-address", "watches-per-address")
	if code, _ := begin(t, s, path, "Authorization: Bearer "+s.Token); code != 200 {
		t.Errorf("a watch of an administrator: %d", code)
	}
	if a := s.Do("GET", path, ""); a.Code != 429 {
		t.Errorf("a watch of an administrator beyond the reserve: %d", a.Code)
	}
	if a := s.Do("GET", "/api/v1/configmaps", "", ann); a.Code != 200 {
		t.Errorf("a list: %d", a.Code)
	}
	end() // one of bob's
	s.Eventually("bob can watch again", func() bool {
		code, _ := begin(t, s, path, bob)
		return code == 200
	})
}

// TestRequestShares: the requests of one user in progress are bounded, those that have ended do not
// count, and another user is served meanwhile.
func TestRequestShares(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, func(cfg *apiserver.Config) { cfg.Limits.Shares.RequestsPerUser = 1 })
	ann, bob := bindEverything(t, s, "ann"), bindEverything(t, s, "bob")
	for range 20 { // each way to end
		check(t, s.Do("GET", "/api/v1/configmaps", "", ann), want{code: 200})
		check(t, s.Do("GET", "/api/v1/namespaces/default/configmaps/no", "", ann), want{code: 404})
		check(t, s.Do("POST", "/api/v1/namespaces/default/configmaps", "{", ann), want{code: 400})
		check(t, s.Do("GET", "/api/v1/configmaps?limit=x", "", ann), want{code: 400})
		check(t, s.Do("GET", "/api/v1/configmaps", "", ann, "Impersonate-User: nobody"), want{code: 403})
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { // again while the server refuses it because of one that asks below
		defer close(ended)
		for code := http.StatusTooManyRequests; code == http.StatusTooManyRequests && ctx.Err() == nil; {
			code = 0
			resp, err := s.Client.Do(s.Request("GET", "/debug/pprof/goroutine?seconds=50", "", ann).WithContext(ctx))
			if err == nil {
				code = resp.StatusCode
				_ = resp.Body.Close() // an answer before it is canceled is for the checks below to tell
			}
		}
	}()
	s.Eventually("ann's requests are refused", func() bool { return s.Do("GET", "/api/v1/configmaps", "", ann).Code == 429 })
	wantLimit(t, s, s.Do("GET", "/api/v1/configmaps", "", ann), "--max-requests-per-user", "requests-per-user")
	wantLimit(t, s, s.Do("GET", "/api/v1/configmaps", "", ann, "Impersonate-User: bob"), "--max-requests-per-user", "requests-per-user")
	check(t, s.Do("GET", "/api/v1/configmaps", "", bob), want{code: 200})
	check(t, s.Do("GET", "/api/v1/configmaps", ""), want{code: 200})
	cancel()
	<-ended
	s.Eventually("ann is served again", func() bool { return s.Do("GET", "/api/v1/configmaps", "", ann).Code == 200 })
}

// TestRequestRate: a user who sends more than the rate gets 429 and when to come again, and others
// are served.
func TestRequestRate(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, func(cfg *apiserver.Config) { cfg.Limits.Shares.RequestRate = 1 })
	ann, bob := bindEverything(t, s, "ann"), bindEverything(t, s, "bob")
	var refused testserver.Answer
	s.Eventually("ann is refused", func() bool {
		refused = s.Do("GET", "/api/v1/configmaps", "", ann)
		return refused.Code == http.StatusTooManyRequests
	})
	wantLimit(t, s, refused, "--max-request-rate-per-user", "request-rate-per-user")
	check(t, s.Do("GET", "/api/v1/configmaps", "", bob), want{code: 200})
	for range 30 {
		check(t, s.Do("GET", "/api/v1/configmaps", ""), want{code: 200})
	}
	s.Eventually("ann is served again", func() bool { return s.Do("GET", "/api/v1/configmaps", "", ann).Code == 200 })
}

// TestAuthFailureRate: an address that sends wrong tokens waits for its refusals, while valid
// tokens from the same address are served at once.
func TestAuthFailureRate(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, func(cfg *apiserver.Config) { cfg.Limits.Shares.AuthFailureRate = 1 })
	var longest time.Duration
	for range 16 {
		began := time.Now()
		check(t, s.Do("GET", "/api/v1/configmaps", "", "Authorization: Bearer wrong"), want{code: 401})
		longest = max(longest, time.Since(began))
	}
	if longest < 200*time.Millisecond {
		t.Errorf("no refusal took longer than %s", longest)
	}
	if metricOf(t, s, `quorate_apiserver_limit_hits_total{limit="auth-failures-per-address"}`) == 0 {
		t.Error("the limit is not counted")
	}
	for range 20 {
		check(t, s.Do("GET", "/api/v1/configmaps", ""), want{code: 200})
	}
}
