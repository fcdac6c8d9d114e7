package specification

import (
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// selects expects a collection's items by one selector.
func selects(t *testing.T, s *testserver.Server, path, parameter, selector, want string) {
	t.Helper()
	list := ok(t, s.Do("GET", asked(path, parameter, selector), ""))
	if got := strings.Join(names(t, list), " "); got != want {
		t.Errorf("%s %q: %q, want %q", parameter, selector, got, want)
	}
}

// selectorRows prove label and field selectors (C5–C19).
var selectorRows = []row{
	{"C5 C6 §4.4-labelSelector", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "ConfigMap", ns, "none")
		create(t, s, "ConfigMap", ns, "web", labelled("app", "web", "n", "5", "x.io/y", "1"))
		create(t, s, "ConfigMap", ns, "db", labelled("app", "db", "n", "ten", "empty", ""))
		for selector, want := range map[string]string{
			"app": "db web", "!app": "none", "app=web": "web", "app==web": "web", "app!=web": "db none",
			"app in (web,db)": "db web", "app in ( web , db )": "db web", "app notin (web)": "db none", "n>4": "web", "n<6": "web", "n>5": "",
			"app,n>4": "web", " app = web , n = 5 ": "web", "app=web,app=db": "", "": "db none web", "x.io/y=1": "web",
			"empty=": "db", "empty in (,a)": "db", "app notin (web,db)": "none", "missing<9": "", "app>1": "",
		} {
			selects(t, s, collection("ConfigMap", ns), "labelSelector", selector, want)
		}
	}},
	{"C7 C8", func(t *testing.T, s *testserver.Server) {
		path := collection("ConfigMap", namespace(t, s))
		for _, selector := range []string{
			"a=b=c", "a in ()", "a notin ()", "a in (b", ",", "a,,b", "a>x", "=a", "a=-b-", "a=" + strings.Repeat("x", 64), "/a", "-a=b", "a b",
		} {
			for _, watching := range []string{"false", "true"} {
				a := s.Do("GET", asked(path, "labelSelector", selector, "watch", watching), "")
				expect(t, a, 400, "BadRequest", "unable to parse requirement: ")
			}
		}
	}},
	{"C9 §4.4-fieldSelector", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "Event", ns, "one", `{"reason":"a,b=c\\d","type":"Normal"}`)
		create(t, s, "Event", ns, "two", `{"reason":"plain","type":"Warning"}`)
		for selector, want := range map[string]string{
			"type=Normal": "one", "type==Normal": "one", "type!=Normal": "two", "type=Normal,reason=plain": "",
			`reason=a\,b\=c\\d`: "one", `reason!=a\,b\=c\\d`: "two", "": "one two",
		} {
			selects(t, s, collection("Event", ns), "fieldSelector", selector, want)
		}
	}},
	{"C10 C11", func(t *testing.T, s *testserver.Server) {
		path := collection("ConfigMap", namespace(t, s))
		expect(t, s.Do("GET", asked(path, "fieldSelector", "data.k=v"), ""), 400, "BadRequest", "field label not supported: data.k")
		expect(t, s.Do("GET", asked(path, "fieldSelector", "data.k=v", "watch", "1"), ""), 400, "BadRequest", "field label not supported: data.k")
		expect(t, s.Do("GET", asked(path, "fieldSelector", "abc"), ""), 400, "BadRequest", "invalid selector: 'abc'; can't understand 'abc'")
		expect(t, s.Do("GET", asked(path, "fieldSelector", `metadata.name=a\`), ""), 400, "BadRequest")
		expect(t, s.Do("GET", asked(collection("Node", ""), "fieldSelector", "metadata.namespace=x"), ""), 400, "BadRequest", "metadata.namespace")
	}},
	{"C12", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range catalog() {
			name := nameFor(k.kind, "c12")
			create(t, s, k.kind, ns, name)
			selects(t, s, collection(k.kind, ""), "fieldSelector", "metadata.name="+name+",metadata.name!=x", name)
			selects(t, s, collection(k.kind, ns), "fieldSelector", "metadata.name=no", "")
			if k.namespaced {
				selects(t, s, collection(k.kind, ""), "fieldSelector", "metadata.name="+name+",metadata.namespace="+ns, name)
				selects(t, s, collection(k.kind, ns), "fieldSelector", "metadata.namespace!="+ns, "")
			}
		}
	}},
	{"C13 C19", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "Pod", ns, "bound", `{"spec":{"nodeName":"n1","restartPolicy":"Never","schedulerName":"mine","serviceAccountName":"sa"}}`)
		create(t, s, "Pod", ns, "free")
		ok(t, s.Do("PATCH", item("Pod", ns, "bound")+"/status", `{"status":{"phase":"Running","podIP":"10.1.2.3","hostIP":"10.0.0.1"}}`,
			"Content-Type: application/merge-patch+json"))
		for selector, want := range map[string]string{
			"spec.nodeName=n1": "bound", "spec.nodeName=": "free", "spec.nodeName!=": "bound", "spec.host=n1": "bound",
			"spec.restartPolicy=Never": "bound", "spec.restartPolicy=Always": "free", "spec.schedulerName=mine": "bound",
			"status.phase=Running": "bound", "status.phase=Pending": "free", "status.podIP=10.1.2.3": "bound", "status.podIP=": "free",
		} {
			selects(t, s, collection("Pod", ns), "fieldSelector", selector, want)
		}
		// The kind's file has these two as known, and without a value to compare with (it goes
		// before this row, design.md).
		for _, accepted := range []string{"spec.serviceAccountName", "status.hostIP"} {
			selects(t, s, collection("Pod", ns), "fieldSelector", accepted+"=", "bound free")
		}
	}},
	{"C14 §6.1", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "Event", ns, "e", `{"involvedObject":{"kind":"Pod","namespace":"`+ns+`","name":"p","uid":"u1","apiVersion":"v1",
			"resourceVersion":"7","fieldPath":"spec.containers{c}"},"reason":"Killed","source":{"component":"kubelet"},"type":"Warning"}`)
		create(t, s, "Event", ns, "other", `{"reason":"Other"}`)
		for _, selector := range []string{
			"involvedObject.kind=Pod,involvedObject.name=p,involvedObject.uid=u1", "involvedObject.apiVersion=v1", "involvedObject.resourceVersion=7",
			"involvedObject.fieldPath=spec.containers{c}", "reason=Killed", "source=kubelet", "type=Warning",
		} {
			selects(t, s, collection("Event", ns), "fieldSelector", selector, "e")
		}
		selects(t, s, collection("Event", ""), "fieldSelector", "involvedObject.namespace="+ns, "e other")
	}},
	{"C15 C16 C17", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		selects(t, s, collection("Namespace", ""), "fieldSelector", "status.phase=Active,metadata.name="+ns, ns)
		selects(t, s, collection("Namespace", ""), "fieldSelector", "status.phase=Terminating,metadata.name="+ns, "")
		create(t, s, "Node", "", "c16-off", `{"spec":{"unschedulable":true}}`, labelled("row", "c16"))
		create(t, s, "Node", "", "c16-on", labelled("row", "c16"))
		nodes := asked(collection("Node", ""), "labelSelector", "row=c16")
		sameNames(t, ok(t, s.Do("GET", nodes+"&fieldSelector=spec.unschedulable%3Dtrue", "")), "c16-off")
		sameNames(t, ok(t, s.Do("GET", nodes+"&fieldSelector=spec.unschedulable%3Dfalse", "")), "c16-on")
		for _, kind := range []string{"PersistentVolume", "OAuthClient", "Image", "ThirdPartyResource", "ClusterNetwork", "HostSubnet"} {
			selects(t, s, collection(kind, ""), "fieldSelector", "metadata.name=no", "")
			expect(t, s.Do("GET", asked(collection(kind, ""), "fieldSelector", "spec.x=y"), ""), 400, "BadRequest", "field label not supported")
		}
	}},
	{"C18", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "Pod", ns, "p", `{"spec":{"nodeName":"n1"}}`)
		create(t, s, "Event", ns, "e")
		selects(t, s, collection("Event", ns), "fieldSelector",
			"involvedObject.name=p,involvedObject.namespace="+ns+",involvedObject.kind=Pod", "e")
		selects(t, s, collection("Pod", ""), "fieldSelector",
			"metadata.namespace="+ns+",spec.nodeName=n1,status.phase!=Succeeded,status.phase!=Failed", "p")
		selects(t, s, collection("Pod", ns), "fieldSelector", "metadata.name=p", "p")
	}},
}
