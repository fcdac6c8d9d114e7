package patch_test

import (
	"strings"
	"testing"

	"quorate/apiserver/objects/patch"
)

func TestStrategicPatch(t *testing.T) {
	t.Parallel()
	const (
		two    = `{"spec":{"containers":[{"name":"a","image":"x"},{"name":"b","image":"y","env":[{"name":"E","value":"1"}]}]}}`
		labels = `{"metadata":{"labels":{"a":"1","b":"2"}}}`
		kept   = `{"metadata":{"finalizers":["x/1","x/2","x/3"]}}`
		volume = `{"spec":{"volumes":[{"name":"v","emptyDir":{}}]}}`
	)
	for _, tc := range []struct{ name, doc, body, want string }{
		{"F39 nothing", two, `{}`, two},
		{"F14 maps merge", labels, `{"metadata":{"labels":{"a":null,"c":"3"}}}`, `{"metadata":{"labels":{"b":"2","c":"3"}}}`},
		{"F14 lists merge by key", two, `{"spec":{"containers":[{"name":"b","image":"z","env":[{"name":"F","value":"2"}]}]}}`,
			`{"spec":{"containers":[{"name":"a","image":"x"},{"name":"b","image":"z","env":[{"name":"E","value":"1"},{"name":"F","value":"2"}]}]}}`},
		{"F14 lists of primitives unite", kept, `{"metadata":{"finalizers":["x/4","x/2","x/4"]}}`, `{"metadata":{"finalizers":["x/1","x/2","x/3","x/4"]}}`},
		{"F14 other lists are replaced", `{"spec":{"tolerations":[{"key":"a"}],"containers":[{"name":"a","args":["1"]}]}}`,
			`{"spec":{"tolerations":[{"key":"b","value":null}],"containers":[{"name":"a","args":["2","3"]}]}}`,
			`{"spec":{"tolerations":[{"key":"b"}],"containers":[{"name":"a","args":["2","3"]}]}}`},
		{"F14 null deletes", two, `{"spec":{"containers":null,"volumes":null}}`, `{"spec":{}}`},
		{"F14 nulls of what is new", `{"spec":{}}`, `{"spec":{"volumes":[{"name":"v","emptyDir":{"medium":null}}],"affinity":{"nodeAffinity":null}}}`,
			`{"spec":{"volumes":[{"name":"v","emptyDir":{}}],"affinity":{}}}`},
		{"F14 null in the document", `{"spec":{"containers":null},"metadata":{"creationTimestamp":null}}`, `{"spec":{"containers":[{"name":"a"}]}}`,
			`{"spec":{"containers":[{"name":"a"}]},"metadata":{"creationTimestamp":null}}`},
		{"F14 unknown fields are carried over", `{"spec":{}}`, `{"spec":{"foo":{"$patch":"replace"}},"$setElementOrder/bar":["x"]}`,
			`{"spec":{"foo":{"$patch":"replace"}},"$setElementOrder/bar":["x"]}`},
		{"F14 a new list is taken as it is", `{"spec":{"containers":[{"name":"a"}]}}`,
			`{"spec":{"containers":[{"name":"a","ports":[{"containerPort":53,"protocol":"UDP"},{"containerPort":53,"protocol":"TCP"}]}]}}`,
			`{"spec":{"containers":[{"name":"a","ports":[{"containerPort":53,"protocol":"UDP"},{"containerPort":53,"protocol":"TCP"}]}]}}`},
		{"F15 containerPort", `{"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"name":"w"},{"containerPort":8080}]}]}}`,
			`{"spec":{"containers":[{"name":"a","ports":[{"containerPort":8080,"name":"x"},{"containerPort":81}]}]}}`,
			`{"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"name":"w"},{"containerPort":8080,"name":"x"},{"containerPort":81}]}]}}`},
		{"F15 first of equal keys", `{"spec":{"containers":[{"name":"a","ports":[{"containerPort":53,"protocol":"UDP"},{"containerPort":53,"protocol":"TCP"}]}]}}`,
			`{"spec":{"containers":[{"name":"a","ports":[{"containerPort":53,"name":"d"}]}]}}`,
			`{"spec":{"containers":[{"name":"a","ports":[{"containerPort":53,"protocol":"UDP","name":"d"},{"containerPort":53,"protocol":"TCP"}]}]}}`},
		{"F15 ip, mountPath, uid", `{"metadata":{"ownerReferences":[{"uid":"u","name":"o"}]},"spec":{"hostAliases":[{"ip":"1.1.1.1","hostnames":["a"]}],"containers":[{"name":"a","volumeMounts":[{"mountPath":"/a","name":"v"}]}]}}`,
			`{"metadata":{"ownerReferences":[{"uid":"u","controller":true}]},"spec":{"hostAliases":[{"ip":"1.1.1.1","hostnames":["b"]}],"containers":[{"name":"a","volumeMounts":[{"mountPath":"/a","readOnly":true}]}]}}`,
			`{"metadata":{"ownerReferences":[{"uid":"u","name":"o","controller":true}]},"spec":{"hostAliases":[{"ip":"1.1.1.1","hostnames":["b"]}],"containers":[{"name":"a","volumeMounts":[{"mountPath":"/a","name":"v","readOnly":true}]}]}}`},
		{"F15 conditions", `{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`, `{"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"Initialized","status":"True"}]}}`,
			`{"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"Initialized","status":"True"}]}}`},
		{"F16 without an order new items come last", two, `{"spec":{"containers":[{"name":"c"},{"name":"b","image":"z"},{"name":"a","image":"z"}]}}`,
			`{"spec":{"containers":[{"name":"a","image":"z"},{"name":"b","image":"z","env":[{"name":"E","value":"1"}]},{"name":"c"}]}}`},
		{"F16 order of what is there", kept, `{"metadata":{"$setElementOrder/finalizers":["x/3","x/1","x/9"]}}`, `{"metadata":{"finalizers":["x/2","x/3","x/1"]}}`},
		{"F16 order of what is new", `{"metadata":{}}`, `{"metadata":{"$setElementOrder/finalizers":["b/b","a/a"],"finalizers":["b/b","a/a"]}}`, `{"metadata":{"finalizers":["b/b","a/a"]}}`},
		{"F16 order of a missing list", `{"metadata":{}}`, `{"metadata":{"$setElementOrder/finalizers":["b/b"]}}`, `{"metadata":{}}`},
		{"F16 another writer's items", `{"spec":{"containers":[{"name":"s1"},{"name":"a"},{"name":"s2"},{"name":"b"},{"name":"s3"}]}}`,
			`{"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"n"},{"name":"a"}],"containers":[{"name":"n"}]}}`,
			`{"spec":{"containers":[{"name":"s1"},{"name":"s2"},{"name":"b"},{"name":"n"},{"name":"a"},{"name":"s3"}]}}`},
		{"F17", labels, `{"metadata":{"labels":{"$patch":"replace","c":"3","d":null}}}`, `{"metadata":{"labels":{"c":"3"}}}`},
		{"F17 missing", `{"metadata":{}}`, `{"metadata":{"labels":{"$patch":"replace","c":"3"}}}`, `{"metadata":{"labels":{"c":"3"}}}`},
		{"F17 all", labels, `{"$patch":"replace","spec":{"nodeName":"n"}}`, `{"spec":{"nodeName":"n"}}`},
		{"F18 map", labels, `{"metadata":{"labels":{"$patch":"delete"}}}`, `{"metadata":{"labels":{}}}`},
		{"F18 missing map", `{"metadata":{}}`, `{"metadata":{"labels":{"$patch":"delete"}}}`, `{"metadata":{}}`},
		{"F18 item", two, `{"spec":{"containers":[{"name":"a","$patch":"delete"},{"name":"q","$patch":"delete"}]}}`,
			`{"spec":{"containers":[{"name":"b","image":"y","env":[{"name":"E","value":"1"}]}]}}`},
		{"F18 item of a new list", `{"spec":{}}`, `{"spec":{"containers":[{"name":"q","$patch":"delete"},{"name":"a"}]}}`, `{"spec":{"containers":[{"name":"a"}]}}`},
		{"F19", two, `{"spec":{"containers":[{"$patch":"replace"},{"name":"c","image":null}]}}`, `{"spec":{"containers":[{"name":"c"}]}}`},
		{"F19 to nothing", two, `{"spec":{"containers":[{"$patch":"replace"}]}}`, `{"spec":{"containers":[]}}`},
		{"F20 map", labels, `{"metadata":{"labels":{"$patch":"merge","c":"3"}}}`, `{"metadata":{"labels":{"a":"1","b":"2","c":"3"}}}`},
		{"F20 item", `{"spec":{"containers":[{"name":"a","image":"x"}]}}`, `{"spec":{"containers":[{"name":"a","tty":true,"$patch":"merge"}]}}`,
			`{"spec":{"containers":[{"name":"a","image":"x","tty":true}]}}`},
		{"F21", kept, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["x/1","x/9"]}}`, `{"metadata":{"finalizers":["x/2","x/3"]}}`},
		{"F21 with order and addition", kept, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["x/1"],"$setElementOrder/finalizers":["x/3","x/4"],"finalizers":["x/4"]}}`,
			`{"metadata":{"finalizers":["x/2","x/3","x/4"]}}`},
		{"F21 a list that does not merge", `{"spec":{"containers":[{"name":"a","args":["1","2"]}]}}`,
			`{"spec":{"containers":[{"name":"a","$deleteFromPrimitiveList/args":["1"]}]}}`, `{"spec":{"containers":[{"name":"a","args":["2"]}]}}`},
		{"F21 missing list", `{"metadata":{}}`, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["x/1"]}}`, `{"metadata":{}}`},
		{"F22", two, `{"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}],"containers":[{"name":"a","image":"z"}]}}`,
			`{"spec":{"containers":[{"name":"b","image":"y","env":[{"name":"E","value":"1"}]},{"name":"a","image":"z"}]}}`},
		{"F22 deletions need no place", two, `{"spec":{"$setElementOrder/containers":[{"name":"b"}],"containers":[{"name":"a","$patch":"delete"}]}}`,
			`{"spec":{"containers":[{"name":"b","image":"y","env":[{"name":"E","value":"1"}]}]}}`},
		{"F23", volume, `{"spec":{"volumes":[{"name":"v","$retainKeys":["name","hostPath"],"hostPath":{"path":"/p"}}]}}`,
			`{"spec":{"volumes":[{"name":"v","hostPath":{"path":"/p"}}]}}`},
		{"F23 with an order", `{"metadata":{"name":"n","finalizers":["x/1","x/2"]}}`, `{"metadata":{"$retainKeys":["name"],"$setElementOrder/finalizers":["x/2","x/1"]}}`, `{"metadata":{"name":"n"}}`},
		{"F18 each item of a key", `{"spec":{"containers":[{"name":"a","ports":[{"containerPort":53,"protocol":"UDP"},{"containerPort":53,"protocol":"TCP"},{"containerPort":80}]}]}}`,
			`{"spec":{"containers":[{"name":"a","ports":[{"containerPort":53,"$patch":"delete"}]}]}}`,
			`{"spec":{"containers":[{"name":"a","ports":[{"containerPort":80}]}]}}`},
		{"F23 null outside", volume, `{"spec":{"volumes":[{"name":"v","$retainKeys":["name"],"emptyDir":null}]}}`, `{"spec":{"volumes":[{"name":"v"}]}}`},
		{"F23 new item", `{"spec":{"volumes":[{"name":"w"}]}}`, `{"spec":{"volumes":[{"name":"v","$retainKeys":["name","emptyDir"],"emptyDir":{}}]}}`,
			`{"spec":{"volumes":[{"name":"w"},{"name":"v","emptyDir":{}}]}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := apply(kind(t, "/api/v1", "pods"), patch.Strategic, tc.doc, tc.body)
			if err != nil || got != tc.want {
				t.Errorf("got %s\nwant %s\n%v", got, tc.want, err)
			}
		})
	}
}

func TestStrategicPatchRefuses(t *testing.T) {
	t.Parallel()
	const doc = `{"metadata":{"labels":{"a":"1"},"finalizers":["x/1","x/2"]},"spec":{"containers":[{"name":"a"},{"name":"b"}],"tolerations":[{"key":"k"}]}}`
	for _, tc := range []struct {
		name, body string
		code       int
	}{
		{"F22 other order", `{"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}],"containers":[{"name":"a"},{"name":"b"}]}}`, 400},
		{"F22 item without a place", `{"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":"c"}]}}`, 400},
		{"F22 item of a new list without a place", `{"spec":{"$setElementOrder/volumes":[{"name":"a"}],"volumes":[{"name":"c"}]}}`, 400},
		{"F22 no list", `{"spec":{"$setElementOrder/containers":{"name":"a"}}}`, 400},
		{"F22 no name", `{"spec":{"$setElementOrder":[]}}`, 400},
		{"F22 list that does not merge", `{"spec":{"$setElementOrder/tolerations":[{"key":"k"}]}}`, 400},
		{"F22 of a label", `{"metadata":{"labels":{"$setElementOrder/a":[]}}}`, 400},
		{"F24 order without merge key", `{"spec":{"$setElementOrder/containers":[{"image":"a"}]}}`, 422},
		{"F24 order of a list that is deleted", `{"spec":{"$setElementOrder/containers":[],"containers":null}}`, 422},
		{"F24 order of no list", `{"spec":{"$setElementOrder/containers":[],"containers":{}}}`, 422},
		{"F24 order of a new one that is no list", `{"spec":{"$setElementOrder/volumes":[],"volumes":{}}}`, 422},
		{"F21 no list", `{"metadata":{"$deleteFromPrimitiveList/finalizers":"x/1"}}`, 400},
		{"F21 null", `{"metadata":{"$deleteFromPrimitiveList/finalizers":null}}`, 400},
		{"F21 no name", `{"metadata":{"$deleteFromPrimitiveList":["x/1"]}}`, 400},
		{"F21 list of objects", `{"spec":{"$deleteFromPrimitiveList/containers":["a"]}}`, 400},
		{"F24 removal of an object", `{"metadata":{"$deleteFromPrimitiveList/finalizers":[{}]}}`, 422},
		{"F23 no list", `{"spec":{"$retainKeys":"a"}}`, 400},
		{"F23 no strings", `{"spec":{"$retainKeys":["a",1]}}`, 400},
		{"F23 patch sets another", `{"spec":{"$retainKeys":["containers"],"nodeName":"n"}}`, 422},
		{"F24 item without merge key", `{"spec":{"containers":[{"image":"x"}]}}`, 422},
		{"F24 deletion without merge key", `{"spec":{"containers":[{"$patch":"delete"}]}}`, 422},
		{"F24 merge key of another form", `{"spec":{"containers":[{"name":{}}]}}`, 422},
		{"F24 null as merge key", `{"spec":{"containers":[{"name":null}]}}`, 422},
		{"F24 unknown $patch", `{"spec":{"$patch":"remove"}}`, 422},
		{"F24 unknown $patch of an item", `{"spec":{"containers":[{"$patch":"remove","name":"a"}]}}`, 422},
		{"F24 unknown $patch of a new item", `{"spec":{"volumes":[{"$patch":1,"name":"a"}]}}`, 422},
		{"F24 unknown $patch of a new map", `{"metadata":{"annotations":{"$patch":null}}}`, 422},
		{"F24 scalar in a list of objects", `{"spec":{"containers":["a"]}}`, 422},
		{"F24 null in a list of objects", `{"spec":{"containers":[null]}}`, 422},
		{"F24 object in a list of strings", `{"metadata":{"finalizers":[{}]}}`, 422},
		{"F24 number in a list of strings", `{"metadata":{"finalizers":[1]}}`, 422},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := apply(kind(t, "/api/v1", "pods"), patch.Strategic, doc, tc.body)
			requireCode(t, tc.code, err)
		})
	}
}

