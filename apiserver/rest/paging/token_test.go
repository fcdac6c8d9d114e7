package paging

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func tokens(t testing.TB, secret string) *Tokens {
	t.Helper()
	made, err := New([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func query() Query {
	return Query{ClusterID: "c", Resource: "apps/daemonsets", Namespace: "ns", Labels: "a=b", Fields: "metadata.name!=x"}
}

func began() time.Time { return time.Unix(1_800_000_000, 0) }

// TestValue_C34: a value is safe in a URL and says to every node of the cluster what was put in.
func TestValue_C34(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		q := Query{
			ClusterID: rapid.String().Draw(r, "cluster"), Resource: rapid.String().Draw(r, "resource"),
			Namespace: rapid.String().Draw(r, "namespace"), Labels: rapid.String().Draw(r, "labels"),
			Fields: rapid.String().Draw(r, "fields"), Uninitialized: rapid.Bool().Draw(r, "uninitialized"),
		}
		p := Position{
			Index: rapid.Uint64().Draw(r, "index"), Began: began(),
			After: rapid.StringN(0, 300, 600).Draw(r, "after"),
		}
		text := tokens(t, "s").Encode(p, &q)
		if url.QueryEscape(text) != text {
			r.Fatalf("%s must be escaped in a URL", text)
		}
		got, err := tokens(t, "s").Decode(text, &q, began().Add(time.Minute))
		if err != nil || got != p {
			r.Fatalf("%+v became %+v, %v", p, got, err)
		}
	})
}

// TestUnusable_C38: what another cluster, another query or a client's pen has made is not
// recognized.
func TestUnusable_C38(t *testing.T) {
	t.Parallel()
	q := query()
	p := Position{Index: 7, After: "ns\x00a", Began: began()}
	good := tokens(t, "s").Encode(p, &q)
	for name, other := range map[string]func(q *Query){
		"cluster":       func(q *Query) { q.ClusterID = "d" },
		"resource":      func(q *Query) { q.Resource = "apps/statefulsets" },
		"namespace":     func(q *Query) { q.Namespace = "" },
		"labels":        func(q *Query) { q.Labels = "a=c" },
		"fields":        func(q *Query) { q.Fields = "" },
		"uninitialized": func(q *Query) { q.Uninitialized = true },
		"moved border":  func(q *Query) { q.Labels, q.Fields = "a=bm", "etadata.name!=x" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := query()
			other(&changed)
			if _, err := tokens(t, "s").Decode(good, &changed, began()); !errors.Is(err, ErrUnknown) {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := tokens(t, "another secret").Decode(good, &q, began()); !errors.Is(err, ErrUnknown) {
		t.Errorf("another cluster's secret: %v", err)
	}
	for i := range good {
		for _, c := range "Ab-" {
			changed := good[:i] + string(c) + good[i+1:]
			if changed == good {
				continue
			}
			if _, err := tokens(t, "s").Decode(changed, &q, began()); !errors.Is(err, ErrUnknown) {
				t.Fatalf("%q at %d: %v", c, i, err)
			}
		}
	}
	for _, text := range []string{"", "x", "§", good[:20], good + "A", good + "=", strings.Repeat("A", 5000)} {
		if _, err := tokens(t, "s").Decode(text, &q, began()); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestExpiry_C37: between five and fifteen minutes after the first page.
func TestExpiry_C37(t *testing.T) {
	t.Parallel()
	q := query()
	text := tokens(t, "s").Encode(Position{Index: 7, Began: began()}, &q)
	for after, want := range map[time.Duration]error{
		-time.Minute: nil, // the clock of the node that made it is ahead
		0:            nil, 5 * time.Minute: nil, GoodFor - time.Second: nil, GoodFor: ErrExpired, time.Hour: ErrExpired,
	} {
		if _, err := tokens(t, "s").Decode(text, &q, began().Add(after)); !errors.Is(err, want) {
			t.Errorf("after %s: %v", after, err)
		}
	}
	if GoodFor < 5*time.Minute || GoodFor > 15*time.Minute {
		t.Errorf("good for %s", GoodFor)
	}
}

// FuzzDecode: nothing but what was encoded is decoded, and there is one text for it.
func FuzzDecode(f *testing.F) {
	q := query()
	t := tokens(f, "s")
	f.Add(t.Encode(Position{Index: 7, After: "ns\x00a", Began: began()}, &q))
	f.Add("")
	f.Add(strings.Repeat("A", 100))
	f.Fuzz(func(test *testing.T, text string) {
		p, err := t.Decode(text, &q, began())
		if err == nil && t.Encode(p, &q) != text {
			test.Fatalf("%q says %+v, which is %q", text, p, t.Encode(p, &q))
		}
	})
}
