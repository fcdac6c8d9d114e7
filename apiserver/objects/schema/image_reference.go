package schema

import (
	"regexp"
	"strings"
)

// The grammar of image references, from the distribution specification of registries.
var (
	imageComponent = regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*$`)
	imageRegistry  = regexp.MustCompile(`^([A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9])(\.([A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9]))*(:[0-9]+)?$`)
	imageTag       = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	imageDigest    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*([-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$`)
)

const maxImageName = 255

// explainImageReference checks [registry/]repository[:tag][@digest].
func explainImageReference(s string) []string {
	name, digest, hasDigest := strings.Cut(s, "@")
	if hasDigest && !imageDigest.MatchString(digest) {
		return []string{"not a valid image reference: invalid digest"}
	}
	if colon := strings.LastIndexByte(name, ':'); colon > strings.LastIndexByte(name, '/') {
		if !imageTag.MatchString(name[colon+1:]) {
			return []string{"not a valid image reference: invalid tag"}
		}
		name = name[:colon]
	}
	if len(name) > maxImageName {
		return []string{"not a valid image reference: repository name must not be more than 255 characters"}
	}
	path := name
	if first, rest, ok := strings.Cut(name, "/"); ok && strings.ContainsAny(first, ".:") || first == "localhost" && ok {
		if !imageRegistry.MatchString(first) {
			return []string{"not a valid image reference: invalid registry"}
		}
		path = rest
	}
	for component := range strings.SplitSeq(path, "/") {
		if !imageComponent.MatchString(component) {
			return []string{"not a valid image reference: invalid reference format"}
		}
	}
	return nil
}
