package openapi

import (
	"strings"

	"quorate/apiserver/objects/schema"
)

// operation is an operation of a path.
type operation struct {
	method  string // "get"
	action  string // as clients know it, such as list or watchlist
	id      string
	about   string
	tag     string
	kind    *schema.Kind // kind of the objects that it reads or writes
	queries []string
	takes   body
	gives   body
}

// body describes the body of a request or response: a component in some media types.
type body struct {
	component string // "" if there is no body
	media     []string
	required  bool
}

// path is a path with its operations.
type path struct {
	text       string
	operations []operation
}

// parameters returns the names of the path's parameters.
func (p *path) parameters() []string {
	var names []string
	for _, name := range []string{"name", "namespace"} {
		if strings.Contains(p.text, "{"+name+"}") {
			names = append(names, name)
		}
	}
	return names
}

// The media types of the specification, §4.3.
const (
	mediaJSON      = "application/json"
	mediaYAML      = "application/yaml"
	mediaProtobuf  = "application/vnd.platform.protobuf"
	streamOf       = ";stream=watch"
	mediaAny       = "*/*"
	mediaJSONPatch = "application/json-patch+json"
	mediaMerge     = "application/merge-patch+json"
	mediaStrategic = "application/strategic-merge-patch+json"
	mediaApply     = "application/apply-patch+yaml"
)

// produced returns the media types of responses with objects of a kind.
func produced(k *schema.Kind, streams bool) []string {
	media := []string{mediaJSON, mediaYAML}
	if k.HasProtobuf() {
		media = append(media, mediaProtobuf)
	}
	if streams {
		media = append(media, mediaJSON+streamOf)
		if k.HasProtobuf() {
			media = append(media, mediaProtobuf+streamOf)
		}
	}
	return media
}

// consumed returns the media types of patches of a kind.
func consumed(k *schema.Kind) []string {
	media := []string{mediaJSONPatch, mediaMerge}
	if !k.Schemaless() && patchable(k.Message, map[*schema.Message]bool{}) {
		media = append(media, mediaStrategic)
	}
	return append(media, mediaApply)
}

// groupName returns group and version for operation ids, such as "CoreV1" or
// "RbacAuthorizationV1beta1".
func groupName(k *schema.Kind) string { return camelGroup(k) + upperFirst(k.Version) }

// tag returns the tag of a group and version, such as "core_v1" or "rbacAuthorization_v1beta1".
func tag(k *schema.Kind) string {
	group := camelGroup(k)
	return strings.ToLower(group[:1]) + group[1:] + "_" + k.Version
}

func camelGroup(k *schema.Kind) string {
	switch {
	case strings.HasPrefix(k.Prefix, "/oapi/"):
		return "Oapi"
	case k.Group == "":
		return "Core"
	}
	group := strings.TrimSuffix(strings.TrimSuffix(k.Group, ".k8s.io"), ".platform.io")
	var words strings.Builder
	for word := range strings.FieldsFuncSeq(group, func(r rune) bool { return r == '.' || r == '-' }) {
		words.WriteString(upperFirst(word))
	}
	return words.String()
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