// TestStrategicPatchIsBounded_F11 applies a patch whose many small items each merge into the same
// large item.
func TestStrategicPatchIsBounded_F11(t *testing.T) {
	t.Parallel()
	document := `{"spec":{"containers":[{"name":"a","image":"` + strings.Repeat("x", 1<<20) + `"}]}}`
	items := func(n int) string {
		return `{"spec":{"containers":[` + strings.TrimSuffix(strings.Repeat(`{"name":"a"},`, n), ",") + `]}}`
	}
	k := kind(t, "/api/v1", "pods")
	if got, err := apply(k, patch.Strategic, document, items(10)); err != nil || got != document {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	_, err := apply(k, patch.Strategic, document, items(1000))
	requireCode(t, 413, err)
}

func TestStrategicPatchOfOtherKinds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, prefix, plural, doc, body, want string }{
		{"F15 atomic taints, merged addresses", "/api/v1", "nodes",
			`{"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]},"status":{"addresses":[{"type":"Hostname","address":"h"}]}}`,
			`{"spec":{"taints":[{"key":"b","effect":"NoSchedule"}]},"status":{"addresses":[{"type":"Hostname","address":"i"},{"type":"InternalIP","address":"j"}]}}`,
			`{"spec":{"taints":[{"key":"b","effect":"NoSchedule"}]},"status":{"addresses":[{"type":"Hostname","address":"i"},{"type":"InternalIP","address":"j"}]}}`},
		{"F15 atomic subsets", "/api/v1", "endpoints", `{"subsets":[{"ports":[{"port":1}]}]}`, `{"subsets":[{"ports":[{"port":2}]}]}`, `{"subsets":[{"ports":[{"port":2}]}]}`},
		{"F14 embedded object is replaced", "/apis/image.platform.io/v1", "images",
			`{"containerImageMetadata":{"a":{"b":1},"c":2}}`, `{"containerImageMetadata":{"a":{"d":1}}}`, `{"containerImageMetadata":{"a":{"d":1}}}`},
		{"F14 signatures by the name in their metadata", "/apis/image.platform.io/v1", "images",
			`{"signatures":[{"metadata":{"name":"s1"},"type":"t"},{"metadata":{"name":"s2"}}]}`,
			`{"signatures":[{"metadata":{"name":"s2"},"type":"u"},{"metadata":{"name":"s1"},"$patch":"delete"}]}`,
			`{"signatures":[{"metadata":{"name":"s2"},"type":"u"}]}`},
		{"F14 redirectURIs unite", "/apis/oauth.platform.io/v1", "oauthclients",
			`{"redirectURIs":["https://a","https://b"]}`, `{"redirectURIs":["https://b","https://c"]}`, `{"redirectURIs":["https://a","https://b","https://c"]}`},
		{"F15 atomic rules", "/apis/rbac.authorization.platform.io/v1", "roles", `{"rules":[{"verbs":["get"]}]}`, `{"rules":[{"verbs":["list"]}]}`, `{"rules":[{"verbs":["list"]}]}`},
		{"F23 updateStrategy", "/apis/apps/v1beta2", "statefulsets",
			`{"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":1}}}}`,
			`{"spec":{"updateStrategy":{"$retainKeys":["type"],"type":"OnDelete"}}}`, `{"spec":{"updateStrategy":{"type":"OnDelete"}}}`},
		{"F14 template", "/apis/apps/v1beta2", "daemonsets",
			`{"spec":{"template":{"spec":{"containers":[{"name":"a","image":"1"},{"name":"b"}]}}}}`,
			`{"spec":{"template":{"spec":{"containers":[{"name":"a","image":"2"}]}}}}`,
			`{"spec":{"template":{"spec":{"containers":[{"name":"a","image":"2"},{"name":"b"}]}}}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := apply(kind(t, tc.prefix, tc.plural), patch.Strategic, tc.doc, tc.body)
			if err != nil || got != tc.want {
				t.Errorf("got %s\nwant %s\n%v", got, tc.want, err)
			}
		})
	}
}
