package apiserver_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/apiserver/internal/testserver"
	"quorate/raftstore"
	"quorate/raftstore/testcluster"
)

// departure is an object whose last write removes its only finalizer and moves it from one selector
// to another.
type departure struct {
	kind, collection, name string
	// object is what is created; %s is the value that the selectors read.
	object string
	// selector is a query; %s is the same value.
	selector string
	// path is the JSON pointer of the value.
	path string
}

// finalWrites are the ways in which a client can send the last write.
var finalWrites = []struct {
	name  string
	write func(d departure, s *testserver.Server, object string) testserver.Answer
}{
	{"merge patch", func(d departure, s *testserver.Server, _ string) testserver.Answer {
		patch := `{"metadata":{"finalizers":null,"labels":{"l":"y"}}}`
		if d.path == "/reason" {
			patch = `{"metadata":{"finalizers":null},"reason":"y"}`
		}
		return s.Do("PATCH", d.collection+"/"+d.name, patch, mergePatch)
	}},
	{"JSON patch", func(d departure, s *testserver.Server, _ string) testserver.Answer {
		return s.Do("PATCH", d.collection+"/"+d.name,
			`[{"op":"replace","path":"`+d.path+`","value":"y"},{"op":"remove","path":"/metadata/finalizers"}]`, jsonPatch)
	}},
	{"PUT", func(d departure, s *testserver.Server, object string) testserver.Answer {
		object = strings.Replace(object, `"finalizers":["example.com/hold"]`, `"finalizers":[]`, 1)
		object = strings.Replace(object, `"l":"x"`, `"l":"y"`, 1)
		object = strings.Replace(object, `"reason":"x"`, `"reason":"y"`, 1)
		return s.Do("PUT", d.collection+"/"+d.name, object)
	}},
}

// TestWatchOfADeletionThatChangesWhatSelectorsRead checks that exactly those watches receive
// DELETED whose selector matched the object before its final write, which removes the last
// finalizer and also changes what the selectors read. The watches are live, resumed from memory and
// resumed from the log (D19, D20).
func TestWatchOfADeletionThatChangesWhatSelectorsRead(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	c := testcluster.New(t, 1, func(cfg *raftstore.Config) {
		unhurried(cfg)
		cfg.HistoryBytes, cfg.Registerer = 64<<10, registry
	})
	s := testserver.StartOnNodes(t, c.Nodes, nil)[0]
	cms := namespace(t, s, "going")
	define(t, s, cronTabName)
	labelled := `{"kind":"%s","apiVersion":"%s","metadata":{"name":"%s","labels":{"l":"%%s"},"finalizers":["example.com/hold"]}}`
	labels := "labelSelector=l%%3D%s"
	for _, write := range finalWrites {
		id := strings.ToLower(strings.Fields(write.name)[0])
		for _, d := range []departure{
			{"labels", cms, id, fmt.Sprintf(labelled, "ConfigMap", "v1", id), labels, "/metadata/labels/l"},
			{"third party", cronTabs, id, fmt.Sprintf(labelled, "CronTab", "stable.example.com/v1", id), labels, "/metadata/labels/l"},
			{"namespace", "/api/v1/namespaces", "leaves-" + id, fmt.Sprintf(labelled, "Namespace", "v1", "leaves-"+id), labels, "/metadata/labels/l"},
			{"fields", strings.Replace(cms, "configmaps", "events", 1), id,
				`{"kind":"Event","apiVersion":"v1","metadata":{"name":"` + id + `","finalizers":["example.com/hold"]},` +
					`"involvedObject":{"kind":"Pod","namespace":"going","name":"p"},"reason":"%s"}`,
				"fieldSelector=reason%%3D%s", "/reason"},
		} {
			t.Run(d.kind+"/"+write.name, func(t *testing.T) { d.check(t, s, registry, write.write) })
		}
	}
}

