package validation

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"quorate/apiserver/objects/schema"
)

// approvalAnnotation says who has approved a definition in a group of the Kubernetes community.
const approvalAnnotation = "api-approved.kubernetes.io"

func definitionHooks() schema.Hooks {
	return schema.Hooks{
		Steps: map[string]schema.Step{
			"beginDefinition": beginDefinition,
			"storeDefinition": recordStorage,
			"keepInstances":   keepInstances,
			"orderSchemas":    orderSchemas,
		},
		Defaulters: map[string]schema.Defaulter{
			"definitionNames": defaultDefinitionNames,
			"noConversion":    defaultConversion,
		},
		Validators: map[string]schema.Validator{
			"definitionName":           definitionName,
			"definitionApproval":       definitionApproval,
			"definitionStoredVersions": definitionStoredVersions,
			"definitionSpec":           definitionSpec,
			"definitionNames":          definitionNames,
			"definitionVersions":       definitionVersions,
			"definitionConversion":     definitionConversion,
			"unknownFieldsDropped":     unknownFieldsDropped,
		},
		Comparisons: map[string]schema.Comparison{
			"definitionUpdate": definitionUpdate,
		},
	}
}

// beginDefinition lets the status of a new definition contain its storage version alone.
func beginDefinition(c *schema.Context) {
	c.Object.Root().Clear("status")
	recordStorage(c)
}

// recordStorage adds the storage version to those in which objects were ever stored.
func recordStorage(c *schema.Context) {
	root := c.Object.Root()
	name := storageVersion(root.Field("spec"))
	if name == "" || contains(root.Lookup("status", "storedVersions"), name) {
		return
	}
	if status := root.Field("status"); status != nil {
		root.Set("status", status.Copy()) // it may be that of the stored object
	}
	root.Make("status").Make("storedVersions").Append().SetStr(name)
}

// storageVersion returns the name of the first version with storage, or "".
func storageVersion(spec *schema.Value) string {
	for _, v := range spec.Field("versions").Items() {
		if v.Field("storage").Bool() {
			return v.Field("name").Str()
		}
	}
	return ""
}

// defaultDefinitionNames derives the singular and the kind of lists from the kind.
func defaultDefinitionNames(c *schema.Context, m *schema.Value) {
	kind := m.Field("kind").Str()
	if kind == "" || !c.Under("spec") {
		return
	}
	if m.Field("singular").IsEmpty() {
		m.Make("singular").SetStr(strings.ToLower(kind))
	}
	if m.Field("listKind").IsEmpty() {
		m.Make("listKind").SetStr(kind + "List")
	}
}

func defaultConversion(_ *schema.Context, m *schema.Value) {
	m.Make("conversion").Make("strategy").SetStr(conversionNone)
}

// definitionName requires the name to consist of plural and group.
func definitionName(c *schema.Context, root *schema.Value) {
	if c.Operation != schema.Create {
		return
	}
	spec := root.Field("spec")
	if name := c.Object.Name(); name != spec.Lookup("names", "plural").Str()+"."+spec.Field("group").Str() {
		c.Invalid(name, `must be spec.names.plural+"."+spec.group`, "metadata", "name")
	}
}

// definitionSpec requires a group that is a domain. Those of the platform belong to the server.
func definitionSpec(c *schema.Context, spec *schema.Value) {
	group := spec.Field("group").Str()
	switch {
	case group == "": // the field is required
	case !strings.Contains(group, "."):
		c.Invalid(group, "should be a domain with at least one dot", "group")
	case group == reservedDomains()[0] || strings.HasSuffix(group, "."+reservedDomains()[0]):
		c.Forbidden("the groups of "+reservedDomains()[0]+" are reserved", "group")
	}
}

// Approval is what the annotation of a definition in a group of the Kubernetes community says.
type Approval struct{ Status, Reason, Message string }

