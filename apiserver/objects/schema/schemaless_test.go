package schema

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"quorate/raftstore/state"
)

// cronTabs returns the kinds of a definition with two versions, and a catalog that contains them.
func cronTabs(t testing.TB) (*Catalog, []*Kind) {
	t.Helper()
	static := engine(t)
	kinds, err := static.Schemaless(Definition{
		Kind: "CronTab", Group: "stable.example.com", Plural: "crontabs", Singular: "crontab",
		Versions: []string{"v1", "v2"}, Resource: "stable.example.com/crontabs/uid",
	})
	if err != nil {
		t.Fatal(err)
	}
	cat, err := static.With(kinds)
	if err != nil {
		t.Fatal(err)
	}
	return cat, kinds
}

func TestWith(t *testing.T) {
	static := engine(t)
	before := len(static.Kinds())
	cat, kinds := cronTabs(t)
	if len(static.Kinds()) != before || static.Kind("/apis/stable.example.com/v1", "crontabs") != nil {
		t.Error("the catalog that was added to has changed")
	}
	for _, k := range kinds {
		if cat.Kind(k.Prefix, "crontabs") != k || !k.Schemaless() || k.HasProtobuf() || k.Strategy.HasStatus || k.Strategy.Generation {
			t.Errorf("kind of %s: %+v", k.APIVersion, k.Identity)
		}
		if k.Operations != namespacedOperations || k.ListKind != "CronTabList" || k.Storage() != kinds[0] {
			t.Errorf("kind of %s: %b %s %s", k.APIVersion, k.Operations, k.ListKind, k.Storage().APIVersion)
		}
	}
	if cat.Stored("stable.example.com/crontabs/uid") != kinds[0] || len(cat.Kinds()) != before+2 {
		t.Error("the kinds are not all there")
	}
	if _, err := cat.With(kinds); err == nil {
		t.Error("two kinds have one route")
	}
}

