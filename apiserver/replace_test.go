package apiserver_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"quorate/apiserver/internal/testserver"
)

func TestReplace(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	cms := namespace(t, s, "a")
	made := s.Do("POST", cms, configMap("m"))
	check(t, made, want{code: 200})
	hostSubnet := `{"metadata":{"name":"n1"},"host":"n1","hostIP":"10.0.0.1","subnet":"10.1.0.0/24"}`
	check(t, s.Do("POST", "/oapi/v1/hostsubnets", hostSubnet), want{code: 200})
	for _, tc := range []struct {
		row, path, body string
		want            want
	}{
		{"E2 stale version", cms + "/m", `{"metadata":{"name":"m","resourceVersion":"1"}}`, want{409, "Conflict", `Operation cannot be fulfilled on configmaps "m": the object has been modified; please apply your changes to the latest version and try again`, nil}},
		{"E4 unconditional is not allowed", "/oapi/v1/hostsubnets/n1", hostSubnet, want{422, "Invalid", "metadata.resourceVersion: Invalid value: \"\": must be specified for an update", nil}},
		{"E5 another uid", cms + "/m", `{"metadata":{"name":"m","uid":"x"}}`, want{409, "Conflict", "Precondition failed: UID in precondition: x, UID in object meta: ", nil}},
		{"E7 another name", cms + "/m", configMap("n"), want{400, "BadRequest", "the name of the object (n) does not match the name on the URL (m)", nil}},
		{"E8 no name", cms + "/m", `{"metadata":{}}`, want{400, "BadRequest", "name must be provided", nil}},
		{"E9 another namespace", cms + "/m", `{"metadata":{"name":"m","namespace":"b"}}`, want{400, "BadRequest", "does not match the namespace", nil}},
		{"E11 missing", cms + "/x", configMap("x"), want{404, "NotFound", `configmaps "x" not found`, nil}},
		{"E12 created", "/api/v1/namespaces/a/endpoints/e", `{"metadata":{"name":"e"}}`, want{code: 200, body: []string{`"kind":"Endpoints"`}}},
		{"E12 with a version", "/api/v1/namespaces/a/endpoints/f", `{"metadata":{"name":"f","resourceVersion":"5"}}`, want{400, "BadRequest", "resourceVersion should not be set", nil}},
		{"E12 with a uid", "/api/v1/namespaces/a/endpoints/f", `{"metadata":{"name":"f","uid":"5"}}`, want{409, "Conflict", "", nil}},
		{"version that is no number", cms + "/m", `{"metadata":{"name":"m","resourceVersion":"x"}}`, want{422, "Invalid", "metadata.resourceVersion", nil}},
		{"invalid", cms + "/m", `{"metadata":{"name":"m"},"data":{"a b":"x"}}`, want{422, "Invalid", "data", nil}},
	} {
		t.Run(tc.row, func(t *testing.T) {
			t.Parallel()
			check(t, s.Do("PUT", tc.path, tc.body), tc.want)
		})
	}
	t.Run("E1 E3 E6 E13 E20 the way of an object", func(t *testing.T) {
		t.Parallel()
		first := s.Do("POST", cms, configMap("way")).Body
		second := s.Do("PUT", cms+"/way", strings.Replace(first, `"k":"v"`, `"k":"w"`, 1))
		check(t, second, want{code: 200, body: []string{`"k":"w"`}})
		if version(t, second.Body) == version(t, first) {
			t.Error("E1: the same version")
		}
		check(t, s.Do("PUT", cms+"/way", first), want{409, "Conflict", "", nil})
		third := s.Do("PUT", cms+"/way", configMap("way"))
		check(t, third, want{code: 200, body: []string{`"k":"v"`}})
		for _, name := range []string{"uid", "creationTimestamp", "selfLink"} {
			if was, is := field(t, first, "metadata."+name), field(t, third.Body, "metadata."+name); was != is {
				t.Errorf("E6, E13: %s was %s, is %s", name, was, is)
			}
		}
		if again := s.Do("PUT", cms+"/way", configMap("way")); again.Body != third.Body {
			t.Errorf("E20: %s after %s", again.Body, third.Body)
		}
	})
	t.Run("A52 a dry run changes nothing", func(t *testing.T) {
		t.Parallel()
		first := s.Do("POST", cms, configMap("dry")).Body
		check(t, s.Do("PUT", cms+"/dry?dryRun=All", `{"metadata":{"name":"dry"}}`), want{code: 200})
		if now := s.Do("GET", cms+"/dry", "").Body; now != first {
			t.Errorf("now %s", now)
		}
	})
	t.Run("E16 G19 G20 E15 finalizers", func(t *testing.T) {
		t.Parallel()
		held := `{"metadata":{"name":"held","finalizers":["x.io/a"]}}`
		check(t, s.Do("POST", cms, held), want{code: 200})
		w := open(t, s, cms+"?watch=1&resourceVersion=0&fieldSelector=metadata.name%3Dheld")
		w.want("ADDED held")
		check(t, s.Do("DELETE", cms+"/held", ""), want{code: 200, body: []string{`"status":"Success"`}})
		if o := w.want("MODIFIED held"); field(t, o, "metadata.deletionTimestamp") == "" || field(t, o, "metadata.deletionGracePeriodSeconds") != "0" {
			t.Errorf("G19: %s", o)
		}
		check(t, s.Do("DELETE", cms+"/held", ""), want{code: 200})
		check(t, s.Do("PUT", cms+"/held", `{"metadata":{"name":"held","finalizers":["x.io/a","x.io/b"]}}`), want{422, "Invalid", "no new finalizers can be added if the object is being deleted", nil})
		check(t, s.Do("PUT", cms+"/held", `{"metadata":{"name":"held"}}`), want{code: 200})
		w.want("DELETED held")
		check(t, s.Do("GET", cms+"/held", ""), want{404, "NotFound", "", nil})
	})
}

// TestContention/unconditional_writers_never_fail_E3: each of many last-write-wins writers gets through, and exactly one of those
// that name the same version (E33).
func TestContention(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	cms := namespace(t, s, "a")
	first := s.Do("POST", cms, configMap("m")).Body
	const writers = 16
	codes := func(body func(i int) string) map[int]int {
		var mu sync.Mutex
		var wg sync.WaitGroup
		got := map[int]int{}
		for i := range writers {
			wg.Go(func() {
				a, err := s.Try(s.Client, "PUT", cms+"/m", body(i))
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				got[a.Code]++
				mu.Unlock()
			})
		}
		wg.Wait()
		return got
	}
	if got := codes(func(i int) string { return strings.Replace(first, `"k":"v"`, fmt.Sprintf(`"k":"a%d"`, i), 1) }); got[200] != 1 || got[409] != writers-1 {
		t.Errorf("E33: %v", got)
	}
	if got := codes(func(i int) string { return strings.Replace(configMap("m"), `"k":"v"`, fmt.Sprintf(`"k":"b%d"`, i), 1) }); got[200] != writers {
		t.Errorf("E3: %v", got)
	}
}
