package reference_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/apply"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/validation"
	"quorate/apiserver/wire/status"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func catalog(t *testing.T) *schema.Catalog {
	t.Helper()
	c, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// failer is a *testing.T or a *rapid.T, which makes a failing sequence smaller.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// pair is an object that both implementations manage.
type pair struct {
	kind   *schema.Kind
	theirs map[string]*managedfields.FieldManager // by subresource
	ours   map[string]*apply.Manager

	exists bool
	live   runtime.Object
	own    *schema.Object
}

// noDefaults leaves objects as they are: which defaults a server sets is not what is compared.
type noDefaults struct{}

func (noDefaults) Default(runtime.Object) {}

func newPair(t failer, k *schema.Kind) *pair {
	t.Helper()
	p := &pair{kind: k, theirs: map[string]*managedfields.FieldManager{}, ours: map[string]*apply.Manager{
		"": apply.New(k, "", schema.Update),
	}}
	kept := map[string]*fieldpath.Set{"": fieldpath.NewSet()}
	if k.Strategy.HasStatus {
		p.ours["status"] = apply.New(k, "status", schema.UpdateStatus)
		kept[""].Insert(fieldpath.MakePathOrDie("status"))
		kept["status"] = fieldpath.NewSet(fieldpath.MakePathOrDie("spec"))
		if k.Kind == "Pod" {
			kept["status"].Insert(fieldpath.MakePathOrDie("metadata", "ownerReferences"))
		}
	}
	gvk := p.gvk()
	for subresource, set := range kept {
		manager, err := managedfields.NewDefaultFieldManager(applyconfigurations.NewTypeConverter(scheme.Scheme), scheme.Scheme,
			noDefaults{}, scheme.Scheme, gvk, gvk.GroupVersion(), subresource,
			map[fieldpath.APIVersion]fieldpath.Filter{fieldpath.APIVersion(k.APIVersion): fieldpath.NewExcludeSetFilter(set)})
		if err != nil {
			t.Fatal(err)
		}
		p.theirs[subresource] = manager
	}
	p.live = p.stock(t, "{}")
	return p
}

func (p *pair) gvk() runtimeschema.GroupVersionKind {
	return runtimeschema.GroupVersionKind{Group: p.kind.Group, Version: p.kind.Version, Kind: p.kind.Kind}
}

// stock decodes an object as the stock type.
func (p *pair) stock(t failer, text string) runtime.Object {
	t.Helper()
	o, err := scheme.Scheme.New(p.gvk())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(text), o); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	o.GetObjectKind().SetGroupVersionKind(p.gvk())
	return o
}

func (p *pair) decode(t failer, text string) *schema.Object {
	t.Helper()
	o, problems, err := p.kind.Decode([]byte(text))
	if err != nil || len(problems.List()) > 0 {
		t.Fatalf("%v %v: %s", err, problems.List(), text)
	}
	return o
}

// apply applies a configuration with both and compares the results.
func (p *pair) apply(t failer, subresource, manager, text string, force bool) {
	t.Helper()
	config := &unstructured.Unstructured{Object: map[string]any{}}
	if err := json.Unmarshal([]byte(text), &config.Object); err != nil {
		t.Fatal(err)
	}
	theirs, theirErr := p.theirs[subresource].Apply(p.live, config, manager, force)
	var ours *schema.Object
	c, ourErr := apply.Parse([]byte(text))
	if ourErr == nil {
		ours, _, ourErr = p.ours[subresource].Apply(p.own, c, apply.Options{Manager: manager, Force: force, Now: time.Now()})
	}
	p.settle(t, theirs, ours, theirErr, ourErr)
}

// update replaces the object with both and compares the results.
func (p *pair) update(t failer, subresource, manager, text string) {
	t.Helper()
	theirs, theirErr := p.theirs[subresource].Update(p.live, p.stock(t, text), manager)
	ours := p.decode(t, text)
	ourErr := p.ours[subresource].Update(p.own, ours, manager, time.Now())
	p.settle(t, theirs, ours, theirErr, ourErr)
}

