package thirdparty

import (
	"strings"

	"quorate/apiserver/objects/schema"
	"quorate/raftstore/state"
)

// Define returns the kind and group (K1) and the plural and singular (K4) that the valid name of a
// ThirdPartyResource defines.
func Define(name string) schema.Definition {
	kebab, group, _ := strings.Cut(name, ".")
	var kind strings.Builder
	for word := range strings.SplitSeq(kebab, "-") {
		if word != "" {
			kind.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	singular := strings.ReplaceAll(kebab, "-", "")
	return schema.Definition{Kind: kind.String(), Group: group, Singular: singular, Plural: plural(singular)}
}

// plural returns the plural as Kubernetes forms it for ThirdPartyResources (K4).
func plural(singular string) string {
	switch singular[len(singular)-1] {
	case 's':
		return singular + "es"
	case 'y':
		return singular[:len(singular)-1] + "ies"
	}
	return singular + "s"
}

// separator separates group, plural and uid in the resource of instances. The resources of other
// kinds contain it at most once.
const separator = "/"

// resourceOf returns the first part of the keys of a ThirdPartyResource's instances.
func resourceOf(d *schema.Definition, uid string) string {
	return d.Group + separator + d.Plural + separator + uid
}

// ownerOf returns the uid in the resource of instances. ok is false for the resources of other
// kinds.
func ownerOf(resource string) (uid string, ok bool) {
	if strings.Count(resource, separator) != 2 {
		return "", false
	}
	return resource[strings.LastIndex(resource, separator)+1:], true
}

// nameOf returns the name in a key.
func nameOf(k state.Key) string {
	_, _, name := k.Split()
	return name
}
