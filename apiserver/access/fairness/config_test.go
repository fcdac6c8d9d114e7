package fairness

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func TestParse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "levels.yaml")
	text := `
levels:
- name: system
  share: 20
  match:
  - groups: [system:masters, "system:nodes*"]
  - verbs: [get, update]
    resources: [leases.coordination.k8s.io]
- name: rest
  share: 80
  queueLength: 0
  maxWait: 1500ms
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	levels, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []Level{
		{Name: "system", Share: 20, QueueLength: DefaultQueueLength, MaxWait: DefaultMaxWait, Match: []Match{
			{Groups: []string{"system:masters", "system:nodes*"}},
			{Verbs: []string{"get", "update"}, Resources: []string{"leases.coordination.k8s.io"}},
		}},
		{Name: "rest", Share: 80, MaxWait: 1500 * time.Millisecond},
	}
	if !slices.EqualFunc(levels, want, func(a, b Level) bool {
		return a.Name == b.Name && a.Share == b.Share && a.QueueLength == b.QueueLength && a.MaxWait == b.MaxWait &&
			slices.EqualFunc(a.Match, b.Match, func(a, b Match) bool {
				return slices.Equal(a.Groups, b.Groups) && slices.Equal(a.Verbs, b.Verbs) && slices.Equal(a.Resources, b.Resources)
			})
	}) {
		t.Errorf("got %+v", levels)
	}
	if err := validate(DefaultLevels()); err != nil {
		t.Errorf("the default levels: %v", err)
	}
}

// TestMistakes: each mistake in a file is one line that names it.
func TestMistakes(t *testing.T) {
	t.Parallel()
	const last = "\n- {name: rest, share: 1}"
	for _, tc := range []struct{ text, want string }{
		{"", "want 1 to 16 levels, got 0"},
		{"levels: []", "want 1 to 16 levels, got 0"},
		{"level: []", "field level not found"},
		{"levels:\n- {name: a, share: 1, seats: 5}", "field seats not found"},
		{"levels:\n- {name: a, share: one}", "cannot unmarshal"},
		{"levels:\n- {name: A, share: 1}", `level 1: name "A": want lower-case letters, digits and hyphens`},
		{"levels:\n- {name: rest, share: 1, match: [{users: [u]}]}" + last, `level "rest" is there twice`},
		{"levels:\n- {name: a}", `level "a": share 0: want 1 to 1000`},
		{"levels:\n- {name: a, share: 1, queueLength: -1}", `level "a": queueLength -1: want 0 to 10000`},
		{"levels:\n- {name: a, share: 1, maxWait: soon}", `level "a": maxWait "soon": want a duration such as 10s`},
		{"levels:\n- {name: a, share: 1, maxWait: 2m}", `level "a": maxWait 2m0s: want more than 0s and at most 1m0s`},
		{"levels:\n- {name: a, share: 1}" + last, `level "a" has no match and would get no request`},
		{"levels:\n- {name: a, share: 1, match: [{}]}" + last, `level "a": match 1 is empty`},
		{"levels:\n- {name: a, share: 1, match: [{users: ['']}]}" + last, `level "a": match 1 has an empty name`},
		{"levels:\n- {name: a, share: 1}\n---\nlevels: []", "want one document"},
	} {
		_, err := Parse([]byte(tc.text))
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: got %v, want %q", tc.text, err, tc.want)
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "read priority levels") {
		t.Error(err)
	}
}

func TestDefaultLevels(t *testing.T) {
	t.Parallel()
	d, err := New(Config{Seats: 2000, Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	lease := func(verb string) Request {
		return Request{User: "jane", Verb: verb, Group: "coordination.k8s.io", Resource: "leases"}
	}
	for _, tc := range []struct {
		name string
		r    Request
		want string
	}{
		{"administrator", Request{User: "admin", Groups: []string{"system:masters", "system:authenticated"}}, "system"},
		{"node", Request{User: "system:node:n1", Groups: []string{"system:nodes"}}, "system"},
		{"leader election", lease("update"), "system"},
		{"list of leases", lease("list"), "others"},
		{"leases of another group", Request{User: "jane", Verb: "get", Group: "example.com", Resource: "leases"}, "others"},
		{"path", Request{User: "jane", Verb: "get"}, "others"},
		{"service account", Request{User: "system:serviceaccount:a:b", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:a"}}, "workload"},
		{"nobody", Request{Address: "10.0.0.1"}, "others"},
	} {
		if got := d.level(&tc.r); got.config.Name != tc.want {
			t.Errorf("%s: level %s, want %s", tc.name, got.config.Name, tc.want)
		}
	}
	total := 0
	for _, l := range *d.levels.Load() {
		total += l.seats
	}
	if total != 2000 {
		t.Errorf("the levels have %d seats together", total)
	}
	if of := divide(1, DefaultLevels()); !slices.Equal(of, []int{1, 1, 1}) {
		t.Errorf("of one seat the levels get %v", of)
	}
}

func TestFlows(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		r    Request
		want string
	}{
		{Request{User: "jane", Address: "10.0.0.1"}, "jane"},
		{Request{Address: "10.0.0.1"}, "10.0.0.1"},
		{Request{User: "system:serviceaccount:a:b"}, "system:serviceaccount:a"},
		{Request{User: "system:serviceaccount:a:c"}, "system:serviceaccount:a"},
		{Request{User: "system:serviceaccount:a"}, "system:serviceaccount:a"},
	} {
		if got := tc.r.flow(); got != tc.want {
			t.Errorf("%+v: flow %q, want %q", tc.r, got, tc.want)
		}
	}
}

// TestDeal: a hand has as many queues as it should, distinct ones, and all queues are dealt
// equally.
func TestDeal(t *testing.T) {
	t.Parallel()
	var dealt [queueCount]int
	r := rand.New(rand.NewPCG(1, 2))
	const hands = 10_000
	for range hands {
		var set uint64
		n := 0
		deal(r.Uint64(), func(i int) bool {
			set |= 1 << i
			n++
			dealt[i]++
			return true
		})
		if got := onesCount(set); got != handSize || n != handSize {
			t.Fatalf("a hand of %d queues, %d different ones", n, got)
		}
	}
	for i, n := range dealt {
		if want := hands * handSize / queueCount; n < want*8/10 || n > want*12/10 {
			t.Errorf("queue %d was dealt %d times, want about %d", i, n, want)
		}
	}
}

func onesCount(set uint64) (n int) {
	for ; set != 0; set &= set - 1 {
		n++
	}
	return n
}
