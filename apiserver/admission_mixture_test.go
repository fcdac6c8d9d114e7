package apiserver_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// mixedHook is a webhook of the mixture, as the model sees it.
type mixedHook struct {
	name      string
	operation string
	namespace string // label of the namespace; "" for all
	object    string // label of the object; "" for all
	denies    string // name of the user that the webhook refuses
	user      string // of a match condition; "" for all
}

// calls reports whether the model expects a call.
func (h *mixedHook) calls(operation, namespace string, labels []string, user string) bool {
	return (h.operation == "*" || h.operation == operation) && (h.namespace == "" || h.namespace == namespace) &&
		(h.object == "" || slices.Contains(labels, h.object)) && (h.user == "" || h.user == user)
}

// TestAdmissionMixture: two hundred users write at the same time in namespaces and with labels that
// some of twenty webhooks select. Which webhooks are called about each write, and whether it is
// refused, is as a model says that knows nothing of the server's index.
func TestAdmissionMixture(t *testing.T) {
	t.Parallel()
	const users, writes, hooks, colours = 200, 5, 20, 3
	s := testserver.Start(t, nil)
	random := rand.New(rand.NewPCG(15, 15))
	for i := range colours {
		check(t, s.Do("POST", "/api/v1/namespaces", fmt.Sprintf(`{"metadata":{"name":"mixed-%d","labels":{"colour":"c%d"}}}`, i, i)), want{code: 200})
	}
	user := func(i int) string { return fmt.Sprintf("user-%d", i) }
	var model []*mixedHook
	var mu sync.Mutex
	called := map[string][]string{} // names of webhooks by object and operation
	pick := func(all ...string) string { return all[random.IntN(len(all))] }
	for i := range hooks {
		h := &mixedHook{
			name: fmt.Sprintf("h%d.example.com", i), operation: pick("*", "CREATE", "UPDATE", "DELETE"),
			namespace: pick("", "c0", "c1", "c2"), object: pick("", "c0", "c1", "c2"), denies: user(random.IntN(users)), user: pick("", "", user(random.IntN(users))),
		}
		model = append(model, h)
		a := startAdmitter(t, func(r *reviewed) map[string]any {
			mu.Lock()
			defer mu.Unlock()
			key := r.Name + r.Operation
			called[key] = append(called[key], h.name)
			return map[string]any{"allowed": r.UserInfo.Username != h.denies}
		})
		fields := map[string]any{"rules": []any{ruleOf(h.operation, "", "v1", "configmaps")}}
		for field, label := range map[string]string{"namespaceSelector": h.namespace, "objectSelector": h.object} {
			if label != "" {
				fields[field] = map[string]any{"matchLabels": map[string]string{"colour": label}}
			}
		}
		if h.user != "" {
			fields["matchConditions"] = []any{map[string]string{"name": "user", "expression": fmt.Sprintf("request.userInfo.username == %q", h.user)}}
		}
		configure(t, s, validatingConfigurations, fmt.Sprintf("c%d", i), a.webhook(h.name, fields))
	}
	judge := func(name, operation, namespace string, labels []string, by string, answer testserver.Answer) {
		var expected []string
		refused := false
		for _, h := range model {
			if h.calls(operation, namespace, labels, by) {
				expected = append(expected, h.name)
				refused = refused || h.denies == by
			}
		}
		mu.Lock()
		got := called[name+operation]
		delete(called, name+operation)
		mu.Unlock()
		slices.Sort(got)
		slices.Sort(expected)
		if !slices.Equal(got, expected) || refused != (answer.Code == 400) || !refused && answer.Code >= 300 {
			t.Errorf("%s %s in %s with %v by %s: %d %s, called %v, expected %v (refused %v)", operation, name, namespace, labels, by, answer.Code, answer.Body, got, expected, refused)
		}
	}
	var all sync.WaitGroup
	for i := range users {
		seed := random.Uint64()
		all.Go(func() {
			own := rand.New(rand.NewPCG(seed, 1))
			token := "Authorization: Bearer " + s.IssueToken(user(i), "system:masters")
			for n := range writes {
				name := fmt.Sprintf("o-%d-%d", i, n)
				at, before, after := own.IntN(colours), fmt.Sprint("c", own.IntN(colours+1)), fmt.Sprint("c", own.IntN(colours+1))
				path, namespace := fmt.Sprintf("/api/v1/namespaces/mixed-%d/configmaps", at), fmt.Sprint("c", at)
				body := func(label string) string {
					text, err := json.Marshal(map[string]any{"metadata": map[string]any{"name": name, "labels": map[string]string{"colour": label}}})
					if err != nil {
						t.Error(err)
					}
					return string(text)
				}
				r := s.Do("POST", path, body(before), token)
				judge(name, "CREATE", namespace, []string{before}, user(i), r)
				if !r.OK() {
					continue
				}
				r = s.Do("PUT", path+"/"+name, body(after), token)
				judge(name, "UPDATE", namespace, []string{before, after}, user(i), r)
				if !r.OK() {
					after = before
				}
				r = s.Do("DELETE", path+"/"+name, "", token)
				judge(name, "DELETE", namespace, []string{after}, user(i), r)
			}
		})
	}
	all.Wait()
	if len(called) > 0 {
		t.Errorf("calls that belong to no write: %v", called)
	}
}
