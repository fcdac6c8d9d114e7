package validation

import (
	"net/netip"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"quorate/apiserver/objects/schema"
)

func ingressHooks() schema.Hooks {
	return schema.Hooks{
		Defaulters: map[string]schema.Defaulter{
			"policyTypes": policyTypes,
		},
		Validators: map[string]schema.Validator{
			"ingressServes":     ingressServes,
			"ingressHost":       ingressHost,
			"ingressHostsOfTLS": ingressHostsOfTLS,
			"ingressPath":       ingressPath,
			"oneIngressBackend": oneIngressBackend,
			"oneBackendPort":    oneBackendPort,
			"portRange":         portRange,
			"onePolicyPeer":     onePolicyPeer,
		},
	}
}

// ingressServes requires rules or a default backend, because an ingress without either serves
// nothing.
func ingressServes(c *schema.Context, v *schema.Value) {
	if v.Field("rules").Len() == 0 && !v.Field("defaultBackend").IsSet() {
		c.Invalid(v, "either `defaultBackend` or `rules` must be specified")
	}
}

// ingressHost requires a host name, with or without a wildcard as its first label.
func ingressHost(c *schema.Context, v *schema.Value) {
	for _, message := range hostErrors(v.Str()) {
		c.Invalid(v, message)
	}
}

func ingressHostsOfTLS(c *schema.Context, v *schema.Value) {
	for i, host := range v.Items() {
		for _, message := range hostErrors(host.Str()) {
			c.Invalid(host, message, i)
		}
	}
}

// hostErrors returns why a text is not a host of an ingress. Stock clients know the messages.
func hostErrors(host string) []string {
	if host == "" {
		return nil
	}
	_, err := netip.ParseAddr(host)
	switch {
	case err == nil:
		return []string{"must be a DNS name, not an IP address"}
	case strings.Contains(host, "*"):
		return validation.IsWildcardDNS1123Subdomain(host)
	}
	return validation.IsDNS1123Subdomain(host)
}

// ingressPath requires an absolute path without empty segments and backsteps, where those who serve
// the ingress do not decide what a path is.
func ingressPath(c *schema.Context, v *schema.Value) {
	path := v.Field("path")
	switch v.Field("pathType").Str() {
	case "Exact", "Prefix":
	case "ImplementationSpecific":
		if path.Str() == "" {
			return
		}
	default:
		return // the enumeration rejects it
	}
	if !strings.HasPrefix(path.Str(), "/") {
		c.Invalid(path, "must be an absolute path", "path")
		return
	}
	if v.Field("pathType").Str() == "ImplementationSpecific" {
		return
	}
	for _, sequence := range [...]string{"//", "/./", "/../", "%2f", "%2F"} {
		if strings.Contains(path.Str(), sequence) {
			c.Invalid(path, "must not contain '"+sequence+"'", "path")
		}
	}
	for _, suffix := range [...]string{"/..", "/."} {
		if strings.HasSuffix(path.Str(), suffix) {
			c.Invalid(path, "cannot end with '"+suffix+"'", "path")
		}
	}
}

func oneIngressBackend(c *schema.Context, v *schema.Value) {
	service, resource := v.Field("service").IsSet(), v.Field("resource").IsSet()
	switch {
	case service && resource:
		c.Invalid(v, "cannot set both resource and service backends")
	case !service && !resource:
		c.Required("resource or service backend is required")
	}
}

func oneBackendPort(c *schema.Context, v *schema.Value) {
	name, number := v.Field("name").Str() != "", v.Field("number")
	switch {
	case name && number.Int() != 0:
		c.Invalid(v, "cannot set both port name & port number")
	case !name && number.Int() == 0:
		c.Required("port name or number is required")
	case !name && number.Int() < 0:
		c.Invalid(number, "must be between 1 and 65535, inclusive", "number")
	}
}

// policyTypes defaults the directions that a network policy is about to those that it can have
// rules for.
func policyTypes(_ *schema.Context, m *schema.Value) {
	if m.Field("policyTypes").Len() > 0 {
		return
	}
	types := m.Make("policyTypes")
	types.Append().SetStr("Ingress")
	if m.Field("egress").Len() > 0 {
		types.Append().SetStr("Egress")
	}
}

// portRange requires a range of ports to begin with a number that is not above its end.
func portRange(c *schema.Context, v *schema.Value) {
	end := v.Field("endPort")
	if !end.IsSet() {
		return
	}
	port := v.Field("port")
	switch {
	case !port.IsSet():
		c.Required("must be specified when `endPort` is specified", "port")
	case port.IsText():
		c.Invalid(end, "may not be specified when `port` is non-numeric", "endPort")
	case end.Int() < port.Int():
		c.Invalid(end, "must be greater than or equal to `port`", "endPort")
	}
}

// onePolicyPeer requires a peer to be pods or a range of addresses.
func onePolicyPeer(c *schema.Context, v *schema.Value) {
	pods := v.Field("podSelector").IsSet() || v.Field("namespaceSelector").IsSet()
	switch addresses := v.Field("ipBlock").IsSet(); {
	case pods && addresses:
		c.Forbidden("may not specify both ipBlock and another peer")
	case !pods && !addresses:
		c.Required("must specify a peer")
	}
}
