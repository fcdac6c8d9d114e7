package apiserver_test

import (
	"fmt"
	"math/rand/v2"
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
	collection := namespace(t, s, "shared")
	const clients, rounds = 8, 120
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			c := &loneCaller{s: s, collection: collection, client: client, rng: rand.New(rand.NewPCG(uint64(client), 1))}
			for n := range rounds {
				c.n = n
				if wrong := c.call(); wrong != "" {
					t.Errorf("client %d, request %d: %s", client, n, wrong)
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
	collection string
	client, n  int
	rng        *rand.Rand
	created    []string
}

func (c *loneCaller) call() (wrong string) {
	own := fmt.Sprintf("o-%d-%d", c.client, c.n)
	switch c.rng.IntN(7) {
	case 0:
		value := strings.Repeat(own+" ", 1+c.rng.IntN(3000))
		body := fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"of":"c%d"}},"data":{"v":%q}}`, own, c.client, value)
		a := c.s.Do("POST", c.collection, body)
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
		a := c.s.Do("GET", fmt.Sprintf("%s?labelSelector=of%%3Dc%d", c.collection, c.client), "")
		names := namesOf(a.Body)
		slices.Sort(names)
		want := slices.Sorted(slices.Values(c.created))
		if a.Code != 200 || !slices.Equal(names, want) {
			return fmt.Sprintf("list: %d, %v, want %v", a.Code, names, want)
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

// expect sends a request whose answer has a code and a text, and names none of another caller.
func (c *loneCaller) expect(method, path, body string, code int, text string, header ...string) (wrong string) {
	a := c.s.Do(method, path, body, header...)
	message := strings.ReplaceAll(a.Body, `\"`, `"`)
	if a.Code != code || !strings.Contains(message, text) {
		return fmt.Sprintf("%s %s: %d %s, want %d and %s", method, path, a.Code, a.Body, code, text)
	}
	own := fmt.Sprintf("o-%d-%d", c.client, c.n)
	if rest := strings.ReplaceAll(message, own, ""); strings.Contains(rest, "o-") {
		return fmt.Sprintf("%s %s: the answer is of another request, too: %s", method, path, a.Body)
	}
	return ""
}

// namesOf returns the names of the items of a list.
func namesOf(list string) (names []string) {
	for _, part := range strings.Split(list, `{"name":"`)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		names = append(names, name)
	}
	return names
}