// ApprovalOf returns the approval of a definition, and false for groups that need none.
func ApprovalOf(o *schema.Object) (a Approval, needed bool) {
	group := o.Root().Lookup("spec", "group").Str()
	needed = slices.ContainsFunc([]string{"k8s.io", "kubernetes.io"}, func(domain string) bool {
		return group == domain || strings.HasSuffix(group, "."+domain)
	})
	if !needed {
		return Approval{}, false
	}
	const missing = "protected groups must have approval annotation %q"
	const see = ", see https://github.com/kubernetes/enhancements/pull/1111"
	text := o.Annotations().Get(approvalAnnotation).Str()
	at, err := url.ParseRequestURI(text)
	switch {
	case text == "":
		return Approval{"False", "MissingAnnotation", fmt.Sprintf(missing+see, approvalAnnotation)}, true
	case strings.HasPrefix(text, "unapproved"):
		return Approval{"False", "UnapprovedAnnotation", fmt.Sprintf("not approved: %q", text)}, true
	case err == nil && at.Host != "" && at.Scheme != "":
		return Approval{"True", "ApprovedAnnotation", "approved in " + text}, true
	}
	return Approval{"False", "InvalidAnnotation",
		fmt.Sprintf(missing+` with either a URL or a reason starting with "unapproved"`+see, approvalAnnotation)}, true
}

// definitionApproval requires the annotation of definitions in groups of the Kubernetes community,
// unless it was accepted before.
func definitionApproval(c *schema.Context, _ *schema.Value) {
	approval, needed := ApprovalOf(c.Object)
	if !needed || c.Operation == schema.UpdateStatus {
		return
	}
	if c.Old != nil {
		if old, _ := ApprovalOf(c.Old); old.Reason == approval.Reason {
			return
		}
	}
	at := []any{"metadata", "annotations", schema.Key(approvalAnnotation)}
	switch approval.Reason {
	case "MissingAnnotation":
		c.Required(approval.Message, at...)
	case "InvalidAnnotation":
		c.Invalid(c.Object.Annotations().Get(approvalAnnotation), approval.Message, at...)
	}
}

// definitionStoredVersions requires each version in which objects were ever stored to be there, so
// that they can be read.
func definitionStoredVersions(c *schema.Context, root *schema.Value) {
	if c.Operation == schema.UpdateStatus {
		return
	}
	var names []string
	for _, v := range root.Lookup("spec", "versions").Items() {
		names = append(names, v.Field("name").Str())
	}
	for i, v := range root.Lookup("status", "storedVersions").Items() {
		if !slices.Contains(names, v.Str()) {
			c.Invalid(v, fmt.Sprintf("missing from spec.versions; %[1]s was previously a storage version, and must remain in spec.versions until "+
				"a storage migration ensures no data remains persisted in %[1]s and removes %[1]s from status.storedVersions", v.Str()),
				"status", "storedVersions", i)
		}
	}
}

// definitionNames requires names that fit into paths.
func definitionNames(c *schema.Context, names *schema.Value) {
	for _, name := range []string{"plural", "singular", "kind", "listKind"} {
		text := names.Field(name).Str()
		if text == "" {
			if c.Under("spec") {
				c.Required("", name)
			}
			continue
		}
		mixed := name == "kind" || name == "listKind"
		if mixed {
			text = strings.ToLower(text)
		}
		if why := strings.Join(validation.IsDNS1035Label(text), ","); why != "" {
			if mixed {
				why = "may have mixed case, but should otherwise match: " + why
			}
			c.Invalid(names.Field(name), why, name)
		}
	}
	for _, name := range []string{"shortNames", "categories"} {
		for i, item := range names.Field(name).Items() {
			if why := strings.Join(validation.IsDNS1035Label(item.Str()), ","); why != "" {
				c.Invalid(item, why, name, i)
			}
		}
	}
	if kind := names.Field("kind").Str(); kind != "" && kind == names.Field("listKind").Str() {
		c.Invalid(kind, "kind and listKind may not be the same", "listKind")
	}
}

// unknownFieldsDropped rejects the mode of v1beta1 in which all fields are kept.
func unknownFieldsDropped(c *schema.Context, v *schema.Value) {
	if v.Bool() {
		c.Invalid(v, "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead")
	}
}
