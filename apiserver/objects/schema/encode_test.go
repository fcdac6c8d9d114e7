package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"quorate/raftstore/state"
)

func TestEncode(t *testing.T) {
	cat := engine(t)
	t.Run("resourceVersion_is_empty_at_the_offset", func(t *testing.T) {
		k := cat.Kind("/api/v1", "pods")
		enc := create(t, k, loadgenPod())
		spliced := state.Splice(enc.Value, enc.VersionOffset, 4711)
		if !bytes.Contains(spliced, []byte(`,"resourceVersion":"4711",`)) || bytes.Count(enc.Value, []byte(`"resourceVersion":""`)) != 1 {
			t.Errorf("got %s", spliced)
		}
		if want := `{"kind":"Pod","apiVersion":"v1",`; !strings.HasPrefix(string(enc.Value), want) || k.ListPrefix() != len(want) {
			t.Errorf("got %s", enc.Value)
		}
		o, err := k.DecodeStored(spliced)
		if err != nil || o.ResourceVersion() != "4711" {
			t.Fatalf("stored bytes read back: %v", err)
		}
		again := o.Encode()
		stored := &state.Object{Value: spliced, Version: 4711, VersionOffset: enc.VersionOffset}
		if !again.SameAs(stored) {
			t.Errorf("E20: got  %s\nwant %s", again.Value, enc.Value)
		}
		o.Root().Lookup("spec").Make("nodeName").SetStr("node-2")
		if again = o.Encode(); again.SameAs(stored) {
			t.Error("E20: a change goes unnoticed")
		}
	})
	t.Run("attributes_for_selectors", func(t *testing.T) {
		enc := create(t, cat.Kind("/api/v1", "pods"), loadgenPod())
		if want := state.NewAttributes(map[string]string{"app": "loadgen", "grp": "g1"}); enc.Labels != want {
			t.Errorf("labels %q, want %q", enc.Labels, want)
		}
		want := state.NewAttributes(map[string]string{"metadata.name": "p-1", "metadata.namespace": "bench", "spec.nodeName": "node-1",
			"spec.restartPolicy": "Always", "spec.schedulerName": "default-scheduler", "status.phase": "", "status.podIP": ""})
		if enc.Fields != want {
			t.Errorf("fields %q, want %q", enc.Fields, want)
		}
		node := decode(t, cat.Kind("/api/v1", "nodes"), `{"metadata":{"name":"n"}}`).Encode()
		if got, ok := node.Fields.Get("spec.unschedulable"); got != "false" || !ok {
			t.Errorf("fields %q", node.Fields)
		}
		event := decode(t, cat.Kind("/api/v1", "events"), `{"source":{"component":"c"},"reason":"a\u0000b"}`).Encode()
		if got, _ := event.Fields.Get("source"); got != "c" {
			t.Errorf("fields %q", event.Fields)
		}
		if got, _ := event.Fields.Get("reason"); got != "a\ufffdb" {
			t.Errorf("fields %q", event.Fields)
		}
	})
	t.Run("labels_of_selectors", func(t *testing.T) {
		pods := cat.Kind("/api/v1", "pods")
		for label, want := range map[string]string{"spec.host": "spec.nodeName", "spec.nodeName": "spec.nodeName", "metadata.uid": "metadata.uid"} {
			if got, ok := pods.SelectableField(label); got != want || !ok {
				t.Errorf("%s: %q %v", label, got, ok)
			}
		}
		if _, ok := pods.SelectableField("spec.hostname"); ok {
			t.Error("spec.hostname is selectable")
		}
	})
	t.Run("emits_fields_that_are_always_encoded", func(t *testing.T) {
		o := decode(t, cat.Kind("/api/v1", "nodes"), `{"metadata":{"name":"n"},"status":{}}`)
		want := `{"kind":"Node","apiVersion":"v1","metadata":{"name":"n","creationTimestamp":null},"spec":{},"status":{` +
			`"daemonEndpoints":{"platformletEndpoint":{"Port":0}},"nodeInfo":{"machineID":"","systemUUID":"","bootID":"","kernelVersion":"",` +
			`"osImage":"","containerRuntimeVersion":"","platformletVersion":"","platformProxyVersion":"","operatingSystem":"","architecture":"","kubeletVersion":"","kubeProxyVersion":""}}}`
		if got := string(o.AppendJSON(nil)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		role := decode(t, cat.Kind("/apis/rbac.authorization.platform.io/v1", "roles"), `{}`)
		if got, want := string(role.AppendJSON(nil)), `{"kind":"Role","apiVersion":"rbac.authorization.platform.io/v1","metadata":{"creationTimestamp":null},"rules":null}`; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
	t.Run("omits_empty_fields_A60", func(t *testing.T) {
		o := decode(t, cat.Kind("/api/v1", "configmaps"), `{"data":{},"metadata":{"name":"","labels":{},"finalizers":[],"generation":0,"deletionGracePeriodSeconds":0}}`)
		if got, want := string(o.AppendJSON(nil)), `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"creationTimestamp":null,"deletionGracePeriodSeconds":0}}`; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
	t.Run("escapes_no_more_than_needed", func(t *testing.T) {
		in := "<a href='x'>&\"\\\n\t\r\x01\u2028é\U0001f600\x7f"
		got := string(AppendString(nil, in))
		if want := `"<a href='x'>&\"\\\n\t\r\u0001\u2028é` + "\U0001f600\x7f" + `"`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		var back string
		if err := json.Unmarshal([]byte(got), &back); err != nil || back != in {
			t.Errorf("read back %q, %v", back, err)
		}
	})
}

func TestSmallMessages(t *testing.T) {
	m := engine(t).Message("DeleteOptions")
	v, problems, err := m.Decode([]byte(`{"gracePeriodSeconds":0,"preconditions":{"uid":"u"},"dryRun":["All"],"x":1}`))
	if err != nil || len(problems.List()) != 1 {
		t.Fatal(err, problems)
	}
	if g := v.Field("gracePeriodSeconds"); !g.IsSet() || g.Int() != 0 || v.Lookup("preconditions", "uid").Str() != "u" || v.Field("dryRun").At(0).Str() != "All" {
		t.Errorf("got %s", v.AppendJSON(nil))
	}
	if errs := m.Validate(v); len(errs) > 0 {
		t.Errorf("valid options: %v", errs)
	}
	bad, _, err := m.Decode([]byte(`{"gracePeriodSeconds":-1,"propagationPolicy":"Sideways","dryRun":["Some"]}`))
	if err != nil {
		t.Fatal(err)
	}
	wantBegins(t, texts(m.Validate(bad)), []string{"gracePeriodSeconds: Invalid value: -1: must be greater than or equal to 0",
		`propagationPolicy: Unsupported value: "Sideways"`, `dryRun[0]: Unsupported value: "Some": supported values: "All"`})
	if _, _, err := m.Decode([]byte(`{"gracePeriodSeconds":"x"}`)); err == nil || !strings.Contains(err.Error(), "DeleteOptions.gracePeriodSeconds") {
		t.Errorf("got %v", err)
	}
}

func TestYAML(t *testing.T) {
	t.Run("duplicate_keys_are_kept_A46", func(t *testing.T) {
		body := yamlToJSON(t, "data:\n  a: x\n  a: y\n")
		_, problems, err := engine(t).Kind("/api/v1", "configmaps").Decode([]byte(body))
		if err != nil || len(problems.List()) != 1 || problems.List()[0] != `duplicate field "data.a"` {
			t.Errorf("got %v, %v", problems, err)
		}
	})
	t.Run("reads_scalars_as_Kubernetes_does", func(t *testing.T) {
		in := "a: yes\nb: 'yes'\nc: 0x10\nd: 1.50\ne: 2018-01-02\nf: ~\ng: 0644\nh: \"a\\tb\"\n1: one\ntrue: t\ni: !!str 5\nj: 1e3\nk: !!binary aGk=\n"
		want := `{"a":true,"b":"yes","c":16,"d":1.5,"e":"2018-01-02","f":null,"g":420,"h":"a\tb","1":"one","true":"t","i":"5","j":1000,"k":"hi"}`
		if got := yamlToJSON(t, in); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
	t.Run("merge_keys", func(t *testing.T) {
		got := yamlToJSON(t, "a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: {<<: [*a, {z: 4}]}\n")
		if want := `{"a":{"x":1,"y":2},"b":{"y":3,"x":1},"c":{"x":1,"y":2,"z":4}}`; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
	t.Run("alias_bombs_are_rejected", func(t *testing.T) {
		bomb := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
		for i := 1; i < 12; i++ {
			bomb += "a" + itoa(i) + ": &a" + itoa(i) + " [" + strings.TrimSuffix(strings.Repeat("*a"+itoa(i-1)+",", 9), ",") + "]\n"
		}
		for name, body := range map[string]string{
			"aliases": bomb, "cycle": "a: &a [*a]\n", "mergeCycle": "a: &a {<<: *a}\n", "deep": strings.Repeat("[", 500) + strings.Repeat("]", 500),
			"nan": "a: .nan\n", "twoDocuments": "a: 1\n---\nb: 2\n", "garbage": "a: [\n", "listKey": "[a]: b\n",
		} {
			if out, err := YAMLToJSON([]byte(body), 1<<20); err == nil {
				t.Errorf("%s: accepted as %.100s", name, out)
			}
		}
	})
	t.Run("empty_documents_are_no_body_A37", func(t *testing.T) {
		for _, body := range []string{"", "\n# nothing\n", "---\n", "null\n"} {
			if got := yamlToJSON(t, body); got != "" {
				t.Errorf("%q: %s", body, got)
			}
		}
	})
	t.Run("written_in_order_B17", func(t *testing.T) {
		in := `{"kind":"X","apiVersion":"v1","empty":{},"none":[],"list":[{"a":1,"b":[2,[3,{"c":null}]]},"s",{}],"m":{"k k":"a: b","n":"12","t":"true","d":"2018-01-02","e":"","lines":"a\n  b\n\nc\n","tail":"x\ny","keep":"x\ny\n\n","bad":"x \ny"},"f":1.50}`
		want := `kind: X
apiVersion: v1
empty: {}
none: []
list:
- a: 1
  b:
  - 2
  - - 3
    - c: null
- s
- {}
m:
  k k: "a: b"
  "n": "12"
  t: "true"
  d: "2018-01-02"
  e: ""
  lines: |
    a
      b

    c
  tail: |-
    x
    y
  keep: |+
    x
    y

  bad: "x \ny"
f: 1.50
`
		got, err := ToYAML([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%v, got\n%s", err, got)
		}
		if back := yamlToJSON(t, string(got)); back != strings.Replace(in, "1.50", "1.5", 1) {
			t.Errorf("read back %s", back)
		}
	})
}

func yamlToJSON(t testing.TB, body string) string {
	t.Helper()
	out, err := YAMLToJSON([]byte(body), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestIndent(t *testing.T) {
	got, err := Indent([]byte(`{"a":[1,{}],"b":"<"}`))
	if want := "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": \"<\"\n}\n"; err != nil || string(got) != want {
		t.Errorf("B6: got %s, %v", got, err)
	}
}

// sameYAML reports whether a YAML text and a JSON text have the same content according to another
// YAML reader. It returns true if that reader rejects the YAML, as it does for duplicate keys.
func sameYAML(text, value []byte) bool {
	var a, b any
	if yaml.Unmarshal(text, &a) != nil || json.Unmarshal(value, &b) != nil {
		return true
	}
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// TestEncodingsAreTheirOwn: what an object was encoded to stays as it is while others of its kind
// are encoded, small ones and such that exceed the buffers that are kept.
func TestEncodingsAreTheirOwn(t *testing.T) {
	k := engine(t).Kind("/api/v1", "configmaps")
	var values, want [][]byte
	for i := range 64 {
		o, _, err := k.Decode(fmt.Appendf(nil, `{"metadata":{"name":"m-%d"},"data":{"v":%q}}`, i, strings.Repeat(string(rune('a'+i%26)), i%8*4000)))
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, o.Encode().Value)
		want = append(want, bytes.Clone(values[i]))
	}
	for i := range values {
		if !bytes.Equal(values[i], want[i]) || !bytes.Contains(values[i], fmt.Appendf(nil, `"name":"m-%d"`, i)) {
			t.Errorf("object %d is now %.80s", i, values[i])
		}
	}
}
