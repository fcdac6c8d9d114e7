package discovery

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest"
)

// listOf returns the list of the resources of one prefix with their subresources, sorted by name
// (L4).
func listOf(kinds []*schema.Kind) resourceList {
	list := resourceList{Kind: "APIResourceList", APIVersion: "v1", GroupVersion: kinds[0].APIVersion}
	for _, k := range byPlural(kinds) {
		list.Resources = append(list.Resources, resource{
			Name: k.Plural, SingularName: k.Singular, Namespaced: k.Namespaced, Kind: k.Kind,
			Verbs: rest.Verbs(k), ShortNames: k.ShortNames, Categories: k.Categories, StorageVersionHash: storageHash(k),
		})
		for _, sub := range rest.Subresources(k) {
			list.Resources = append(list.Resources, resource{
				Name: k.Plural + "/" + sub.Name, Namespaced: k.Namespaced, Kind: sub.Kind.Kind, Verbs: sub.Verbs,
			})
			if sub.Kind != k { // the kind of the subresource may be of another group
				last := &list.Resources[len(list.Resources)-1]
				last.Group, last.Version = sub.Kind.Group, sub.Kind.Version
			}
		}
	}
	return list
}

// byPlural sorts the kinds of one prefix by plural.
func byPlural(kinds []*schema.Kind) []*schema.Kind {
	return slices.SortedFunc(slices.Values(kinds), func(a, b *schema.Kind) int { return strings.Compare(a.Plural, b.Plural) })
}

// storageHash returns a hash of the form in which a kind's objects are stored. Clients that migrate
// objects compare it. It is empty for a kind that is not stored.
func storageHash(k *schema.Kind) string {
	if k.Spec.Unstored {
		return ""
	}
	const bytes = 8
	s := k.Storage()
	sum := sha256.Sum256([]byte(s.Group + "/" + s.Version + "/" + s.Kind))
	return base64.StdEncoding.EncodeToString(sum[:bytes])
}

// groupsOf returns the named groups with their versions, the preferred version first (L2): the
// newest stable one.
func groupsOf(kinds map[string][]*schema.Kind) []group {
	versions := map[string][]groupVersion{}
	for prefix, served := range kinds {
		if strings.HasPrefix(prefix, groupPrefix) {
			k := served[0]
			versions[k.Group] = append(versions[k.Group], groupVersion{GroupVersion: k.APIVersion, Version: k.Version})
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
