package apiserver_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"quorate/apiserver/internal/testserver"
)

const (
	applyPatch  = "Content-Type: application/apply-patch+yaml"
	emptyFields = `{"f:data":{"f:k":{}}}`
)

// managers returns an object's managed fields, one text an entry, without times: manager,
// operation, apiVersion, subresource and fields.
func managers(t *testing.T, body string) []string {
	t.Helper()
	var o struct {
		Metadata struct {
			ManagedFields []struct {
				Manager, Operation, APIVersion, Time, FieldsType, Subresource string
				FieldsV1                                                      json.RawMessage
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &o); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	entries := []string{}
	for _, e := range o.Metadata.ManagedFields {
		if e.FieldsType != "FieldsV1" {
			t.Errorf("fieldsType %q", e.FieldsType)
		}
		text := strings.Join(strings.Fields(fmt.Sprint(e.Manager, " ", e.Operation, " ", e.APIVersion, " ", e.Subresource)), " ")
		entries = append(entries, text+" "+string(e.FieldsV1))
	}
	return entries
}

func checkOwned(t *testing.T, body string, want ...string) {
	t.Helper()
	if got := managers(t, body); !slices.Equal(got, want) && len(got)+len(want) > 0 {
		t.Errorf("managed fields:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// config returns a ConfigMap to apply.
func config(name, data string) string {
	return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + name + `"},"data":` + data + `}`
}

func by(manager string) string      { return "?fieldManager=" + url.QueryEscape(manager) }
func byForce(manager string) string { return by(manager) + "&force=true" }

func TestApply(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	cms := namespace(t, s, "a")
	get := func(t *testing.T, name string) string {
		t.Helper()
		a := s.Do("GET", cms+"/"+name, "")
		check(t, a, want{code: 200})
		return a.Body
	}

	t.Run("creates_and_gives_up", func(t *testing.T) {
		t.Parallel()
		one := cms + "/made"
		a := s.Do("PATCH", one+by("m"), "# YAML\napiVersion: v1\nkind: ConfigMap\ndata: {k: v, l: w}\n", applyPatch)
		check(t, a, want{code: 201, body: []string{`"name":"made"`, `"namespace":"a"`, `"uid":"`}})
		checkOwned(t, a.Body, `m Apply v1 {"f:data":{"f:k":{},"f:l":{}}}`)
		a = s.Do("PATCH", one+by("m"), config("made", `{"k":"v"}`), applyPatch)
		check(t, a, want{code: 200, body: []string{`"data":{"k":"v"}`}}) // l is gone
		checkOwned(t, a.Body, `m Apply v1 `+emptyFields)
		before := get(t, "made")
		a = s.Do("PATCH", one+by("m"), config("made", `{"k":"v"}`), applyPatch)
		check(t, a, want{code: 200})
		if a.Body != before {
			t.Errorf("an apply that changes nothing wrote:\n%s\n%s", before, a.Body)
		}
	})
	t.Run("conflicts", func(t *testing.T) {
		t.Parallel()
		one := cms + "/disputed"
		check(t, s.Do("PATCH", one+by("m"), config("disputed", `{"k":"v","l":"w"}`), applyPatch), want{code: 201})
		a := s.Do("PATCH", one+by("n"), config("disputed", `{"k":"x"}`), applyPatch)
		check(t, a, want{409, "Conflict", `Apply failed with 1 conflict: conflict with "m": .data.k`, []string{
			`"causes":[{"reason":"FieldManagerConflict","message":"conflict with \"m\"","field":".data.k"}]`}})
		check(t, s.Do("PATCH", one+by("n"), config("disputed", `{"k":"x","l":"x"}`), applyPatch),
			want{409, "Conflict", "Apply failed with 2 conflicts: conflicts with \"m\":\n- .data.k\n- .data.l", nil})
		check(t, s.Do("PATCH", one+by("n"), config("disputed", `{"k":"v"}`), applyPatch), want{code: 200}) // they agree
		a = s.Do("PATCH", one+byForce("n"), config("disputed", `{"k":"x"}`), applyPatch)
		check(t, a, want{code: 200, body: []string{`"data":{"k":"x","l":"w"}`}})
		got := managers(t, a.Body)
		slices.Sort(got)
		if !slices.Equal(got, []string{`m Apply v1 {"f:data":{"f:l":{}}}`, `n Apply v1 ` + emptyFields}) {
			t.Errorf("%q", got)
		}
	})
	t.Run("attributes_updates_once_applied", func(t *testing.T) {
		t.Parallel()
		one := cms + "/later"
		for _, a := range []testserver.Answer{
			s.Do("POST", cms+by("x"), configMap("later")),
			s.Do("PUT", one+by("x"), config("later", `{"k":"v"}`)),
			s.Do("PATCH", one+by("x"), `{"data":{"l":"w"}}`, mergePatch),
		} {
			check(t, a, want{code: 200})
			if strings.Contains(a.Body, "managedFields") {
				t.Errorf("never applied: %s", a.Body)
			}
		}
		check(t, s.Do("PATCH", one+by("m"), config("later", `{"k":"x"}`), applyPatch),
			want{409, "Conflict", `conflict with "before-first-apply" using v1: .data.k`, nil})
		a := s.Do("PATCH", one+byForce("m"), config("later", `{"k":"x"}`), applyPatch)
		check(t, a, want{code: 200})
		checkOwned(t, a.Body, `m Apply v1 `+emptyFields, `before-first-apply Update v1 {"f:data":{".":{},"f:l":{}}}`)
		a = s.Do("PATCH", one, `{"data":{"l":"x"}}`, mergePatch, "User-Agent: program/1.2 (linux)")
		check(t, a, want{code: 200})
		checkOwned(t, a.Body, `m Apply v1 `+emptyFields, `before-first-apply Update v1 {"f:data":{}}`, `program Update v1 {"f:data":{"f:l":{}}}`)
		a = s.Do("PATCH", one+by("y"), `[{"op":"replace","path":"/data/k","value":"y"}]`, jsonPatch)
		check(t, a, want{code: 200})
		a = s.Do("PUT", one+by("y"), config("later", `{"k":"y"}`)) // a client that does not know managedFields
		check(t, a, want{code: 200})
		if got := managers(t, a.Body); !slices.Contains(got, `y Update v1 `+emptyFields) {
			t.Errorf("%q", got)
		}
		check(t, s.Do("PATCH", one+by("m"), config("later", `{"k":"x"}`), applyPatch), want{409, "Conflict", `conflict with "y" using v1`, nil})
	})
	t.Run("ends_by_request", func(t *testing.T) {
		t.Parallel()
		for _, tc := range []struct{ name, media, patch string }{
			{"empty-entry", mergePatch, `{"metadata":{"managedFields":[{}]}}`},
			{"empty-list", mergePatch, `{"metadata":{"managedFields":[]}}`},
			{"json-patch", jsonPatch, `[{"op":"replace","path":"/metadata/managedFields","value":[{}]}]`},
		} {
			check(t, s.Do("PATCH", cms+"/"+tc.name+by("m"), config(tc.name, `{"k":"v"}`), applyPatch), want{code: 201})
			kept := s.Do("PATCH", cms+"/"+tc.name, `{"metadata":{"managedFields":null}}`, mergePatch)
			checkOwned(t, kept.Body, `m Apply v1 `+emptyFields)
			wrong := s.Do("PATCH", cms+"/"+tc.name, `{"metadata":{"managedFields":[{"manager":"m","operation":"Seize","apiVersion":"v1","fieldsType":"FieldsV1"}]}}`, mergePatch)
			checkOwned(t, wrong.Body, `m Apply v1 `+emptyFields)
			a := s.Do("PATCH", cms+"/"+tc.name, tc.patch, tc.media)
			check(t, a, want{code: 200})
			checkOwned(t, a.Body)
		}
	})
	t.Run("writes_nothing_in_a_dry_run", func(t *testing.T) {
		t.Parallel()
		check(t, s.Do("PATCH", cms+"/dry"+by("m")+"&dryRun=All", config("dry", `{"k":"v"}`), applyPatch), want{code: 201, body: []string{`"manager":"m"`}})
		check(t, s.Do("GET", cms+"/dry", ""), want{code: 404})
	})
	t.Run("honours_versions", func(t *testing.T) {
		t.Parallel()
		one := cms + "/versioned"
		versioned := func(v string) string {
			return strings.Replace(config("versioned", `{"k":"`+v+`"}`), `"name"`, `"resourceVersion":"`+v+`","name"`, 1)
		}
		check(t, s.Do("PATCH", one+by("m"), versioned("1"), applyPatch), want{400, "BadRequest", "resourceVersion", nil})
		a := s.Do("PATCH", one+by("m"), config("versioned", `{"k":"v"}`), applyPatch)
		check(t, a, want{code: 201})
		check(t, s.Do("PATCH", one+by("m"), versioned("1"), applyPatch), want{409, "Conflict", "the object has been modified", nil})
		check(t, s.Do("PATCH", one+by("m"), versioned(field(t, a.Body, "metadata.resourceVersion")), applyPatch), want{code: 200})
	})
	t.Run("keeps_what_concurrent_managers_apply", func(t *testing.T) {
		t.Parallel()
		const count = 8
		var group sync.WaitGroup
		answers := make([]testserver.Answer, count)
		for i := range count {
			group.Go(func() {
				answers[i] = s.Do("PATCH", cms+"/shared"+by(fmt.Sprint("m", i)), config("shared", fmt.Sprintf(`{"k%d":"v"}`, i)), applyPatch)
			})
		}
		group.Wait()
		made := 0
		for _, a := range answers {
			if a.Code == 201 {
				made++
			} else {
				check(t, a, want{code: 200})
			}
		}
		body := get(t, "shared")
		if n := len(managers(t, body)); n != count || made != 1 || strings.Count(field(t, body, "data"), "v") != count {
			t.Errorf("%d entries, %d creations: %s", n, made, body)
		}
	})
	t.Run("travels_in_protobuf", func(t *testing.T) {
		t.Parallel()
		check(t, s.Do("PATCH", cms+"/wire"+by("m"), config("wire", `{"k":"v"}`), applyPatch), want{code: 201})
		binary := s.Do("GET", cms+"/wire", "", "Accept: application/vnd.kubernetes.protobuf")
		if !strings.Contains(binary.Body, emptyFields) {
			t.Errorf("no managed fields: %q", binary.Body)
		}
		a := s.Do("PUT", cms+"/wire", binary.Body, "Content-Type: application/vnd.kubernetes.protobuf")
		check(t, a, want{code: 200})
		if a.Body != get(t, "wire") || field(t, a.Body, "metadata.managedFields") == "" {
			t.Errorf("sent back: %s", a.Body)
		}
	})
	t.Run("merges_the_oldest_updates", func(t *testing.T) {
		t.Parallel()
		check(t, s.Do("PATCH", cms+"/many"+by("m"), config("many", `{"k":"v"}`), applyPatch), want{code: 201})
		for i := range 12 {
			check(t, s.Do("PATCH", cms+"/many"+by(fmt.Sprintf("u%02d", i)), fmt.Sprintf(`{"data":{"u%d":"v"}}`, i), mergePatch), want{code: 200})
		}
		got := managers(t, get(t, "many"))
		if len(got) != 11 || !slices.ContainsFunc(got, func(e string) bool { return strings.HasPrefix(e, "ancient-changes Update v1") }) {
			t.Errorf("%d entries: %s", len(got), strings.Join(got, "\n"))
		}
	})
}

// TestApplyRefused checks that an invalid apply request gets a 4xx response.
func TestApplyRefused(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	cms := namespace(t, s, "a")
	one := cms + "/r"
	check(t, s.Do("PATCH", one+by("m"), config("r", `{"k":"v"}`), applyPatch), want{code: 201})
	const cbor = "Content-Type: application/apply-patch+cbor"
	for _, tc := range []struct {
		name, path, body, media string
		want                    want
	}{
		{"no manager", one, config("r", "{}"), applyPatch, want{422, "Invalid", "fieldManager: Required value: is required for apply patch", nil}},
		{"long manager", one + by(strings.Repeat("m", 129)), config("r", "{}"), applyPatch, want{422, "Invalid", "fieldManager", nil}},
		{"odd force", one + by("m") + "&force=perhaps", config("r", "{}"), applyPatch, want{400, "BadRequest", "", nil}},
		{"CBOR", one + by("m"), config("r", "{}"), cbor, want{415, "UnsupportedMediaType", "application/apply-patch+yaml", nil}},
		{"no object", one + by("m"), `[]`, applyPatch, want{400, "BadRequest", "error decoding YAML", nil}},
		{"nothing", one + by("m"), ``, applyPatch, want{400, "BadRequest", "error decoding YAML", nil}},
		{"no YAML", one + by("m"), "a: [", applyPatch, want{400, "BadRequest", "error decoding YAML", nil}},
		{"no kind", one + by("m"), `{"data":{}}`, applyPatch, want{400, "BadRequest", "invalid object type: /, Kind=", nil}},
		{"another kind", one + by("m"), `{"apiVersion":"v1","kind":"Secret"}`, applyPatch, want{400, "BadRequest", "invalid object type: /v1, Kind=Secret", nil}},
		{"another version", one + by("m"), `{"apiVersion":"x/v2","kind":"ConfigMap"}`, applyPatch, want{400, "BadRequest", "invalid object type: x/v2, Kind=ConfigMap", nil}},
		{"managed fields", one + by("m"), strings.Replace(config("r", "{}"), `"name"`, `"managedFields":[],"name"`, 1), applyPatch,
			want{400, "BadRequest", "metadata.managedFields must be nil", nil}},
		{"unknown field", one + by("m"), strings.Replace(config("r", "{}"), `"data"`, `"date"`, 1), applyPatch,
			want{400, "BadRequest", "failed to create typed patch object (/r; /v1, Kind=ConfigMap): .date: field not declared in schema", nil}},
		{"wrong type", one + by("m"), config("r", `{"k":1}`), applyPatch, want{400, "BadRequest", ".data.k: expected string, got", nil}},
		{"another name", one + by("m"), config("x", "{}"), applyPatch, want{400, "BadRequest", "does not match the name on the URL", nil}},
		{"another namespace", one + by("m"), strings.Replace(config("r", "{}"), `"name"`, `"namespace":"b","name"`, 1), applyPatch, want{400, "BadRequest", "namespace", nil}},
		{"twice", one + by("m") + "&fieldValidation=Strict", config("r", `{"k":"v","k":"w"}`), applyPatch, want{400, "BadRequest", `duplicate field "data.k"`, nil}},
		{"invalid result", one + by("m"), config("r", `{"/":"v"}`), applyPatch, want{422, "Invalid", "", nil}},
		{"no namespace", "/api/v1/namespaces/none/configmaps/r" + by("m"), config("r", "{}"), applyPatch, want{404, "NotFound", "", nil}},
		{"status of nothing", "/api/v1/nodes/none/status" + by("m"), `{"apiVersion":"v1","kind":"Node","status":{}}`, applyPatch, want{404, "NotFound", "", nil}},
		{"force elsewhere", one + byForce("m"), `{}`, mergePatch, want{422, "Invalid", "may not be specified for non-apply patch", nil}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			check(t, s.Do("PATCH", tc.path, tc.body, tc.media), tc.want)
		})
	}
	a := s.Do("PATCH", one+by("m"), config("r", `{"k":"v","k":"w"}`), applyPatch)
	check(t, a, want{code: 200})
	if got := a.Header.Values("Warning"); !slices.Equal(got, []string{`299 - "duplicate field \"data.k\""`}) {
		t.Errorf("warnings %q", got)
	}
}

// TestApplySubresources: status and scale have owners of their own.
func TestApplySubresources(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	namespace(t, s, "n")
	const node = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"w"},`
	a := s.Do("PATCH", "/api/v1/nodes/w"+by("m"), node+`"spec":{"unschedulable":true},"status":{"phase":"Running"}}`, applyPatch)
	check(t, a, want{code: 201})
	checkOwned(t, a.Body, `m Apply v1 {"f:spec":{"f:unschedulable":{}}}`)
	a = s.Do("PATCH", "/api/v1/nodes/w/status"+by("m"), node+`"spec":{"podCIDR":"10.0.0.0/8"},"status":{"phase":"Running"}}`, applyPatch)
	check(t, a, want{code: 200, body: []string{`"phase":"Running"`}})
	if got := managers(t, a.Body); !slices.Contains(got, `m Apply v1 status {"f:status":{"f:phase":{}}}`) || strings.Contains(a.Body, "10.0.0.0") {
		t.Errorf("%s", a.Body)
	}
	a = s.Do("PATCH", "/api/v1/nodes/w/status"+by("u"), `{"status":{"phase":"Terminated"},"metadata":{"managedFields":[]}}`, mergePatch)
	check(t, a, want{code: 200})
	if got := managers(t, a.Body); !slices.Contains(got, `u Update v1 status {"f:status":{"f:phase":{}}}`) {
		t.Errorf("%q", got)
	}

	sets := "/apis/apps/v1/namespaces/n/statefulsets/s"
	set := strings.Replace(statefulSet("s", "x"), "{", `{"apiVersion":"apps/v1","kind":"StatefulSet",`, 1)
	a = s.Do("PATCH", sets+by("m"), set, applyPatch)
	check(t, a, want{code: 201})
	scale := func(replicas string) string {
		return `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"s"},"spec":{"replicas":` + replicas + `}}`
	}
	check(t, s.Do("PUT", sets+"/scale"+by("hpa"), scale("3")), want{code: 200})
	got := managers(t, s.Do("GET", sets, "").Body)
	if !slices.Contains(got, `hpa Update apps/v1 scale {"f:spec":{"f:replicas":{}}}`) {
		t.Errorf("%q", got)
	}
	check(t, s.Do("PATCH", sets+"/scale"+by("o"), scale("4"), applyPatch),
		want{409, "Conflict", `conflict with "hpa" with subresource "scale" using apps/v1: .spec.replicas`, nil})
	check(t, s.Do("PATCH", sets+"/scale"+byForce("o"), scale("4"), applyPatch), want{code: 200, body: []string{`"kind":"Scale"`, `"replicas":4`}})
	check(t, s.Do("PATCH", sets+"/scale"+by("o"), scale(`"4"`), applyPatch), want{400, "BadRequest", ".spec.replicas", nil})
	check(t, s.Do("PATCH", sets+"/scale"+by("o"), set, applyPatch), want{400, "BadRequest", "invalid object type", nil})
	check(t, s.Do("PATCH", sets+"/scale", scale("4"), applyPatch), want{422, "Invalid", "fieldManager", nil})
	check(t, s.Do("PATCH", strings.Replace(sets, "sets/s", "sets/none", 1)+"/scale"+by("o"), strings.Replace(scale("4"), `"s"`, `"none"`, 1), applyPatch), want{code: 404})
}

// TestApplyInVersions: a manager owns a field in whatever version of the kind it is written.
func TestApplyInVersions(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	namespace(t, s, "n")
	set := func(version, replicas string) string {
		text := strings.Replace(statefulSet("s", "x"), "{", `{"apiVersion":"apps/`+version+`","kind":"StatefulSet",`, 1)
		return strings.Replace(text, `"spec":{`, `"spec":{"replicas":`+replicas+`,`, 1)
	}
	path := func(version string) string { return "/apis/apps/" + version + "/namespaces/n/statefulsets/s" }
	check(t, s.Do("PATCH", path("v1")+by("m"), set("v1", "1"), applyPatch), want{code: 201})
	check(t, s.Do("PATCH", path("v1beta2")+by("n"), set("v1beta2", "2"), applyPatch), want{409, "Conflict", `conflict with "m": .spec.replicas`, nil})
	a := s.Do("PATCH", path("v1beta2")+by("m"), set("v1beta2", "2"), applyPatch)
	check(t, a, want{code: 200})
	if got := managers(t, a.Body); len(got) != 1 || !strings.HasPrefix(got[0], "m Apply apps/v1beta2 ") {
		t.Errorf("%q", got)
	}

	scaler := func(version, rest string) string {
		return `{"apiVersion":"autoscaling/` + version + `","kind":"HorizontalPodAutoscaler","metadata":{"name":"h"},"spec":{"maxReplicas":3,` +
			`"scaleTargetRef":{"kind":"StatefulSet","name":"s","apiVersion":"apps/v1"}` + rest + `}}`
	}
	path = func(version string) string {
		return "/apis/autoscaling/" + version + "/namespaces/n/horizontalpodautoscalers/h"
	}
	check(t, s.Do("PATCH", path("v1")+by("m"), scaler("v1", `,"targetCPUUtilizationPercentage":50`), applyPatch), want{code: 201})
	a = s.Do("PATCH", path("v2beta1")+by("u"), `{"spec":{"metrics":[{"type":"Resource","resource":{"name":"cpu","targetAverageUtilization":60}}]}}`, mergePatch)
	check(t, a, want{code: 200})
	check(t, s.Do("PATCH", path("v1")+by("m"), scaler("v1", `,"targetCPUUtilizationPercentage":50`), applyPatch),
		want{409, "Conflict", `conflict with "u" using autoscaling/v2beta1`, nil})
}

// TestApplyWithoutSchema: the fields of a kind without a schema are those that it has.
func TestApplyWithoutSchema(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	define(t, s, cronTabName)
	spec := func(fields string) string {
		return `{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"c"},"spec":{` + fields + `}}`
	}
	a := s.Do("PATCH", cronTabs+"/c"+by("m"), spec(`"n":1,"list":[1,null,{"a":1.5}]`), applyPatch)
	check(t, a, want{code: 201, body: []string{`"list":[1,null,{"a":1.5}]`}})
	checkOwned(t, a.Body, `m Apply stable.example.com/v1 {"f:spec":{".":{},"f:list":{},"f:n":{}}}`)
	check(t, s.Do("PATCH", cronTabs+"/c"+by("o"), spec(`"n":2`), applyPatch), want{409, "Conflict", `conflict with "m": .spec.n`, nil})
	check(t, s.Do("PATCH", cronTabs+"/c"+by("o"), spec(`"o":{"p":2}`), applyPatch), want{code: 200, body: []string{`"n":1`, `"o":{"p":2}`}})
}
