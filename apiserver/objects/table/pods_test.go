package table_test

import (
	"fmt"
	"strings"
	"testing"

	"quorate/apiserver/objects/table"
)

// podObject is an ordinary pod.
var podObject = `{"metadata":{"name":"web-0","namespace":"shop","labels":{"app":"web"},"creationTimestamp":"` + created + `"},
	"spec":{"nodeName":"n1","volumes":[{"name":"data","emptyDir":{}}],"containers":[` + strings.Repeat(`{"name":"c","image":"registry.example/shop/web:1",
	"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"ports":[{"name":"http","containerPort":80}],"volumeMounts":[{"name":"data","mountPath":"/d"}],
	"resources":{"limits":{"cpu":"1","memory":"1Gi"}}},`, 4) + `{"name":"z","image":"i"}]},"status":{"phase":"Running","podIP":"10.1.2.3",
	"conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"c","ready":true,"state":{"running":{}}}]}}`

// TestPods checks the status column of pods (M36).
func TestPods(t *testing.T) {
	t.Parallel()
	const (
		running  = `{"ready":true,"restartCount":1,"state":{"running":{}}}`
		unready  = `{"ready":false,"restartCount":2,"state":{"running":{}}}`
		crashing = `{"restartCount":4,"state":{"waiting":{"reason":"CrashLoopBackOff"}}}`
		done     = `{"restartCount":8,"state":{"terminated":{"exitCode":0,"reason":"Completed"}}}`
		killed   = `{"state":{"terminated":{"exitCode":137,"signal":9}}}`
		failed   = `{"state":{"terminated":{"exitCode":3}}}`
		waits    = `{"state":{"waiting":{"reason":"PodInitializing"}}}`
		none     = `{"state":{}}`
	)
	c := catalog(t)
	k := c.Kind(core, "pods")
	for _, tc := range []struct {
		name, meta, status, inits, containers string
		ready, want                           string
		restarts                              float64
	}{
		{name: "new", status: `"phase":"Pending"`, ready: "0/2", want: "Pending"},
		{name: "a reason", status: `"phase":"Failed","reason":"Evicted"`, ready: "0/2", want: "Evicted"},
		{name: "runs", status: `"phase":"Running"`, containers: running + "," + running, ready: "2/2", want: "Running", restarts: 2},
		{name: "one not ready", status: `"phase":"Running"`, containers: running + "," + unready, ready: "1/2", want: "Running", restarts: 3},
		{name: "waits", status: `"phase":"Running"`, containers: running + "," + crashing, ready: "1/2", want: "CrashLoopBackOff", restarts: 5},
		{name: "the first counts", status: `"phase":"Running"`, containers: crashing + "," + failed, ready: "0/2", want: "CrashLoopBackOff", restarts: 4},
		{name: "signal", status: `"phase":"Failed"`, containers: killed + "," + failed, ready: "0/2", want: "Signal:9"},
		{name: "exit code", status: `"phase":"Failed"`, containers: failed + "," + killed, ready: "0/2", want: "ExitCode:3"},
		{name: "done", status: `"phase":"Succeeded"`, containers: done + "," + done, ready: "0/2", want: "Completed", restarts: 16},
		{name: "one done, ready", status: `"phase":"Running","conditions":[{"type":"Ready","status":"True"}]`, containers: done + "," + running, ready: "1/2", want: "Running", restarts: 9},
		{name: "one done, not ready", status: `"phase":"Running"`, containers: done + "," + running, ready: "1/2", want: "NotReady", restarts: 9},
		{name: "initializes", status: `"phase":"Pending"`, inits: done + "," + none, containers: waits, ready: "0/2", want: "Init:1/2", restarts: 8},
		{name: "init container waits for its turn", status: `"phase":"Pending"`, inits: waits, ready: "0/2", want: "Init:0/2"},
		{name: "init container crashes", status: `"phase":"Pending"`, inits: crashing, containers: crashing, ready: "0/2", want: "Init:CrashLoopBackOff", restarts: 4},
		{name: "init container failed", status: `"phase":"Pending"`, inits: `{"state":{"terminated":{"exitCode":1,"reason":"Error"}}}`, ready: "0/2", want: "Init:Error"},
		{name: "init container's exit code", status: `"phase":"Pending"`, inits: failed, ready: "0/2", want: "Init:ExitCode:3"},
		{name: "init container's signal", status: `"phase":"Pending"`, inits: killed, ready: "0/2", want: "Init:Signal:9"},
		{name: "initialized", status: `"phase":"Running"`, inits: done + "," + done, containers: running, ready: "1/2", want: "Running", restarts: 1},
		{name: "going", meta: `,"deletionTimestamp":"` + created + `"`, status: `"phase":"Running"`, containers: running, ready: "1/2", want: "Terminating", restarts: 1},
		{name: "lost", meta: `,"deletionTimestamp":"` + created + `"`, status: `"phase":"Running","reason":"NodeLost"`, ready: "0/2", want: "Unknown"},
	} {
		t.Run("M36 "+tc.name, func(t *testing.T) {
			t.Parallel()
			value := stored(t, k, fmt.Sprintf(`{"metadata":{"name":"x","creationTimestamp":"%s"%s},"spec":{"initContainers":[{"name":"a"},{"name":"b"}],
				"containers":[{"name":"c"},{"name":"d"}]},"status":{%s,"initContainerStatuses":[%s],"containerStatuses":[%s]}}`,
				created, tc.meta, tc.status, tc.inits, tc.containers))
			got := cellsOf(t, rows(t, c, k, "v1", table.None), value)
			if got[1] != tc.ready || got[2] != tc.want || got[3] != tc.restarts || got[4] != "5m30s" || got[5] != "<none>" || got[6] != "<none>" {
				t.Errorf("got %v, want %s %s %v", got, tc.ready, tc.want, tc.restarts)
			}
		})
	}
	got := cellsOf(t, rows(t, c, k, "v1", table.None), stored(t, k, podObject))
	if got[5] != "10.1.2.3" || got[6] != "n1" {
		t.Errorf("wide: %v", got)
	}
}
