package validation

import (
	"context"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/util/jsonpath"

	"quorate/apiserver/limit"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/structural"
)

const (
	maxDeprecationWarning = 256
	maxSelectableFields   = 8
	maxSchemaBytes        = 1 << 20 // of the schema of one version

	selectableTypes = "string,boolean,integer"
)

// definitionVersions requires unique names, one version that is stored, and valid versions.
func definitionVersions(c *schema.Context, versions *schema.Value) {
	var names set[string]
	unique, compiled, stored := true, true, 0
	for i, v := range versions.Items() {
		name := v.Field("name").Str()
		unique = names.add(name) && unique
		if v.Field("storage").Bool() {
			stored++
		}
		c.EnterIndex(i, v)
		if why := strings.Join(validation.IsDNS1035Label(name), ","); why != "" {
			c.Invalid(name, why, "name")
		}
		compiled = checkVersion(c, v) && compiled
		c.Leave()
	}
	if !unique {
		c.Invalid(versions.Len(), "must contain unique version names")
	}
	if stored != 1 {
		c.Invalid(versions.Len(), "must have exactly one version marked as storage version")
	}
	if !compiled || c.Operation == schema.UpdateStatus {
		return
	}
	if err := versions.CheckTrees(); err != nil {
		c.Invalid("", err.Error())
	}
}

// orderSchemas gives schemas the order and form that typed clients write, so that a definition is
// the same in JSON and protobuf, and a client that writes what it read changes nothing.
func orderSchemas(c *schema.Context) {
	for _, v := range c.Object.Root().Lookup("spec", "versions").Items() {
		if err := v.Lookup("schema", "openAPIV3Schema").CanonicalizeTree(); err != nil { // cannot happen: the schemas were checked
			return
		}
	}
}

// checkVersion requires a version to be valid, and reports whether its schema is one.
func checkVersion(c *schema.Context, v *schema.Value) bool {
	checkDeprecation(c, v)
	checkSubresources(c, v.Field("subresources"))
	columns := v.Field("additionalPrinterColumns")
	for i, column := range columns.Items() {
		c.EnterField("additionalPrinterColumns", columns)
		c.EnterIndex(i, column)
		checkColumn(c, column)
		c.Leave()
		c.Leave()
	}
	return checkSchema(c, v)
}

// checkDeprecation requires a deprecation warning to fit into a header.
func checkDeprecation(c *schema.Context, v *schema.Value) {
	warning := v.Field("deprecationWarning")
	text := warning.Str()
	switch {
	case !warning.IsSet():
	case !v.Field("deprecated").Bool():
		c.Invalid(text, "can only be set for deprecated versions", "deprecationWarning")
	case text == "":
		c.Invalid(text, "must not be an empty string", "deprecationWarning")
	case len(text) > maxDeprecationWarning:
		c.Invalid(text, "must be <= 256 characters long", "deprecationWarning")
	case strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0:
		c.Invalid(text, "must only contain printable UTF-8 characters", "deprecationWarning")
	}
}

// checkSubresources requires the paths of a scale to be where a scale may read and write.
func checkSubresources(c *schema.Context, v *schema.Value) {
	scale := v.Field("scale")
	if scale == nil {
		return
	}
	for _, path := range []struct {
		name, under string
		roots       []string
		optional    bool
	}{
		{"specReplicasPath", ".spec", []string{".spec."}, false},
		{"statusReplicasPath", ".status", []string{".status."}, false},
		{"labelSelectorPath", "either .spec or .status", []string{".spec.", ".status."}, true},
	} {
		text := scale.Field(path.name).Str()
		within := false
		for _, root := range path.roots {
			within = within || strings.HasPrefix(text, root)
		}
		at := []any{"subresources", "scale." + path.name}
		switch {
		case text == "" && path.optional:
		case text == "":
			c.Required("", at...)
		case text[0] != '.':
			c.Invalid(text, "must be a simple json path starting with .", at...)
		case !within:
			c.Invalid(text, "should be a json path under "+path.under, at...)
		case !simplePath(text):
			c.Invalid(text, "must be a json path in the dot notation", at...)
		}
	}
}

