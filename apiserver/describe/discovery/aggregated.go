package discovery

import (
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest"
	"quorate/apiserver/wire/negotiate"
)

// The names of the aggregated document, which current clients request instead of all lists (L8).
// Its versions differ only in their names.
const (
	aggregatedGroup = "apidiscovery.k8s.io"
	aggregatedKind  = "APIGroupDiscoveryList"
)

func aggregatedVersions() []string { return []string{"v2", "v2beta1"} }

// current is the freshness of all versions. Clients distinguish it from versions whose server
// cannot be reached.
const current = "Current"

// addAggregated adds the aggregated forms to the document at path, which lists the group names
// (L9).
func (d *Documents) addAggregated(path string, groups []wholeGroup) error {
	for _, version := range aggregatedVersions() {
		whole, err := newDocument(path, wholeList{
			Kind: aggregatedKind, APIVersion: aggregatedGroup + "/" + version, Items: groups,
		})
		if err != nil {
			return err
		}
		target := negotiate.Target{Group: aggregatedGroup, Version: version, Kind: aggregatedKind}
		d.byPath[path].turned = append(d.byPath[path].turned, turned{target, whole})
	}
	return nil
}

// core returns the core group, which has no name and one version.
func (d *Documents) core() []wholeGroup {
	return []wholeGroup{{Versions: []wholeVersion{listVersion(coreVersion, d.kinds[corePrefix])}}}
}

// named returns the named groups.
func (d *Documents) named() []wholeGroup {
	items := make([]wholeGroup, len(d.groups))
	for i, g := range d.groups {
		items[i].Metadata.Name = g.Name
		for _, v := range g.Versions {
			items[i].Versions = append(items[i].Versions, listVersion(v.Version, d.kindsAt(groupPrefix+v.GroupVersion)))
		}
	}
	return items
}

func listVersion(version string, kinds []*schema.Kind) wholeVersion {
	v := wholeVersion{Version: version, Freshness: current}
	for _, k := range byPlural(kinds) {
		r := wholeResource{
			Resource: k.Plural, ResponseKind: kindOf(k), Scope: k.Spec.Scope, SingularResource: k.Singular,
			Verbs: rest.Verbs(k), ShortNames: k.ShortNames, Categories: k.Categories,
		}
		for _, sub := range rest.Subresources(k) {
			r.Subresources = append(r.Subresources, wholeSubresource{
				Subresource: sub.Name, ResponseKind: kindOf(sub.Kind), Verbs: sub.Verbs,
			})
		}
		v.Resources = append(v.Resources, r)
	}
	return v
}

func kindOf(k *schema.Kind) groupVersionKind {
	return groupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}
}
