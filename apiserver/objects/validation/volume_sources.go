package validation

import (
	"strings"

	"quorate/apiserver/objects/schema"
)

func volumeSourceHooks() schema.Hooks {
	return schema.Hooks{
		Conditions: map[string]schema.Condition{
			"usesChap": usesChap,
		},
		Validators: map[string]schema.Validator{
			"iscsiSessionName":   iscsiSessionName,
			"wwnsOrWWIDs":        wwnsOrWWIDs,
			"datasetNameOrUUID":  datasetNameOrUUID,
			"diskURIOfItsKind":   diskURIOfItsKind,
			"optionsNotReserved": optionsNotReserved,
			"secretRefComplete":  secretRefComplete,
		},
	}
}

// usesChap reports whether CHAP authentication is enabled. It then requires a secret.
func usesChap(_ *schema.Context, m *schema.Value) bool {
	return m.Field("chapAuthDiscovery").Bool() || m.Field("chapAuthSession").Bool()
}

const maxISCSISessionName = 64

// iscsiSessionName limits the length of the session name, which consists of the names of volume and
// portal if an initiator name is set.
func iscsiSessionName(c *schema.Context, v *schema.Value) {
	if !v.Field("initiatorName").IsSet() {
		return
	}
	portal := v.Field("targetPortal").Str()
	if volume := c.Enclosing("Volume").Field("name").Str(); len(volume)+len(":")+len(portal) > maxISCSISessionName {
		c.Invalid(portal, "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.", "targetPortal")
	}
}

// wwnsOrWWIDs requires a fibre channel volume to have either target names with a LUN, or
// identifiers.
func wwnsOrWWIDs(c *schema.Context, v *schema.Value) {
	wwns := v.Field("targetWWNs")
	ids := v.Field("wwids").Len()
	switch {
	case wwns.Len() == 0 && ids == 0:
		c.Required("must specify either targetWWNs or wwids, but not both", "targetWWNs")
	case wwns.Len() > 0 && ids > 0:
		c.Invalid(wwns, "targetWWNs and wwids can not be specified simultaneously", "targetWWNs")
	}
	if wwns.Len() > 0 && !v.Field("lun").IsSet() {
		c.Required("lun is required if targetWWNs is specified", "lun")
	}
}

func datasetNameOrUUID(c *schema.Context, v *schema.Value) {
	name, uuid := v.Field("datasetName").Str(), v.Field("datasetUUID").Str()
	switch {
	case name == "" && uuid == "":
		c.Required("one of datasetName and datasetUUID is required")
	case name != "" && uuid != "":
		c.Invalid("resource", "datasetName and datasetUUID can not be specified simultaneously")
	}
	if strings.Contains(name, "/") {
		c.Invalid(name, "must not contain '/'", "datasetName")
	}
}

// diskURIOfItsKind requires the form of URI that the disk's kind has: a path in a subscription for
// managed disks, the URL of a blob for others.
func diskURIOfItsKind(c *schema.Context, v *schema.Value) {
	uri := v.Str()
	if c.Parent().Field("kind").Str() == "Managed" {
		if !strings.HasPrefix(uri, "/subscriptions/") {
			c.NotSupported(uri, []string{"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/{provider}/disks/{disk-id}"})
		}
		return
	}
	if !strings.HasPrefix(uri, "https://") {
		c.NotSupported(uri, []string{"https://{account-name}.{blob-domain}/{container-name}/{disk-name}.vhd"})
	}
}

// optionsNotReserved rejects options in the platform's own domains.
func optionsNotReserved(c *schema.Context, v *schema.Value) {
	for key := range v.Entries() {
		domain, _, ok := strings.Cut(key, "/")
		if !ok {
			domain = key
		}
		domain = strings.ToLower(domain)
		for _, reserved := range [...]string{"kubernetes.io", "k8s.io", "platform.io"} {
			if rest, found := strings.CutSuffix(domain, reserved); found && (rest == "" || strings.HasSuffix(rest, ".")) {
				c.Invalid(key, "kubernetes.io, k8s.io and platform.io namespaces are reserved", schema.Key(key))
			}
		}
	}
}

// secretRefComplete requires a namespace in the secret reference of a persistent volume, which has
// no namespace itself.
func secretRefComplete(c *schema.Context, v *schema.Value) {
	if v.Field("name").Str() == "" {
		c.Required("", "name")
	}
	if c.Enclosing("PersistentVolume") != nil && v.Field("namespace").Str() == "" {
		c.Required("", "namespace")
	}
}
