package apiserver_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// TestCallsShareNothing sends requests that have nothing in common at the same time: bodies,
// queries, paths, users and refusals of one must not appear in the answer to another, which gets
// the memory of the first.
func TestCallsShareNothing(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	t.Run("HTTP2", func(t *testing.T) { callAlone(t, s, func() *http.Client { return s.Client }) })
	t.Run("HTTP1", func(t *testing.T) { callAlone(t, s, s.NewHTTP1Client) })
	t.Run("audited", func(t *testing.T) {
		s, out := audited(t, "rules: [{level: RequestResponse}]\n")
		callAlone(t, s, func() *http.Client { return s.Client })
		s.Stop() // which writes all events
		created := 0
		for _, v := range out.find(t, "/namespaces/shared") {
			created += v.check(t)
		}
		if created < 50 {
			t.Errorf("events of %d creates", created)
		}
	})
}

// check looks for what another caller sent in an event, and returns 1 if it is of a create with its
// objects.
func (e *event) check(t *testing.T) int {
	if e.Verb != "create" || e.Stage != "ResponseComplete" || e.RequestObject == nil {
		return 0
	}
	var sent struct{ Metadata struct{ Name string } }
	if err := json.Unmarshal(e.RequestObject, &sent); err != nil {
		t.Fatalf("%v: %s", err, e.RequestObject)
	}
	own := strings.TrimPrefix(sent.Metadata.Name, "UPPER ")
	for _, object := range []string{string(e.RequestObject), string(e.ResponseObject), e.ResponseStatus.Message} {
		if rest := strings.ReplaceAll(object, own, ""); own == "" || strings.Contains(rest, "o-") {
			t.Errorf("the event of %s is of another request, too: %s", own, object)
		}
	}
	if e.ResponseStatus.Code == http.StatusCreated || e.ResponseStatus.Code == http.StatusOK {
		return 1
	}
	return 0
}

// callAlone runs callers side by side.
func callAlone(t *testing.T, s *testserver.Server, newClient func() *http.Client) {
	collection := namespace(t, s, "shared"+strings.ToLower(t.Name()[strings.LastIndex(t.Name(), "/")+1:]))
	const callers, rounds = 8, 120
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			c := &loneCaller{s: s, client: newClient(), collection: collection, caller: caller, rng: rand.New(rand.NewPCG(uint64(caller), 1))}
			for n := range rounds {
				c.n = n
				if wrong := c.call(); wrong != "" {
					t.Errorf("caller %d, request %d: %s", caller, n, wrong)
					return
				}
			}
		})
	}
	all.Wait()
}

// loneCaller sends requests of its own, and knows their answers.
type loneCaller struct {
	s          *testserver.Server
	client     *http.Client
	collection string
	caller, n  int
	rng        *rand.Rand
	created    []string
}

func (c *loneCaller) call() (wrong string) {
	own := fmt.Sprintf("o-%d-%d", c.caller, c.n)
	switch c.rng.IntN(7) {
	case 0:
		value := strings.Repeat(own+" ", 1+c.rng.IntN(3000))
		body := fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"of":"c%d"}},"data":{"v":%q}}`, own, c.caller, value)
		a := c.do("POST", c.collection, body)
		if a.Code/100 != 2 || !strings.Contains(a.Body, fmt.Sprintf("%q", value)) || !strings.Contains(a.Body, fmt.Sprintf("%q", own)) {
			return fmt.Sprintf("create: %d %.300s", a.Code, a.Body)
		}
		c.created = append(c.created, own)
		return ""
	case 1:
		return c.expect("GET", "/api/v1/namespaces/n-"+own+"/secrets/s-"+own, "", 403,
			fmt.Sprintf(`secrets "s-%s" is forbidden: User "u-%s" cannot get resource "secrets" in API group "" in the namespace "n-%s"`, own, own, own),
			"Impersonate-User: u-"+own)
	case 2:
		return c.expect("GET", c.collection+"/none-"+own, "", 404, fmt.Sprintf(`configmaps "none-%s" not found`, own))
	case 3:
		a := c.do("GET", fmt.Sprintf("%s?labelSelector=of%%3Dc%d", c.collection, c.caller), "")
		names, err := namesInList(a.Body)
		slices.Sort(names)
		want := slices.Sorted(slices.Values(c.created))
		if a.Code != 200 || err != nil || !slices.Equal(names, want) {
			return fmt.Sprintf("list: %d, %v, %v, want %v", a.Code, names, err, want)
		}
		return ""
	case 4:
		return c.expect("GET", "/apis/none-"+own+"/v1/things", "", 404, "")
	case 5:
		return c.expect("GET", c.collection+"?timeout="+own, "", 400, own)
	default:
		return c.expect("POST", c.collection, `{"metadata":{"name":"UPPER `+own+`"}}`, 422, "UPPER "+own)
	}
}

// do sends a request; the answer to one that fails is the error.
func (c *loneCaller) do(method, path, body string, header ...string) testserver.Answer {
	a, err := c.s.Try(c.client, method, path, body, header...)
	if err != nil {
		a.Body = err.Error()
	}
	return a
}

// expect sends a request whose answer has a code and a text, and names none of another caller.
func (c *loneCaller) expect(method, path, body string, code int, text string, header ...string) (wrong string) {
	a := c.do(method, path, body, header...)
	message := strings.ReplaceAll(a.Body, `\"`, `"`)
	if a.Code != code || !strings.Contains(message, text) {
		return fmt.Sprintf("%s %s: %d %s, want %d and %s", method, path, a.Code, a.Body, code, text)
	}
	own := fmt.Sprintf("o-%d-%d", c.caller, c.n)
	if rest := strings.ReplaceAll(message, own, ""); strings.Contains(rest, "o-") {
		return fmt.Sprintf("%s %s: the answer is of another request, too: %s", method, path, a.Body)
	}
	return ""
}
