package validation

import (
	"fmt"
	"net/netip"

	"quorate/apiserver/objects/schema"
)

func networkHooks() schema.Hooks {
	return schema.Hooks{
		Validators: map[string]schema.Validator{
			"subnetFitsNetwork":     subnetFitsNetwork,
			"serviceNetworkIsApart": serviceNetworkIsApart,
			"hostIsName":            hostIsName,
		},
	}
}

// subnetFitsNetwork rejects a subnet length that exceeds the size of the network (M26).
func subnetFitsNetwork(c *schema.Context, v *schema.Value) {
	network, err := netip.ParsePrefix(c.Parent().Field("network").Str())
	if err != nil {
		return // the format rejects it
	}
	if v.Int() > int64(network.Addr().BitLen()-network.Bits()) {
		c.Invalid(v, "subnet length is too large for clusterNetwork")
	}
}

func serviceNetworkIsApart(c *schema.Context, v *schema.Value) {
	cluster, err := netip.ParsePrefix(c.Parent().Field("network").Str())
	if err != nil {
		return // the format rejects it
	}
	if service, err := netip.ParsePrefix(v.Str()); err == nil && cluster.Overlaps(service) {
		c.Invalid(v, "service network overlaps with cluster network")
	}
}

// hostIsName requires the host of a subnet to be the name of the object (M27).
func hostIsName(c *schema.Context, v *schema.Value) {
	if name := c.Object.Name(); v.Str() != name {
		c.Invalid(v, fmt.Sprintf("must be the same as metadata.name: %q", name))
	}
}