// simplePath reports whether a path consists of names after dots.
func simplePath(path string) bool {
	for name := range strings.SplitSeq(strings.TrimPrefix(path, "."), ".") {
		if name == "" || strings.ContainsAny(name, "[]{}()*?@'\"\\ ") {
			return false
		}
	}
	return true
}

// columnTypes and columnFormats are the types and formats of columns in sorted order.
const (
	columnTypes   = "boolean,date,integer,number,string"
	columnFormats = "byte,date,date-time,double,float,int32,int64,password"
)

func checkColumn(c *schema.Context, column *schema.Value) {
	if column.Field("name").IsEmpty() {
		c.Required("", "name")
	}
	switch kind := column.Field("type").Str(); {
	case kind == "":
		c.Required("must be one of "+columnTypes, "type")
	case !among(columnTypes, kind):
		c.Invalid(kind, "must be one of "+columnTypes, "type")
	}
	if format := column.Field("format").Str(); format != "" && !among(columnFormats, format) {
		c.Invalid(format, "must be one of "+columnFormats, "format")
	}
	switch path := column.Field("jsonPath").Str(); {
	case path == "":
		c.Required("", "JSONPath")
	case path[0] != '.':
		c.Invalid(path, "must be a simple json path starting with .", "JSONPath")
	default:
		if err := jsonpath.New("column").Parse("{" + path + "}"); err != nil {
			c.Invalid(path, err.Error(), "JSONPath")
		}
	}
}

// checkSchema requires a structural schema, as which it compiles it, and reports whether it is one.
// A write of the status keeps the schema.
func checkSchema(c *schema.Context, v *schema.Value) bool {
	if c.Operation == schema.UpdateStatus {
		return true
	}
	text := v.Lookup("schema", "openAPIV3Schema").Str()
	at := []any{"schema", "openAPIV3Schema"}
	switch {
	case text == "" || text == "null":
		c.Required("", at...)
		return false
	case len(text) > maxSchemaBytes:
		c.Report(field.TooLong(c.Path(at...), "", maxSchemaBytes).WithOrigin(limit.SchemaSize.Origin()))
		return false
	}
	compiled, report, err := structural.Compile(context.Background(), []byte(text), structural.Options{
		Path: c.Path(at...), Status: v.Lookup("subresources", "status").IsSet(),
	})
	if err != nil {
		c.Invalid("", err.Error(), at...)
		return false
	}
	for _, err := range report.Errors {
		c.Report(err)
	}
	if len(report.Errors) > 0 {
		return false
	}
	checkSelectableFields(c, v, compiled)
	return true
}

// checkSelectableFields requires selectable fields to be scalars that the schema has.
func checkSelectableFields(c *schema.Context, v *schema.Value, compiled *structural.Schema) {
	fields := v.Field("selectableFields")
	c.EnterField("selectableFields", fields)
	defer c.Leave()
	var paths set[string]
	for i, f := range fields.Items() {
		path := f.Field("jsonPath").Str()
		switch {
		case path == "":
			c.Required("", i, "jsonPath")
		case path[0] != '.' || !simplePath(path):
			c.Invalid(path, "is an invalid path: it must consist of names after dots", i, "jsonPath")
		case strings.HasPrefix(path, ".metadata"):
			c.Invalid(path, "must not point to fields in metadata", i, "jsonPath")
		case !among(selectableTypes, compiled.TypeAt(strings.Split(path[1:], "."))):
			c.Invalid(path, "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.",
				i, "jsonPath")
		case !paths.add(path):
			c.Duplicate(path, i, "jsonPath")
		}
	}
	if n := fields.Len(); n > maxSelectableFields {
		c.Report(field.TooMany(c.Path(), n, maxSelectableFields))
	}
}

// among reports whether a list with commas contains a word.
func among(list, word string) bool {
	for item := range strings.SplitSeq(list, ",") {
		if item == word {
			return true
		}
	}
	return false
}
