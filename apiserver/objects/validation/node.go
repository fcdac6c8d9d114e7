package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/objects/schema"
)

func nodeHooks() schema.Hooks {
	return schema.Hooks{
		Defaulters: map[string]schema.Defaulter{
			"externalIDFromName":      externalIDFromName,
			"allocatableFromCapacity": allocatableFromCapacity,
		},
		Validators: map[string]schema.Validator{
			"taintsUnique":        taintsUnique,
			"nodeAddressesUnique": nodeAddressesUnique,
		},
		Steps: map[string]schema.Step{
			"agentVersions": agentVersions,
		},
		Comparisons: map[string]schema.Comparison{
			"nodeFieldSetOnce": nodeFieldSetOnce,
		},
	}
}

func externalIDFromName(c *schema.Context, m *schema.Value) {
	m.Make("externalID").SetStr(c.Object.Name())
}

// allocatableFromCapacity defaults the allocatable resources of a node to its capacity (M11).
func allocatableFromCapacity(_ *schema.Context, m *schema.Value) {
	if capacity := m.Field("capacity"); capacity.Len() > 0 {
		m.Set("allocatable", capacity.Copy())
	}
}

func taintsUnique(c *schema.Context, v *schema.Value) {
	var taints set[[2]string]
	for i, taint := range v.Items() {
		id := [2]string{taint.Field("key").Str(), taint.Field("effect").Str()}
		if id == [2]string{} || taints.add(id) {
			continue
		}
		err := field.Duplicate(c.Path(i), id[0]+":"+id[1])
		err.Detail = "taints must be unique by key and effect pair"
		c.Report(err)
	}
}

func nodeAddressesUnique(c *schema.Context, v *schema.Value) {
	var addresses set[[2]string]
	for i, address := range v.Items() {
		if !addresses.add([2]string{address.Field("type").Str(), address.Field("address").Str()}) {
			c.Duplicate(address, i)
		}
	}
}

// nodeFieldSetOnce rejects changes of a field after it was set (E25).
func nodeFieldSetOnce(c *schema.Context, v, old *schema.Value) {
	if old.Str() != "" && v.Str() != old.Str() {
		c.Forbidden(fmt.Sprintf("node updates may not change %s except from \"\" to valid", c.FieldName()))
	}
}

// agentVersions keeps the versions of a node's agents equal under their two names. If a client
// writes one of the two, the other follows. The specification's name wins over the stock one.
func agentVersions(c *schema.Context) {
	info := c.Object.Root().Lookup("status", "nodeInfo")
	if info == nil {
		return
	}
	var old *schema.Value
	if c.Old != nil {
		old = c.Old.Root().Lookup("status", "nodeInfo")
	}
	for _, names := range [...][2]string{{"platformletVersion", "kubeletVersion"}, {"platformProxyVersion", "kubeProxyVersion"}} {
		name, stock := names[0], names[1]
		version := info.Field(name).Str()
		if sent := info.Field(stock).Str(); sent != "" && (version == "" || version == old.Field(name).Str()) {
			version = sent
		}
		if version != "" {
			info.Make(name).SetStr(version)
			info.Make(stock).SetStr(version)
		}
	}
}
