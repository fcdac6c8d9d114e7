package main

import "fmt"

const (
	configMaps = "/api/v1/namespaces/%s/configmaps"
	pods       = "/api/v1/namespaces/%s/pods"
	secrets    = "/api/v1/namespaces/%s/secrets"
	// namespaces is the number of those that watches are spread over.
	namespaces = 100
	// others is the namespace of the objects that concern no watch.
	others = "others"
)

// kind is a kind of watches, which are numbered.
type kind struct {
	name string
	// path is what a watch follows.
	path func(i int) string
	// concerned is a create that concerns one watch only, and the number of that watch.
	concerned func(sample int) (path, body string, watch int)
	// unconcerned is a create that concerns none.
	unconcerned func(i int) (path, body string)
}

// kinds returns the kinds of watches, of which there are so many at a time.
func kinds(watches int) []kind {
	spread := func(i int) string { return fmt.Sprintf("watched-%d", i%namespaces) }
	// The samples concern watches 0 to samples-1, in another order.
	return []kind{
		{"namespace",
			func(i int) string { return fmt.Sprintf(configMaps, fmt.Sprintf("watched-%d", i)) },
			func(s int) (string, string, int) {
				return fmt.Sprintf(configMaps, spread(s)), configMap(fmt.Sprintf("sample-%d", s), ""), s % namespaces % watches
			},
			otherConfigMap},
		{"name",
			func(i int) string {
				return fmt.Sprintf(configMaps, spread(i)) + fmt.Sprintf("?fieldSelector=metadata.name%%3Dsample-%d", i)
			},
			func(s int) (string, string, int) {
				i := s % watches
				return fmt.Sprintf(configMaps, spread(i)), configMap(fmt.Sprintf("sample-%d", i), ""), i
			},
			otherConfigMap},
		{"label",
			func(i int) string {
				return fmt.Sprintf(configMaps, spread(i)) + fmt.Sprintf("?labelSelector=app%%3Da%d", i/namespaces)
			},
			func(s int) (string, string, int) {
				i := s % watches
				return fmt.Sprintf(configMaps, spread(i)), configMap(fmt.Sprintf("sample-%d", s), fmt.Sprintf("a%d", i/namespaces)), i
			},
			otherConfigMap},
		{"field",
			func(i int) string { return "/api/v1/pods" + fmt.Sprintf("?fieldSelector=spec.nodeName%%3Dnode-%d", i) },
			func(s int) (string, string, int) {
				i := s % watches
				return fmt.Sprintf(pods, spread(i)), pod(fmt.Sprintf("sample-%d", s), fmt.Sprintf("node-%d", i)), i
			},
			func(i int) (string, string) {
				return fmt.Sprintf(pods, others), pod(fmt.Sprintf("other-%d", i), "other")
			}},
		{"other kind",
			func(i int) string { return fmt.Sprintf(secrets, fmt.Sprintf("watched-%d", i)) },
			func(s int) (string, string, int) {
				return fmt.Sprintf(secrets, spread(s)), configMap(fmt.Sprintf("sample-%d", s), ""), s % namespaces % watches
			},
			otherConfigMap},
	}
}

// otherConfigMap has a label that many watches of other namespaces select.
func otherConfigMap(i int) (path, body string) {
	return fmt.Sprintf(configMaps, others), configMap(fmt.Sprintf("other-%d", i), "a0")
}

// configMap returns an object without a kind, of 64 bytes of data, and a label unless it is empty.
func configMap(name, app string) string {
	labels := ""
	if app != "" {
		labels = fmt.Sprintf(`,"labels":{"app":%q}`, app)
	}
	return fmt.Sprintf(`{"metadata":{"name":%q%s},"data":{"value":"%064d"}}`, name, labels, len(name))
}

func pod(name, node string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"nodeName":%q,"containers":[{"name":"c","image":"i"}]}}`, name, node)
}
