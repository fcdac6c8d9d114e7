package rest

import (
	"errors"
	"slices"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/table"
	"quorate/apiserver/wire/negotiate"
)

// The names of the documents that clients may request in place of objects.
const (
	metaGroup   = "meta.k8s.io"
	partialKind = "PartialObjectMetadata"
	listSuffix  = "List"
)

// partials contains the kind PartialObjectMetadata in each of its versions.
type partials []*schema.Kind

// newPartials returns the partials of a catalog, with the preferred version first.
func newPartials(c *schema.Catalog) (partials, error) {
	var p partials
	for _, version := range []string{"v1", "v1beta1"} {
		k := c.Unstored(metaGroup+"/"+version, partialKind)
		if k == nil {
			return nil, errors.New("the catalog has no kind " + partialKind + " in " + metaGroup + "/" + version)
		}
		p = append(p, k)
	}
	return p, nil
}

// ofVersion returns the kind of a version, which must be one of the variants.
func (p partials) ofVersion(version string) *schema.Kind {
	return p[slices.IndexFunc(p, func(k *schema.Kind) bool { return k.Version == version })]
}

// variants are the variants in which a kind's objects, lists and streams are served. The first of
// each is the unconverted object (B24, B25, B31).
type variants struct{ objects, lists, streams []negotiate.Variant }

func newVariants(k *schema.Kind, p partials) variants {
	text, all := negotiate.Own(false).Forms, negotiate.Own(true).Forms
	lines, frames := negotiate.Offered(), negotiate.Offered(negotiate.Protobuf, negotiate.KubernetesProtobuf) // of streams
	own, streamed := all, frames
	if !k.HasProtobuf() {
		own, streamed = text, lines
	}
	plain := func(forms negotiate.Offer) []negotiate.Variant { return []negotiate.Variant{{Forms: forms}} }
	o := variants{objects: plain(own), lists: plain(own), streams: plain(streamed)}
	for i, as := range p {
		turned := func(kind string, forms negotiate.Offer) negotiate.Variant {
			return negotiate.Variant{Target: negotiate.Target{Group: metaGroup, Version: as.Version, Kind: kind}, Forms: forms}
		}
		listed := all
		if i > 0 { // the fields of its list have other numbers; protobuf clients accept the first version as well
			listed = text
		}
		o.objects = append(o.objects, turned(table.Kind, text), turned(partialKind, all))
		o.lists = append(o.lists, turned(table.Kind, text), turned(partialKind+listSuffix, listed))
		o.streams = append(o.streams, turned(table.Kind, lines), turned(partialKind, frames))
	}
	return o
}
