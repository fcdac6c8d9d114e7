package specification

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// madeKind is a kind that a ThirdPartyResource makes, in a group of the row's own.
type madeKind struct {
	group, plural, kind string
	name                string // of the ThirdPartyResource
}

// define makes a ThirdPartyResource for a row: the kind CronTab in the group <row>.example.com.
func define(t *testing.T, s *testserver.Server, row string, versions ...string) madeKind {
	t.Helper()
	k := madeKind{group: row + ".example.com", plural: "crontabs", kind: "CronTab", name: "cron-tab." + row + ".example.com"}
	create(t, s, "ThirdPartyResource", "", k.name, versionList(versions...))
	return k
}

// versionList is a merge patch that sets the versions of a ThirdPartyResource.
func versionList(versions ...string) string {
	for i, v := range versions {
		versions[i] = `{"name":"` + v + `"}`
	}
	return `{"versions":[` + strings.Join(versions, ",") + `]}`
}

func (k madeKind) path(version, ns string) string {
	if ns == "" {
		return "/apis/" + k.group + "/" + version + "/" + k.plural
	}
	return "/apis/" + k.group + "/" + version + "/namespaces/" + ns + "/" + k.plural
}

// object is an instance; changes are merge patches.
func (k madeKind) object(version, name string, changes ...string) string {
	return with(fmt.Sprintf(`{"kind":%q,"apiVersion":"%s/%s","metadata":{"name":%q},"spec":{"n":1}}`, k.kind, k.group, version, name), changes...)
}

const thirdParty = "ThirdPartyResource"

