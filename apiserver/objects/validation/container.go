package validation

import (
	"fmt"
	"strings"

	"quorate/apiserver/objects/schema"
)

func containerHooks() schema.Hooks {
	return schema.Hooks{
		Defaulters: map[string]schema.Defaulter{
			"imagePullPolicy":     imagePullPolicy,
			"hostNetworkHostPort": hostNetworkHostPort,
			"requestsFromLimits":  requestsFromLimits,
		},
		Validators: map[string]schema.Validator{
			"imageWithoutSpace":         imageWithoutSpace,
			"portNamesUnique":           portNamesUnique,
			"mountPathsUnique":          mountPathsUnique,
			"bidirectionalIsPrivileged": bidirectionalIsPrivileged,
			"privilegeEscalation":       privilegeEscalation,
			"requestsWithinLimits":      requestsWithinLimits,
		},
	}
}

// imagePullPolicy defaults the policy to Always for images without digest whose tag is latest or
// missing, and to IfNotPresent for others (M9).
func imagePullPolicy(_ *schema.Context, m *schema.Value) {
	image := m.Field("image").Str()
	policy := "IfNotPresent"
	if tag, digest := tagAndDigest(image); tag == "latest" || tag == "" && digest == "" {
		policy = "Always"
	}
	m.Make("imagePullPolicy").SetStr(policy)
}

// tagAndDigest returns the tag and the digest of an image
// [registry[:port]/]repository[:tag][@digest].
func tagAndDigest(image string) (tag, digest string) {
	name, digest, _ := strings.Cut(image, "@")
	if colon := strings.LastIndexByte(name, ':'); colon > strings.LastIndexByte(name, '/') {
		tag = name[colon+1:]
	}
	return tag, digest
}

// hostNetworkHostPort defaults the host port to the container port in pods on the node's network.
func hostNetworkHostPort(c *schema.Context, m *schema.Value) {
	if c.Enclosing("PodSpec").Field("hostNetwork").Bool() {
		m.Make("hostPort").SetInt(m.Field("containerPort").Int())
	}
}

// requestsFromLimits defaults the requests of a pod to its limits. It does not apply to templates.
func requestsFromLimits(c *schema.Context, m *schema.Value) {
	limits := m.Field("limits")
	if limits.Len() == 0 || c.Enclosing("Pod") == nil {
		return
	}
	requests := m.Make("requests")
	for name, limit := range limits.Entries() {
		if requests.Get(name) == nil {
			requests.Put(name).SetQuantity(limit.Quantity())
		}
	}
}

// imageWithoutSpace rejects white space around the image of a pod. Templates may contain such
// images as placeholders.
func imageWithoutSpace(c *schema.Context, v *schema.Value) {
	if c.Enclosing("Pod") != nil && strings.TrimSpace(v.Str()) != v.Str() {
		c.Invalid(v, "must not have leading or trailing whitespace")
	}
}

func portNamesUnique(c *schema.Context, v *schema.Value) { reportRepeated(c, v, "name") }

func mountPathsUnique(c *schema.Context, v *schema.Value) {
	var paths set[string]
	for i, mount := range v.Items() {
		if path := mount.Field("mountPath").Str(); path != "" && !paths.add(path) {
			c.Invalid(path, "must be unique", i, "mountPath")
		}
	}
}

func bidirectionalIsPrivileged(c *schema.Context, v *schema.Value) {
	if v.Str() == "Bidirectional" && !c.Enclosing("Container").Lookup("securityContext", "privileged").Bool() {
		c.Forbidden("Bidirectional mount propagation is available only to privileged containers")
	}
}

// privilegeEscalation rejects allowPrivilegeEscalation: false for a container that is privileged or
// adds CAP_SYS_ADMIN.
func privilegeEscalation(c *schema.Context, v *schema.Value) {
	if allow := v.Field("allowPrivilegeEscalation"); !allow.IsSet() || allow.Bool() {
		return
	}
	if v.Field("privileged").Bool() {
		c.Invalid(v, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true")
	}
	for _, capability := range v.Lookup("capabilities", "add").Items() {
		if capability.Str() == "CAP_SYS_ADMIN" {
			c.Invalid(v, "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN")
		}
	}
}

// requestsWithinLimits rejects requests above the limits (M25). It skips the claims of a stateful
// set, which are validated when they are created.
func requestsWithinLimits(c *schema.Context, v *schema.Value) {
	limits := v.Field("limits")
	if limits.Len() == 0 || c.Enclosing("PersistentVolumeClaim") != nil {
		return
	}
	for name, request := range v.Field("requests").Entries() {
		limit := limits.Get(name)
		if limit == nil || limit.Str() == request.Str() {
			continue
		}
		most, asked := limit.Quantity(), request.Quantity()
		if asked.Cmp(most) > 0 {
			c.Invalid(request, fmt.Sprintf("must be less than or equal to %s limit", name), "requests")
		}
	}
}
