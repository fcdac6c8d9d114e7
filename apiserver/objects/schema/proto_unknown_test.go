package schema

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

func fixed64(number protowire.Number, n uint64) string {
	return string(protowire.AppendFixed64(protowire.AppendTag(nil, number, protowire.Fixed64Type), n))
}

func fixed32(number protowire.Number, n uint32) string {
	return string(protowire.AppendFixed32(protowire.AppendTag(nil, number, protowire.Fixed32Type), n))
}

// TestUnknownProtobufFields: a field that the kind lacks is a problem, as it is in JSON, unless it
// holds what upstream's encoders write for a field that is not set.
func TestUnknownProtobufFields(t *testing.T) {
	cat := engine(t)
	deep := "x"
	for range maxDepth + 1 {
		deep = sized(2, deep)
	}
	for name, tc := range map[string]struct {
		plural, raw string
		want        []string
	}{
		"number":                    {"configmaps", varint(99, 1), []string{`unknown field "<number 99>"`}},
		"text":                      {"configmaps", sized(99, "x"), []string{`unknown field "<number 99>"`}},
		"fixed64":                   {"configmaps", fixed64(99, 1), []string{`unknown field "<number 99>"`}},
		"fixed32":                   {"configmaps", fixed32(99, 1), []string{`unknown field "<number 99>"`}},
		"group":                     {"configmaps", "\x9b\x06\x9c\x06", []string{`unknown field "<number 99>"`}},
		"two":                       {"configmaps", varint(98, 1) + sized(2, sized(1, "a")) + varint(99, 1), []string{`unknown field "<number 98>"`, `unknown field "<number 99>"`}},
		"in metadata":               {"configmaps", sized(1, sized(1, "n"), sized(20, "x")), []string{`unknown field "metadata.<number 20>"`}},
		"in an item":                {"pods", sized(2, sized(2, sized(1, "a"))+sized(2, sized(99, "x"))), []string{`unknown field "spec.containers[1].<number 99>"`}},
		"in a message of a message": {"configmaps", sized(99, sized(1, sized(1, "x"))), []string{`unknown field "<number 99>"`}},
		"text that is no message":   {"configmaps", sized(99, "\x01"), []string{`unknown field "<number 99>"`}},
		"text like a cut message":   {"configmaps", sized(99, "\x09\x00"), []string{`unknown field "<number 99>"`}},
		"too deep":                  {"configmaps", sized(99, deep), []string{`unknown field "<number 99>"`}},
		"in a time":                 {"configmaps", sized(1, sized(8, varint(1, 1)+varint(99, 1))), []string{`unknown field "metadata.creationTimestamp.<number 99>"`}},
		"in a time, unset":          {"configmaps", sized(1, sized(8, varint(1, 1)+varint(99, 0))), nil},
		"in a map entry":            {"configmaps", sized(2, sized(1, "k"), sized(2, "v"), sized(3, "x")), []string{`unknown field "data.<number 3>"`}},
		"in a quantity":             {"pods", sized(2, sized(2, sized(8, sized(1, sized(1, "cpu"), sized(2, sized(1, "1")+varint(99, 1)))))), []string{`unknown field "spec.containers[0].resources.limits.cpu.<number 99>"`}},
		"in a number or text":       {"pods", sized(2, sized(2, sized(10, sized(1, sized(2, sized(2, varint(1, 0)+varint(2, 80)+varint(99, 1))))))), []string{`unknown field "spec.containers[0].livenessProbe.httpGet.port.<number 99>"`}},
		"in a wrapped list":         {"clusterrolebindings", sized(2, sized(1, "u")+sized(99, "x")), []string{`unknown field "userNames.<number 99>"`}},
		"zero":                      {"configmaps", varint(99, 0), nil},
		"no text":                   {"configmaps", sized(99), nil},
		"zero fixed":                {"configmaps", fixed64(98, 0) + fixed32(99, 0), nil},
		"message with nothing set":  {"configmaps", sized(99, sized(1, sized(1))+varint(2, 0)+fixed64(3, 0)+sized(4)), nil},
		"managedFields":             {"configmaps", sized(1, sized(17, sized(1, "kubectl"))), nil},
		"managedFields elsewhere":   {"configmaps", sized(17, "x"), []string{`unknown field "<number 17>"`}},
	} {
		t.Run(name, func(t *testing.T) {
			prefix := "/api/v1"
			if tc.plural == "clusterrolebindings" { // the one whose lists have wrappers
				prefix = "/oapi/v1"
			}
			o, problems, err := cat.Kind(prefix, tc.plural).DecodeProtobuf([]byte(tc.raw))
			if err != nil {
				t.Fatal(err)
			}
			if got := problems.List(); !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if strings.Contains(string(o.AppendJSON(nil)), "number") {
				t.Errorf("the object has the field: %s", o.AppendJSON(nil))
			}
		})
	}
}
