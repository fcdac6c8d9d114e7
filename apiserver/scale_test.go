package apiserver_test

import (
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

func TestScale_H11(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	namespace(t, s, "n")
	const merge = "Content-Type: application/merge-patch+json"
	scale := func(replicas, metadata string) string {
		return `{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"m"` + metadata + `},"spec":{"replicas":` + replicas + `}}`
	}
	for _, version := range []string{"apps/v1", "apps/v1beta2"} {
		t.Run(strings.ReplaceAll(version, "/", "_"), func(t *testing.T) {
			sets := "/apis/" + version + "/namespaces/n/statefulsets"
			made := s.Do("POST", sets, statefulSet("m", "x"))
			check(t, made, want{code: 200})
			defer s.Do("DELETE", sets+"/m", "")
			path := sets + "/m/scale"
			first := s.Do("GET", path, "").Body
			if want := `{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"m","namespace":"n","uid":"` + field(t, made.Body, "metadata.uid") +
				`","resourceVersion":"` + field(t, made.Body, "metadata.resourceVersion") + `","creationTimestamp":"` + field(t, made.Body, "metadata.creationTimestamp") +
				`"},"spec":{"replicas":1},"status":{"replicas":0,"selector":"app=a"}}`; first != want {
				t.Errorf("got  %s\nwant %s", first, want)
			}
			check(t, s.Do("PUT", path, strings.Replace(first, `"replicas":1`, `"replicas":3`, 1)), want{code: 200, body: []string{`"kind":"Scale"`, `"replicas":3`}})
			check(t, s.Do("GET", sets+"/m", ""), want{code: 200, body: []string{`"apiVersion":"` + version + `"`, `"replicas":3`, `"generation":2`}})
			check(t, s.Do("PUT", path, first), want{409, "Conflict", `statefulsets.apps "m"`, nil})
			check(t, s.Do("PUT", path, scale("4", "")), want{code: 200, body: []string{`"replicas":4`}})
			check(t, s.Do("PATCH", path, `{"spec":{"replicas":5}}`, merge), want{code: 200, body: []string{`"kind":"Scale"`, `"replicas":5`}})
			for _, tc := range []struct {
				name, method, path, body string
				want                     want
			}{
				{"negative", "PUT", path, scale("-1", ""), want{422, "Invalid", `Scale.autoscaling "m" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0`, nil}},
				{"negative by a patch", "PATCH", path, `{"spec":{"replicas":-1}}`, want{422, "Invalid", "spec.replicas", nil}},
				{"another uid", "PUT", path, scale("1", `,"uid":"x"`), want{409, "Conflict", "Precondition failed: UID in precondition: x", nil}},
				{"another version by a patch", "PATCH", path, `{"metadata":{"resourceVersion":"1"},"spec":{"replicas":1}}`, want{409, "Conflict", "", nil}},
				{"another name", "PUT", path, strings.Replace(scale("1", ""), `"m"`, `"o"`, 1), want{400, "BadRequest", "the name of the object (o) does not match the name on the URL (m)", nil}},
				{"another kind", "PUT", path, made.Body, want{400, "BadRequest", "", nil}},
				{"unknown field", "PUT", path + "?fieldValidation=Strict", strings.Replace(scale("1", ""), `"replicas"`, `"replica"`, 1), want{400, "BadRequest", `unknown field "spec.replica"`, nil}},
				{"of nothing", "GET", sets + "/x/scale", "", want{404, "NotFound", `statefulsets.apps "x" not found`, nil}},
				{"of nothing written", "PATCH", sets + "/x/scale", `{}`, want{404, "NotFound", `statefulsets.apps "x" not found`, nil}},
				{"deleted", "DELETE", path, "", want{405, "MethodNotAllowed", "", nil}},
				{"dry run", "PUT", path + "?dryRun=All", scale("9", ""), want{code: 200, body: []string{`"replicas":9`}}},
			} {
				t.Run(tc.name, func(t *testing.T) { check(t, s.Do(tc.method, tc.path, tc.body, merge), tc.want) })
			}
			check(t, s.Do("GET", sets+"/m", ""), want{code: 200, body: []string{`"replicas":5`, `"generation":4`}})
			check(t, s.Do("GET", path, "", "Accept: application/yaml"), want{code: 200, body: []string{"kind: Scale\n", "selector: app=a"}})
			row := s.Do("GET", path, "", "Accept: application/json;as=Table;v=v1;g=meta.k8s.io")
			check(t, row, want{code: 200, body: []string{`"kind":"Table"`, `"cells":["m",5,0,`}})
			metadata := func(kind string) string { return "Accept: application/json;as=" + kind + ";v=v1;g=meta.k8s.io" }
			whole := s.Do("GET", path, "").Body
			shown := whole[strings.Index(whole, `"metadata":`):strings.Index(whole, `,"spec":`)]
			for _, kind := range []string{"Table", "PartialObjectMetadata"} { // no more of the object than the scale itself
				check(t, s.Do("GET", path, "", metadata(kind)), want{code: 200, body: []string{
					`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",` + shown + `}`}})
			}
			check(t, s.Do("GET", path+"?includeObject=Object", "", metadata("Table")), want{code: 200, body: []string{`"object":` + whole}})
			check(t, s.Do("PUT", path+"?dryRun=All", scale("9", ""), metadata("Table")), want{code: 200, body: []string{`"cells":["m",9,0,`}})
		})
	}
	t.Run("of kinds that have none", func(t *testing.T) {
		check(t, s.Do("GET", "/apis/apps/v1/namespaces/n/daemonsets/m/scale", ""), want{code: 404, reason: "NotFound"})
	})
	t.Run("authorized apart", func(t *testing.T) {
		nobody := "Authorization: Bearer " + s.IssueToken("nobody")
		check(t, s.Do("PATCH", "/apis/apps/v1/namespaces/n/statefulsets/m/scale", `{}`, merge, nobody),
			want{403, "Forbidden", `cannot patch resource "statefulsets/scale" in API group "apps"`, nil})
	})
	t.Run("discovered", func(t *testing.T) {
		for _, version := range []string{"apps/v1", "apps/v1beta2"} {
			check(t, s.Do("GET", "/apis/"+version, ""), want{code: 200, body: []string{
				`{"name":"statefulsets/scale","singularName":"","namespaced":true,"group":"autoscaling","version":"v1","kind":"Scale","verbs":["get","patch","update"]}`}})
		}
	})
}
