package cells

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"quorate/apiserver/objects/schema"
)

func networkTexts() map[string]func(s *Source) string {
	return map[string]func(s *Source) string{
		"endpoints": endpoints, "servicePorts": servicePorts, "serviceExternalIPs": serviceExternalIPs,
	}
}

// few joins at most most texts and appends the number of the others.
func few(all []string, most int, separator string) string {
	if len(all) <= most {
		return strings.Join(all, separator)
	}
	return strings.Join(all[:most], separator) + fmt.Sprintf(" + %d more...", len(all)-most)
}

// shownEndpoints is the maximum number of endpoints in a cell.
const shownEndpoints = 3

// endpoints returns the ready addresses of each subset, once for each of its ports. The cell is
// empty if no subset has a ready address.
func endpoints(s *Source) string {
	subsets := s.Object.Field("subsets")
	if subsets.Len() == 0 {
		return "<none>"
	}
	var all []string
	for _, subset := range subsets.Items() {
		addresses, ports := subset.Field("addresses"), subset.Field("ports")
		for _, port := range ports.Items() {
			number := strconv.FormatInt(port.Field("port").Int(), 10)
			for _, address := range addresses.Items() {
				all = append(all, net.JoinHostPort(address.Field("ip").Str(), number))
			}
		}
		if ports.Len() > 0 {
			continue
		}
		for _, address := range addresses.Items() {
			all = append(all, address.Field("ip").Str())
		}
	}
	return few(all, shownEndpoints, ",")
}

// servicePorts returns the ports as 80/TCP, or as 80:30080/TCP if they have node ports.
func servicePorts(s *Source) string {
	var all []string
	for _, port := range s.Object.Lookup("spec", "ports").Items() {
		text := strconv.FormatInt(port.Field("port").Int(), 10)
		if node := port.Field("nodePort").Int(); node > 0 {
			text += ":" + strconv.FormatInt(node, 10)
		}
		all = append(all, text+"/"+port.Field("protocol").Str())
	}
	return strings.Join(all, ",")
}

// serviceExternalIPs returns the addresses at which a service can be reached from outside the
// cluster.
func serviceExternalIPs(s *Source) string {
	spec := s.Object.Field("spec")
	var all []string
	switch spec.Field("type").Str() {
	case "ExternalName":
		return spec.Field("externalName").Str()
	case "LoadBalancer":
		if all = ingresses(s.Object); len(all) == 0 && spec.Field("externalIPs").Len() == 0 {
			return "<pending>"
		}
	}
	for _, ip := range spec.Field("externalIPs").Items() {
		all = append(all, ip.Str())
	}
	return strings.Join(all, ",")
}

// ingresses returns the addresses that a load balancer was assigned.
func ingresses(service *schema.Value) []string {
	var all []string
	for _, ingress := range service.Lookup("status", "loadBalancer", "ingress").Items() {
		if ip := ingress.Field("ip").Str(); ip != "" {
			all = append(all, ip)
			continue
		}
		all = append(all, ingress.Field("hostname").Str())
	}
	return all
}
