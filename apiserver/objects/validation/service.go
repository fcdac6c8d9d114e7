package validation

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"quorate/apiserver/objects/schema"
)

// Types of services.
const (
	clusterIPService    = "ClusterIP"
	nodePortService     = "NodePort"
	loadBalancerService = "LoadBalancer"
	externalNameService = "ExternalName"
)

// headless is the clusterIP of a service without an address.
const headless = "None"

func serviceHooks() schema.Hooks {
	return schema.Hooks{
		Conditions: map[string]schema.Condition{
			"servesPorts":          servesPorts,
			"isExternalName":       func(_ *schema.Context, m *schema.Value) bool { return isType(m, externalNameService) },
			"isLoadBalancer":       func(_ *schema.Context, m *schema.Value) bool { return isType(m, loadBalancerService) },
			"hasPods":              func(_ *schema.Context, m *schema.Value) bool { return hasClusterIP(m) },
			"isReachedFromOutside": func(_ *schema.Context, m *schema.Value) bool { return isReachedFromOutside(m) },
			"isClientAffinity":     isClientAffinity,
			"oneOfManyServicePorts": func(c *schema.Context, _ *schema.Value) bool {
				return c.Enclosing("ServiceSpec").Field("ports").Len() > 1
			},
			"hasIP": func(_ *schema.Context, m *schema.Value) bool { return !m.Field("ip").IsEmpty() },
		},
		Defaulters: map[string]schema.Defaulter{
			"targetPortIsPort":   targetPortIsPort,
			"dropUnusedAffinity": dropUnusedAffinity,
		},
		Validators: map[string]schema.Validator{
			"servicePortsUnique": servicePortsUnique,
			"serviceOfItsType":   serviceOfItsType,
			"clusterIPsAgree":    clusterIPsAgree,
			"externalIPs":        externalIPs,
			"externalName":       externalName,
		},
		Comparisons: map[string]schema.Comparison{
			"clusterIPFixed":         clusterIPFixed,
			"loadBalancerClassFixed": loadBalancerClassFixed,
		},
		Steps: map[string]schema.Step{
			"pairClusterIPs":    pairClusterIPs,
			"followServiceType": followServiceType,
		},
	}
}

// isType reports whether a service has one of some types. An unset type, as before defaulting,
// means ClusterIP.
func isType(spec *schema.Value, types ...string) bool {
	have := spec.Field("type").Str()
	if have == "" {
		have = clusterIPService
	}
	return slices.Contains(types, have)
}

func hasClusterIP(spec *schema.Value) bool { return !isType(spec, externalNameService) }

func hasNodePorts(spec *schema.Value) bool { return isType(spec, nodePortService, loadBalancerService) }

func isReachedFromOutside(spec *schema.Value) bool {
	return hasNodePorts(spec) || isType(spec, clusterIPService) && spec.Field("externalIPs").Len() > 0
}

// hasHealthCheck reports whether load balancers check which nodes run pods of the service.
func hasHealthCheck(spec *schema.Value) bool {
	return isType(spec, loadBalancerService) && spec.Field("externalTrafficPolicy").Str() == "Local"
}

// servesPorts reports whether a service requires ports, because clients reach it at an address.
func servesPorts(_ *schema.Context, m *schema.Value) bool {
	return hasClusterIP(m) && m.Field("clusterIP").Str() != headless
}

func isClientAffinity(_ *schema.Context, m *schema.Value) bool {
	return m.Field("sessionAffinity").Str() == clientAffinity
}

const clientAffinity = "ClientIP"

// dropUnusedAffinity removes the settings of a session affinity that the service does not use.
func dropUnusedAffinity(c *schema.Context, m *schema.Value) {
	if !isClientAffinity(c, m) {
		m.Clear("sessionAffinityConfig")
	}
}

func targetPortIsPort(_ *schema.Context, m *schema.Value) {
	if port := m.Field("port"); !port.IsEmpty() {
		m.Make("targetPort").SetInt(port.Int())
	}
}

// portKey identifies a port of a service.
type portKey struct {
	protocol string
	number   int64
}

// servicePortsUnique requires the ports to differ in name, in port and protocol, and in node port
// and protocol.
func servicePortsUnique(c *schema.Context, v *schema.Value) {
	reportRepeated(c, v, "name")
	var inside, outside set[portKey]
	for i, port := range v.Items() {
		key := portKey{port.Field("protocol").Str(), port.Field("port").Int()}
		if !inside.add(key) {
			c.Duplicate(key.protocol+" "+strconv.FormatInt(key.number, 10), i)
		}
		if n := port.Field("nodePort"); !n.IsEmpty() && !outside.add(portKey{key.protocol, n.Int()}) {
			c.Duplicate(n.Int(), i, "nodePort")
		}
	}
}

