package reference_test

import (
	"reflect"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/validation"
)

// catalog is compiled once. It is immutable.
var catalog = sync.OnceValues(func() (*schema.Catalog, error) { return schema.Load(kinds.Files, validation.Hooks()) })

// subject is a kind and the stock type that it is compared with.
type subject struct {
	prefix, plural string
	stock          any
}

var subjects = []subject{
	{"/api/v1", "pods", corev1.Pod{}},
	{"/api/v1", "nodes", corev1.Node{}},
	{"/api/v1", "namespaces", corev1.Namespace{}},
	{"/api/v1", "configmaps", corev1.ConfigMap{}},
	{"/api/v1", "persistentvolumes", corev1.PersistentVolume{}},
	{"/apis/apps/v1beta2", "statefulsets", appsv1.StatefulSet{}},
	{"/apis/apps/v1beta2", "daemonsets", appsv1.DaemonSet{}},
	{"/apis/batch/v1beta1", "cronjobs", batchv1.CronJob{}},
	{"/apis/rbac.authorization.platform.io/v1", "roles", rbacv1.Role{}},
}

func (s subject) kind(tb testing.TB) *schema.Kind {
	tb.Helper()
	c, err := catalog()
	if err != nil {
		tb.Fatal(err)
	}
	k := c.Kind(s.prefix, s.plural)
	if k == nil {
		tb.Fatalf("no kind %s/%s", s.prefix, s.plural)
	}
	return k
}

// pair is a type of ours and the stock type of the same field.
type pair struct {
	ours  *schema.Type
	stock reflect.Type
}

func (s subject) pair(tb testing.TB) pair {
	tb.Helper()
	return pair{s.kind(tb).Message.Type(), reflect.TypeOf(s.stock)}
}

// common is a field that both types have under the same name and in the same form.
type common struct {
	pair
	name   string
	merge  bool
	key    string // the merge key
	ours   *schema.Field
	strict reflect.StructField
}

// fieldsOf caches the fields of pairs, because finding them takes reflection.
var fieldsOf sync.Map

// fields returns the common fields of two messages.
func (p pair) fields() []common {
	if known, ok := fieldsOf.Load(p); ok {
		return known.([]common)
	}
	fields := p.findFields()
	fieldsOf.Store(p, fields)
	return fields
}

func (p pair) findFields() []common {
	stock := map[string]reflect.StructField{}
	flatten(p.stock, stock)
	var out []common
	for _, f := range p.ours.Message().Fields() {
		s, ok := stock[f.Name]
		below := pair{f.Type, elementary(s.Type)}
		if !ok || !below.comparable() {
			continue
		}
		out = append(out, common{
			pair: below, name: f.Name, ours: f, strict: s,
			merge: f.Type.Form == schema.FormList && strings.HasPrefix(f.Spec.PatchStrategy, "merge"), key: f.Spec.PatchMergeKey,
		})
	}
	return out
}

// flatten collects the fields of a struct and of its embedded structs by their JSON names.
func flatten(t reflect.Type, into map[string]reflect.StructField) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && (f.Anonymous || strings.Contains(options, "inline")) {
			flatten(elementary(f.Type), into)
			continue
		}
		into[name] = f
	}
}

func elementary(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// below returns the pair of the types of items or values.
func (p pair) below() pair { return pair{p.ours.Elem(), elementary(p.stock.Elem())} }

// comparable reports whether both types have the same form.
func (p pair) comparable() bool {
	if p.stock == nil {
		return false
	}
	switch p.ours.Form {
	case schema.FormMessage:
		return p.stock.Kind() == reflect.Struct
	case schema.FormList:
		return p.stock.Kind() == reflect.Slice && p.below().comparable()
	case schema.FormMap:
		return p.stock.Kind() == reflect.Map && p.below().comparable()
	case schema.FormRaw:
		return false
	case schema.FormBytes:
		return p.stock.Kind() == reflect.Slice
	}
	return p.stock.Kind() != reflect.Map && p.stock.Kind() != reflect.Slice
}

// TestPatchStrategiesMatchStockTypes compares patchStrategy and patchMergeKey of every common
// field.
func TestPatchStrategiesMatchStockTypes(t *testing.T) {
	t.Parallel()
	seen := map[pair]bool{}
	merging := 0
	var walk func(path string, p pair)
	walk = func(path string, p pair) {
		switch p.ours.Form {
		case schema.FormList, schema.FormMap:
			walk(path+"[]", p.below())
		case schema.FormMessage:
			if seen[p] {
				return
			}
			seen[p] = true
			for _, f := range p.fields() {
				path := path + "." + f.name
				strategy, key := f.strict.Tag.Get("patchStrategy"), f.strict.Tag.Get("patchMergeKey")
				if f.pair.ours.Form == schema.FormList && (strategy != f.ours.Spec.PatchStrategy || key != f.ours.Spec.PatchMergeKey) {
					t.Errorf("%s: %q by %q, the stock type says %q by %q", path, f.ours.Spec.PatchStrategy, f.ours.Spec.PatchMergeKey, strategy, key)
				}
				if f.merge {
					merging++
				}
				walk(path, f.pair)
			}
		}
	}
	for _, s := range subjects {
		walk(s.plural, s.pair(t))
	}
	if merging < 12 {
		t.Errorf("only %d fields merge", merging)
	}
}
