package rbac

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	kindfiles "quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/objects/validation"
	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// catalog contains the kinds that have files, compiled once.
var catalog = sync.OnceValues(func() (*schema.Catalog, error) { return schema.Load(kindfiles.Files, validation.Hooks()) })

// world is a store in memory. Only one goroutine uses it.
type world struct {
	Store // nil, so that other methods panic
	t     fataler
	tree  *state.Tree
	root  *state.Root
	hub   *history.Hub
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func newWorld(t fataler) *world { return newForgetfulWorld(t, history.DefaultMaxBytes) }

// newForgetfulWorld returns a world that retains a number of bytes of history.
func newForgetfulWorld(t fataler, bytes int64) *world {
	hub, err := history.New(history.Config{MaxBytes: bytes})
	if err != nil {
		t.Fatalf("%v", err)
	}
	w := &world{t: t, tree: state.NewTree(), hub: hub}
	w.root = w.tree.Publish()
	return w
}

func (w *world) View(context.Context, raftstore.Read) (*state.Root, error) { return w.root, nil }

func (w *world) Watch(p state.Prefix, after uint64) (*history.Cursor, error) {
	return w.hub.Watch(p, after), nil
}

// evaluator returns an evaluator without an index and the follower that builds its indexes.
func (w *world) evaluator() (*Evaluator, *follower) {
	w.t.Helper()
	c, err := catalog()
	if err != nil {
		w.t.Fatalf("%v", err)
	}
	e, err := New(Config{Store: w, Catalog: c, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry()})
	if err != nil {
		w.t.Fatalf("%v", err)
	}
	return e, &follower{evaluator: e}
}

// known returns an evaluator with the index of the current state.
func (w *world) known() *Evaluator {
	w.t.Helper()
	e, f := w.evaluator()
	if err := f.advance(context.Background(), w.root); err != nil {
		w.t.Fatalf("%v", err)
	}
	return e
}

func kindOf(t fataler, plural string) *schema.Kind {
	t.Helper()
	c, err := catalog()
	if err != nil {
		t.Fatalf("%v", err)
	}
	return c.Stored(group + "/" + plural)
}

// object returns an object with the given JSON members.
func object(t fataler, plural, namespace, name, members string) *schema.Object {
	t.Helper()
	k := kindOf(t, plural)
	o, problems, err := k.Decode(fmt.Appendf(nil, `{"metadata":{"name":%q,"namespace":%q,"uid":"u"},%s}`, name, namespace, members))
	if err != nil || len(problems.List()) > 0 {
		t.Fatalf("%s: %v %v", members, err, problems.List())
	}
	k.PrepareCreate(o)
	o.SetUID("u")
	if errs := k.ValidateCreate(o); len(errs) > 0 {
		t.Fatalf("%s: %v", members, errs)
	}
	return o
}

// put stores an object and replaces the existing one.
func (w *world) put(plural, namespace, name, members string) {
	w.t.Helper()
	w.store(object(w.t, plural, namespace, name, members))
}

func (w *world) store(decoded *schema.Object) {
	o, _ := stored.Encode(decoded)
	o.Key, o.Version = stored.Key(decoded.Kind, decoded.Namespace(), decoded.Name()), w.tree.Index()+1
	o.Value = state.Splice(o.Value, o.VersionOffset, o.Version)
	does := history.Added
	if w.tree.Get(o.Key) != nil {
		does = history.Modified
	}
	w.apply(o, does)
}

// drop deletes an object if it exists.
func (w *world) drop(plural, namespace, name string) {
	w.t.Helper()
	o := w.tree.Get(stored.Key(kindOf(w.t, plural), namespace, name))
	if o == nil {
		return
	}
	final := *o
	final.Version = w.tree.Index() + 1
	w.apply(&final, history.Deleted)
}

func (w *world) apply(o *state.Object, does history.Type) {
	w.tree.Advance(o.Version)
	if does == history.Deleted {
		w.tree.Delete(o.Key)
	} else {
		w.tree.Set(o)
	}
	w.root = w.tree.Publish()
	w.hub.Append(o.Version, []*history.Event{{Index: o.Version, Type: does, Object: o}})
}

// ruleOf parses a rule "verbs groups resources names" of comma-separated lists, with "core" for the
// group "" and "-" for an empty list.
func ruleOf(text string) rule {
	fields := make([][]string, 4)
	for i, field := range strings.Fields(text) {
		if field != "-" {
			fields[i] = strings.Split(strings.ReplaceAll(field, "core", ""), ",")
		}
	}
	return rule{verbs: fields[0], groups: fields[1], resources: fields[2], names: fields[3]}
}

// pathRule parses a rule "verbs paths".
func pathRule(text string) rule {
	verbs, paths, _ := strings.Cut(text, " ")
	return rule{verbs: strings.Split(verbs, ","), paths: strings.Split(paths, ",")}
}

// rulesJSON returns the member rules of a role as JSON.
func rulesJSON(t fataler, rules ...rule) string {
	t.Helper()
	o := kindOf(t, "clusterroles").New()
	for i := range rules {
		rules[i].write(o)
	}
	text := string(o.AppendJSON(nil))
	at := strings.Index(text, `"rules":`)
	return strings.TrimSuffix(text[at:], "}")
}
