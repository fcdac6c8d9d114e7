package apiserver_test

import (
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

const (
	stored = "apps/v1beta2"
	newer  = "apps/v1"
)

// statefulSet is a small one, without its apiVersion.
func statefulSet(name, label string) string {
	return `{"metadata":{"name":"` + name + `","labels":{"l":"` + label + `"}},"spec":{"serviceName":"w","selector":{"matchLabels":{"app":"a"}},` +
		`"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i:1"}]}}}}`
}

// TestVersions takes objects through a version of their kind that is another view of what is
// stored.
func TestVersions(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	collections := func(t *testing.T, ns string) (sets, newSets string) {
		namespace(t, s, ns)
		return "/apis/apps/v1beta2/namespaces/" + ns + "/statefulsets", "/apis/apps/v1/namespaces/" + ns + "/statefulsets"
	}
	same := func(t *testing.T, what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got  %s\nwant %s", what, got, want)
		}
	}
	as := func(version, body string) string {
		return strings.NewReplacer(stored, version, newer, version).Replace(body)
	}

	// Not parallel: the two lists at an exact version must come before the writes of others.
	t.Run("one object, two forms", func(t *testing.T) {
		sets, newSets := collections(t, "forms")
		made := s.Do("POST", newSets, statefulSet("m", "x"))
		check(t, made, want{code: 200, body: []string{`{"kind":"StatefulSet","apiVersion":"apps/v1","metadata":{"name":"m"`}})
		old := s.Do("GET", sets+"/m", "").Body
		same(t, "what was made", made.Body, as(newer, old))
		same(t, "read", s.Do("GET", newSets+"/m", "").Body, as(newer, old))
		same(t, "in a dry run", s.Do("PUT", newSets+"/m?dryRun=All", made.Body).Body, made.Body)
		check(t, s.Do("POST", sets, statefulSet("m", "x")), want{409, "AlreadyExists", "", nil})
		check(t, s.Do("PUT", newSets+"/m", old), want{400, "BadRequest", "the API version in the data (apps/v1beta2) does not match the expected API version (apps/v1)", nil})

		exact := "?resourceVersionMatch=Exact&resourceVersion=" + version(t, old)
		list, newList := s.Do("GET", sets+exact, "").Body, s.Do("GET", newSets+exact, "").Body
		same(t, "list", newList, as(newer, list))
		pretty := s.Do("GET", newSets+"/m?pretty=true", "").Body
		if !strings.Contains(pretty, `"apiVersion": "apps/v1",`) {
			t.Errorf("pretty: %s", pretty)
		}
		text := s.Do("GET", newSets+"/m", "", "Accept: application/yaml").Body
		if !strings.Contains(text, "apiVersion: apps/v1\n") {
			t.Errorf("YAML: %s", text)
		}
	})
	t.Run("writes of either form", func(t *testing.T) {
		t.Parallel()
		sets, newSets := collections(t, "writes")
		check(t, s.Do("POST", sets, statefulSet("m", "x")), want{code: 200})
		replaced := s.Do("PUT", newSets+"/m", strings.Replace(s.Do("GET", newSets+"/m", "").Body, `"replicas":1`, `"replicas":2`, 1))
		check(t, replaced, want{code: 200, body: []string{`"apiVersion":"apps/v1"`, `"replicas":2`, `"generation":2`}})
		same(t, "written back", s.Do("PUT", sets+"/m", as(stored, replaced.Body)).Body, as(stored, replaced.Body))
		patch := func(path, kind, body string) testserver.Answer {
			return s.Do("PATCH", path, body, "Content-Type: application/"+kind+"+json")
		}
		check(t, patch(newSets+"/m", "merge-patch", `{"spec":{"replicas":3}}`), want{code: 200, body: []string{`"apiVersion":"apps/v1"`, `"replicas":3`, `"generation":3`}})
		check(t, patch(newSets+"/m", "json-patch", `[{"op":"test","path":"/apiVersion","value":"apps/v1"},{"op":"replace","path":"/spec/replicas","value":4}]`),
			want{code: 200, body: []string{`"replicas":4`}})
		check(t, patch(newSets+"/m", "strategic-merge-patch", `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i:2"}]}}}}`),
			want{code: 200, body: []string{`"image":"i:2"`, `"replicas":4`}})
		check(t, patch(newSets+"/m", "merge-patch", `{"apiVersion":"apps/v1beta2"}`), want{422, "Invalid", "does not match the expected API version (apps/v1)", nil})
		status := strings.Replace(s.Do("GET", newSets+"/m/status", "").Body, `"status":{"replicas":0}`, `"status":{"replicas":4}`, 1)
		check(t, s.Do("PUT", newSets+"/m/status", status), want{code: 200, body: []string{`"status":{"replicas":4}`, `"generation":5`}})
		gone := s.Do("DELETE", newSets+"/m", "")
		check(t, gone, want{code: 200})
		check(t, s.Do("GET", sets+"/m", ""), want{code: 404, reason: "NotFound"})
	})
	t.Run("pages and watches", func(t *testing.T) {
		t.Parallel()
		sets, newSets := collections(t, "pages")
		for _, name := range []string{"a", "b", "c"} {
			s.Do("POST", newSets, statefulSet(name, "x"))
		}
		first := s.Do("GET", newSets+"?limit=2", "").Body
		same(t, "items", strings.Join(itemNames(t, first), " "), "a b")
		second := s.Do("GET", newSets+"?limit=2&continue="+field(t, first, "metadata.continue"), "").Body
		same(t, "further items", strings.Join(itemNames(t, second), " "), "c")

		after := field(t, first, "metadata.resourceVersion")
		streams := map[string]*stream{
			newer:  open(t, s, newSets+"?watch=1&resourceVersion="+after),
			stored: open(t, s, sets+"?watch=1&resourceVersion="+after),
		}
		byPath := open(t, s, "/apis/apps/v1/watch/namespaces/pages/statefulsets/d?resourceVersion="+after)
		initial := open(t, s, newSets+"?watch=1&resourceVersion=0&labelSelector=l%3Dx")
		if o := initial.want("ADDED a", "ADDED b", "ADDED c"); field(t, o, "apiVersion") != newer {
			t.Errorf("present object %s", o)
		}
		created := s.Do("POST", newSets, statefulSet("d", "x")).Body
		s.Do("PUT", sets+"/d", statefulSet("d", "y"))
		s.Do("DELETE", newSets+"/d", "")
		for version, w := range streams {
			same(t, "change seen in "+version, w.want("ADDED d"), as(version, created))
			if o := w.want("MODIFIED d", "DELETED d"); field(t, o, "apiVersion") != version {
				t.Errorf("change seen in %s: %s", version, o)
			}
		}
		byPath.want("ADDED d", "MODIFIED d", "DELETED d")
		initial.want("ADDED d", "DELETED d")
	})
	t.Run("owners and namespaces", func(t *testing.T) {
		t.Parallel()
		_, newSets := collections(t, "owners")
		owner := s.Do("POST", newSets, statefulSet("o", "x")).Body
		cms := "/api/v1/namespaces/owners/configmaps"
		check(t, s.Do("POST", cms, `{"metadata":{"name":"mine","ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"o","uid":"`+
			field(t, owner, "metadata.uid")+`"}]}}`), want{code: 200})
		s.Do("DELETE", newSets+"/o", "")
		s.Eventually("the dependent goes", func() bool { return s.Do("GET", cms+"/mine", "").Code == 404 })
		s.Do("POST", newSets, statefulSet("left", "x"))
		s.Do("DELETE", "/api/v1/namespaces/owners", "")
		s.Eventually("the namespace goes", func() bool { return s.Do("GET", "/api/v1/namespaces/owners", "").Code == 404 })
	})
}