func (d departure) check(
	t *testing.T, s *testserver.Server, registry prometheus.Gatherer,
	write func(d departure, s *testserver.Server, object string) testserver.Answer,
) {
	named := func(name, value string) string {
		object := strings.Replace(fmt.Sprintf(d.object, value), `"name":"`+d.name+`"`, `"name":"`+name+`"`, 1)
		return strings.Replace(object, `"finalizers":["example.com/hold"]`, `"finalizers":[]`, 1)
	}
	after := version(t, s.Do("POST", d.collection, named("begin-"+d.name, "z")).Body)
	watch := func(selector string) *stream {
		return open(t, s, d.collection+"?watch=1&resourceVersion="+after+"&"+selector)
	}
	selects := func(value string) string { return fmt.Sprintf(d.selector, value) }
	one := "fieldSelector=metadata.name%3D" + url.QueryEscape(d.name)
	live := map[string]*stream{"x": watch(selects("x")), "y": watch(selects("y")), "one": watch(one)}

	created := s.Do("POST", d.collection, fmt.Sprintf(d.object, "x"))
	check(t, created, want{code: 200})
	check(t, s.Do("DELETE", d.collection+"/"+d.name, ""), want{code: 200})
	d.emptied(t, s)
	marked := s.Do("GET", d.collection+"/"+d.name, "").Body
	final := write(d, s, marked)
	check(t, final, want{code: 200})
	check(t, s.Do("GET", d.collection+"/"+d.name, ""), want{code: 404, reason: "NotFound"})
	check(t, s.Do("POST", d.collection, named("end-x-"+d.name, "x")), want{code: 200})
	check(t, s.Do("POST", d.collection, named("end-y-"+d.name, "y")), want{code: 200})

	d.judge(t, "live", live, marked, final.Body)
	d.judge(t, "resumed from memory", map[string]*stream{"x": watch(selects("x")), "y": watch(selects("y")), "one": watch(one)}, marked, final.Body)
	read := logReads(t, registry)
	for i := range 3 {
		filler := strings.Replace(named(fmt.Sprintf("filler-%d-%s", i, d.name), "z"), `"metadata":{`,
			`"metadata":{"annotations":{"filler":"`+strings.Repeat("f", 100<<10)+`"},`, 1)
		check(t, s.Do("POST", d.collection, filler), want{code: 200})
	}
	d.judge(t, "resumed from the log", map[string]*stream{"x": watch(selects("x")), "y": watch(selects("y")), "one": watch(one)}, marked, final.Body)
	if logReads(t, registry) == read {
		t.Error("the log was not read")
	}
}

// logReads is how often watches were served from the log on disk.
func logReads(t *testing.T, registry prometheus.Gatherer) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "quorate_raftstore_history_log_reads_total" {
			return f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	t.Fatal("no such metric")
	return 0
}

// emptied waits until nothing but the object's finalizer keeps it: the server itself lets go of a
// namespace first.
func (d departure) emptied(t *testing.T, s *testserver.Server) {
	t.Helper()
	if d.kind == "namespace" {
		s.Eventually("the namespace is empty", func() bool {
			return !strings.Contains(s.Do("GET", d.collection+"/"+d.name, "").Body, `"spec":{"finalizers":["`)
		})
	}
}

// judge reads the streams of the three selectors to the objects created after the deletion.
func (d departure) judge(t *testing.T, how string, streams map[string]*stream, marked, final string) {
	t.Helper()
	until := func(w *stream, last string) (deleted string) {
		events := []string{"ADDED " + d.name, "MODIFIED " + d.name, "DELETED " + d.name}
		w.want(events[0])
		for {
			event, object := w.next()
			if event == events[2] {
				if last != "" {
					w.want("ADDED " + last)
				}
				return object
			}
			if event != events[1] {
				t.Fatalf("%s: %s before the object's deletion", how, event)
			}
		}
	}
	left := until(streams["x"], "end-x-"+d.name)
	if want := strings.Replace(marked, `"resourceVersion":"`+version(t, marked)+`"`, `"resourceVersion":"`+version(t, final)+`"`, 1); left != want {
		t.Errorf("%s: left as %s, want %s", how, left, want)
	}
	if got := until(streams["one"], ""); got != final {
		t.Errorf("%s: deleted as %s, want %s", how, got, final)
	}
	streams["y"].want("ADDED end-y-" + d.name)
	for _, w := range streams {
		w.cancel()
	}
}
