package apiserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"quorate/apiserver/internal/testserver"
	"quorate/raftstore"
	"quorate/raftstore/log"
	"quorate/raftstore/testcluster"
)

// maxDefinitions is the number of CustomResourceDefinitions that a server accepts.
const maxDefinitions = 1000

// maxDefinitionBytes bounds the live heap per definition with the schema of largeSchema, for as long
// as the definition exists: its compiled kind, routes and stored form. The caches of the log and the
// history, which have bounds of their own, hold other entries when it is measured.
const maxDefinitionBytes = 100 << 10

// largeSchema returns a schema of a common size: ten objects of ten described fields.
func largeSchema() string {
	about := strings.Repeat("Says what the field is for, in a sentence or two. ", 2)
	var parts []string
	for i := range 10 {
		var fields []string
		for j := range 10 {
			fields = append(fields, fmt.Sprintf(`"field%d":{"type":"string","maxLength":%d,"description":"%s"}`, j, 100+10*i+j, about))
		}
		parts = append(parts, fmt.Sprintf(`"part%d":{"type":"object","description":"%s","properties":{%s}}`, i, about, strings.Join(fields, ",")))
	}
	return `{"type":"object","properties":{"spec":{"type":"object","properties":{` + strings.Join(parts, ",") + `}}}}`
}

// fillCaches writes more than the log's cache of entries and the history hold.
func fillCaches(t *testing.T, s *testserver.Server) {
	t.Helper()
	const configMaps, filler = "/api/v1/namespaces/default/configmaps", 900 << 10
	s.Do("POST", configMaps, `{"metadata":{"name":"filler"}}`) // exists the second time
	for i := range log.DefaultCacheBytes/filler + 1 {
		text := strings.Repeat(string(rune('a'+i%26)), filler)
		check(t, patchAs(s, "merge", configMaps+"/filler", `{"data":{"text":"`+text+`"}}`), want{code: 200})
	}
}

// TestCustomResourceLimit creates as many definitions as a server accepts. It checks that one more
// is refused, that all are served, and how much memory they take.
func TestCustomResourceLimit(t *testing.T) {
	c := testcluster.New(t, 1, func(cfg *raftstore.Config) { cfg.HistoryBytes, cfg.RaftMultiplier = 1<<20, 1 })
	s := testserver.StartOnNodes(t, c.Nodes, nil)[0]
	check(t, s.Do("POST", definitions, widgetDefinition()), want{code: 201})
	awaitCondition(t, s, widgetsName, "Established", "True")
	fillCaches(t, s)
	before := int64(liveHeap())
	schema := largeSchema()
	define := func(i int) (testserver.Answer, error) {
		group := fmt.Sprintf("g%d.example.com", i%50)
		body := strings.ReplaceAll(definitionOf(fmt.Sprintf("things%d", i), fmt.Sprintf("Thing%d", i), "Namespaced",
			widgetVersion("v1", `"served":true,"storage":true`, schema)), "shop.example.com", group)
		return s.Try(s.Client, "POST", definitions, strings.Replace(body, `"selectableFields":[{"jsonPath":".spec.color"}],`, "", 1))
	}
	var creates errgroup.Group
	creates.SetLimit(8)
	for i := range maxDefinitions - 1 {
		creates.Go(func() error {
			got, err := define(i)
			if err == nil && got.Code != http.StatusCreated {
				err = fmt.Errorf("create: %d %s", got.Code, got.Body)
			}
			return err
		})
	}
	if err := creates.Wait(); err != nil {
		t.Fatal(err)
	}
	got, err := define(maxDefinitions)
	if err != nil {
		t.Fatal(err)
	}
	check(t, got, want{code: http.StatusForbidden, reason: "Forbidden", message: "at most 1000 CustomResourceDefinitions are served"})
	if n := metricOf(t, s, `quorate_apiserver_limit_hits_total{limit="definitions"}`); n != 1 {
		t.Errorf("%v definitions count as refused, want 1", n)
	}
	for i := 0; i < maxDefinitions-1; i += 100 {
		path := fmt.Sprintf("/apis/g%d.example.com/v1/things%d", i%50, i)
		check(t, s.Do("GET", path, ""), want{code: 200})
		awaitCondition(t, s, fmt.Sprintf("things%d.g%d.example.com", i, i%50), "Established", "True")
	}
	fillCaches(t, s)
	each := (int64(liveHeap()) - before) / (maxDefinitions - 1)
	t.Logf("%d bytes a definition, with a schema of %d bytes", each, len(schema))
	bound := int64(maxDefinitionBytes)
	if raceEnabled {
		bound += bound / 6 // with the race detector, 108,522 bytes instead of 93,658
	}
	if each > bound {
		t.Errorf("a definition takes %d bytes, more than %d", each, bound)
	}
}
