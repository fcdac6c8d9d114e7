package specification

import (
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// metadataFields: what a client sets is kept, what the server sets is there.
func metadataFields(t *testing.T, s *testserver.Server) {
	for _, k := range catalog() {
		hasFields(t, k.kind, expand("metadata"+metadataShape)...)
	}
	for _, template := range []string{"spec.template.metadata", "spec.volumeClaimTemplates[].metadata"} {
		hasFields(t, "StatefulSet", expand(template+metadataShape)...)
	}
	ns := namespace(t, s)
	sent := `{"metadata":{"generateName":"full-","annotations":{"a":"line\none"},"labels":{"l":"x"},"finalizers":["example.com/a","example.com/b"]}}`
	made := create(t, s, "DaemonSet", ns, "full", sent)
	keeps(t, "metadata", object(made)["metadata"], object(sent)["metadata"])
	shows(t, "DaemonSet", made, expand("metadata{creationTimestamp, generation, name, namespace, resourceVersion, selfLink, uid}")...)
	ok(t, s.Do("DELETE", item("DaemonSet", ns, "full")+"?gracePeriodSeconds=0", ""))
	going := ok(t, s.Do("GET", item("DaemonSet", ns, "full"), ""))
	shows(t, "DaemonSet", going, expand("metadata{deletionGracePeriodSeconds, deletionTimestamp}")...)
	want(t, create(t, s, "ConfigMap", ns, "c", `{"metadata":{"clusterName":"mine"}}`), "metadata.clusterName", "") // A26
}

// initializerFields: the list is kept, and a result with all fields of a Status; it ends the object
// (A30).
func initializerFields(t *testing.T, s *testserver.Server) {
	ns := namespace(t, s)
	result := `{"kind":"Status","apiVersion":"v1","metadata":{"selfLink":"s","resourceVersion":"7","continue":"c"},"status":"Failure","message":"m",
		"reason":"Forbidden","details":{"name":"n","group":"g","kind":"k","uid":"u","causes":[{"reason":"r","message":"m","field":"f"}],
		"retryAfterSeconds":3},"code":403}`
	for _, kind := range []string{"ConfigMap", "CronJob"} {
		sent := result
		if kind == "ConfigMap" { // only the newer groups have it
			sent = strings.Replace(sent, `,"continue":"c"`, "", 1)
		}
		hasFields(t, kind, expand("metadata{initializers{pending[]{name}, result"+statusShape+"}}")...)
		made := create(t, s, kind, ns, "i", pending)
		want(t, made, "metadata.initializers.pending", `[{"name":"a.b.c"},{"name":"d.e.f"}]`)
		failed := ok(t, s.Do("PATCH", item(kind, ns, "i"), `{"metadata":{"initializers":{"result":`+sent+`}}}`, mergePatch))
		inits := below(t, object(failed), "metadata", "initializers")
		keeps(t, kind+" result", inits["result"], object(sent))
	}
	hasFields(t, "CronJob", "metadata.initializers.result.metadata.continue")
	hasNoFields(t, "ConfigMap", "metadata.initializers.result.metadata.continue")
}

func ownerFields(t *testing.T, s *testserver.Server) {
	ns := namespace(t, s)
	owner := get(t, create(t, s, "ConfigMap", ns, "owner"), "metadata.uid")
	sent := `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"` + owner +
		`","controller":true,"blockOwnerDeletion":false}]}}`
	made := create(t, s, "ConfigMap", ns, "owned", sent)
	keeps(t, "metadata", object(made)["metadata"], object(sent)["metadata"])
	shows(t, "ConfigMap", made, expand("metadata{ownerReferences[]{apiVersion, blockOwnerDeletion, controller, kind, name, uid}}")...)
}

// statusFields: a Status is what a delete answers, and a refusal.
func statusFields(t *testing.T, s *testserver.Server) {
	status := schemaOf(t).Message("Status")
	for _, path := range expand(statusShape[1 : len(statusShape)-1]) {
		if !has(status, path) {
			t.Errorf("Status has no %s", path)
		}
	}
	ns := namespace(t, s)
	create(t, s, "ConfigMap", ns, "c")
	deleted := ok(t, s.Do("DELETE", item("ConfigMap", ns, "c"), ""))
	shows(t, "Status", deleted, expand("apiVersion, details{kind, name, uid}, kind, metadata, status")...)
	refused := s.Do("POST", collection("DaemonSet", ns), minimal("DaemonSet", ns, "d", `{"spec":{"minReadySeconds":-1}}`))
	expect(t, refused, 422, "Invalid")
	shows(t, "Status", refused.Body, expand("code, details{causes[]{field, message, reason}, group, kind, name}, message, reason, status")...)
}

// referenceFields: the places of object references. Those of a legacy binding are stored as the
// rbac form, with what that has.
func referenceFields(t *testing.T, s *testserver.Server) {
	for kind, place := range map[string]string{
		"Endpoints": "subsets[].addresses[].targetRef", "PersistentVolume": "spec.claimRef", "Event": "involvedObject",
		"Pod": "spec.volumes[].vendorEVolume.secretRef", "CronJob": "status.active[]", "LegacyBinding": "roleRef",
	} {
		paths := expand(place + referenceShape)
		hasFields(t, kind, paths...)
		if kind == "LegacyBinding" {
			hasFields(t, kind, expand("subjects[]"+referenceShape)...)
			paths = expand("roleRef{name}, subjects[]{kind, name}")
		}
		shows(t, kind, stored(t, s, kind, full(t, kind)), paths...)
	}
	o := full(t, "PersistentVolume")
	below(t, o, "spec")["vendorEVolume"] = below(t, object(goldenText(t, "persistentvolume")), "spec", "vendorEVolume")
	onlySource(t, o, "vendorEVolume")
	shows(t, "PersistentVolume", stored(t, s, "PersistentVolume", o), expand("spec{vendorEVolume{secretRef"+referenceShape+"}}")...)
}
