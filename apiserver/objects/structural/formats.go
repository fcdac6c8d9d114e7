package structural

import (
	"slices"
	"strings"

	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

// stringFormats are the formats of strings that the server checks. It ignores others, as Kubernetes
// does. A format is the same with and without dashes.
var stringFormats = []string{
	"bsonobjectid", "byte", "cidr", "creditcard", "date", "datetime", "duration", "email", "hexcolor", "hostname", "ipv4", "ipv6",
	"isbn", "isbn10", "isbn13", "k8slongname", "k8sshortname", "mac", "password", "rgbcolor", "ssn", "uri",
	"uuid", "uuid3", "uuid4", "uuid5",
}

// checksFormat reports whether the server checks the format of a schema for the schema's type.
func checksFormat(k *keywords) bool {
	var known []string
	switch {
	case k.format == "":
		return false
	case k.intOrString || k.typ == "" || k.typ == "string":
		return slices.Contains(stringFormats, strings.ReplaceAll(k.format, "-", ""))
	case k.typ == "integer":
		known = []string{"int32", "int64"}
	case k.typ == "number":
		known = []string{"float", "double"}
	}
	return slices.Contains(known, k.format)
}

// knownFormat reports whether there is a format of strings with a name.
func knownFormat(name string) bool { return name != "" && strfmt.Default.ContainsName(name) }

// fitsFormat reports whether a string has a format that is known.
func fitsFormat(format, s string) bool { return strfmt.Default.Validates(format, s) }