func TestSchemalessObjects(t *testing.T) {
	_, kinds := cronTabs(t)
	k := kinds[0]
	const head = `{"apiVersion":"stable.example.com/v1","kind":"CronTab"`
	for _, tc := range []struct{ row, body, stored, problem, err string }{
		{row: "everything is kept K7", body: head + `,"metadata":{"name":"a"},"spec":{"int":9007199254740993,"float":1.50,"null":null,"list":[{},[],""]}}`,
			stored: `"metadata":{"name":"a","resourceVersion":"","creationTimestamp":null},"spec":{"float":1.50,"int":9007199254740993,"list":[{},[],""],"null":null}}`},
		{row: "members of the top too K7", body: head + `,"b":null,"a":"\u0061\n","status":{"x":1},"metadata":{"labels":{"l":"v"}}}`,
			stored: `"metadata":{"resourceVersion":"","creationTimestamp":null,"labels":{"l":"v"}},"a":"a\n","b":null,"status":{"x":1}}`},
		{row: "order and white space don't count", body: head + `, "spec" : { "z" : [ 1 , 2 ] , "y" : { "b" : 1 , "a" : 2 } } }`,
			stored: `"metadata":{"resourceVersion":"","creationTimestamp":null},"spec":{"y":{"a":2,"b":1},"z":[1,2]}}`},
		{row: "the last of equal names stays A46", body: head + `,"spec":{"a":1,"b":{"c":1,"c":2}},"x":1,"x":2}`,
			stored: `"metadata":{"resourceVersion":"","creationTimestamp":null},"spec":{"a":1,"b":{"c":2}},"x":2}`, problem: `duplicate field "spec.b.c"`},
		{row: "metadata is typed K12", body: head + `,"metadata":{"name":"a","wrong":1}}`,
			stored: `"metadata":{"name":"a","resourceVersion":"","creationTimestamp":null}}`, problem: `unknown field "metadata.wrong"`},
		{row: "metadata of a wrong type A38", body: head + `,"metadata":{"name":1}}`, err: "cannot unmarshal number"},
		{row: "no kind K8", body: `{"apiVersion":"stable.example.com/v1"}`, err: "Object 'Kind' is missing"},
		{row: "no apiVersion K8", body: `{"kind":"CronTab"}`, err: "Object 'apiVersion' is missing"},
		{row: "another kind K8", body: `{"apiVersion":"stable.example.com/v1","kind":"Pod"}`, err: "does not match the expected kind"},
		{row: "another version K8", body: `{"apiVersion":"stable.example.com/v2","kind":"CronTab"}`, err: "does not match the expected API version"},
		{row: "cut off", body: head + `,"spec":{"a":[1,`, err: "unexpected end"},
		{row: "too deep", body: head + `,"spec":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, err: "exceeded max depth"},
	} {
		t.Run(tc.row, func(t *testing.T) {
			o, problems, err := k.Decode([]byte(tc.body))
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("error %v, want %q", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if list := strings.Join(problems.List(), "|"); !strings.Contains(list, tc.problem) || tc.problem == "" && list != "" {
				t.Errorf("problems %q, want %q", list, tc.problem)
			}
			want := k.prefix + tc.stored
			if got := string(o.Encode().Value); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if copied := o.Copy(); !Equal(copied.root, o.root) || string(copied.AppendJSON(nil)) != string(o.AppendJSON(nil)) {
				t.Error("a copy differs")
			}
		})
	}
}

func TestSchemalessEqual(t *testing.T) {
	_, kinds := cronTabs(t)
	body := func(rest string) *Value {
		return decode(t, kinds[0], `{"apiVersion":"stable.example.com/v1","kind":"CronTab"`+rest+`}`).root
	}
	base := body(`,"spec":{"a":1},"x":null`)
	for rest, same := range map[string]bool{
		`,"x":null,"spec":{"a":1}`: true, `,"spec":{"a":2},"x":null`: false, `,"spec":{"a":1}`: false, `,"spec":{"a":1},"y":null`: false,
	} {
		if Equal(base, body(rest)) != same || Equal(body(rest), base) != same {
			t.Errorf("%s: want %v", rest, same)
		}
	}
}

// TestVersions checks that objects are stored in the form of the first version and served in that
// of each, regardless of which version was first when they were stored (K10).
func TestVersions(t *testing.T) {
	_, kinds := cronTabs(t)
	v1, v2 := kinds[0], kinds[1]
	o := decode(t, v2, `{"apiVersion":"stable.example.com/v2","kind":"CronTab","metadata":{"name":"a"},"spec":1}`)
	stored := v2.ToStorage(o).Encode()
	if !strings.HasPrefix(string(stored.Value), v1.prefix) {
		t.Errorf("stored as %s", stored.Value)
	}
	if got := o.AppendJSON(nil); !strings.HasPrefix(string(got), v2.prefix) {
		t.Errorf("the object itself became %s", got)
	}
	if got, err := v1.Present(stored.Value); err != nil || &got[0] != &stored.Value[0] {
		t.Error("the stored form is copied")
	}
	got, err := v2.Present(stored.Value)
	if want := v2.prefix + strings.TrimPrefix(string(stored.Value), v1.prefix); err != nil || string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	decoded, err := v1.DecodeStored(stored.Value)
	if err != nil {
		t.Fatal(err)
	}
	back := restore(t, v2, decoded)
	if back.Kind != v2 || back.Field("apiVersion").Str() != "stable.example.com/v2" || back.Name() != "a" {
		t.Errorf("read back as %s", back.AppendJSON(nil))
	}
	again := v2.ToStorage(back).Encode()
	value := state.Splice(stored.Value, stored.VersionOffset, 7)
	if !again.SameAs(&state.Object{Value: value, Version: 7, VersionOffset: stored.VersionOffset}) {
		t.Error("an update that changes nothing is not recognised (E20)")
	}
}

// FuzzSchemaless checks that the stored form of an accepted object means the same to clients and
// decodes to the same bytes.
func FuzzSchemaless(f *testing.F) {
	_, kinds := cronTabs(f)
	k := kinds[0]
	for _, rest := range []string{`"spec":{"b":[1.0,{"a":null}],"a":"\u2028"}`, `"x":{"c":1,"a":2,"c":3,"b":{}}`, `"metadata":{"labels":{"a":"b"}},"":0`} {
		f.Add(rest)
	}
	f.Fuzz(func(t *testing.T, rest string) {
		body := []byte(`{"apiVersion":"stable.example.com/v1","kind":"CronTab",` + rest + `}`)
		o, _, err := k.Decode(body)
		if err != nil {
			return
		}
		once := o.Encode()
		back, err := k.DecodeStored(once.Value)
		if err != nil {
			t.Fatalf("%v: %s", err, once.Value)
		}
		if twice := back.Encode(); !bytes.Equal(twice.Value, once.Value) || !Equal(o.root, back.root) {
			t.Fatalf("first  %s\nsecond %s", once.Value, twice.Value)
		}
		sent, kept := members(t, body), members(t, once.Value)
		if !reflect.DeepEqual(sent, kept) {
			t.Fatalf("sent %s\nkept %s", body, once.Value)
		}
	})
}

// members returns an object's members except metadata, decoded as a client does.
func members(t *testing.T, body []byte) map[string]any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var m map[string]any
	if err := d.Decode(&m); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	delete(m, "metadata")
	return m
}