// TestConvertedVersions takes an object through a version of its kind that has another form: it is
// converted wherever it is shown.
func TestConvertedVersions(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	namespace(t, s, "n")
	const path, old = "/apis/autoscaling/v2beta1/namespaces/n/horizontalpodautoscalers", "/apis/autoscaling/v1/namespaces/n/horizontalpodautoscalers"
	spec := func(target string) string {
		return `{"metadata":{"name":"m"},"spec":{"scaleTargetRef":{"kind":"StatefulSet","name":"w"},"maxReplicas":3` + target + `}}`
	}
	after := version(t, s.Do("GET", path, "").Body)
	made := s.Do("POST", old, spec(`,"targetCPUUtilizationPercentage":50`))
	check(t, made, want{code: 200, body: []string{`"apiVersion":"autoscaling/v1"`, `"targetCPUUtilizationPercentage":50`}})
	check(t, s.Do("GET", path+"/m", ""), want{code: 200, body: []string{
		`"apiVersion":"autoscaling/v2beta1"`, `"metrics":[{"type":"Resource","resource":{"name":"cpu","targetAverageUtilization":50}}]`}})
	pods := spec(`,"metrics":[{"type":"Pods","pods":{"metricName":"p","targetAverageValue":"1"}}]`)
	check(t, s.Do("PUT", path+"/m", pods), want{code: 200})
	annotation := `"autoscaling.alpha.kubernetes.io/metrics":"[{\"type\":\"Pods\"`
	check(t, s.Do("GET", old+"/m", ""), want{code: 200, body: []string{annotation}})
	check(t, s.Do("GET", old, ""), want{code: 200, body: []string{annotation, `"apiVersion":"autoscaling/v1"`}})
	check(t, s.Do("GET", old+"?pretty=true", ""), want{code: 200})
	check(t, s.Do("GET", old, "", "Accept: application/json;as=Table;v=v1;g=meta.k8s.io"), want{code: 200, body: []string{`"cells":["m","StatefulSet/w","<none>"`}})
	const as = ";v=v1;g=meta.k8s.io"
	for accept, at := range map[string]string{
		"application/json;as=PartialObjectMetadata" + as: old + "/m", "application/json;as=PartialObjectMetadataList" + as: old, "application/json;as=Table" + as: old,
	} {
		check(t, s.Do("GET", at, "", "Accept: "+accept), want{code: 200, body: []string{`"kind":"PartialObjectMetadata"`, annotation}})
	}
	check(t, s.Do("PUT", old+"/m?dryRun=All", spec(`,"targetCPUUtilizationPercentage":50`), "Accept: application/json;as=Table"+as),
		want{code: 200, body: []string{`"cells":["m","StatefulSet/w","<unknown>/50%"`}})
	for _, kind := range []string{"merge-patch", "strategic-merge-patch"} {
		check(t, s.Do("PATCH", old+"/m", `{"spec":{"targetCPUUtilizationPercentage":60}}`, "Content-Type: application/"+kind+"+json"),
			want{code: 200, body: []string{annotation, `"targetCPUUtilizationPercentage":60`}})
	}
	check(t, s.Do("GET", path+"/m", ""), want{code: 200, body: []string{`"targetAverageUtilization":60`, `"targetAverageValue":"1"`}})

	check(t, s.Do("PUT", old+"/m/status", `{"metadata":{"name":"m"},"status":{"currentReplicas":2,"currentCPUUtilizationPercentage":7}}`), want{code: 200, body: []string{annotation}})
	check(t, s.Do("GET", path+"/m", ""), want{code: 200, body: []string{`"currentReplicas":2`, `"currentAverageUtilization":7`, `"targetAverageUtilization":60`}})

	// What is measured can be written here too, though an annotation has all of it. Annotations of
	// these names that the stored form has mean nothing here.
	check(t, s.Do("PATCH", old+"/m/status", `{"status":{"currentCPUUtilizationPercentage":8}}`, "Content-Type: application/merge-patch+json"),
		want{code: 200, body: []string{`"currentCPUUtilizationPercentage":8`, `\"currentAverageUtilization\":8`}})
	check(t, s.Do("POST", path, `{"metadata":{"name":"own","annotations":{"autoscaling.alpha.kubernetes.io/metrics":"[{}]","autoscaling.alpha.kubernetes.io/conditions":"-"}},`+
		`"spec":{"scaleTargetRef":{"kind":"StatefulSet","name":"w"},"maxReplicas":3}}`), want{code: 200})
	check(t, s.Do("PATCH", old+"/own", `{"spec":{"maxReplicas":4}}`, "Content-Type: application/merge-patch+json"),
		want{code: 200, body: []string{`"maxReplicas":4`, `"targetCPUUtilizationPercentage":80`}})

	fresh, resumed := open(t, s, old+"?watch=1&resourceVersion=0"), open(t, s, old+"?watch=1&resourceVersion="+after)
	if got := fresh.want("ADDED m"); got != s.Do("GET", old+"/m", "").Body {
		t.Errorf("watched %s", got)
	}
	if got := resumed.want("ADDED m"); got != made.Body {
		t.Errorf("watched %s, created %s", got, made.Body)
	}
	resumed.want("MODIFIED m", "MODIFIED m", "MODIFIED m", "MODIFIED m", "ADDED own", "MODIFIED own")
	check(t, s.Do("DELETE", old+"/m", ""), want{code: 200})
	if got := resumed.want("DELETED m"); field(t, got, "apiVersion") != "autoscaling/v1" {
		t.Errorf("watched %s", got)
	}
}
