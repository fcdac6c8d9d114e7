package validation

import "quorate/apiserver/objects/schema"

// pairClusterIPs sets clusterIPs from clusterIP if a client sets or changes only clusterIP.
func pairClusterIPs(c *schema.Context) {
	spec := c.Object.Field("spec")
	if !spec.IsSet() {
		return
	}
	ip, all := spec.Field("clusterIP").Str(), spec.Field("clusterIPs")
	if c.Old != nil {
		before := c.Old.Field("spec")
		if schema.Equal(all, before.Field("clusterIPs")) && ip != before.Field("clusterIP").Str() {
			spec.Clear("clusterIPs") // the client changed only clusterIP
			all = nil
		}
	}
	if ip != "" && all.Len() == 0 {
		spec.Make("clusterIPs").Append().SetStr(ip)
	}
}

// typed lists fields that not all types of services have.
type typed struct {
	names []string
	has   func(spec *schema.Value) bool
	// kept means that the field keeps its stored value if a client leaves it out.
	kept bool
}

func typedFields() []typed {
	return []typed{
		{names: []string{"clusterIP", "clusterIPs"}, has: hasClusterIP, kept: true},
		{names: []string{"ipFamilies"}, has: hasClusterIP, kept: true},
		{names: []string{"ipFamilyPolicy"}, has: hasClusterIP, kept: true},
		{names: []string{"healthCheckNodePort"}, has: hasHealthCheck, kept: true},
		{names: []string{"externalTrafficPolicy"}, has: isReachedFromOutside},
		{names: []string{"loadBalancerClass"}, has: isLoadBalanced},
		{names: []string{"allocateLoadBalancerNodePorts"}, has: isLoadBalanced},
	}
}

func isLoadBalanced(spec *schema.Value) bool { return isType(spec, loadBalancerService) }

// followServiceType clears the fields that the stored type of a service has and the new type does
// not, unless the client changed them. It restores the fields that both types have and that are
// marked kept, if the client left them out. It does both for node ports as well.
func followServiceType(c *schema.Context) {
	spec, before := c.Object.Field("spec"), c.Old.Field("spec")
	if !spec.IsSet() || !before.IsSet() {
		return
	}
	for _, f := range typedFields() {
		switch had, has := f.has(before), f.has(spec); {
		case had && !has && f.same(spec, before):
			for _, name := range f.names {
				spec.Clear(name)
			}
		case had && has && f.kept && f.unset(spec):
			for _, name := range f.names {
				spec.Set(name, before.Field(name))
			}
		}
	}
	if hasNodePorts(before) {
		followNodePorts(spec, before)
	}
}

func (f *typed) same(a, b *schema.Value) bool {
	for _, name := range f.names {
		if !schema.Equal(a.Field(name), b.Field(name)) {
			return false
		}
	}
	return true
}

func (f *typed) unset(spec *schema.Value) bool {
	for _, name := range f.names {
		if !spec.Field(name).IsEmpty() {
			return false
		}
	}
	return true
}

// followNodePorts is followServiceType for the node ports of ports that still exist.
func followNodePorts(spec, before *schema.Value) {
	keeps := hasNodePorts(spec)
	nodePorts := map[portKey]int64{}
	for _, port := range before.Field("ports").Items() {
		nodePorts[keyOf(port)] = port.Field("nodePort").Int()
	}
	for _, port := range spec.Field("ports").Items() {
		old, now := nodePorts[keyOf(port)], port.Field("nodePort").Int()
		switch {
		case old == 0:
		case keeps && now == 0:
			port.Make("nodePort").SetInt(old)
		case !keeps && now == old:
			port.Clear("nodePort")
		}
	}
}

func keyOf(port *schema.Value) portKey {
	protocol := port.Field("protocol").Str()
	if protocol == "" {
		protocol = "TCP"
	}
	return portKey{protocol, port.Field("port").Int()}
}
