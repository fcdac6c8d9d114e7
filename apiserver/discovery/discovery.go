package discovery

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"quorate/apiserver/rest"
	"quorate/apiserver/route"
	"quorate/apiserver/schema"
	"quorate/apiserver/status"
)

const (
	coreVersion = "v1"
	groupPrefix = "/apis/"
)

// Config of the discovery documents.
type Config struct {
	Catalog *schema.Catalog
	// Address is the HOST:PORT at which clients find this server.
	Address string
}

// Documents are all of them, by path, ready to serve.
type Documents struct {
	byPath map[string][]byte
}

// New makes the documents of a catalog.
func New(cfg Config) (*Documents, error) {
	d := &Documents{byPath: map[string][]byte{}}
	lists := resourceLists(cfg.Catalog)
	versions := apiVersions{
		Kind: "APIVersions", Versions: []string{coreVersion},
		ServerAddresses: []serverAddress{{ClientCIDR: "0.0.0.0/0", ServerAddress: cfg.Address}},
	}
	groups := groupsOf(lists)
	documents := map[string]any{
		"/api":  versions,
		"/oapi": versions,
		"/apis": groupList{Kind: "APIGroupList", APIVersion: "v1", Groups: groups},
	}
	for _, g := range groups {
		g.Kind, g.APIVersion = "APIGroup", "v1"
		documents[groupPrefix+g.Name] = g
	}
	for prefix, list := range lists {
		documents[prefix] = list
	}
	for path, document := range documents {
		text, err := json.Marshal(document)
		if err != nil {
			return nil, fmt.Errorf("make discovery document %s: %w", path, err)
		}
		d.byPath[path] = text
	}
	if err := d.addOpenAPI(cfg.Catalog); err != nil {
		return nil, err
	}
	return d, nil
}

// resourceLists returns the resources of each prefix, in the order of their names.
func resourceLists(catalog *schema.Catalog) map[string]resourceList {
	lists := map[string]resourceList{}
	for _, k := range catalog.Kinds() {
		list, ok := lists[k.Prefix]
		if !ok {
			list = resourceList{Kind: "APIResourceList", APIVersion: "v1", GroupVersion: k.APIVersion}
		}
		list.Resources = append(list.Resources, resource{
			Name: k.Plural, SingularName: k.Singular, Namespaced: k.Namespaced, Kind: k.Kind,
			Verbs: rest.Verbs(k), ShortNames: k.ShortNames, Categories: k.Categories,
		})
		lists[k.Prefix] = list
	}
	for _, list := range lists {
		slices.SortFunc(list.Resources, func(a, b resource) int { return strings.Compare(a.Name, b.Name) })
	}
	return lists
}

// groupsOf returns the named groups with their versions, the stable ones first.
func groupsOf(lists map[string]resourceList) []group {
	versions := map[string][]groupVersion{}
	for prefix, list := range lists {
		if strings.HasPrefix(prefix, groupPrefix) {
			name, version, _ := strings.Cut(list.GroupVersion, "/")
			versions[name] = append(versions[name], groupVersion{GroupVersion: list.GroupVersion, Version: version})
		}
	}
	groups := make([]group, 0, len(versions))
	for name, list := range versions {
		slices.SortFunc(list, func(a, b groupVersion) int { return compareVersions(a.Version, b.Version) })
		groups = append(groups, group{Name: name, Versions: list, PreferredVersion: list[0]})
	}
	slices.SortFunc(groups, func(a, b group) int { return strings.Compare(a.Name, b.Name) })
	return groups
}

// compareVersions puts stable versions before beta ones, and newer before older.
func compareVersions(a, b string) int {
	stable := func(v string) bool { return !strings.ContainsAny(v[1:], "ab") }
	switch {
	case stable(a) && !stable(b):
		return -1
	case stable(b) && !stable(a):
		return 1
	}
	return strings.Compare(b, a)
}

// Register adds the routes of all documents. They are open to every authenticated user (L20).
func (d *Documents) Register(add func(method, path string, e *route.Endpoint)) {
	for path, document := range d.byPath {
		add(http.MethodGet, path, &route.Endpoint{
			Verb: route.VerbGet, Class: route.ClassRead, Authenticated: true,
			Serve: func(c *route.Call) error { return answer(c, document) },
		})
	}
	// Clients ask for version 2 first or last, and go on with version 3 after a 404 (L18).
	add(http.MethodGet, "/openapi/v2", &route.Endpoint{
		Verb: route.VerbGet, Class: route.ClassRead, Authenticated: true,
		Serve: func(*route.Call) error { return status.NewNoRoute() },
	})
}

func answer(c *route.Call, document []byte) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	return c.Document(http.StatusOK, document, form)
}

// Paths returns the paths of all documents, sorted (I26).
func (d *Documents) Paths() []string {
	paths := make([]string, 0, len(d.byPath))
	for path := range d.byPath {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}
