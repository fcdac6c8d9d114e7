package specification

import (
	"fmt"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// What kubectl 1.32 sends as Accept.
const (
	acceptTable = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
	acceptJSON  = "Accept: application/json"
	acceptAny   = "Accept: application/json, */*"
	acceptProto = "Accept: application/vnd.kubernetes.protobuf,application/json"
	sentJSON    = "Content-Type: application/json"
)

// kubectlRows replay what kubectl and other stock clients send (L22–L45).
var kubectlRows = []row{
	{"L22 L23", func(t *testing.T, s *testserver.Server) { // get
		path, _ := some(t, s, "a", "b", "c")
		for _, accept := range []string{acceptTable, acceptJSON} {
			list := ok(t, s.Do("GET", path+"?limit=500", "", accept))
			sameNames(t, list, "a", "b", "c")
			want(t, list, "metadata.continue", "")
			if name := nameOf(t, ok(t, s.Do("GET", path+"/a", "", accept))); name != "a" {
				t.Errorf("name %q", name)
			}
		}
		sameNames(t, ok(t, s.Do("GET", path+"?includeObject=Object", "", acceptTable)), "a", "b", "c")
		first := ok(t, s.Do("GET", path+"?limit=2", "", acceptTable)) // --chunk-size
		sameNames(t, first, "a", "b")
		sameNames(t, ok(t, s.Do("GET", asked(path, "continue", get(t, first, "metadata.continue"), "limit", "2"), "", acceptTable)), "c")
	}},
	{"L24", func(t *testing.T, s *testserver.Server) { // create -f, replace -f, a first apply
		ns := namespace(t, s)
		index := ok(t, s.Do("GET", "/openapi/v3", "", acceptJSON))
		ok(t, s.Do("GET", get(t, index, `paths.api/v1.serverRelativeURL`), "", acceptJSON))
		all, one := collection("ConfigMap", ns), item("ConfigMap", ns, "a")
		made := ok(t, s.Do("POST", all+"?fieldManager=kubectl-create&fieldValidation=Strict", minimal("ConfigMap", ns, "a"), acceptJSON, sentJSON))
		expect(t, s.Do("POST", all+"?fieldManager=kubectl-create&fieldValidation=Strict", minimal("ConfigMap", ns, "b", `{"wrong":1}`), acceptJSON, sentJSON),
			400, "BadRequest", `strict decoding error: unknown field "wrong"`)
		a := s.Do("POST", all+"?fieldManager=kubectl-create&fieldValidation=Warn", minimal("ConfigMap", ns, "b", `{"wrong":1}`), acceptJSON, sentJSON)
		if ok(t, a); a.Header.Get("Warning") != `299 - "unknown field \"wrong\""` {
			t.Errorf("Warning: %s", a.Header.Get("Warning"))
		}
		live := ok(t, s.Do("GET", one, "", acceptJSON))
		put := minimal("ConfigMap", ns, "a", `{"data":{"k":"w"},"metadata":{"resourceVersion":"`+get(t, live, "metadata.resourceVersion")+`"}}`)
		want(t, ok(t, s.Do("PUT", one+"?fieldManager=kubectl-replace&fieldValidation=Strict", put, acceptJSON, sentJSON)), "data.k", "w")
		want(t, made, "data.k", "v")
		// a kind that a ThirdPartyResource made, as kubectl finds it
		k := define(t, s, "l24", "v1")
		index = ok(t, s.Do("GET", "/openapi/v3", "", acceptJSON))
		document := ok(t, s.Do("GET", get(t, index, `paths.apis/l24\.example\.com/v1.serverRelativeURL`), "", acceptJSON))
		checkOpenAPI(t, document, kindOf{kind: k.kind, prefix: "/apis/l24.example.com/v1", plural: k.plural, namespaced: true})
		ok(t, s.Do("POST", k.path("v1", ns)+"?fieldManager=kubectl-client-side-apply&fieldValidation=Strict", k.object("v1", "a"), acceptJSON, sentJSON))
	}},
	{"L25", func(t *testing.T, s *testserver.Server) { // apply
		const last = "kubectl.kubernetes.io/last-applied-configuration"
		ns := namespace(t, s)
		create(t, s, "ConfigMap", ns, "a", `{"metadata":{"annotations":{"`+last+`":"{}"}}}`)
		one := item("ConfigMap", ns, "a")
		ok(t, s.Do("GET", one, "", acceptJSON))
		if a := s.Do("GET", "/openapi/v2", "", "Accept: application/com.github.proto-openapi.spec.v2@v1.0+protobuf"); a.Code != 200 {
			t.Errorf("OpenAPI v2: %d", a.Code)
		}
		patched := ok(t, s.Do("PATCH", one+"?fieldManager=kubectl-client-side-apply&fieldValidation=Strict",
			`{"data":{"n":"1"},"metadata":{"annotations":{"`+last+`":"{\"data\":1}"}}}`, strategicPatch, acceptJSON))
		want(t, patched, "data.n", "1", "data.k", "v", "metadata.annotations."+strings.ReplaceAll(last, ".", `\.`), `{"data":1}`)
	}},
	{"L26", func(t *testing.T, s *testserver.Server) { // apply --server-side
		ns := namespace(t, s)
		a := s.Do("PATCH", item("ConfigMap", ns, "a")+"?fieldManager=kubectl&fieldValidation=Strict&force=false",
			minimal("ConfigMap", ns, "a"), applyPatch, acceptJSON)
		if a.Code != 201 {
			t.Errorf("code %d: %s", a.Code, a.Body)
		}
	}},
	{"L27", func(t *testing.T, s *testserver.Server) { // --dry-run=server, diff
		ns := namespace(t, s)
		all, one := collection("ConfigMap", ns), item("ConfigMap", ns, "a")
		want(t, ok(t, s.Do("POST", all+"?dryRun=All&fieldManager=kubectl-create&fieldValidation=Strict", minimal("ConfigMap", ns, "a"), acceptJSON)), "data.k", "v")
		expect(t, s.Do("GET", one, "", acceptJSON), 404, "NotFound")
		create(t, s, "ConfigMap", ns, "a")
		want(t, ok(t, s.Do("PATCH", one+"?dryRun=All&fieldManager=kubectl-client-side-apply&fieldValidation=Strict", `{"data":{"k":"w"}}`, strategicPatch, acceptJSON)), "data.k", "w")
		want(t, ok(t, s.Do("GET", one, "", acceptJSON)), "data.k", "v")
	}},
	{"L28 L29", func(t *testing.T, s *testserver.Server) { // label, annotate, patch
		create(t, s, "Node", "", "l28")
		one := item("Node", "", "l28")
		ok(t, s.Do("GET", one, "", acceptJSON))
		want(t, ok(t, s.Do("PATCH", one+"?fieldManager=kubectl-label", `{"metadata":{"labels":{"a":"b"}}}`, mergePatch, acceptJSON)), "metadata.labels.a", "b")
		want(t, ok(t, s.Do("PATCH", one+"?fieldManager=kubectl-annotate", `{"metadata":{"annotations":{"a":"b"}}}`, mergePatch, acceptJSON)), "metadata.annotations.a", "b")
		for contentType, patch := range map[string]string{
			strategicPatch: `{"spec":{"unschedulable":true}}`, mergePatch: `{"spec":{"unschedulable":true}}`,
			"Content-Type: application/json-patch+json": `[{"op":"add","path":"/spec/unschedulable","value":true}]`,
		} {
			want(t, ok(t, s.Do("PATCH", one+"?fieldManager=kubectl-patch", patch, contentType, acceptJSON)), "spec.unschedulable", "true")
		}
		ok(t, s.Do("GET", one+"/status", "", acceptJSON)) // --subresource=status
		want(t, ok(t, s.Do("PATCH", one+"/status?fieldManager=kubectl-patch", `{"status":{"phase":"Running"}}`, strategicPatch, acceptJSON)), "status.phase", "Running")
	}},
	{"L30 L31", func(t *testing.T, s *testserver.Server) { // create namespace, create configmap, run
		ns := namespace(t, s)
		a := s.Do("POST", collection("ConfigMap", ns)+"?fieldManager=kubectl-create&fieldValidation=Strict", toProtobuf(t, "ConfigMap", minimal("ConfigMap", ns, "a")),
			"Content-Type: application/vnd.kubernetes.protobuf", acceptProto)
		if ok(t, a); a.Header.Get("Content-Type") != "application/vnd.kubernetes.protobuf" || !strings.HasPrefix(a.Body, "k8s\x00") {
			t.Errorf("%s: %q", a.Header.Get("Content-Type"), a.Body)
		}
		want(t, ok(t, s.Do("GET", item("ConfigMap", ns, "a"), "", acceptJSON)), "data.k", "v")
		ok(t, s.Do("POST", collection("Pod", ns)+"?fieldManager=kubectl-run", minimal("Pod", ns, "p"), acceptAny, sentJSON))
	}},
	{"L32 L33", func(t *testing.T, s *testserver.Server) { // describe
		ns := namespace(t, s)
		uid := get(t, create(t, s, "Pod", ns, "p"), "metadata.uid")
		create(t, s, "Event", ns, "e", `{"involvedObject":{"uid":"`+uid+`"}}`)
		ok(t, s.Do("GET", item("Pod", ns, "p"), "", acceptJSON))
		ok(t, s.Do("GET", item("Pod", ns, "p"), "", acceptProto))
		events := asked(collection("Event", ns), "fieldSelector",
			"involvedObject.name=p,involvedObject.namespace="+ns+",involvedObject.kind=Pod,involvedObject.uid="+uid, "limit", "500")
		sameNames(t, ok(t, s.Do("GET", events, "", acceptJSON)), "e")
		ok(t, s.Do("GET", events, "", acceptProto))
		for _, path := range []string{
			"/apis/apps/v1/namespaces/" + ns + "/daemonsets/d", "/apis/batch/v1/namespaces/" + ns + "/cronjobs/c",
			"/apis/autoscaling/v2/namespaces/" + ns + "/horizontalpodautoscalers/h", "/apis/rbac.authorization.k8s.io/v1/namespaces/" + ns + "/roles/r",
			"/api/v1/namespaces/" + ns + "/resourcequotas", "/api/v1/namespaces/" + ns + "/limitranges",
			"/apis/coordination.k8s.io/v1/namespaces/platform-node-lease/leases/n",
		} {
			notServed(t, s.Do("GET", path, "", acceptProto))
		}
	}},
	{"L34", func(t *testing.T, s *testserver.Server) { // create role, create clusterrolebinding, ...
		ns := namespace(t, s)
		for _, kind := range []string{"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"} {
			alias := strings.NewReplacer("v1beta1", "v1", rbacGroup, "rbac.authorization.k8s.io")
			name := "l34-" + ns
			body := alias.Replace(minimal(kind, ns, name))
			made := s.Do("POST", alias.Replace(collection(kind, ns))+"?fieldManager=kubectl-create&fieldValidation=Strict", body, sentJSON, acceptAny)
			if made.Code != 201 {
				t.Errorf("%s: %d %s", kind, made.Code, made.Body)
			}
			want(t, ok(t, s.Do("GET", item(kind, ns, name), "")), "apiVersion", kindNamed(kind).apiVersion())
		}
	}},
	{"L35 L36", waitForDeletion},
	{"L37", func(t *testing.T, s *testserver.Server) { // cordon, taint, drain
		ns := namespace(t, s)
		create(t, s, "Node", "", "l37")
		one := item("Node", "", "l37")
		ok(t, s.Do("GET", one, "", acceptAny))
		ok(t, s.Do("PATCH", one, `{"spec":{"unschedulable":true}}`, strategicPatch, acceptProto))
		ok(t, s.Do("PATCH", one+"?fieldManager=kubectl-taint&fieldValidation=Strict", `{"spec":{"taints":[{"effect":"NoSchedule","key":"a","value":"b"}]}}`, strategicPatch, acceptProto))
		want(t, ok(t, s.Do("GET", one, "", acceptAny)), "spec.unschedulable", "true", "spec.taints.0.key", "a")
		create(t, s, "Pod", ns, "p", `{"spec":{"nodeName":"l37"}}`)
		sameNames(t, ok(t, s.Do("GET", asked("/api/v1/pods", "fieldSelector", "spec.nodeName=l37", "limit", "500"), "", acceptJSON)), "p")
	}},
	{"L38", func(t *testing.T, s *testserver.Server) { // edit
		ns := namespace(t, s)
		create(t, s, "StatefulSet", ns, "a")
		one := item("StatefulSet", ns, "a")
		ok(t, s.Do("GET", one, "", acceptJSON))
		for _, contentType := range []string{strategicPatch, mergePatch} {
			want(t, ok(t, s.Do("PATCH", one+"?fieldManager=kubectl-edit&fieldValidation=Strict", `{"spec":{"replicas":3}}`, contentType, acceptJSON)), "spec.replicas", "3")
		}
	}},
	{"L40", func(t *testing.T, s *testserver.Server) { // api-resources, api-versions, get all
		groups := ok(t, s.Do("GET", "/apis", "", acceptJSON))
		ok(t, s.Do("GET", "/api", "", acceptJSON))
		all := map[string]bool{}
		prefixes := map[string]string{"/api/v1": "v1"}
		for i := 0; get(t, groups, fmt.Sprintf("groups.%d.name", i)) != ""; i++ {
			for j := 0; get(t, groups, fmt.Sprintf("groups.%d.versions.%d.version", i, j)) != ""; j++ {
				version := get(t, groups, fmt.Sprintf("groups.%d.versions.%d.groupVersion", i, j))
				prefixes["/apis/"+version] = version
			}
		}
		for prefix, version := range prefixes {
			list := ok(t, s.Do("GET", prefix, "", acceptJSON))
			want(t, list, "groupVersion", version)
			for i := 0; value(t, list, fmt.Sprintf("resources.%d", i)) != nil; i++ {
				r := get(t, list, fmt.Sprintf("resources.%d", i))
				if strings.Contains(get(t, r, "categories"), `"all"`) {
					all[get(t, r, "name")] = true
				}
			}
		}
		for _, plural := range []string{"pods", "statefulsets", "daemonsets", "cronjobs", "horizontalpodautoscalers"} {
			if !all[plural] {
				t.Errorf("%s are not in the category all: %v", plural, all)
			}
		}
	}},
	{"L42", func(t *testing.T, s *testserver.Server) {
		expect(t, s.Do("GET", "/api?timeout=32s", "", "Authorization: Bearer wrong"), 401, "Unauthorized", "Unauthorized")
	}},
	{"L44", func(t *testing.T, s *testserver.Server) { // typed clients
		path, _ := some(t, s)
		list := ok(t, s.Do("GET", path, "", acceptJSON))
		if _, isText := value(t, list, "metadata.resourceVersion").(string); !isText || !strings.Contains(list, `"items":[]`) {
			t.Errorf("an empty list: %s", list)
		}
		some, _ := some(t, s, "a", "b")
		if _, isText := value(t, ok(t, s.Do("GET", some+"?limit=1", "")), "metadata.continue").(string); !isText {
			t.Error("continue is no text")
		}
		ok(t, s.Do("GET", some, "", acceptProto))
	}},
	{"L45", func(t *testing.T, s *testserver.Server) { // controllers
		path, _ := some(t, s, "a")
		for _, query := range []string{"", "?resourceVersion=0", "?limit=500&resourceVersion=0"} {
			list := ok(t, s.Do("GET", path+query, "", acceptJSON))
			sameNames(t, list, "a")
			w := watch(t, s, asked(path, "allowWatchBookmarks", "true", "resourceVersion", get(t, list, "metadata.resourceVersion"), "timeoutSeconds", "1", "watch", "true"))
			w.want("BOOKMARK", "BOOKMARK", "EOF") // at once, and at the end
		}
		w := watch(t, s, asked(path, "allowWatchBookmarks", "true", "sendInitialEvents", "true", "resourceVersionMatch", "NotOlderThan", "watch", "true"))
		w.want("ADDED a", "BOOKMARK")
		expect(t, s.Do("GET", "/apis/coordination.k8s.io/v1/namespaces/default/leases/l", ""), 404, "NotFound")
	}},
}

// notServed expects that there is no such resource, in protobuf.
func notServed(t *testing.T, a testserver.Answer) {
	t.Helper()
	if a.Code != 404 || !strings.HasPrefix(a.Body, "k8s\x00") || !strings.Contains(a.Body, "NotFound") {
		t.Errorf("%d %q", a.Code, a.Body)
	}
}

// waitForDeletion: what delete and wait send (D48, G52).
func waitForDeletion(t *testing.T, s *testserver.Server) {
	ns := namespace(t, s)
	uid := get(t, create(t, s, "Pod", ns, "p", `{"metadata":{"finalizers":["x.example.com/y"]}}`), "metadata.uid")
	one, byName := item("Pod", ns, "p"), asked(collection("Pod", ns), "fieldSelector", "metadata.name=p")
	const options = `{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"propagationPolicy":"Background"}`
	ok(t, s.Do("DELETE", one, options, acceptJSON, sentJSON))
	want(t, ok(t, s.Do("GET", one, "", acceptJSON)), "metadata.uid", uid)
	list := ok(t, s.Do("GET", byName+"&limit=500&resourceVersion=0", "", acceptJSON))
	sameNames(t, list, "p")
	w := watch(t, s, byName+"&allowWatchBookmarks=true&timeoutSeconds=300&watch=true&resourceVersion="+get(t, list, "metadata.resourceVersion"), acceptJSON)
	w.want("BOOKMARK")
	ok(t, s.Do("PATCH", one, `{"metadata":{"finalizers":null}}`, mergePatch))
	want(t, w.want("DELETED p"), "metadata.uid", uid)
	expect(t, s.Do("GET", one, "", acceptJSON), 404, "NotFound")
	for policy, finalizer := range map[string]string{"Orphan": "orphan", "Foreground": "foregroundDeletion"} { // --cascade
		create(t, s, "ConfigMap", ns, strings.ToLower(policy), `{"metadata":{"finalizers":["x.example.com/y"]}}`)
		path := item("ConfigMap", ns, strings.ToLower(policy))
		w := watch(t, s, asked(collection("ConfigMap", ns), "watch", "true", "resourceVersion", "0", "fieldSelector", "metadata.name="+strings.ToLower(policy)))
		w.want("ADDED " + strings.ToLower(policy))
		ok(t, s.Do("DELETE", path, `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"`+policy+`"}`))
		if changed := get(t, w.want("MODIFIED "+strings.ToLower(policy)), "metadata.finalizers"); !strings.Contains(changed, finalizer) {
			t.Errorf("%s: finalizers %s", policy, changed)
		}
	}
}
