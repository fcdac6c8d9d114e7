package validation

import (
	"fmt"
	"net/netip"

	"quorate/apiserver/objects/schema"
)

func endpointsHooks() schema.Hooks {
	return schema.Hooks{
		Conditions: map[string]schema.Condition{
			"oneOfManyPorts": oneOfManyPorts,
		},
		Validators: map[string]schema.Validator{
			"subsetHasAddress":   subsetHasAddress,
			"endpointIP":         endpointIP,
			"portNamesInSubset":  portNamesInSubset,
			"subsetsStayBounded": subsetsStayBounded,
		},
		Comparisons: map[string]schema.Comparison{
			"endpointNodesFixed": endpointNodesFixed,
		},
		Steps: map[string]schema.Step{
			"repackSubsets": repackSubsets,
		},
	}
}

func subsetHasAddress(c *schema.Context, v *schema.Value) {
	if v.Field("addresses").Len()+v.Field("notReadyAddresses").Len() == 0 {
		c.Required("must specify `addresses` or `notReadyAddresses`")
	}
}

// endpointIP rejects addresses that would direct a service's traffic back to the sending node
// (M15).
func endpointIP(c *schema.Context, v *schema.Value) {
	ip, err := netip.ParseAddr(v.Str())
	if err != nil {
		return // the format rejects it
	}
	ip = ip.Unmap()
	switch {
	case ip.IsUnspecified():
		c.Invalid(v, "may not be unspecified (0.0.0.0)")
	case ip.IsLoopback():
		c.Invalid(v, "may not be in the loopback range (127.0.0.0/8)")
	case ip.IsLinkLocalUnicast():
		c.Invalid(v, "may not be in the link-local range (169.254.0.0/16)")
	case ip.IsLinkLocalMulticast():
		c.Invalid(v, "may not be in the link-local multicast range (224.0.0.0/24)")
	}
}

// oneOfManyPorts reports whether a subset has several ports. Each of them then requires a name.
func oneOfManyPorts(c *schema.Context, _ *schema.Value) bool {
	return c.Enclosing("EndpointSubset").Field("ports").Len() > 1
}

func portNamesInSubset(c *schema.Context, v *schema.Value) { reportRepeated(c, v, "name") }

// endpointNodesFixed rejects an update that moves an address to another node.
func endpointNodesFixed(c *schema.Context, v, old *schema.Value) {
	nodes := nodesByIP(old.Field("subsets"))
	if len(nodes) == 0 {
		return
	}
	for i, subset := range v.Field("subsets").Items() {
		for _, list := range addressLists() {
			for j, address := range subset.Field(list).Items() {
				ip, node := address.Field("ip").Str(), address.Field("nodeName")
				if before, known := nodes[ip]; known && node.IsSet() && node.Str() != before {
					c.Forbidden(fmt.Sprintf("Cannot change NodeName for %s to %s", ip, node.Str()), "subsets", i, list, j, "nodeName")
				}
			}
		}
	}
}

func addressLists() [2]string { return [2]string{"addresses", "notReadyAddresses"} }

// nodesByIP maps the IPs of addresses that have a node to the node, or returns nil if no address
// has one.
func nodesByIP(subsets *schema.Value) map[string]string {
	var nodes map[string]string
	for _, subset := range subsets.Items() {
		for _, list := range addressLists() {
			for _, address := range subset.Field(list).Items() {
				node := address.Field("nodeName")
				if !node.IsSet() {
					continue
				}
				if nodes == nil {
					nodes = map[string]string{}
				}
				nodes[address.Field("ip").Str()] = node.Str()
			}
		}
	}
	return nodes
}
