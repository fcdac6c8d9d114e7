package specification

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// The operations of §4.2, by short names: a namespaced kind's creates, lists and watches come in
// several paths.
const (
	clusterSet   = "create read list watch-one watch-all replace patch delete delete-collection"
	statusSet    = " status-read status-replace status-patch"
	namespaced   = "create create-anywhere read list-namespace list "
	threeWatches = namespaced + "watch-one watch-all watch-namespace replace patch"
)

// operationRows prove that all that the catalog lists is served (§4.1), with what it says of
// versions (§9) and of all kinds (§1).
var operationRows = []row{
	listed("Endpoints", "Endpoints", threeWatches),
	listed("Namespace", "Namespace", "create read list watch-one watch-all replace patch finalize"+statusSet+" delete"),
	listed("ConfigMap", "ConfigMap", threeWatches+" delete"),
	listed("Event", "Event", threeWatches+" delete"),
	listed("PersistentVolume", "PersistentVolume", strings.Replace(clusterSet, "delete", "status-read delete", 1)),
	listed("Node", "Node", strings.Replace(clusterSet, " delete", statusSet+" delete", 1)),
	listed("ClusterNetwork", "ClusterNetwork", clusterSet),
	listed("Image", "Image", clusterSet),
	listed("ThirdPartyResource", "ThirdPartyResource", clusterSet),
	listed("ClusterRole", "ClusterRole", clusterSet),
	listed("OAuthClient", "OAuthClient", clusterSet),
	listed("HostSubnet", "HostSubnet", clusterSet),
	listed("ClusterRoleBinding-legacy", "LegacyBinding", "create read list replace patch delete"),
	listed("ClusterRoleBinding-rbac", "ClusterRoleBinding", "create read list watch-one watch-all replace"),
	listed("Role", "Role", namespaced+"watch-one"),
	listed("HorizontalPodAutoscaler", "HorizontalPodAutoscaler", namespaced+"watch-one"),
	listed("DaemonSet", "DaemonSet", "create create-anywhere read list"),
	listed("CronJob", "CronJob", "create create-anywhere read list"),
	listed("StatefulSet", "StatefulSet", "create create-anywhere read list"),
	listed("Pod", "Pod", namespaced+"watch-one"),
	{"§1.2", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range catalog() { // also where the catalog's row was cut (Z16); the legacy binding has no watch (Z9)
			ops := strings.Fields("create read list replace patch")
			if k.kind != "LegacyBinding" {
				ops = append(ops, "watch-one", "watch-all")
			}
			operate(t, s, k, ns, ops)
		}
	}},
	{"§1.3", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "ConfigMap", ns, "a")
		all := collection("ConfigMap", ns)
		sameNames(t, ok(t, s.Do("GET", all+"?watch=false", "")), "a")
		_, byQuery := watch(t, s, all+"?watch=true&resourceVersion=0").next()
		_, byPath := watch(t, s, watchPath("ConfigMap", ns)+"?resourceVersion=0").next()
		if want(t, byQuery, "metadata.name", "a"); byQuery != byPath {
			t.Errorf("by query %s, by path %s", byQuery, byPath)
		}
	}},
	{"§9.1 §9.2", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for kinds, version := range map[string]string{
			"Endpoints Namespace ConfigMap Event PersistentVolume Node Pod": "v1", "ClusterNetwork": "network.platform.io/v1",
			"Image": "image.platform.io/v1", "ThirdPartyResource": "extensions/v1beta1", "ClusterRole": "rbac.authorization.platform.io/v1beta1",
			"OAuthClient": "oauth.platform.io/v1", "HostSubnet LegacyBinding": "v1", "ClusterRoleBinding Role": "rbac.authorization.platform.io/v1",
			"HorizontalPodAutoscaler": "autoscaling/v2beta1", "DaemonSet StatefulSet": "apps/v1beta2", "CronJob": "batch/v1beta1",
		} {
			for kind := range strings.FieldsSeq(kinds) {
				name := rowName(kind, "versioned")
				want(t, create(t, s, kind, ns, name), "apiVersion", version)
				want(t, ok(t, s.Do("GET", item(kind, ns, name), "")), "apiVersion", version)
				want(t, ok(t, s.Do("GET", collection(kind, ns), "")), "apiVersion", version)
				if prefix := kindNamed(kind).prefix; !strings.HasSuffix(prefix, "/"+version) {
					t.Errorf("%s is under %s", kind, prefix)
				}
			}
		}
	}},
	{"§9.3", func(t *testing.T, s *testserver.Server) {
		for _, k := range catalog() {
			for _, change := range []string{`{"kind":"Other"}`, `{"apiVersion":"other/v1"}`} {
				expect(t, s.Do("POST", k.path("", "default"), minimal(k.kind, "default", rowName(k.kind, "a"), change)), 400, "BadRequest")
			}
		}
	}},
	{"§9.4", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for query, finalizers := range map[string][2]string{ // as it is, and as the delete changes it
			"orphanDependents=true":    {`["x.example.com/y"]`, `["x.example.com/y","orphan"]`},
			"propagationPolicy=Orphan": {`["x.example.com/y"]`, `["x.example.com/y","orphan"]`},
			"orphanDependents=false":   {`["orphan","x.example.com/y"]`, `["x.example.com/y"]`},
		} {
			made := ok(t, s.Do("POST", collection("ConfigMap", ns), `{"metadata":{"generateName":"a-","finalizers":`+finalizers[0]+`}}`))
			name := get(t, made, "metadata.name")
			w := watch(t, s, asked(collection("ConfigMap", ns), "watch", "true", "fieldSelector", "metadata.name="+name,
				"resourceVersion", get(t, made, "metadata.resourceVersion")))
			ok(t, s.Do("DELETE", item("ConfigMap", ns, name)+"?"+query, ""))
			if got := get(t, w.want("MODIFIED "+name), "metadata.finalizers"); got != finalizers[1] {
				t.Errorf("%s: finalizers %s", query, got)
			}
		}
		create(t, s, "ConfigMap", ns, "both")
		expect(t, s.Do("DELETE", item("ConfigMap", ns, "both")+"?orphanDependents=true&propagationPolicy=Orphan", ""), 422, "Invalid")
	}},
	{"§9.5", func(t *testing.T, s *testserver.Server) {
		for _, path := range []string{"/api/v2/pods", "/apis/apps/v9/statefulsets", "/apis/batch/v2alpha1/cronjobs", "/apis/v1/pods",
			"/apis/rbac.authorization.platform.io/v9/clusterroles", "/oapi/v1/pods", "/api/v1/clusterrolebindings"} {
			expect(t, s.Do("GET", path, "", "Accept: application/json"), 404, "NotFound")
		}
	}},
}

