package reference

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/objects/structural"
)

// tally counts what a test compared.
type tally struct {
	schemas, refused, normalized, validated, invalid, causes, texts int
}

func (c *tally) log(t *testing.T) {
	t.Logf("%d schemas, of which both refuse %d; %d objects normalized; %d validated, of which %d invalid; %d causes compared, %d of them with texts",
		c.schemas, c.refused, c.normalized, c.validated, c.invalid, c.causes, c.texts)
}

var schemaPath = field.NewPath("spec", "validation", "openAPIV3Schema")

// pair is a schema that both sides accept.
type pair struct {
	up  *upstream
	our *structural.Schema
}

// compile gives a schema to both sides and compares the errors. It returns nil if they refuse it.
func (c *tally) compile(t *testing.T, raw []byte, status bool) *pair {
	t.Helper()
	props, ok := decodeUpstream(raw)
	if !ok {
		return nil
	}
	c.schemas++
	want := checkUpstream(t.Context(), props, status)
	our, report, err := structural.Compile(t.Context(), raw, structural.Options{Path: schemaPath, Status: status})
	if err != nil {
		t.Errorf("schema %s: %v", raw, err)
		return nil
	}
	if !c.same(t, report.Errors, want) {
		t.Errorf("schema %s", raw)
		return nil
	}
	if len(want) > 0 {
		c.refused++
		return nil
	}
	return &pair{compileUpstream(t, props), our}
}

// object gives an object to both sides, as a new one or as a change of old, and compares what they
// make of it.
func (c *tally) object(t *testing.T, p *pair, object, old []byte) {
	t.Helper()
	c.normalized++
	want, dropped, failed := p.up.normalize(t, object)
	have, err := p.our.Normalize(nil, object)
	if (failed != nil) != (err != nil) {
		t.Errorf("object %s: %v, not %v", object, err, failed)
	}
	if failed != nil || err != nil {
		return
	}
	if got := decode(t, have.Object); !reflect.DeepEqual(got, want) {
		encoded, _ := json.Marshal(want)
		t.Errorf("object %s\nnormalized %s\nwant       %s", object, have.Object, encoded)
		return
	}
	if !slices.Equal(have.Dropped, dropped) {
		t.Errorf("object %s: dropped %q, not %q", object, have.Dropped, dropped)
	}
	c.validate(t, p, have.Object, old)
}

func (c *tally) validate(t *testing.T, p *pair, object, old []byte) {
	t.Helper()
	c.validated++
	want := p.up.validate(t, object, old)
	got, err := p.our.ValidateCreate(t.Context(), object)
	if old != nil {
		got, err = p.our.ValidateUpdate(t.Context(), object, old)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(want) > 0 {
		c.invalid++
	}
	if !c.same(t, got, want) {
		t.Errorf("object %s\nold %s", object, old)
	}
}

// same compares the types, fields and texts of errors, in any order.
func (c *tally) same(t *testing.T, got, want field.ErrorList) bool {
	t.Helper()
	haveCauses, wantCauses := causes(got), causes(want)
	c.causes += len(wantCauses)
	if !slices.Equal(haveCauses, wantCauses) {
		t.Errorf("causes\n%s\nwant\n%s", strings.Join(texts(got), "\n"), strings.Join(texts(want), "\n"))
		return false
	}
	haveTexts, wantTexts := texts(got), texts(want)
	c.texts += len(wantTexts)
	if !slices.Equal(haveTexts, wantTexts) {
		t.Errorf("texts\n%s\nwant\n%s", strings.Join(haveTexts, "\n"), strings.Join(wantTexts, "\n"))
		return false
	}
	return true
}

// selfType is the name of the type of self, which the library makes up.
var selfType = regexp.MustCompile(`selfType\d+`)

// firstError is the reason why a rule about an object or list cannot be evaluated. If two members
// are malformed, the library reports either.
var firstError = regexp.MustCompile(`(Invalid value: "(?:array|object)":).* evaluating rule`)

func causes(errs field.ErrorList) []string {
	var out []string
	for _, e := range errs {
		out = append(out, fmt.Sprintf("%s %s", e.Type, e.Field))
	}
	slices.Sort(out)
	return out
}

func texts(errs field.ErrorList) []string {
	var out []string
	for _, e := range errs {
		text := selfType.ReplaceAllString(e.Error(), "@self")
		out = append(out, firstError.ReplaceAllString(text, "$1 evaluating rule"))
	}
	slices.Sort(out)
	return out
}
