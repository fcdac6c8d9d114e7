package specification

import (
	"fmt"
	"sync"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// unconditional are the kinds that a replace without version may overwrite (E3); conditional are
// the others (E4).
func unconditional() []string {
	return []string{
		"Pod", "Node", "Namespace", "ConfigMap", "Endpoints", "Event", "PersistentVolume", "HorizontalPodAutoscaler", "DaemonSet",
		"StatefulSet", "CronJob", "ClusterRole", "Role", "ClusterRoleBinding", "LegacyBinding", "ThirdPartyResource",
	}
}

func conditional() []string { return []string{"Image", "OAuthClient", "HostSubnet", "ClusterNetwork"} }

// nameFor is a name that a kind takes. The two forms of ClusterRoleBinding share one set of names.
func nameFor(kind, name string) string {
	switch kind {
	case "ThirdPartyResource":
		return name + ".example.com"
	case legacyForm:
		return name + "-legacy"
	}
	return name
}

const label = `{"metadata":{"labels":{"row":"changed"}}}`

// replaceRows prove replace (E).
var replaceRows = []row{
	{"E1 §4.2-namespaced-replace §4.2-cluster-replace", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range catalog() {
			name := nameFor(k.kind, "e1")
			made := create(t, s, k.kind, ns, name)
			put := ok(t, s.Do("PUT", item(k.kind, ns, name), with(made, label)))
			want(t, put, "metadata.labels.row", "changed")
			if version(t, put) <= version(t, made) {
				t.Errorf("%s: version %d after %d", k.kind, version(t, put), version(t, made))
			}
			if again := ok(t, s.Do("GET", item(k.kind, ns, name), "")); again != put {
				t.Errorf("%s: stored %s, answered %s", k.kind, again, put)
			}
		}
	}},
	{"E2", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		made := create(t, s, "StatefulSet", ns, "m")
		ok(t, s.Do("PUT", item("StatefulSet", ns, "m"), with(made, label)))
		expect(t, s.Do("PUT", item("StatefulSet", ns, "m"), made), 409, "Conflict",
			`Operation cannot be fulfilled on statefulsets.apps "m": the object has been modified; `+
				`please apply your changes to the latest version and try again`,
			`"details":{"name":"m","group":"apps","kind":"statefulsets"}`)
		expect(t, s.Do("PUT", item("StatefulSet", ns, "m"), with(made, `{"metadata":{"resourceVersion":"x"}}`)), 422, "Invalid",
			"metadata.resourceVersion")
	}},
	{"E3", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, kind := range unconditional() {
			name := nameFor(kind, "e3")
			create(t, s, kind, ns, name)
			want(t, ok(t, s.Do("PUT", item(kind, ns, name), minimal(kind, ns, name, label))), "metadata.labels.row", "changed")
			zero := minimal(kind, ns, name, `{"metadata":{"resourceVersion":"0","labels":{"row":"again"}}}`)
			want(t, ok(t, s.Do("PUT", item(kind, ns, name), zero)), "metadata.labels.row", "again")
		}
	}},
	{"E4", func(t *testing.T, s *testserver.Server) {
		for _, kind := range conditional() {
			made := create(t, s, kind, "", "e4")
			expectInvalid(t, s.Do("PUT", item(kind, "", "e4"), minimal(kind, "", "e4", label)),
				"metadata.resourceVersion", "FieldValueInvalid", "must be specified for an update")
			if now := ok(t, s.Do("GET", item(kind, "", "e4"), "")); now != made {
				t.Errorf("%s: now %s", kind, now)
			}
		}
	}},
	{"E5 E6", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		made := create(t, s, "ConfigMap", ns, "m")
		expect(t, s.Do("PUT", item("ConfigMap", ns, "m"), with(made, `{"metadata":{"uid":"other"}}`)), 409, "Conflict",
			"Precondition failed: UID in precondition: other, UID in object meta: "+get(t, made, "metadata.uid"))
		want(t, ok(t, s.Do("PUT", item("ConfigMap", ns, "m"), with(made, `{"metadata":{"uid":null}}`, label))),
			"metadata.uid", get(t, made, "metadata.uid"))
	}},
	{"E7 E8 E9", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		made := create(t, s, "ConfigMap", ns, "b")
		path := item("ConfigMap", ns, "b")
		expect(t, s.Do("PUT", path, with(made, `{"metadata":{"name":"a"}}`)), 400, "BadRequest",
			"the name of the object (a) does not match the name on the URL (b)")
		expect(t, s.Do("PUT", path, with(made, `{"metadata":{"name":null}}`)), 400, "BadRequest",
			"the name of the object (b based on URL) was undeterminable: name must be provided")
		expect(t, s.Do("PUT", path, with(made, `{"metadata":{"namespace":"other"}}`)), 400, "BadRequest",
			"the namespace of the provided object does not match the namespace sent on the request")
	}},
	{"E10", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		made := create(t, s, "ConfigMap", ns, "m")
		path := item("ConfigMap", ns, "m")
		expect(t, s.Do("PUT", path, with(made, `{"kind":"Pod"}`)), 400, "BadRequest", "cannot be handled as a ConfigMap")
		expect(t, s.Do("PUT", path, with(made, `{"apiVersion":"v2"}`)), 400, "BadRequest", "does not match the expected API version")
		expect(t, s.Do("PUT", path, `{"metadata":`), 400, "BadRequest")
		odd := with(made, `{"odd":1,"data":{"k":"w"}}`)
		expect(t, s.Do("PUT", path+"?fieldValidation=Strict", odd), 400, "BadRequest", `strict decoding error: unknown field "odd"`)
		dry := ok(t, s.Do("PUT", path+"?dryRun=All", odd))
		want(t, dry, "data.k", "w", "odd", "", "metadata.resourceVersion", get(t, made, "metadata.resourceVersion"))
		if now := ok(t, s.Do("GET", path, "")); now != made {
			t.Errorf("now %s", now)
		}
		put := s.Do("PUT", path, odd)
		want(t, ok(t, put), "data.k", "w", "odd", "")
		if w := put.Header.Get("Warning"); w != `299 - "unknown field \"odd\""` {
			t.Errorf("Warning: %s", w)
		}
	}},
	{"E11", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		expect(t, s.Do("PUT", item("ConfigMap", ns, "no"), minimal("ConfigMap", ns, "no")), 404, "NotFound", `configmaps "no" not found`)
		expect(t, s.Do("PUT", item("Pod", "nowhere", "no"), minimal("Pod", "nowhere", "no")), 404, "NotFound", `pods "no" not found`)
	}},
	{"E13", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		made := create(t, s, "DaemonSet", ns, "m", `{"metadata":{"finalizers":["x.io/hold"]}}`)
		ok(t, s.Do("DELETE", item("DaemonSet", ns, "m"), ""))
		going := ok(t, s.Do("GET", item("DaemonSet", ns, "m"), ""))
		put := ok(t, s.Do("PUT", item("DaemonSet", ns, "m"), with(made, label, `{"metadata":{"resourceVersion":null,
			"creationTimestamp":"2001-01-01T00:00:00Z","deletionTimestamp":null,"deletionGracePeriodSeconds":7,"generation":70,
			"selfLink":"/elsewhere","clusterName":"c"}}`)))
		want(t, put, "metadata.labels.row", "changed")
		for _, name := range []string{"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "selfLink",
			"clusterName"} {
			want(t, put, "metadata."+name, get(t, going, "metadata."+name))
		}
	}},
	{"E14", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		node, volume := create(t, s, "Node", "", "e14"), create(t, s, "PersistentVolume", "", "e14")
		first := ownedBy("Node", "e14", get(t, node, "metadata.uid"))
		second := ownedBy("PersistentVolume", "e14", get(t, volume, "metadata.uid"))
		create(t, s, "ConfigMap", ns, "m", `{"metadata":{"labels":{"a":"1"},"annotations":{"b":"2"},"finalizers":["x.io/a"],
			"generateName":"g-","ownerReferences":[`+first+`],"initializers":{"pending":[{"name":"a.b.c"},{"name":"d.e.f"}]}}}`)
		put := ok(t, s.Do("PUT", item("ConfigMap", ns, "m"), minimal("ConfigMap", ns, "m", `{"metadata":{"labels":{"c":"3"},
			"annotations":{"d":"4"},"finalizers":["x.io/b"],"generateName":"h-","ownerReferences":[`+second+`],
			"initializers":{"pending":[{"name":"d.e.f"}]}}}`)))
		want(t, put, "metadata.labels", `{"c":"3"}`, "metadata.annotations", `{"d":"4"}`, "metadata.finalizers", `["x.io/b"]`,
			"metadata.generateName", "h-", "metadata.ownerReferences", "["+second+"]",
			"metadata.initializers", `{"pending":[{"name":"d.e.f"}]}`)
		put = ok(t, s.Do("PUT", item("ConfigMap", ns, "m"), minimal("ConfigMap", ns, "m")))
		want(t, put, "metadata.labels", "", "metadata.annotations", "", "metadata.finalizers", "", "metadata.ownerReferences", "",
			"metadata.initializers", "")
	}},
	{"E15 E16 E32", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		made := create(t, s, "ConfigMap", ns, "m", `{"metadata":{"finalizers":["x.io/a","x.io/b"]}}`)
		path := item("ConfigMap", ns, "m")
		ok(t, s.Do("DELETE", path, ""))
		w := watch(t, s, collection("ConfigMap", ns)+"?watch=true&resourceVersion="+get(t, ok(t, s.Do("GET", path, "")), "metadata.resourceVersion"))
		latest := `{"metadata":{"resourceVersion":null}}`
		expectInvalid(t, s.Do("PUT", path, with(made, latest, `{"metadata":{"finalizers":["x.io/a","x.io/b","x.io/c"]}}`)),
			"metadata.finalizers", "FieldValueForbidden", "no new finalizers can be added if the object is being deleted")
		want(t, ok(t, s.Do("PUT", path, with(made, latest, label, `{"data":{"k":"w"}}`))), "data.k", "w", "metadata.labels.row", "changed")
		ok(t, s.Do("PUT", path, with(made, latest, `{"metadata":{"finalizers":["x.io/b"]}}`)))
		last := ok(t, s.Do("PUT", path, with(made, latest, `{"metadata":{"finalizers":[]}}`)))
		want(t, last, "metadata.name", "m", "metadata.finalizers", "")
		gone := w.want("MODIFIED m", "MODIFIED m", "DELETED m")
		if version(t, gone) != version(t, last) {
			t.Errorf("answered %s, seen %s", last, gone)
		}
		expect(t, s.Do("GET", path, ""), 404, "NotFound")
	}},
	{"E19", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for kind, change := range map[string]string{
			"DaemonSet": `{"spec":{"minReadySeconds":9}}`, "StatefulSet": `{"spec":{"replicas":9}}`,
		} {
			made := create(t, s, kind, ns, "m")
			want(t, made, "metadata.generation", "1")
			latest := `{"metadata":{"resourceVersion":null}}`
			path := item(kind, ns, "m")
			want(t, ok(t, s.Do("PUT", path, with(made, latest, label))), "metadata.generation", "1")
			want(t, ok(t, s.Do("PUT", path, minimal(kind, ns, "m"))), "metadata.generation", "1")
			want(t, ok(t, s.Do("PUT", path, with(made, latest, change))), "metadata.generation", "2")
			want(t, ok(t, s.Do("PUT", path, with(made, latest, change, `{"status":{"observedGeneration":2}}`))), "metadata.generation", "2")
			want(t, ok(t, s.Do("PUT", path, with(made, latest))), "metadata.generation", "3")
		}
		create(t, s, "HorizontalPodAutoscaler", ns, "m")
		put := ok(t, s.Do("PUT", item("HorizontalPodAutoscaler", ns, "m"), minimal("HorizontalPodAutoscaler", ns, "m", `{"spec":{"maxReplicas":5}}`)))
		want(t, put, "spec.maxReplicas", "5", "metadata.generation", "")
	}},
	{"E20", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, kind := range []string{"Pod", "ConfigMap", "StatefulSet", "Endpoints"} {
			made := create(t, s, kind, ns, "e20")
			w := watch(t, s, collection(kind, ns)+"?watch=true&resourceVersion="+get(t, made, "metadata.resourceVersion"))
			for _, body := range []string{made, minimal(kind, ns, "e20")} {
				if put := ok(t, s.Do("PUT", item(kind, ns, "e20"), body)); put != made {
					t.Errorf("%s: %s became %s", kind, made, put)
				}
			}
			put := ok(t, s.Do("PUT", item(kind, ns, "e20"), with(made, label)))
			if seen := w.want("MODIFIED e20"); version(t, seen) != version(t, put) {
				t.Errorf("%s: an event for nothing: %s", kind, seen)
			}
		}
	}},
	{"E31", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		expect(t, s.Do("PUT", collection("ConfigMap", ns), minimal("ConfigMap", ns, "m")), 405, "MethodNotAllowed")
		expect(t, s.Do("PUT", collection("Node", ""), minimal("Node", "", "m")), 405, "MethodNotAllowed")
	}},
	{"E33", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		made := create(t, s, "ConfigMap", ns, "m")
		const writers = 8
		codes := make([]int, writers)
		var wg sync.WaitGroup
		for i := range writers {
			body := with(made, fmt.Sprintf(`{"data":{"k":"%d"}}`, i))
			wg.Go(func() {
				a, err := s.Try(s.Client, "PUT", item("ConfigMap", ns, "m"), body)
				if err != nil {
					t.Error(err)
				}
				codes[i] = a.Code
			})
		}
		wg.Wait()
		won := 0
		for i, code := range codes {
			switch code {
			case 200:
				won++
				want(t, ok(t, s.Do("GET", item("ConfigMap", ns, "m"), "")), "data.k", fmt.Sprint(i))
			case 409:
			default:
				t.Errorf("code %d", code)
			}
		}
		if won != 1 {
			t.Errorf("codes %v", codes)
		}
	}},
	{"E34", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		body := with(create(t, s, "ConfigMap", ns, "m"), `{"data":{"k":"w"}}`)
		first := ok(t, s.Do("PUT", item("ConfigMap", ns, "m"), body))
		expect(t, s.Do("PUT", item("ConfigMap", ns, "m"), body), 409, "Conflict")
		want(t, ok(t, s.Do("GET", item("ConfigMap", ns, "m"), "")), "data.k", "w",
			"metadata.resourceVersion", get(t, first, "metadata.resourceVersion"))
	}},
}
