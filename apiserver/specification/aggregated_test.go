package specification

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// aggregated is the content type of a whole list in a version.
func aggregated(version string) string {
	return "application/json;g=apidiscovery.k8s.io;v=" + version + ";as=APIGroupDiscoveryList"
}

// aggregatedRows: L8, L9. The document says what the lists of each group say.
func aggregatedRows(t *testing.T, s *testserver.Server) {
	whole := map[string][]string{}
	for _, path := range []string{"/api", "/apis"} {
		for accept, version := range map[string]string{
			aggregated("v2") + "," + aggregated("v2beta1") + ",application/json":                             "v2",
			aggregated("v2beta1") + ",application/json":                                                      "v2beta1",
			strings.Replace(aggregated("v2"), "json", "vnd.kubernetes.protobuf", 1) + "," + aggregated("v2"): "v2",
		} {
			a := s.Do("GET", path, "", "Accept: "+accept)
			list := ok(t, a)
			if got := a.Header.Get("Content-Type"); got != aggregated(version) {
				t.Errorf("%s: Content-Type %s for %s", path, got, accept)
			}
			want(t, list, "kind", "APIGroupDiscoveryList", "apiVersion", "apidiscovery.k8s.io/"+version, "metadata", "{}")
			whole[path] = append(whole[path], list)
			again := s.Do("GET", path, "", "Accept: "+accept, "If-None-Match: "+a.Header.Get("Etag"))
			if plain := s.Do("GET", path, ""); again.Code != 304 || plain.Header.Get("Etag") == a.Header.Get("Etag") {
				t.Errorf("%s: %d, the plain document has the tag %s", path, again.Code, plain.Header.Get("Etag"))
			}
		}
		expect(t, s.Do("GET", path, "", "Accept: "+aggregated("v3")), 406, "NotAcceptable", "apidiscovery.k8s.io/v3, Kind=APIGroupDiscoveryList")
	}
	core := get(t, whole["/api"][0], "items.0")
	if want(t, core, "metadata.name", "", "versions.0.version", "v1"); value(t, whole["/api"][0], "items.1") != nil {
		t.Error("/api lists more than the core group")
	}
	wholeVersion(t, s, "/api/v1", get(t, core, "versions.0"))
	groups := ok(t, s.Do("GET", "/apis", ""))
	for i := 0; value(t, groups, fmt.Sprintf("groups.%d", i)) != nil; i++ {
		plain, item := get(t, groups, fmt.Sprintf("groups.%d", i)), get(t, whole["/apis"][0], fmt.Sprintf("items.%d", i))
		want(t, item, "metadata.name", get(t, plain, "name"))
		for v := 0; value(t, plain, fmt.Sprintf("versions.%d", v)) != nil; v++ {
			version := get(t, item, fmt.Sprintf("versions.%d", v))
			want(t, version, "version", get(t, plain, fmt.Sprintf("versions.%d.version", v)))
			wholeVersion(t, s, "/apis/"+get(t, plain, fmt.Sprintf("versions.%d.groupVersion", v)), version)
		}
	}
}

// wholeVersion compares a version of the whole list with the list of its own.
func wholeVersion(t *testing.T, s *testserver.Server, path, version string) {
	t.Helper()
	list := ok(t, s.Do("GET", path, ""))
	want(t, version, "freshness", "Current")
	group, number, named := strings.Cut(get(t, list, "groupVersion"), "/")
	if !named {
		group, number = "", group
	}
	var told []string
	for i := 0; value(t, version, fmt.Sprintf("resources.%d", i)) != nil; i++ {
		r := get(t, version, fmt.Sprintf("resources.%d", i))
		name := get(t, r, "resource")
		told = append(told, name)
		plain := resourceNamed(t, list, name)
		scope := map[string]string{"true": "Namespaced", "false": "Cluster"}[get(t, plain, "namespaced")]
		want(t, r, "scope", scope, "singularResource", get(t, plain, "singularName"), "verbs", get(t, plain, "verbs"),
			"shortNames", get(t, plain, "shortNames"), "categories", get(t, plain, "categories"),
			"responseKind.group", group, "responseKind.version", number, "responseKind.kind", get(t, plain, "kind"))
		for n := 0; value(t, r, fmt.Sprintf("subresources.%d", n)) != nil; n++ {
			sub := get(t, r, fmt.Sprintf("subresources.%d", n))
			whole := name + "/" + get(t, sub, "subresource")
			told = append(told, whole)
			plain := resourceNamed(t, list, whole)
			want(t, sub, "verbs", get(t, plain, "verbs"), "responseKind.kind", get(t, plain, "kind"))
		}
	}
	slices.Sort(told)
	for i := 0; value(t, list, fmt.Sprintf("resources.%d", i)) != nil; i++ {
		name := get(t, list, fmt.Sprintf("resources.%d.name", i))
		if n, found := slices.BinarySearch(told, name); !found || n != i {
			t.Errorf("%s: %s is missing, or in another order: %v", path, name, told)
		}
	}
}
