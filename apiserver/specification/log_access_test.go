package specification

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"quorate/apiserver/admin"
	"quorate/apiserver/internal/testserver"
)

// TestLogNeedsItsOwnRights: the right to read all paths and all objects gives the positions of the
// log, and no entry; the right to read the log gives entries without contents; a content also needs
// the right to get the object.
func TestLogNeedsItsOwnRights(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	const all = "/cluster/v1/log/entries"
	reader := newSomebody(t, s)
	create(t, s, "Secret", reader.ns, "hidden", `{"data":{"password":"c2VjcmV0"}}`)
	change := all + "/" + fmt.Sprint(entryOf(t, s, "secrets", "hidden"))

	monitor := newSomebody(t, s)
	monitor.everywhere("paths", `[{"nonResourceURLs":["*"],"verbs":["*"]},{"apiGroups":["*"],"resources":["*"],"verbs":["get","list","watch"]}]`)
	s.Eventually("the monitor may read the positions", func() bool { return monitor.may("GET", "/cluster/v1/log") })
	for _, path := range []string{all, change} {
		expect(t, monitor.do("GET", path, "", acceptJSON), 403, "Forbidden", `cannot log resource \"operations\"`)
	}

	reader.everywhere("log", `[{"apiGroups":["`+admin.Group+`"],"resources":["`+admin.Operations+`"],"verbs":["log"]}]`)
	s.Eventually("the reader may read entries", func() bool { return reader.may("GET", all) })
	if a := reader.do("GET", all+"?limit=500", "", acceptJSON); strings.Contains(a.Body, "c2VjcmV0") {
		t.Error("a page of the log contains a Secret")
	}
	expect(t, reader.do("GET", change, "", acceptJSON), 403, "Forbidden",
		`secrets \"hidden\" is forbidden: User \"`+reader.name+`\" cannot get resource \"secrets\" in API group \"\" in the namespace \"`+reader.ns+`\"`)
	if reader.may("GET", "/cluster/v1/log") {
		t.Error("the right to read entries gives a path")
	}

	reader.here("secrets", `[{"apiGroups":[""],"resources":["secrets"],"resourceNames":["hidden"],"verbs":["get"]}]`)
	s.Eventually("the reader may read the change", func() bool { return reader.may("GET", change) })
	if a := reader.do("GET", change, "", acceptJSON); a.Code != 200 || !strings.Contains(a.Body, `"after":{`) {
		t.Errorf("as one who may: %d %s", a.Code, a.Body)
	}
}

// entryOf returns the index of the newest entry about an object.
func entryOf(t *testing.T, s *testserver.Server, resource, name string) uint64 {
	t.Helper()
	var page admin.Entries
	a := s.Do("GET", "/cluster/v1/log/entries?limit=500", "", acceptJSON)
	if err := json.Unmarshal([]byte(a.Body), &page); err != nil {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	for _, e := range page.Entries {
		if e.Object != nil && e.Object.Resource == resource && e.Object.Name == name {
			return e.Index
		}
	}
	t.Fatalf("the log has no entry about %s %s", resource, name)
	return 0
}