// thirdPartyRows prove what ThirdPartyResources do (§2.12, K).
var thirdPartyRows = []row{
	{"§2.12 K18", func(t *testing.T, s *testserver.Server) {
		made := create(t, s, thirdParty, "", "thing.k18.example.com", `{"description":"a thing"}`, versionList("v1", "v2"))
		want(t, made, "description", "a thing", "versions", `[{"name":"v1"},{"name":"v2"}]`)
		want(t, ok(t, s.Do("PUT", item(thirdParty, "", "thing.k18.example.com"), with(made, `{"description":null}`))), "description", "")
	}},
	{"K1 K4", func(t *testing.T, s *testserver.Server) {
		for name, kindAndPlural := range map[string][2]string{
			"cron-tab": {"CronTab", "crontabs"}, "policy": {"Policy", "policies"}, "class": {"Class", "classes"}, "a-b2-c": {"AB2C", "ab2cs"},
			"namespace": {"Namespace", "namespaces"}, "watch": {"Watch", "watchs"},
		} {
			create(t, s, thirdParty, "", name+".k1.example.com")
			singular := strings.ReplaceAll(name, "-", "")
			list := ok(t, s.Do("GET", "/apis/k1.example.com/v1", ""))
			if !strings.Contains(list, fmt.Sprintf(`{"name":%q,"singularName":%q,"namespaced":true,"kind":%q,`, kindAndPlural[1], singular, kindAndPlural[0])) {
				t.Errorf("%s: %s", name, list)
			}
			sameNames(t, ok(t, s.Do("GET", "/apis/k1.example.com/v1/namespaces/default/"+kindAndPlural[1], "")))
			sameNames(t, ok(t, s.Do("GET", "/apis/k1.example.com/v1/"+kindAndPlural[1], "")))
		}
	}},
	{"K2", func(t *testing.T, s *testserver.Server) {
		for _, name := range []string{"crontab.com", "crontab", "Cron.k2.example.com", "cron_tab.k2.example.com", "-a.k2.example.com", "a..b.c"} {
			expectInvalid(t, s.Do("POST", collection(thirdParty, ""), minimal(thirdParty, "", name)), "metadata.name", "FieldValueInvalid")
		}
	}},
	{"K3", func(t *testing.T, s *testserver.Server) {
		post := func(versions ...string) testserver.Answer {
			return s.Do("POST", collection(thirdParty, ""), minimal(thirdParty, "", "thing.k3.example.com", versionList(versions...)))
		}
		expectInvalid(t, post("v1", "v1"), "versions[1].name", "FieldValueDuplicate")
		expectInvalid(t, post("v1", "V2"), "versions[1].name", "FieldValueInvalid")
		expectInvalid(t, post("v1", ""), "versions[1].name", "FieldValueRequired")
		expectInvalid(t, post("a.b"), "versions[0].name", "FieldValueInvalid")
		// The table of fields says that one is required, and holds where the two differ.
		expectInvalid(t, post(), "versions", "FieldValueRequired")
		ok(t, post("v1", "1-any-label"))
		ok(t, s.Do("GET", "/apis/k3.example.com/1-any-label/things", ""))
	}},
	{"K5 K6", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		k := madeKind{group: "k5.example.com", plural: "crontabs"}
		paths := []string{
			"/apis/k5.example.com", "/apis/k5.example.com/v1", "/openapi/v3/apis/k5.example.com/v1",
			k.path("v1", ""), k.path("v1", ns), k.path("v1", "") + "?watch=true&timeoutSeconds=1",
			strings.Replace(k.path("v1", ""), "/v1/", "/v1/watch/", 1) + "?timeoutSeconds=1",
			strings.Replace(k.path("v1", ns), "/v1/", "/v1/watch/", 1) + "/a?timeoutSeconds=1",
		}
		for _, path := range paths {
			expect(t, s.Do("GET", path, ""), 404, "NotFound", "the server could not find the requested resource")
		}
		define(t, s, "k5", "v1")
		for _, path := range paths {
			ok(t, s.Do("GET", path, ""))
		}
		for _, path := range []string{"/apis", "/openapi/v3", "/"} {
			if body := ok(t, s.Do("GET", path, "")); !strings.Contains(body, "k5.example.com/v1") {
				t.Errorf("%s does not name it: %s", path, body)
			}
		}
	}},
	{"K7", func(t *testing.T, s *testserver.Server) {
		k, ns := define(t, s, "k7", "v1"), namespace(t, s)
		const members = `"n":12345678901234567890,"f":1.50,"e":1e3,"t":true,"z":null,"l":[1,"a",{"b":[]}],"s":"<\u00e9>"`
		body := fmt.Sprintf(`{"apiVersion":"k7.example.com/v1","kind":"CronTab","metadata":{"name":"a"},%s,"spec":{%s},"status":{"x":1}}`, members, members)
		ok(t, s.Do("POST", k.path("v1", ns), body))
		stored := ok(t, s.Do("GET", k.path("v1", ns)+"/a", ""))
		for _, path := range []string{"", "spec."} {
			want(t, stored, path+"n", "12345678901234567890", path+"f", "1.50", path+"e", "1e3", path+"t", "true", path+"l", `[1,"a",{"b":[]}]`, path+"s", "<é>")
			if !strings.Contains(stored, `"z":null`) {
				t.Errorf("null is lost: %s", stored)
			}
		}
		want(t, stored, "status.x", "1", "metadata.namespace", ns)
		expect(t, s.Do("POST", k.path("v1", "nowhere"), k.object("v1", "a")), 404, "NotFound")
		same := ok(t, s.Do("PUT", k.path("v1", ns)+"/a", with(stored, `{}`))) // members in another order: nothing changes (E20)
		want(t, same, "metadata.resourceVersion", get(t, stored, "metadata.resourceVersion"))
	}},
	{"K8", func(t *testing.T, s *testserver.Server) {
		k, ns := define(t, s, "k8", "v1"), namespace(t, s)
		for _, change := range []string{`{"kind":null}`, `{"apiVersion":null}`, `{"kind":"Pod"}`, `{"apiVersion":"v1"}`, `{"kind":7}`} {
			expect(t, s.Do("POST", k.path("v1", ns), k.object("v1", "a", change)), 400, "BadRequest")
		}
	}},
	{"K9 B21 F25", instanceOperations},
	{"K10", func(t *testing.T, s *testserver.Server) {
		k, ns := define(t, s, "k10", "v1", "v2"), namespace(t, s)
		w := watch(t, s, k.path("v2", ns)+"?watch=true")
		first := ok(t, s.Do("POST", k.path("v1", ns), k.object("v1", "a")))
		ok(t, s.Do("POST", k.path("v2", ns), k.object("v2", "b")))
		want(t, w.want("ADDED a"), "apiVersion", "k10.example.com/v2")
		for _, version := range []string{"v1", "v2"} {
			for _, name := range []string{"a", "b"} {
				want(t, ok(t, s.Do("GET", k.path(version, ns)+"/"+name, "")), "apiVersion", "k10.example.com/"+version, "spec.n", "1")
			}
			list := ok(t, s.Do("GET", k.path(version, ns), ""))
			sameNames(t, list, "a", "b")
			want(t, list, "apiVersion", "k10.example.com/"+version)
		}
		expect(t, s.Do("PUT", k.path("v2", ns)+"/a", first), 400, "BadRequest", "does not match the expected API version")
		want(t, ok(t, s.Do("PATCH", k.path("v2", ns)+"/a", `{"spec":{"n":2}}`, mergePatch)), "apiVersion", "k10.example.com/v2", "spec.n", "2")
		ok(t, s.Do("DELETE", k.path("v2", ns)+"/a", ""))
		want(t, w.want("ADDED b", "MODIFIED a", "DELETED a"), "apiVersion", "k10.example.com/v2")
	}},
	{"K11", func(t *testing.T, s *testserver.Server) {
		post := func(name string) testserver.Answer {
			return s.Do("POST", collection(thirdParty, ""), minimal(thirdParty, "", name))
		}
		for _, k := range catalog() {
			if strings.Contains(k.group(), ".") {
				expectInvalid(t, post("thing."+k.group()), "metadata.name", "FieldValueInvalid", "reserved")
			}
		}
		ok(t, post("cron-tab.k11.example.com"))
		expectInvalid(t, post("crontab.k11.example.com"), "metadata.name", "FieldValueInvalid", "is that of cron-tab.k11.example.com")
		ok(t, post("crontab.k11b.example.com"))
	}},
	{"K12", func(t *testing.T, s *testserver.Server) {
		k, ns := define(t, s, "k12", "v1"), namespace(t, s)
		expectInvalid(t, s.Do("POST", k.path("v1", ns), k.object("v1", "No_Name")), "metadata.name", "FieldValueInvalid")
		expectInvalid(t, s.Do("POST", k.path("v1", ns), k.object("v1", "a", `{"metadata":{"labels":{"-":"v"}}}`)), "metadata.labels", "FieldValueInvalid")
		expect(t, s.Do("POST", k.path("v1", ns), k.object("v1", "a", `{"metadata":{"namespace":"other"}}`)), 400, "BadRequest", "namespace")
		made := ok(t, s.Do("POST", k.path("v1", ns), k.object("v1", "", `{"metadata":{"name":null,"generateName":"x-","labels":{"a":"b"}}}`)))
		if name := get(t, made, "metadata.name"); len(name) != len("x-")+5 {
			t.Errorf("generated name %q", name)
		}
		sameNames(t, ok(t, s.Do("GET", asked(k.path("v1", ns), "labelSelector", "a=b"), "")), get(t, made, "metadata.name"))
	}},
	{"K13", func(t *testing.T, s *testserver.Server) {
		k, ns := define(t, s, "k13", "v1"), namespace(t, s)
		for i := range 30 {
			ok(t, s.Do("POST", k.path("v1", ns), k.object("v1", fmt.Sprint("a", i), `{"metadata":{"finalizers":["x.example.com/y"]}}`)))
		}
		ok(t, s.Do("DELETE", item(thirdParty, "", k.name), ""))
		for _, path := range []string{k.path("v1", ns), k.path("v1", ns) + "/a0", "/apis/k13.example.com", "/apis/k13.example.com/v1"} {
			expect(t, s.Do("GET", path, ""), 404, "NotFound")
		}
		if groups := ok(t, s.Do("GET", "/apis", "")); strings.Contains(groups, "k13") {
			t.Errorf("still listed: %s", groups)
		}
		define(t, s, "k13", "v1") // at once: nothing of the former is to be seen
		sameNames(t, ok(t, s.Do("GET", k.path("v1", ""), "")))
		ok(t, s.Do("POST", k.path("v1", ns), k.object("v1", "a0")))
		s.Eventually("the former objects are removed", func() bool {
			left := 0
			for _, resource := range testserver.Resources(t, s.Store) {
				if strings.HasPrefix(resource, "k13.example.com/") {
					left++
				}
			}
			return left == 1 // that of the new one
		})
		sameNames(t, ok(t, s.Do("GET", k.path("v1", ns), "")), "a0")
	}},
	{"K13 K14 N16", func(t *testing.T, _ *testserver.Server) {
		const instances = 300
		r := startReplicas(t)
		follower, leader := r.follower()
		s := r.on(follower)
		k, ns := define(t, s, "n16", "v1"), namespace(t, s)
		var clients sync.WaitGroup
		for c := range 10 {
			clients.Go(func() {
				for i := c; i < instances; i += 10 {
					if a, err := s.Try(s.Client, "POST", k.path("v1", ns), k.object("v1", fmt.Sprint("a", i))); err != nil || a.Code != 200 {
						t.Errorf("create: %v %d %s", err, a.Code, a.Body)
					}
				}
			})
		}
		clients.Wait()
		list := ok(t, s.Do("GET", k.path("v1", ns), ""))
		w := watch(t, s, k.path("v1", ns)+"?watch=true&resourceVersion="+get(t, list, "metadata.resourceVersion"))
		ok(t, s.Do("DELETE", item(thirdParty, "", k.name), ""))
		first, _ := w.next() // removal has begun
		r.on(leader).Stop()
		leader.Kill()
		// The next leader goes on: each instance is seen to go once, and then the watch ends.
		seen := map[string]bool{}
		for event := first; event != "EOF"; event, _ = w.next() {
			if seen[event] || !strings.HasPrefix(event, "DELETED a") {
				t.Fatalf("%s after %d events", event, len(seen))
			}
			seen[event] = true
		}
		if len(seen) != instances {
			t.Errorf("%d of %d instances were removed", len(seen), instances)
		}
	}},
	{"K14", func(t *testing.T, s *testserver.Server) {
		k, ns := define(t, s, "k14", "v1"), namespace(t, s)
		ok(t, s.Do("POST", k.path("v1", ns), k.object("v1", "a")))
		ok(t, s.Do("POST", k.path("v1", ns), k.object("v1", "b")))
		some, none := watch(t, s, k.path("v1", ns)+"?watch=true&resourceVersion=0"), watch(t, s, k.path("v1", "nowhere")+"?watch=true")
		some.want("ADDED a", "ADDED b")
		ok(t, s.Do("DELETE", item(thirdParty, "", k.name), ""))
		deleted := map[string]bool{}
		for range 2 {
			event, _ := some.next()
			deleted[event] = true
		}
		if !deleted["DELETED a"] || !deleted["DELETED b"] {
			t.Errorf("events %v", deleted)
		}
		some.want("EOF")
		none.want("EOF")
	}},
	{"K15", func(t *testing.T, s *testserver.Server) {
		k, ns := define(t, s, "k15", "v1", "v2"), namespace(t, s)
		ok(t, s.Do("POST", k.path("v1", ns), k.object("v1", "a")))
		ended, goesOn := watch(t, s, k.path("v1", ns)+"?watch=true&resourceVersion=0"), watch(t, s, k.path("v2", ns)+"?watch=true&resourceVersion=0")
		ended.want("ADDED a")
		goesOn.want("ADDED a")
		ok(t, s.Do("PATCH", item(thirdParty, "", k.name), versionList("v2"), mergePatch))
		for _, path := range []string{k.path("v1", ns), k.path("v1", ns) + "/a", "/apis/k15.example.com/v1"} {
			expect(t, s.Do("GET", path, ""), 404, "NotFound")
		}
		ended.want("EOF")
		want(t, ok(t, s.Do("GET", k.path("v2", ns)+"/a", "")), "spec.n", "1", "apiVersion", "k15.example.com/v2")
		want(t, ok(t, s.Do("GET", "/apis/k15.example.com", "")), "versions", `[{"groupVersion":"k15.example.com/v2","version":"v2"}]`)
		ok(t, s.Do("POST", k.path("v2", ns), k.object("v2", "b")))
		goesOn.want("ADDED b")
	}},
	{"K16", func(t *testing.T, s *testserver.Server) {
		k, ns := define(t, s, "k16", "v1"), namespace(t, s)
		ok(t, s.Do("POST", k.path("v1", ns), k.object("v1", "a")))
		w := watch(t, s, k.path("v1", ns)+"?watch=true&resourceVersion=0")
		w.want("ADDED a")
		ok(t, s.Do("DELETE", item("Namespace", "", ns), ""))
		w.want("DELETED a")
		s.Eventually("the namespace is gone", func() bool { return s.Do("GET", item("Namespace", "", ns), "").Code == 404 })
		sameNames(t, ok(t, s.Do("GET", k.path("v1", ns), "")))
	}},
	{"K17", func(t *testing.T, s *testserver.Server) {
		k, ns := define(t, s, "k17", "v1"), namespace(t, s)
		jane := "Authorization: Bearer " + s.IssueToken("jane")
		for method, verb := range map[string]string{"GET": "list", "POST": "create", "DELETE": "deletecollection"} {
			expect(t, s.Do(method, k.path("v1", ns), k.object("v1", "a"), jane), 403, "Forbidden",
				fmt.Sprintf(`cannot %s resource "crontabs" in API group "k17.example.com" in the namespace %q`, verb, ns))
		}
		ok(t, s.Do("GET", "/apis/k17.example.com/v1", "", jane))
	}},
}

