package custom

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"quorate/apiserver/objects/schema"
)

// names are the names of a kind. No two CustomResourceDefinitions of a group share one, besides
// categories.
type names struct {
	plural, singular, kind, listKind string
	shortNames, categories           []string
}

func namesOf(v *schema.Value) names {
	return names{
		plural: text(v, "plural"), singular: text(v, "singular"), kind: text(v, "kind"), listKind: text(v, "listKind"),
		shortNames: texts(v.Field("shortNames")), categories: texts(v.Field("categories")),
	}
}

// text returns a copy of a string field, which does not keep the document in memory.
func text(v *schema.Value, name string) string { return strings.Clone(v.Field(name).Str()) }

func texts(list *schema.Value) []string {
	var all []string
	for _, item := range list.Items() {
		all = append(all, strings.Clone(item.Str()))
	}
	return all
}

func (n *names) equal(other *names) bool {
	return n.plural == other.plural && n.singular == other.singular && n.kind == other.kind && n.listKind == other.listKind &&
		slices.Equal(n.shortNames, other.shortNames) && slices.Equal(n.categories, other.categories)
}

// conflict is why not all names of a definition are accepted; its zero value means that they are.
type conflict struct{ reason, message string }

// claims are the names that definitions have, by group. A name that is accepted stays with its
// definition until the definition gives it up or is deleted, whatever others ask for.
type claims struct{ resources, kinds map[string]bool }

// claimAccepted returns the names that the status of definitions says are accepted.
func claimAccepted(definitions []*definition) *claims {
	c := &claims{map[string]bool{}, map[string]bool{}}
	for _, d := range definitions {
		c.claim(d.group, &d.accepted)
	}
	return c
}

// qualified returns a name that is unique among those of all groups.
func qualified(group, name string) string { return group + separator + name }

func (c *claims) has(group, plural string) bool { return c.resources[qualified(group, plural)] }

func (c *claims) claim(group string, n *names) {
	for _, name := range append([]string{n.plural, n.singular}, n.shortNames...) {
		c.resources[qualified(group, name)] = true
	}
	for _, name := range []string{n.kind, n.listKind} {
		c.kinds[qualified(group, name)] = true
	}
}

// claimThirdParty claims the names of a ThirdPartyResource.
func (c *claims) claimThirdParty(d *schema.Definition) {
	c.claim(d.Group, &names{plural: d.Plural, singular: d.Singular, kind: d.Kind, listKind: d.Kind + "List"})
}

// accept decides which of the names that a definition asks for it gets, and claims them. Where a
// name is in use, the definition keeps the one that it has.
func (c *claims) accept(d *definition) (names, conflict) {
	accepted, why := d.accepted, conflict{}
	one := func(used map[string]bool, want string, have *string, reason string) {
		if want != *have && used[qualified(d.group, want)] {
			why = conflict{reason, strconv.Quote(want) + " is already in use"}
			return
		}
		*have = want
	}
	one(c.resources, d.asked.plural, &accepted.plural, "PluralConflict")
	one(c.resources, d.asked.singular, &accepted.singular, "SingularConflict")
	var inUse []string
	for _, short := range d.asked.shortNames {
		if !slices.Contains(d.accepted.shortNames, short) && c.resources[qualified(d.group, short)] {
			inUse = append(inUse, fmt.Sprintf("%q is already in use", short))
		}
	}
	switch len(inUse) {
	case 0:
		accepted.shortNames = d.asked.shortNames
	case 1:
		why = conflict{"ShortNamesConflict", inUse[0]}
	default:
		why = conflict{"ShortNamesConflict", "[" + strings.Join(inUse, ", ") + "]"}
	}
	one(c.kinds, d.asked.kind, &accepted.kind, "KindConflict")
	one(c.kinds, d.asked.listKind, &accepted.listKind, "ListKindConflict")
	accepted.categories = d.asked.categories
	c.claim(d.group, &accepted)
	return accepted, why
}
