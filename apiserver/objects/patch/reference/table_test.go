package reference_test

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"quorate/apiserver/objects/patch"
)

const live = `{"metadata":{"labels":{"a":"1","b":"2"},"finalizers":["x/1","x/2","x/3"]},` +
	`"spec":{"containers":[{"name":"a","image":"x","args":["1","2"]},{"name":"b","image":"y","env":[{"name":"E","value":"1"}]}],` +
	`"volumes":[{"name":"v","emptyDir":{}},{"name":"w","hostPath":{"path":"/"}}],"tolerations":[{"key":"k"}],"securityContext":{"runAsUser":1}}}`

// TestDirectives has a case for each directive at each kind of value.
func TestDirectives(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, body string }{
		{"nothing", `{}`},
		{"F14 null", `{"metadata":{"labels":null},"spec":{"containers":null,"hostname":null}}`},
		{"F14 list without strategy", `{"spec":{"tolerations":[{"key":"l"}],"containers":[{"name":"a","args":[]}]}}`},
		{"F14 new", `{"spec":{"initContainers":[{"name":"i","ports":[{"containerPort":53},{"containerPort":53}]}],"affinity":{"podAffinity":null}}}`},
		{"F16 order alone", `{"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}]}}`},
		{"F16 order of some", `{"spec":{"$setElementOrder/volumes":[{"name":"w"}]}}`},
		{"F16 order with new and kept", `{"spec":{"$setElementOrder/containers":[{"name":"n"},{"name":"b"}],"containers":[{"name":"n"}]}}`},
		{"F16 order of primitives", `{"metadata":{"$setElementOrder/finalizers":["x/3","x/4","x/1"],"finalizers":["x/4"]}}`},
		{"F17 map", `{"metadata":{"labels":{"$patch":"replace","c":"3"}}}`},
		{"F17 message", `{"spec":{"securityContext":{"$patch":"replace","fsGroup":2}}}`},
		{"F18 map", `{"metadata":{"labels":{"$patch":"delete"}},"spec":{"securityContext":{"$patch":"delete","x":1}}}`},
		{"F18 all", `{"$patch":"delete"}`},
		{"F18 item", `{"spec":{"containers":[{"name":"a","$patch":"delete"},{"name":"zz","$patch":"delete"}]}}`},
		{"F18 item and again", `{"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"b"}],"containers":[{"name":"a","$patch":"delete"},{"name":"a","image":"n"}]}}`},
		{"F19", `{"spec":{"containers":[{"name":"c"},{"$patch":"replace"},{"name":"d"}]}}`},
		{"F19 without merge key", `{"spec":{"containers":[{"$patch":"replace"},{"image":"d"}]}}`},
		{"F21", `{"metadata":{"$deleteFromPrimitiveList/finalizers":["x/2","x/9"]}}`},
		{"F21 with order", `{"metadata":{"$deleteFromPrimitiveList/finalizers":["x/2"],"$setElementOrder/finalizers":["x/3","x/1"]}}`},
		{"F21 atomic list", `{"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"b"}],"containers":[{"name":"a","$deleteFromPrimitiveList/args":["1"]}]}}`},
		{"F22 other order", `{"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}],"containers":[{"name":"a"},{"name":"b"}]}}`},
		{"F22 no place", `{"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":"q"}]}}`},
		{"F22 malformed", `{"spec":{"$setElementOrder/containers":"a"}}`},
		{"F22 no name", `{"spec":{"$setElementOrder":[]}}`},
		{"F23", `{"spec":{"securityContext":{"$retainKeys":["fsGroup"],"fsGroup":2}}}`},
		{"F23 item", `{"spec":{"$setElementOrder/volumes":[{"name":"v"},{"name":"w"}],"volumes":[{"name":"v","$retainKeys":["name","hostPath"],"hostPath":{"path":"/p"}}]}}`},
		{"F23 outside", `{"spec":{"securityContext":{"$retainKeys":["fsGroup"],"runAsUser":2}}}`},
		{"F23 no list", `{"spec":{"securityContext":{"$retainKeys":{}}}}`},
		{"F24 no merge key", `{"spec":{"containers":[{"image":"a"}]}}`},
		{"F24 unknown directive", `{"spec":{"$patch":"x"}}`},
		{"F24 unknown directive of an item", `{"spec":{"containers":[{"name":"a","$patch":"x"}]}}`},
		{"F24 mixed list", `{"metadata":{"finalizers":["a",1]}}`},
		{"F24 scalars for objects", `{"spec":{"containers":["a"]}}`},
		{"other forms", `{"metadata":{"labels":"a"},"spec":{"containers":{"name":"a"},"securityContext":[1]}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := subjects[0]
			s.compare(t, s.kind(t), s.pair(t), []byte(live), []byte(tc.body), true)
		})
	}
}

// TestDifferences checks the intentional differences, so that the list in doc.go stays correct.
func TestDifferences(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, live, body, ours, library string }{
		{"F16", `{"metadata":{"finalizers":["a","b"]}}`, `{"metadata":{"finalizers":["c"]}}`, `{"metadata":{"finalizers":["a","b","c"]}}`, `{"metadata":{"finalizers":["c","a","b"]}}`},
		{"F17", `{}`, `{"spec":{"$patch":"replace","nodeName":"n"}}`, `{"spec":{"nodeName":"n"}}`, `{}`},
		{"F20", `{"spec":{}}`, `{"spec":{"$patch":"merge","nodeName":"n"}}`, `{"spec":{"nodeName":"n"}}`, ``},
		{"new", `{}`, `{"spec":{"$retainKeys":["nodeName"],"nodeName":"n"}}`, `{"spec":{"nodeName":"n"}}`, `{"spec":{"$retainKeys":["nodeName"],"nodeName":"n"}}`},
		{"atomic", `{"spec":{"tolerations":[{"key":"a"}]}}`, `{"spec":{"tolerations":[{"$patch":"replace"}]}}`, `{"spec":{"tolerations":[]}}`, `{"spec":{"tolerations":[{"$patch":"replace"}]}}`},
		{"F21 no list", `{"metadata":{"finalizers":["a"]}}`, `{"metadata":{"$deleteFromPrimitiveList/finalizers":"a"}}`, ``, `{"metadata":{"finalizers":["a"]}}`},
		{"F21 null", `{"metadata":{"finalizers":["a"]}}`, `{"metadata":{"$deleteFromPrimitiveList/finalizers":null}}`, ``, `{"metadata":{}}`},
		{"F21 objects", `{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"$deleteFromPrimitiveList/containers":[{"name":"a","tty":true}]}}`, ``, `{"spec":{"containers":[{"name":"a","tty":true}]}}`},
		{"F22 atomic", `{"spec":{"containers":[{"name":"a","args":["1","2"]}]}}`, `{"spec":{"containers":[{"name":"a","$setElementOrder/args":["2","1"]}]}}`, ``, `{"spec":{"containers":[{"name":"a","args":["2","1"]}]}}`},
		{"F22 empty live list", `{"metadata":{"finalizers":[]}}`, `{"metadata":{"$setElementOrder/finalizers":["a"]}}`, `{"metadata":{"finalizers":[]}}`, ``},
		{"F22 trailing replace", `{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"$setElementOrder/containers":[{"name":"b"}],"containers":[{"name":"b"},{"$patch":"replace"}]}}`, `{"spec":{"containers":[{"name":"b"}]}}`, ``},
		{"F23", `{"spec":{"nodeName":"n"}}`, `{"spec":{"$retainKeys":[1]}}`, ``, `{"spec":{}}`},
		{"F24 null as merge key", `{"spec":{"containers":[{"name":"a"}]}}`, `{"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":null,"$patch":"delete"}]}}`, ``, `{"spec":{"containers":[{"name":"a"}]}}`},
		{"unknown field", `{"foo":{"a":1}}`, `{"foo":{"b":1}}`, `{"foo":{"a":1,"b":1}}`, ``},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := subjects[0]
			p, err := patch.Parse(patch.Strategic, []byte(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Apply(s.kind(t), []byte(tc.live))
			requireResult(t, "ours", tc.ours, got, err)
			got, err = strategicpatch.StrategicMergePatch([]byte(tc.live), []byte(tc.body), s.stock)
			requireResult(t, "the library's", tc.library, got, err)
		})
	}
}

// requireResult checks for a result; "" means that an error is expected.
func requireResult(t *testing.T, whose, want string, got []byte, err error) {
	t.Helper()
	switch {
	case want == "" && err == nil:
		t.Errorf("%s result is %s", whose, got)
	case want != "" && err != nil:
		t.Errorf("%s result is %v", whose, err)
	case want != "" && !reflect.DeepEqual(decode(t, []byte(want)), decode(t, got)):
		t.Errorf("%s result is %s", whose, got)
	}
}