// listed is a row of the catalog: every operation that it lists works.
func listed(id, kind, ops string) row {
	return row{"§4.1-" + id, func(t *testing.T, s *testserver.Server) {
		operate(t, s, kindNamed(kind), namespace(t, s), strings.Fields(ops))
	}}
}

// operation is a kind, and an object of it, at work.
type operation struct {
	t         *testing.T
	s         *testserver.Server
	k         kindOf
	ns, name  string
	all, item string
}

// operate does the operations on an object, one after the other; the last may delete it.
func operate(t *testing.T, s *testserver.Server, k kindOf, ns string, ops []string) {
	t.Helper()
	name := rowName(k.kind, "op-"+fmt.Sprint(len(ops)))
	o := &operation{t: t, s: s, k: k, ns: ns, name: name, all: k.path("", ns), item: k.path("", ns) + "/" + name}
	for _, op := range ops {
		o.do(op)
	}
	if !slices.Contains(ops, "delete") {
		ok(t, s.Do("DELETE", o.item, ""))
	}
}

func (o *operation) do(op string) {
	o.t.Helper()
	method, path, body := "GET", o.item, ""
	switch op {
	case "create":
		method, path, body = "POST", o.all, minimal(o.k.kind, o.ns, o.name)
	case "create-anywhere":
		method, path, body = "POST", o.k.path("", ""), minimal(o.k.kind, o.ns, rowName(o.k.kind, "anywhere"))
	case "read":
	case "list-namespace":
		o.lists(o.all)
		return
	case "list":
		o.lists(o.k.path("", ""))
		return
	case "watch-one":
		o.watches(o.k.path("/watch", o.ns) + "/" + o.name)
		return
	case "watch-all":
		o.watches(o.k.path("/watch", ""))
		return
	case "watch-namespace":
		o.watches(o.k.path("/watch", o.ns))
		return
	case "replace", "status-replace", "finalize":
		method, body = "PUT", ok(o.t, o.s.Do("GET", o.item, ""))
	case "patch", "status-patch":
		method, body = "PATCH", `{"metadata":{"annotations":{"a":"b"}}}`
	case "delete":
		o.deletes()
		return
	case "delete-collection":
		o.deletesCollection()
		return
	case "status-read":
	default:
		o.t.Fatalf("no operation %s", op)
	}
	if kind, subresource, is := strings.Cut(op, "-"); is && kind == "status" && subresource != "" {
		path += "/status"
	}
	if op == "finalize" {
		path += "/finalize"
	}
	a := o.s.Do(method, path, body, contentTypeOf(method))
	if !a.OK() {
		o.t.Errorf("%s %s %s: %d %s", op, method, path, a.Code, a.Body)
		return
	}
	want(o.t, a.Body, "kind", o.k.realKind(), "apiVersion", o.k.apiVersion())
}

func contentTypeOf(method string) string {
	if method == "PATCH" {
		return mergePatch
	}
	return sentJSON
}

func (o *operation) lists(path string) {
	o.t.Helper()
	list := ok(o.t, o.s.Do("GET", path, ""))
	if want(o.t, list, "kind", o.k.realKind()+"List", "apiVersion", o.k.apiVersion()); !slices.Contains(names(o.t, list), o.name) {
		o.t.Errorf("%s is not in %s", o.name, list)
	}
}

func (o *operation) watches(path string) {
	o.t.Helper()
	w := watch(o.t, o.s, path+"?resourceVersion=0")
	defer w.close()
	for {
		event, object := w.next()
		if event == "ADDED "+o.name {
			return
		}
		if !strings.HasPrefix(event, "ADDED ") {
			o.t.Errorf("%s: %s %s", path, event, object)
			return
		}
	}
}

func (o *operation) deletes() {
	o.t.Helper()
	want(o.t, ok(o.t, o.s.Do("DELETE", o.item, `{"kind":"DeleteOptions","apiVersion":"v1"}`)), "kind", "Status", "status", "Success")
	o.s.Eventually(o.item+" is gone", func() bool { return o.s.Do("GET", o.item, "").Code == 404 })
}

func (o *operation) deletesCollection() {
	o.t.Helper()
	const labels = `{"metadata":{"labels":{"collected":"yes"}}}`
	for _, name := range []string{"one", "two"} {
		ok(o.t, o.s.Do("POST", o.all, minimal(o.k.kind, o.ns, rowName(o.k.kind, name), labels)))
	}
	selected := asked(o.all, "labelSelector", "collected=yes")
	want(o.t, ok(o.t, o.s.Do("DELETE", selected, "")), "kind", "Status", "status", "Success")
	sameNames(o.t, ok(o.t, o.s.Do("GET", selected, "")))
}