// serviceOfItsType rejects fields that only other types of services have.
func serviceOfItsType(c *schema.Context, v *schema.Value) {
	for _, f := range [...]string{"loadBalancerSourceRanges", "loadBalancerClass", "allocateLoadBalancerNodePorts"} {
		if field := v.Field(f); field.IsSet() && !isEmptyList(field) && !isType(v, loadBalancerService) {
			c.Forbidden("may only be used when `type` is 'LoadBalancer'", f)
		}
	}
	if policy := v.Field("externalTrafficPolicy"); !policy.IsEmpty() && !isReachedFromOutside(v) {
		c.Invalid(policy, "may only be set for externally-accessible services", "externalTrafficPolicy")
	}
	if port := v.Field("healthCheckNodePort"); !port.IsEmpty() && !hasHealthCheck(v) {
		c.Invalid(port, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'", "healthCheckNodePort")
	}
	if !hasNodePorts(v) {
		for i, port := range v.Field("ports").Items() {
			if !port.Field("nodePort").IsEmpty() {
				c.Forbidden("may not be used when `type` is '"+v.Field("type").Str()+"'", "ports", i, "nodePort")
			}
		}
	}
	if hasClusterIP(v) {
		return
	}
	for _, f := range [...]string{"clusterIPs", "ipFamilies", "ipFamilyPolicy"} {
		if field := v.Field(f); field.IsSet() && !isEmptyList(field) {
			c.Forbidden("may not be set when service type is 'ExternalName'", f)
		}
	}
}

func isEmptyList(v *schema.Value) bool { return v.Type().Form == schema.FormList && v.Len() == 0 }

// externalIPs rejects addresses that would direct a service's traffic back to the sending node.
func externalIPs(c *schema.Context, v *schema.Value) {
	for i, ip := range v.Items() {
		c.EnterIndex(i, ip)
		endpointIP(c, ip)
		c.Leave()
	}
}

// externalName requires a DNS name, which may end with a dot.
func externalName(c *schema.Context, v *schema.Value) {
	for _, why := range validation.IsDNS1123Subdomain(strings.TrimSuffix(v.Str(), ".")) {
		c.Invalid(v, why)
	}
}

// clusterIPsAgree requires one address, or one of each family, of which the first equals clusterIP.
func clusterIPsAgree(c *schema.Context, v *schema.Value) {
	const most = 2
	first, all := v.Field("clusterIP").Str(), v.Field("clusterIPs")
	if all.Len() == 0 {
		return // clusterIP is unset, too
	}
	if hasNodePorts(v) && all.At(0).Str() == headless {
		c.Invalid(headless, "may not be set to 'None' for "+v.Field("type").Str()+" services", "clusterIPs", 0)
	}
	if all.Len() > most {
		c.Invalid(all, "may only hold up to 2 values", "clusterIPs")
	}
	switch {
	case first == "":
		c.Invalid(all, "must be empty when `clusterIP` is not specified", "clusterIPs")
	case first != all.At(0).Str():
		c.Invalid(all.At(0), "first value must match `clusterIP`", "clusterIPs", 0)
	}
	var families set[bool]
	for i, item := range all.Items() {
		if item.Str() == headless {
			if all.Len() > 1 {
				c.Invalid(all, "'None' must be the first and only value", "clusterIPs")
			}
			continue
		}
		ip, err := netip.ParseAddr(item.Str())
		if err != nil || ip.Zone() != "" {
			c.Invalid(item, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)", "clusterIPs", i)
		} else if !families.add(ip.Is4()) {
			c.Invalid(all, "may specify no more than one IP for each IP family", "clusterIPs")
		}
	}
}

// clusterIPFixed rejects changes of a service's address, because clients rely on it (E21). A
// service without an address may get one.
func clusterIPFixed(c *schema.Context, v, old *schema.Value) {
	spec, before := v.Field("spec"), old.Field("spec")
	ip := before.Field("clusterIP").Str()
	if ip == "" || !hasClusterIP(spec) || !hasClusterIP(before) {
		return
	}
	if spec.Field("clusterIP").Str() != ip {
		c.Invalid(spec.Field("clusterIPs"), "may not change once set", "spec", "clusterIPs")
	}
}

func loadBalancerClassFixed(c *schema.Context, v, old *schema.Value) {
	before := c.Old.Field("spec")
	if !isType(before, loadBalancerService) || !isType(c.Parent(), loadBalancerService) {
		return
	}
	if v.IsSet() != old.IsSet() || v.Str() != old.Str() {
		c.Invalid(v, "may not change once set")
	}
}
