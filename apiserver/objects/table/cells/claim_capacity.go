package cells

import (
	"slices"
	"strconv"
	"strings"
)

func claimTexts() map[string]func(s *Source) string {
	return map[string]func(s *Source) string{
		"claimCapacity": claimCapacity, "claimModes": claimModes, "allowsExpansion": allowsExpansion, "globalDefault": globalDefault,
		"ingressHosts": ingressHosts, "ingressAddress": ingressAddress, "ingressPorts": ingressPorts,
	}
}

// claimCapacity returns the size of the volume that a claim has.
func claimCapacity(s *Source) string {
	if s.Object.Lookup("spec", "volumeName").Str() == "" {
		return ""
	}
	return s.Object.Lookup("status", "capacity").Get("storage").Str()
}

// claimModes returns the abbreviated access modes of the volume that a claim has.
func claimModes(s *Source) string {
	if s.Object.Lookup("spec", "volumeName").Str() == "" {
		return ""
	}
	var modes []string
	for _, mode := range s.Object.Lookup("status", "accessModes").Items() {
		modes = append(modes, mode.Str())
	}
	return abbreviated(modes)
}

func allowsExpansion(s *Source) string {
	return strconv.FormatBool(s.Object.Field("allowVolumeExpansion").Bool())
}

func globalDefault(s *Source) string {
	return strconv.FormatBool(s.Object.Field("globalDefault").Bool())
}

// shownHosts is the maximum number of hosts in a cell.
const shownHosts = 3

// ingressHosts returns the hosts of the rules, or * for a rule without one that serves all.
func ingressHosts(s *Source) string {
	var hosts []string
	for _, rule := range s.Object.Lookup("spec", "rules").Items() {
		if host := rule.Field("host").Str(); host != "" && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	if len(hosts) == 0 {
		return "*"
	}
	return few(hosts, shownHosts, ",")
}

// ingressAddress returns the addresses at which an ingress is served.
func ingressAddress(s *Source) string {
	var all []string
	for _, at := range s.Object.Lookup("status", "loadBalancer", "ingress").Items() {
		if ip := at.Field("ip").Str(); ip != "" {
			all = append(all, ip)
		} else if name := at.Field("hostname").Str(); name != "" {
			all = append(all, name)
		}
	}
	return strings.Join(all, ",")
}

func ingressPorts(s *Source) string {
	if s.Object.Lookup("spec", "tls").Len() > 0 {
		return "80, 443"
	}
	return "80"
}
