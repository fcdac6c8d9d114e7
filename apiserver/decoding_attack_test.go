package apiserver_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"quorate/apiserver/internal/testserver"
)

const (
	decodingBytes = 3_000_000
	// decodingMemory is what an attack may add to the memory of the process, the client's included.
	decodingMemory = 500 << 20
)

// TestBodiesThatExpand sends bodies that take many times their size when they are decoded. The
// memory of the process stays bounded, and a client that behaves is served meanwhile.
func TestBodiesThatExpand(t *testing.T) {
	s := testserver.Start(t, nil)
	allow(t, s, "default", "eve", "create", "configmaps", "pods")
	allow(t, s, "default", "ann", "create", "configmaps")
	allow(t, s, "default", "ann", "get", "configmaps")
	yaml := "Content-Type: application/yaml"
	for _, tc := range []struct {
		name, user, method, path string
		head, item, tail         string
		header                   string
		bodies                   int
		codes                    []int
	}{
		{"YAML of a user without rights", "mallory", "POST", "/api/v1/configmaps", "x: [", "a,", "a]", yaml, 24, []int{403}},
		{"YAML of items", "eve", "POST", "/api/v1/namespaces/default/configmaps", "x: [", "a,", "a]", yaml, 24, []int{400, 429}},
		{"YAML of pairs", "eve", "POST", "/api/v1/namespaces/default/configmaps", "x: [", ":,", "a]", yaml, 24, []int{400, 429}},
		{"YAML whose namespace is in the body", "eve", "POST", "/api/v1/configmaps", "x: [", "a,", "a]", yaml, 24, []int{400, 429}},
		{"YAML of a review", "mallory", "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "x: [", "a,", "a]", yaml, 24, []int{413}},
		{"JSON of empty items", "eve", "POST", "/api/v1/namespaces/default/pods",
			`{"metadata":{"name":"a"},"spec":{"containers":[`, "{},", "{}]}}", "", 8, []int{400, 422, 429}},
		{"JSON of small items", "eve", "POST", "/api/v1/namespaces/default/pods",
			`{"metadata":{"name":"a"},"spec":{"tolerations":[`, "{},", "{}]}}", "", 8, []int{400, 413, 422, 429}},
		{"JSON of texts", "eve", "POST", "/api/v1/namespaces/default/pods",
			`{"metadata":{"name":"a","finalizers":[`, `"",`, `""]}}`, "", 8, []int{400, 413, 422, 429}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			body := tc.head + strings.Repeat(tc.item, (decodingBytes-len(tc.head))/len(tc.item)) + tc.tail
			token := "Authorization: Bearer " + s.IssueToken(tc.user)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			other := newBystander(t, s, "ann")
			peak := watchMemory(ctx)
			other.run(ctx)
			codes := map[int]int{}
			var mu sync.Mutex
			var wg sync.WaitGroup
			client := s.NewClient()
			for range tc.bodies {
				wg.Go(func() {
					got, err := s.Try(client, tc.method, tc.path, body, token, tc.header)
					mu.Lock()
					defer mu.Unlock()
					codes[got.Code]++
					if err != nil || !slices.Contains(tc.codes, got.Code) {
						t.Errorf("%d %.300s %v", got.Code, got.Body, err)
					}
				})
			}
			began := time.Now()
			wg.Wait()
			took := time.Since(began)
			cancel()
			grown := peak()
			t.Logf("%d bodies: %d MiB, %v, codes %v; %s", tc.bodies, grown>>20, took.Round(time.Millisecond), codes, other.wait())
			if grown > decodingMemory {
				t.Errorf("the memory grew by %d MiB", grown>>20)
			}
		})
	}
}

// allow gives a user verbs on kinds in a namespace.
func allow(t *testing.T, s *testserver.Server, namespace, user, verb string, plurals ...string) {
	t.Helper()
	name := user + "-" + verb
	role := fmt.Sprintf(`{"metadata":{"name":%q},"rules":[{"apiGroups":[""],"resources":["%s"],"verbs":[%q]}]}`,
		name, strings.Join(plurals, `","`), verb)
	binding := fmt.Sprintf(`{"metadata":{"name":%q},"subjects":[{"kind":"User","name":%q}],"roleRef":{"kind":"Role","name":%q}}`,
		name, user, name)
	base := "/apis/rbac.authorization.platform.io/v1/namespaces/" + namespace
	check(t, s.Do("POST", base+"/roles", role), want{code: 200})
	check(t, s.Do("POST", base+"/rolebindings", binding), want{code: 200})
}

// memory returns the memory that the Go runtime has from the system.
func memory() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}

// watchMemory returns a function that ends the watch and returns by how much the memory has grown
// at its peak. The watch ends with ctx, too.
func watchMemory(ctx context.Context) (peak func() uint64) {
	debug.FreeOSMemory()
	before := memory()
	done := make(chan uint64, 1)
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		most := before
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			most = max(most, memory())
			select {
			case <-ctx.Done():
				done <- most - before
				return
			case <-tick.C:
			}
		}
	}()
	return func() uint64 {
		cancel()
		return <-done
	}
}

// bystander is a client that behaves: it creates a small object and gets one, over and over.
type bystander struct {
	t       *testing.T
	s       *testserver.Server
	client  *http.Client
	token   string
	done    chan struct{}
	latency []time.Duration
	codes   map[int]int
}

func newBystander(t *testing.T, s *testserver.Server, user string) *bystander {
	return &bystander{t: t, s: s, client: s.NewClient(), token: s.IssueToken(user), done: make(chan struct{}), codes: map[int]int{}}
}

// run works until ctx ends.
func (b *bystander) run(ctx context.Context) {
	go func() {
		defer close(b.done)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ctx.Err() == nil; i++ {
			method, path, body := "GET", "/api/v1/namespaces/default/configmaps/none", ""
			if i%2 == 0 {
				method, path, body = "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"generateName":"a-"}}`
			}
			began := time.Now()
			code, err := b.ask(method, path, body)
			if err != nil {
				b.t.Errorf("the client that behaves: %v", err)
				return
			}
			b.latency = append(b.latency, time.Since(began))
			b.codes[code]++
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	}()
}

func (b *bystander) ask(method, path, body string) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, b.s.URL+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+b.token)
	resp, err := b.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// wait waits for the end and returns what the client saw. It fails the test unless each request was
// served.
func (b *bystander) wait() string {
	b.t.Helper()
	<-b.done
	for code := range b.codes {
		if code != 200 && code != 404 {
			b.t.Errorf("the client that behaves got %d: %v", code, b.codes)
		}
	}
	if len(b.latency) == 0 {
		b.t.Error("the client that behaves was not served")
		return ""
	}
	slices.Sort(b.latency)
	at := func(part int) time.Duration { return b.latency[len(b.latency)*part/100].Round(100 * time.Microsecond) }
	return fmt.Sprintf("a client that behaves: codes %v, p50 %v, p99 %v, most %v",
		b.codes, at(50), at(99), b.latency[len(b.latency)-1].Round(100*time.Microsecond))
}
