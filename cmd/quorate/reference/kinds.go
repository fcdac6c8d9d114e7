package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/validation"
	"quorate/apiserver/rest"
)

// apiFolder is the folder of the pages about the API, in docs.
const apiFolder = "api"

// typesPage is the page of the types that are not those of one kind.
const typesPage = "types"

const generated = "<!-- Generated from apiserver/kinds by make generate: edit the files there. -->\n"

// apiPages returns the pages about the API: an index, one page for each group, and one for shared
// types.
func apiPages() (map[string][]byte, error) {
	catalog, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		return nil, err
	}
	served, err := servedKinds(catalog)
	if err != nil {
		return nil, err
	}
	types, err := readTypes()
	if err != nil {
		return nil, err
	}
	groups := map[string][]*schema.Kind{}
	for _, k := range served {
		groups[pageOf(k)] = append(groups[pageOf(k)], k)
	}
	pages := map[string][]byte{apiFolder + "/README.md": index(served)}
	for name, list := range groups {
		pages[apiFolder+"/"+name+".md"] = groupPage(name, list, types)
	}
	pages[apiFolder+"/"+typesPage+".md"] = types.page(served)
	return pages, nil
}

// servedKinds returns all kinds with a path, reviews included, which are never stored, by group,
// kind and version.
func servedKinds(catalog *schema.Catalog) ([]*schema.Kind, error) {
	served := slices.Clone(catalog.Kinds())
	files, err := fs.Glob(kinds.Files, "*.yaml")
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		var spec schema.KindSpec
		text, err := kinds.Files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if err := yaml.Unmarshal(text, &spec); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if !spec.Unstored {
			continue
		}
		// Others than reviews are forms in which objects of other kinds are read and written.
		if k := catalog.Unstored(spec.APIVersion, spec.Kind); k != nil && !k.Operations.Has(schema.OpRead) {
			served = append(served, k)
		}
	}
	slices.SortFunc(served, func(a, b *schema.Kind) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Prefix, b.Prefix))
	})
	return served, nil
}

// pageOf returns the name of the page about a kind: its group.
func pageOf(k *schema.Kind) string { return cmp.Or(k.Group, "core") }

func index(served []*schema.Kind) []byte {
	var page bytes.Buffer
	page.WriteString("# API reference\n\n" + generated + `
The kinds that every node serves, by group. ` + "`kubectl api-resources`" + ` lists them too, with those of
your CustomResourceDefinitions, and ` + "`kubectl explain`" + ` describes every field.
[compatibility](../compatibility.md) says what differs from kube-apiserver, and
[types](types.md) has the types that several kinds share.
`)
	group := ""
	for _, k := range served {
		if name := pageOf(k); name != group {
			group = name
			fmt.Fprintf(&page, "\n## %s\n\n| kind | path | short names | verbs | subresources |\n|---|---|---|---|---|\n", group)
		}
		var subs []string
		for _, s := range rest.Subresources(k) {
			subs = append(subs, s.Name)
		}
		fmt.Fprintf(&page, "| [%s](%s.md#%s) | %s | %s | %s | %s |\n", k.Kind, group, anchor(heading(k)), code(path(k)),
			strings.Join(k.ShortNames, ", "), verbs(k), strings.Join(subs, ", "))
	}
	return page.Bytes()
}

// path returns the path of a kind's collection.
func path(k *schema.Kind) string {
	if k.Namespaced {
		return k.Prefix + "/namespaces/NAMESPACE/" + k.Plural
	}
	return k.Prefix + "/" + k.Plural
}

// allVerbs is the number of verbs of a kind that offers everything.
const allVerbs = 8

func verbs(k *schema.Kind) string {
	offered := rest.Verbs(k)
	if len(offered) == allVerbs {
		return "all"
	}
	return strings.Join(offered, ", ")
}

// heading returns the heading of a kind.
func heading(k *schema.Kind) string {
	if strings.HasPrefix(k.Prefix, "/oapi/") {
		return k.Kind + " oapi " + k.Version
	}
	return k.Kind + " " + k.Version
}

// anchor returns the anchor of a heading.
func anchor(heading string) string { return strings.ToLower(strings.ReplaceAll(heading, " ", "-")) }

// groupPage returns the page about the kinds of a group.
func groupPage(name string, list []*schema.Kind, types *types) []byte {
	var page bytes.Buffer
	fmt.Fprintf(&page, "# API reference: %s\n\n%s\n[All groups](README.md), [shared types](types.md)\n", name, generated)
	done := map[string]bool{} // messages of this page
	for _, k := range list {
		fmt.Fprintf(&page, "\n## %s\n\n%s\n\n", heading(k), k.Message.Spec.Description)
		fmt.Fprintf(&page, "- Path: %s\n- Verbs: %s\n", code(path(k)), strings.Join(rest.Verbs(k), ", "))
		for _, s := range rest.Subresources(k) {
			fmt.Fprintf(&page, "- Subresource %s: %s\n", code(s.Name), strings.Join(s.Verbs, ", "))
		}
		if fields := k.Spec.FieldSelectors.Supported; len(fields) > 0 {
			fmt.Fprintf(&page, "- Field selectors: %s\n", code(strings.Join(fields, " ")))
		}
		var columns []string
		for _, c := range k.Spec.Columns {
			if c.Priority == 0 {
				columns = append(columns, c.Name)
			}
		}
		if len(columns) > 0 {
			fmt.Fprintf(&page, "- Columns: %s\n", strings.Join(columns, ", "))
		}
		if name := k.Message.Name; done[name] || types.messages[name] != nil && types.messages[name].shared {
			fmt.Fprintf(&page, "- Fields: %s\n", types.link(name, typesPage+".md"))
		}
		types.write(&page, k.Message.Name, typesPage+".md", done)
	}
	return page.Bytes()
}
