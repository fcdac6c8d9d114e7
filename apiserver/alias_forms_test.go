package apiserver_test

import (
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// TestNewAutoscaler takes autoscalers through autoscaling/v2: what the stored form has fields for
// is there in both, and what it has not is kept.
func TestNewAutoscaler(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	namespace(t, s, "n")
	path := func(version string) string {
		return "/apis/autoscaling/" + version + "/namespaces/n/horizontalpodautoscalers"
	}
	body := func(name, spec string) string {
		return `{"metadata":{"name":"` + name + `"},"spec":{"scaleTargetRef":{"kind":"StatefulSet","name":"w"},"maxReplicas":3` + spec + `}}`
	}
	const cpu = `{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":50}}}`
	const external = `{"type":"External","external":{"metric":{"name":"jobs"},"target":{"type":"Value","value":"30"}}}`

	made := s.Do("POST", path("v2"), body("m", `,"metrics":[`+external+`,`+cpu+`],"behavior":{"scaleDown":{"policies":[{"type":"Pods","value":1,"periodSeconds":60}]}}`))
	check(t, made, want{code: 201, body: []string{`"apiVersion":"autoscaling/v2"`, `"metrics":[` + cpu + "," + external + "]",
		`"behavior":{"scaleUp":{"stabilizationWindowSeconds":0,"selectPolicy":"Max","policies":[{"type":"Pods","value":4,"periodSeconds":15},{"type":"Percent","value":100,"periodSeconds":15}]},` +
			`"scaleDown":{"selectPolicy":"Max","policies":[{"type":"Pods","value":1,"periodSeconds":60}]}}`}})
	if strings.Contains(made.Body, "annotations") {
		t.Errorf("annotations in v2: %s", made.Body)
	}
	check(t, s.Do("GET", path("v2beta1")+"/m", ""), want{code: 200, body: []string{`"metrics":[{"type":"Resource","resource":{"name":"cpu","targetAverageUtilization":50}}]`}})
	check(t, s.Do("GET", path("v1")+"/m", ""), want{code: 200, body: []string{`"targetCPUUtilizationPercentage":50`}})
	for _, version := range []string{"v2beta1", "v1"} {
		merged := s.Do("PATCH", path(version)+"/m", `{"spec":{"maxReplicas":4}}`, "Content-Type: application/merge-patch+json")
		check(t, merged, want{code: 200, body: []string{`"apiVersion":"autoscaling/` + version + `"`}})
	}
	check(t, s.Do("GET", path("v2")+"/m", ""), want{code: 200, body: []string{`"maxReplicas":4`, `"metrics":[` + cpu + "," + external + "]", `"value":1,"periodSeconds":60`}})
	check(t, s.Do("PATCH", path("v2")+"/m", `{"spec":{"metrics":null,"behavior":null}}`, "Content-Type: application/merge-patch+json"),
		want{code: 200, body: []string{`"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]`}})
	if left := s.Do("GET", path("v2beta1")+"/m", "").Body; strings.Contains(left, "annotations") {
		t.Errorf("annotations are left: %s", left)
	}

	status := `{"status":{"currentReplicas":2,"desiredReplicas":2,"currentMetrics":[{"type":"Resource","resource":{"name":"cpu","current":{"averageUtilization":7,"averageValue":"9m"}}},` +
		`{"type":"External","external":{"metric":{"name":"jobs"},"current":{"value":"3"}}}]}}`
	check(t, s.Do("PATCH", path("v2")+"/m/status", status, "Content-Type: application/merge-patch+json"),
		want{code: 200, body: []string{`"averageUtilization":7`, `"current":{"value":"3"}`}})
	check(t, s.Do("GET", path("v2beta1")+"/m", ""), want{code: 200, body: []string{`"currentAverageUtilization":7,"currentAverageValue":"9m"`}})
	check(t, s.Do("GET", path("v1")+"/m", ""), want{code: 200, body: []string{`"currentCPUUtilizationPercentage":7`}})

	for spec, wrong := range map[string]string{
		`,"metrics":[{"type":"Resource"}]`: "spec.metrics[0].resource: Required value: must populate information for the given metric source",
		`,"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization"}}}]`:                                            "spec.metrics[0].resource.target.averageUtilization: Required value",
		`,"metrics":[{"type":"Pods","pods":{"metric":{"name":"p"},"target":{"type":"AverageValue","value":"1"}}}]`:                              "spec.metrics[0].pods.target.averageValue: Required value",
		`,"metrics":[{"type":"External","external":{"metric":{"name":"p"},"target":{"type":"AverageValue","value":"1","averageValue":"1"}}}]`:   "spec.metrics[0].external.target.value: Forbidden",
		`,"metrics":[` + strings.TrimSuffix(cpu, "}") + `,"pods":{"metric":{"name":"p"},"target":{"type":"AverageValue","averageValue":"1"}}}]`: "spec.metrics[0].pods: Forbidden: must populate the given metric source only",
		`,"behavior":{"scaleUp":{"policies":[]}}`:                     "spec.behavior.scaleUp.policies: Required value",
		`,"behavior":{"scaleUp":{"stabilizationWindowSeconds":3601}}`: "spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601",
	} {
		check(t, s.Do("POST", path("v2"), body("wrong", spec)), want{422, "Invalid", wrong, nil})
	}
	// Annotations of these names that are no JSON of the fields mean nothing.
	check(t, s.Do("POST", path("v2beta1"), `{"metadata":{"name":"own","annotations":{"autoscaling.platform.io/metrics":"-","autoscaling.platform.io/behavior":"[]"}},`+
		`"spec":{"scaleTargetRef":{"kind":"StatefulSet","name":"w"},"maxReplicas":3}}`), want{code: 200})
	check(t, s.Do("GET", path("v2")+"/own", ""), want{code: 200, body: []string{`"averageUtilization":80`, `"autoscaling.platform.io/metrics":"-"`}})
}

// TestEventsOfBothGroups takes Events through the core group and events.k8s.io.
func TestEventsOfBothGroups(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	namespace(t, s, "n")
	const core, grouped = "/api/v1/namespaces/n/events", "/apis/events.k8s.io/v1/namespaces/n/events"
	event := func(name, more string) string {
		return `{"metadata":{"name":"` + name + `"},"eventTime":"2018-01-02T03:04:05.000006Z","reportingController":"example.com/c","reportingInstance":"c-1","action":"Move",` +
			`"reason":"Moved","regarding":{"kind":"Pod","namespace":"n","name":"p"},"note":"it moves","type":"Normal"` + more + `}`
	}
	after := field(t, s.Do("GET", core, "").Body, "metadata.resourceVersion")
	made := s.Do("POST", grouped, event("e", ""))
	check(t, made, want{code: 201, body: []string{`{"kind":"Event","apiVersion":"events.k8s.io/v1"`, `"selfLink":"/apis/events.k8s.io/v1/namespaces/n/events/e"`, `"note":"it moves"`}})
	check(t, s.Do("GET", core+"/e", ""), want{code: 200, body: []string{`{"kind":"Event","apiVersion":"v1"`, `"message":"it moves"`,
		`"involvedObject":{"kind":"Pod","namespace":"n","name":"p"}`, `"reportingComponent":"example.com/c"`, `"selfLink":"/api/v1/namespaces/n/events/e"`}})
	check(t, s.Do("POST", core, `{"metadata":{"name":"old"},"involvedObject":{"kind":"Pod","namespace":"n","name":"q"},"reason":"Left","message":"it left","type":"Odd","count":3,`+
		`"source":{"component":"c"},"firstTimestamp":"2018-01-02T03:04:05Z","lastTimestamp":"2018-01-02T03:05:05Z"}`), want{code: 200})
	check(t, s.Do("GET", grouped+"/old", ""), want{code: 200, body: []string{`"regarding":{"kind":"Pod","namespace":"n","name":"q"}`, `"note":"it left"`, `"deprecatedCount":3`,
		`"deprecatedSource":{"component":"c"}`, `"deprecatedFirstTimestamp":"2018-01-02T03:04:05Z"`}})
	for _, query := range []string{"regarding.name=p", "involvedObject.name=p", "reason=Moved,type=Normal"} {
		if got := itemNames(t, s.Do("GET", grouped+"?fieldSelector="+strings.ReplaceAll(query, "=", "%3D"), "").Body); len(got) != 1 || got[0] != "e" {
			t.Errorf("%s selects %v", query, got)
		}
	}
	check(t, s.Do("GET", core+"?fieldSelector=regarding.name%3Dp", ""), want{400, "BadRequest", "", nil})
	check(t, s.Do("GET", grouped, "", "Accept: application/json;as=Table;v=v1;g=meta.k8s.io"), want{code: 200, body: []string{`"pod/p"`, `"it left"`}})

	streams := []*stream{open(t, s, grouped+"?watch=1&resourceVersion="+after), open(t, s, core+"?watch=1&resourceVersion="+after)}
	for i, name := range []string{"note", "message"} {
		if got := field(t, streams[i].want("ADDED e"), name); got != "it moves" {
			t.Errorf("%s: %s", name, got)
		}
	}
	series := `{"series":{"count":2,"lastObservedTime":"2018-01-02T03:05:05.000006Z"}}`
	check(t, s.Do("PATCH", grouped+"/e", series, "Content-Type: application/strategic-merge-patch+json"), want{code: 200, body: []string{`"series":{"count":2`}})
	for body, wrong := range map[string]string{
		`{"note":"other"}`:       "note: Invalid value: \"other\": field is immutable",
		`{"series":{"count":1}}`: "series.count: Invalid value: 1: must be greater than or equal to 2",
	} {
		check(t, s.Do("PATCH", grouped+"/e", body, "Content-Type: application/merge-patch+json"), want{422, "Invalid", wrong, nil})
	}
	check(t, s.Do("PATCH", core+"/e", `{"message":"other"}`, "Content-Type: application/merge-patch+json"), want{code: 200, body: []string{`"message":"other"`}})
	check(t, s.Do("POST", grouped, `{"metadata":{"name":"bare"},"regarding":{"namespace":"n"}}`), want{422, "Invalid", "eventTime: Required value", nil})
	check(t, s.Do("POST", grouped, event("counted", `,"deprecatedCount":1`)), want{422, "Invalid", "deprecatedCount: Forbidden: needs to be unset", nil})
	check(t, s.Do("POST", grouped, strings.Replace(event("long", ""), "it moves", strings.Repeat("x", 1025), 1)), want{422, "Invalid", "note: Too long", nil})
}
