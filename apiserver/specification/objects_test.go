package specification

import (
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// refuse expects that a minimal object with a change is not stored, for a cause at the field.
func refuse(t *testing.T, s *testserver.Server, kind, ns, field, reason, change string) {
	t.Helper()
	a := s.Do("POST", collection(kind, ns), minimal(kind, ns, rowName(kind, "refused"), change))
	if a.Code != 422 {
		t.Errorf("%s is taken: %d %s", change, a.Code, a.Body)
		return
	}
	expectInvalid(t, a, field, reason)
}

// made is the stored form of a minimal object with a change, under a name of the server's choice.
func made(t *testing.T, s *testserver.Server, kind, ns, change string) string {
	t.Helper()
	if change == "" {
		change = "{}"
	}
	return create(t, s, kind, ns, "", change, `{"metadata":{"name":null,"generateName":"made-"}}`)
}

// objectRows: what is special about a kind.
var objectRows = []row{
	{"M1", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		set := create(t, s, "StatefulSet", ns, "m1", `{"spec":{"replicas":3}}`)
		create(t, s, "CronJob", ns, "m1", `{"spec":{"schedule":"* * * * *"}}`)
		create(t, s, "DaemonSet", ns, "m1")
		after := ok(t, s.Do("PUT", item("StatefulSet", ns, "m1")+"/status", with(set, `{"status":{"replicas":2}}`)))
		want(t, after, "status.replicas", "2", "spec.replicas", "3")
		if list := ok(t, s.Do("GET", collection("Pod", ns), "")); len(names(t, list)) != 0 {
			t.Errorf("pods: %s", list)
		}
		if now := ok(t, s.Do("GET", item("StatefulSet", ns, "m1"), "")); now != after {
			t.Errorf("changed to %s", now)
		}
	}},
	{"M2", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range catalog() {
			name, counts := rowName(k.kind, "m2"), k.kind == "DaemonSet" || k.kind == "StatefulSet"
			first, second := "", ""
			if counts {
				first, second = "1", "2"
			}
			o := create(t, s, k.kind, ns, name)
			want(t, o, "metadata.generation", first)
			changed := ok(t, s.Do("PUT", item(k.kind, ns, name), with(o, `{"metadata":{"labels":{"a":"b"}}}`)))
			want(t, changed, "metadata.generation", first)
			if counts {
				changed = ok(t, s.Do("PUT", item(k.kind, ns, name), with(changed, `{"spec":{"template":{"spec":{"hostname":"h"}}}}`)))
				want(t, changed, "metadata.generation", second)
			}
		}
	}},
	{"M3 M4", func(t *testing.T, s *testserver.Server) {
		want(t, create(t, s, "Namespace", "", "m3", `{"status":{"phase":"Terminating"}}`), "status.phase", "Active", "spec.finalizers", `["platform"]`)
		more := create(t, s, "Namespace", "", "m3-more", `{"spec":{"finalizers":["example.com/hold"]}}`)
		want(t, more, "spec.finalizers", `["example.com/hold","platform"]`)
		for _, name := range []string{"default", "platform-system", "platform-public"} {
			want(t, ok(t, s.Do("GET", item("Namespace", "", name), "")), "status.phase", "Active")
		}
	}},
	{"M5", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		expect(t, s.Do("PUT", item("Namespace", "", ns)+"/status", minimal("Namespace", "", ns, `{"status":{"phase":"Terminating"}}`)), 422, "Invalid", "status.phase")
		gone := going(t, s)
		want(t, ok(t, s.Do("GET", item("Namespace", "", gone), "")), "status.phase", "Terminating")
		expect(t, s.Do("PUT", item("Namespace", "", gone)+"/status", minimal("Namespace", "", gone, `{"status":{"phase":"Active"}}`)), 422, "Invalid", "status.phase")
	}},
	{"M10", func(t *testing.T, s *testserver.Server) {
		node := create(t, s, "Node", "", "m10", `{"status":{"phase":"Running","addresses":[{"type":"InternalIP","address":"192.0.2.1"}]}}`)
		want(t, node, "status.phase", "Running", "status.addresses.0.address", "192.0.2.1")
		for _, effect := range []string{"NoSchedule", "PreferNoSchedule", "NoExecute"} {
			made(t, s, "Node", "", `{"spec":{"taints":[{"key":"k","effect":"`+effect+`"}]}}`)
		}
		refuse(t, s, "Node", "", "spec.taints[0].effect", "FieldValueNotSupported", `{"spec":{"taints":[{"key":"k","effect":"Never"}]}}`)
	}},
	{"M11", func(t *testing.T, s *testserver.Server) {
		node := create(t, s, "Node", "", "m11", `{"status":{"capacity":{"cpu":"4","memory":"8Gi"}}}`)
		want(t, node, "metadata.labels", "", "status.allocatable", get(t, node, "status.capacity"))
		node = create(t, s, "Node", "", "m11b", `{"status":{"capacity":{"cpu":"4"},"allocatable":{"cpu":"3"}}}`)
		want(t, node, "status.allocatable", `{"cpu":"3"}`)
	}},
	{"M12 M13", func(t *testing.T, s *testserver.Server) {
		pv := create(t, s, "PersistentVolume", "", "m12")
		want(t, pv, "status.phase", "Pending", "spec.persistentVolumeReclaimPolicy", "Retain", "metadata.finalizers", "")
		for _, phase := range []string{"Available", "Bound", "Released", "Failed", "Pending"} {
			pv = ok(t, s.Do("PUT", item("PersistentVolume", "", "m12")+"/status", with(pv, `{"status":{"phase":"`+phase+`"}}`)))
			want(t, pv, "status.phase", phase)
		}
		refuse(t, s, "PersistentVolume", "", "spec.capacity", "FieldValueRequired", `{"spec":{"capacity":null}}`)
		refuse(t, s, "PersistentVolume", "", "spec.accessModes", "FieldValueRequired", `{"spec":{"accessModes":null}}`)
		for _, sources := range []string{`{"spec":{"hostPath":null}}`, `{"spec":{"nfs":{"server":"s","path":"/p"}}}`} {
			expect(t, s.Do("POST", collection("PersistentVolume", ""), minimal("PersistentVolume", "", "m12b", sources)), 422, "Invalid", "spec")
		}
	}},
	{"M16", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		expect(t, s.Do("POST", collection("Event", ns), minimal("Event", ns, "m16", `{"involvedObject":{"namespace":"other"}}`)), 422, "Invalid", "involvedObject.namespace")
		expect(t, s.Do("POST", collection("Event", ns), minimal("Event", ns, "m16", `{"involvedObject":{"namespace":null}}`)), 422, "Invalid", "involvedObject.namespace")
		create(t, s, "Event", "default", "m16", `{"involvedObject":{"kind":"Node","namespace":null},"type":"Whatever"}`)
		e := create(t, s, "Event", ns, "m16", `{"type":"Normal"}`)
		ok(t, s.Do("PUT", item("Event", ns, "m16"), with(e, `{"reason":"Other","message":"m","type":"Warning","involvedObject":{"name":"q"},"count":7}`)))
	}},
	{"M18", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		long := strings.Repeat("k", 253)
		for _, key := range []string{"a", "A.b-c_d", ".hidden", long} {
			made(t, s, "ConfigMap", ns, `{"data":{"`+key+`":""}}`)
		}
		for _, key := range []string{"", ".", "..", "..a", "a/b", "a b", long + "k"} {
			a := s.Do("POST", collection("ConfigMap", ns), minimal("ConfigMap", ns, "m18", `{"data":{"`+key+`":""}}`))
			expectInvalid(t, a, "data["+key+"]", "FieldValueInvalid")
		}
		made(t, s, "ConfigMap", ns, `{"data":{"k":"`+strings.Repeat("v", 1<<20)+`"}}`) // the kind file counts the values
		refuse(t, s, "ConfigMap", ns, "data", "FieldValueTooLong", `{"data":{"k":"`+strings.Repeat("v", 1<<20)+`","l":"v"}}`)
		if o := made(t, s, "ConfigMap", ns, `{"data":null}`); strings.Contains(o, `"data"`) {
			t.Errorf("empty data is shown: %s", o)
		}
		expect(t, s.Do("POST", collection("ConfigMap", ns), minimal("ConfigMap", ns, "m18", `{"data":{"n":7}}`)), 400, "BadRequest", "data")
	}},
	{"M19", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		strict := collection("ConfigMap", ns) + "?fieldValidation=Strict"
		for name, sent := range map[string]struct{ body, contentType string }{
			"json":     {minimal("ConfigMap", ns, "json", `{"binaryData":{"b":"AP8="},"immutable":true}`), "Content-Type: application/json"},
			"protobuf": {toProtobuf(t, "ConfigMap", minimal("ConfigMap", ns, "protobuf", `{"binaryData":{"b":"AP8="},"immutable":true}`)), "Content-Type: " + asKubernetes},
		} {
			ok(t, s.Do("POST", strict, sent.body, sent.contentType))
			o := ok(t, s.Do("GET", item("ConfigMap", ns, name), ""))
			want(t, o, "binaryData", `{"b":"AP8="}`, "immutable", "true")
			changed := strings.Replace(o, "AP8=", "AP4=", 1)
			expect(t, s.Do("PUT", item("ConfigMap", ns, name), changed), 422, "Invalid", "field is immutable when `immutable` is set")
		}
	}},
	{"M26", func(t *testing.T, s *testserver.Server) {
		create(t, s, "ClusterNetwork", "", "default")
		for field, change := range map[string]string{
			"network": `{"network":"10.0.0.0"}`, "serviceNetwork": `{"serviceNetwork":"x"}`, "hostsubnetlength": `{"hostsubnetlength":1}`,
		} {
			expect(t, s.Do("POST", collection("ClusterNetwork", ""), minimal("ClusterNetwork", "", "m26", change)), 422, "Invalid", field)
		}
		made(t, s, "ClusterNetwork", "", `{"network":"10.128.0.0/20","hostsubnetlength":12}`)
		refuse(t, s, "ClusterNetwork", "", "hostsubnetlength", "FieldValueInvalid", `{"network":"10.128.0.0/20","hostsubnetlength":13}`)
	}},
	{"M27", func(t *testing.T, s *testserver.Server) {
		create(t, s, "HostSubnet", "", "m27", `{"egressIPs":["192.0.2.7"]}`) // there is no such node
		refuse(t, s, "HostSubnet", "", "host", "FieldValueInvalid", `{"host":"other"}`)
		refuse(t, s, "HostSubnet", "", "hostIP", "FieldValueInvalid", `{"hostIP":"here"}`)
		refuse(t, s, "HostSubnet", "", "subnet", "FieldValueInvalid", `{"subnet":"10.0.0.1"}`)
		refuse(t, s, "HostSubnet", "", "egressIPs[0]", "FieldValueInvalid", `{"egressIPs":["2001:db8::1"]}`)
	}},
	{"M28", func(t *testing.T, s *testserver.Server) {
		create(t, s, "Image", "", "sha256:"+strings.Repeat("0a", 32))
		refuse(t, s, "Image", "", "containerImageReference", "FieldValueRequired", `{"containerImageReference":null}`)
		refuse(t, s, "Image", "", "containerImageReference", "FieldValueInvalid", `{"containerImageReference":"Not A Reference"}`)
		signed := func(signature string) string {
			return `{"signatures":[` + with(`{"metadata":{"name":"sha256:x@sig"},"type":"atomic","content":"c2ln"}`, signature) + `]}`
		}
		made(t, s, "Image", "", signed(`{}`))
		refuse(t, s, "Image", "", "signatures[0].type", "FieldValueRequired", signed(`{"type":null}`))
		refuse(t, s, "Image", "", "signatures[0].content", "FieldValueRequired", signed(`{"content":null}`))
	}},
	{"M29", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, kind := range []string{"ClusterRole", "Role"} {
			refuse(t, s, kind, ns, "rules[0].verbs", "FieldValueRequired", `{"rules":[{"apiGroups":[""],"resources":["pods"]}]}`)
			refuse(t, s, kind, ns, "rules[0].resources", "FieldValueRequired", `{"rules":[{"apiGroups":[""],"verbs":["get"]}]}`)
			refuse(t, s, kind, ns, "rules[0].apiGroups", "FieldValueRequired", `{"rules":[{"resources":["pods"],"verbs":["get"]}]}`)
		}
		both := `{"rules":[{"apiGroups":[""],"resources":["pods"],"nonResourceURLs":["/x"],"verbs":["get"]}]}`
		refuse(t, s, "ClusterRole", "", "rules[0].nonResourceURLs", "FieldValueInvalid", both)
		made(t, s, "ClusterRole", "", `{"rules":[{"nonResourceURLs":["/healthz","/x/*"],"verbs":["get"]}]}`)
		refuse(t, s, "Role", ns, "rules[0].nonResourceURLs", "FieldValueInvalid", `{"rules":[{"nonResourceURLs":["/healthz"],"verbs":["get"]}]}`)
	}},
	{"M30 J24", func(t *testing.T, s *testserver.Server) {
		const group = "rbac.authorization.platform.io"
		bound := made(t, s, "ClusterRoleBinding", "",
			`{"subjects":[{"kind":"User","name":"u"},{"kind":"Group","name":"g"},{"kind":"ServiceAccount","name":"s","namespace":"n"}]}`)
		want(t, bound, "roleRef.apiGroup", group, "subjects.0.apiGroup", group, "subjects.1.apiGroup", group, "subjects.2.apiGroup", "")
		refuse(t, s, "ClusterRoleBinding", "", "roleRef.kind", "FieldValueNotSupported", `{"roleRef":{"kind":"Role"}}`)
		refuse(t, s, "ClusterRoleBinding", "", "roleRef.apiGroup", "FieldValueNotSupported", `{"roleRef":{"apiGroup":"other"}}`)
		refuse(t, s, "ClusterRoleBinding", "", "roleRef.name", "FieldValueRequired", `{"roleRef":{"name":null}}`)
		refuse(t, s, "ClusterRoleBinding", "", "subjects[0].namespace", "FieldValueRequired", `{"subjects":[{"kind":"ServiceAccount","name":"s"}]}`)
		refuse(t, s, "ClusterRoleBinding", "", "subjects[0].kind", "FieldValueNotSupported", `{"subjects":[{"kind":"Robot","name":"r"}]}`)
		refuse(t, s, "ClusterRoleBinding", "", "subjects[0].name", "FieldValueRequired", `{"subjects":[{"kind":"User"}]}`)
		refuse(t, s, "ClusterRoleBinding", "", "subjects[0].apiGroup", "FieldValueNotSupported", `{"subjects":[{"kind":"User","name":"u","apiGroup":"x"}]}`)
	}},
	{"M34", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for kind, change := range map[string][2]string{
			"Node":             {"status.daemonEndpoints.platformletEndpoint.Port", `{"status":{"daemonEndpoints":{"platformletEndpoint":{"Port":1},"kubeletEndpoint":{"of":"2"}}}}`},
			"Image":            {"containerImageManifestMediaType", `{"containerImageManifestMediaType":"1","dockerImageManifestMediaType":"2"}`},
			"PersistentVolume": {"spec.cloudCPersistentDisk.pdName", `{"spec":{"hostPath":null,"cloudCPersistentDisk":{"pdName":"1"},"gcePersistentDisk":{"pdName":"2"}}}`},
		} {
			a := s.Do("POST", collection(kind, ns), minimal(kind, ns, "m34", change[1]))
			want(t, ok(t, a), change[0], "1")
			if strings.Contains(a.Body, `"2"`) || !strings.Contains(a.Header.Get("Warning"), "unknown field") {
				t.Errorf("%s: %v", a.Body, a.Header)
			}
		}
	}},
	{"M35", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range catalog() {
			name := rowName(k.kind, "m35")
			o := create(t, s, k.kind, ns, name)
			if again := ok(t, s.Do("PUT", item(k.kind, ns, name), o)); again != o {
				t.Errorf("%s: a replacement by itself changes\n%s\ninto\n%s", k.kind, o, again)
			}
			// The body that it was made from says the same, since the defaults come back.
			version := `{"metadata":{"resourceVersion":"` + get(t, o, "metadata.resourceVersion") + `"}}`
			if again := ok(t, s.Do("PUT", item(k.kind, ns, name), minimal(k.kind, ns, name, version))); again != o {
				t.Errorf("%s: a replacement by its first body changes\n%s\ninto\n%s", k.kind, o, again)
			}
		}
	}},
}
