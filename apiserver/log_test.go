package apiserver_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"quorate/apiserver/admin"
	"quorate/apiserver/internal/testserver"
)

const logPath = "/cluster/v1/log"

// logOf returns a page of the log.
func logOf(t *testing.T, s *testserver.Server, query string) []admin.Entry {
	t.Helper()
	a := s.Do("GET", logPath+"/entries"+query, "")
	var page admin.Entries
	if err := json.Unmarshal([]byte(a.Body), &page); err != nil || a.Code != 200 {
		t.Fatalf("%d %s (%v)", a.Code, a.Body, err)
	}
	return page.Entries
}

// TestLog: the log names what each entry did, and shows one change with both objects.
func TestLog(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	collection := namespace(t, s, "logged")
	check(t, s.Do("POST", collection, configMap("a")), want{code: 200})
	check(t, s.Do("PUT", collection+"/a", strings.Replace(configMap("a"), `"k":"v"`, `"k":"new"`, 1)), want{code: 200})
	page := logOf(t, s, "?limit=500")
	var changes []admin.Entry
	for _, e := range page {
		if e.Object != nil && *e.Object == (admin.EntryObject{Resource: "configmaps", Namespace: "logged", Name: "a"}) {
			changes = append(changes, e)
		}
	}
	if len(changes) != 2 || changes[0].Operation != "update" || changes[1].Operation != "create" || changes[0].Stage != "applied" || changes[0].Time == nil {
		t.Fatalf("the changes of the object are %+v", changes)
	}
	a := s.Do("GET", fmt.Sprintf("%s/entries/%d", logPath, changes[0].Index), "")
	var change admin.Change
	if err := json.Unmarshal([]byte(a.Body), &change); err != nil || a.Code != 200 {
		t.Fatalf("%d %s (%v)", a.Code, a.Body, err)
	}
	if change.Index != changes[0].Index || strings.Contains(string(change.Before), `"k":"new"`) || !strings.Contains(string(change.After), `"k":"new"`) {
		t.Errorf("the change is %s", a.Body)
	}
	if got := logOf(t, s, fmt.Sprintf("?limit=1&before=%d", changes[0].Index)); len(got) != 1 || got[0].Index != changes[0].Index-1 {
		t.Errorf("the entry before %d is %+v", changes[0].Index, got)
	}

	var state admin.LogState
	if a := s.Do("GET", logPath, ""); a.Code != 200 || json.Unmarshal([]byte(a.Body), &state) != nil {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	if state.FirstIndex != 1 || state.LastIndex < changes[0].Index || state.AppliedIndex < changes[0].Index || state.CommitIndex == 0 || state.Term == 0 {
		t.Errorf("the log stands at %+v", state)
	}
	if _, _, err := s.Store.Snapshot(); err != nil {
		t.Fatal(err)
	}
	if a := s.Do("GET", logPath, ""); json.Unmarshal([]byte(a.Body), &state) != nil || len(state.Snapshots) != 1 || state.Snapshots[0].Index != state.SnapshotIndex {
		t.Errorf("after a snapshot: %s", a.Body)
	}
	check(t, s.Do("GET", logPath+"/entries/x", ""), want{400, "BadRequest", "", nil})
	check(t, s.Do("GET", logPath+"/entries/0", ""), want{400, "BadRequest", "", nil})
	check(t, s.Do("GET", logPath+"/entries/999999", ""), want{404, "NotFound", "", nil})
	check(t, s.Do("GET", logPath+"/entries?before=x", ""), want{400, "BadRequest", "", nil})
}

// TestLogIsAuditedWithoutContents: the audit event of a change names the object, and does not contain
// it, whatever the policy says about the operations.
func TestLogIsAuditedWithoutContents(t *testing.T) {
	t.Parallel()
	s, out := audited(t, "rules:\n- {level: RequestResponse, resources: [{group: cluster.platform.io}]}\n")
	check(t, s.Do("POST", "/api/v1/namespaces/default/secrets", `{"metadata":{"name":"hidden"},"data":{"password":"c2VjcmV0"}}`), want{code: 200})
	index := logOf(t, s, "?limit=1")[0].Index
	if a := s.Do("GET", fmt.Sprintf("%s/entries/%d", logPath, index), ""); a.Code != 200 || !strings.Contains(a.Body, "c2VjcmV0") {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	complete := func() []event { return out.find(t, fmt.Sprintf("/entries/%d", index)) }
	s.Eventually("the request is recorded", func() bool { return len(complete()) == 2 })
	if got := complete()[1]; got.Annotations["cluster.platform.io/object"] != "secrets/default/hidden" || got.ResponseObject != nil {
		t.Errorf("the event is %+v", got)
	}
	if strings.Contains(out.String(), "c2VjcmV0") {
		t.Error("the audit log contains the Secret")
	}
}