// create stores an object without managed fields.
func (p *pair) create(t failer, text string) {
	t.Helper()
	p.live, p.own = p.stock(t, text), p.decode(t, text)
	p.finish(t)
}

// settle compares the results of an operation, and makes them the stored object if it succeeded.
func (p *pair) settle(t failer, theirs runtime.Object, ours *schema.Object, theirErr, ourErr error) {
	t.Helper()
	if (theirErr == nil) != (ourErr == nil) {
		t.Fatalf("theirs: %v\nours: %v", theirErr, ourErr)
	}
	if theirErr != nil {
		compareErrors(t, theirErr, ourErr)
		return
	}
	want, got := p.normal(t, theirs), p.normal(t, p.stock(t, string(ours.AppendJSON(nil))))
	if got != want {
		t.Fatalf("ours:\n%s\ntheirs:\n%s", got, want)
	}
	p.live, p.own = theirs, ours
	p.finish(t)
}

// finish gives a new object its uid.
func (p *pair) finish(t failer) {
	t.Helper()
	accessor, err := meta.Accessor(p.live)
	if err != nil {
		t.Fatal(err)
	}
	accessor.SetUID("u")
	p.own.SetUID("u")
	p.exists = true
}

func compareErrors(t failer, theirs, ours error) {
	t.Helper()
	var want *apierrors.StatusError
	var got *status.Error
	if !errors.As(theirs, &want) || want.ErrStatus.Code != http.StatusConflict {
		if !errors.As(ours, &got) || got.Status.Code != http.StatusBadRequest || got.Status.Message != theirs.Error() {
			t.Fatalf("ours: %v\ntheirs: %v", ours, theirs)
		}
		return
	}
	if !errors.As(ours, &got) || got.Status.Code != http.StatusConflict || string(got.Status.Reason) != string(want.ErrStatus.Reason) {
		t.Fatalf("ours: %v\ntheirs: %v", ours, theirs)
	}
	if got.Status.Message != want.ErrStatus.Message {
		t.Fatalf("ours: %s\ntheirs: %s", got.Status.Message, want.ErrStatus.Message)
	}
	causes := map[string]int{}
	for _, c := range want.ErrStatus.Details.Causes {
		causes[fmt.Sprintln(c.Type, c.Message, c.Field)]++
	}
	for _, c := range got.Status.Details.Causes {
		causes[fmt.Sprintln(string(c.Reason), c.Message, c.Field)]--
	}
	for cause, n := range causes {
		if n != 0 {
			t.Errorf("%d × %s", n, cause)
		}
	}
}

// normal returns an object as text in which its managed fields are sorted and have no times.
func (p *pair) normal(t failer, o runtime.Object) string {
	t.Helper()
	o = o.DeepCopyObject()
	o.GetObjectKind().SetGroupVersionKind(p.gvk())
	accessor, err := meta.Accessor(o)
	if err != nil {
		t.Fatal(err)
	}
	entries := map[string]bool{}
	for _, e := range accessor.GetManagedFields() {
		entries[entryText(t, e)] = true
	}
	accessor.SetManagedFields(nil)
	accessor.SetUID("")
	text, err := json.MarshalIndent(o, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	all := string(text) + "\n"
	for _, e := range slices.Sorted(maps.Keys(entries)) {
		all += e + "\n"
	}
	return all
}

func entryText(t failer, e metav1.ManagedFieldsEntry) string {
	t.Helper()
	var fields any
	if err := json.Unmarshal(e.FieldsV1.GetRawBytes(), &fields); err != nil {
		t.Fatal(err)
	}
	sorted, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s %s %s %s %v %s %s", e.Manager, e.Operation, e.APIVersion, e.Subresource, e.Time != nil, e.FieldsType, sorted)
}