// instanceOperations: K9.
func instanceOperations(t *testing.T, s *testserver.Server) {
	k, ns := define(t, s, "k9", "v1"), namespace(t, s)
	all, one := k.path("v1", ns), k.path("v1", ns)+"/a"
	w := watch(t, s, all+"?watch=true")
	made := ok(t, s.Do("POST", k.path("v1", ""), k.object("v1", "a", `{"metadata":{"namespace":"`+ns+`"}}`)))
	want(t, made, "metadata.generation", "", "metadata.selfLink", one)
	want(t, ok(t, s.Do("GET", one, "")), "spec.n", "1")
	want(t, ok(t, s.Do("PUT", one, with(made, `{"spec":{"n":2}}`))), "spec.n", "2", "metadata.generation", "")
	expect(t, s.Do("PUT", one, made), 409, "Conflict")
	want(t, ok(t, s.Do("PATCH", one, `{"spec":{"n":null,"m":3}}`, mergePatch)), "spec", `{"m":3}`)
	want(t, ok(t, s.Do("PATCH", one, `[{"op":"test","path":"/spec/m","value":3},{"op":"add","path":"/new","value":[1]}]`,
		"Content-Type: application/json-patch+json")), "new", "[1]")
	expect(t, s.Do("PATCH", one, `{"spec":{"m":4}}`, strategicPatch), 415, "UnsupportedMediaType")
	expect(t, s.Do("GET", one, "", "Accept: application/vnd.platform.protobuf"), 406, "NotAcceptable")
	answer := s.Do("GET", one, "", "Accept: application/vnd.platform.protobuf,application/json")
	if want(t, ok(t, answer), "new", "[1]"); answer.Header.Get("Content-Type") != "application/json" {
		t.Errorf("Content-Type %s", answer.Header.Get("Content-Type"))
	}
	for _, method := range []string{"GET", "PUT", "PATCH"} {
		expect(t, s.Do(method, one+"/status", made), 404, "NotFound")
	}
	ok(t, s.Do("DELETE", one, ""))
	w.want("ADDED a", "MODIFIED a", "MODIFIED a", "MODIFIED a", "DELETED a")
	for _, name := range []string{"b", "c", "d"} {
		ok(t, s.Do("POST", all, k.object("v1", name, `{"metadata":{"labels":{"l":"`+name+`"}}}`)))
	}
	sameNames(t, ok(t, s.Do("GET", asked(all, "fieldSelector", "metadata.name=b"), "")), "b")
	ok(t, s.Do("DELETE", asked(all, "labelSelector", "l in (b,c)"), ""))
	sameNames(t, ok(t, s.Do("GET", all, "")), "d")
	page := ok(t, s.Do("GET", asked(k.path("v1", ""), "limit", "1"), ""))
	sameNames(t, page, "d")
}
