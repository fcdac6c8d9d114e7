package validation

import (
	"fmt"
	"strings"

	"quorate/apiserver/objects/schema"
)

func endpoints(subsets ...string) string {
	return named(`"subsets":[` + strings.Join(subsets, ",") + `]`)
}

// subset returns a subset. ready, notReady and ports are lists separated by spaces.
func subset(ready, notReady, ports string) string {
	list := func(name, items, format string) string {
		if items == "" {
			return ""
		}
		var out []string
		for _, item := range strings.Fields(items) {
			out = append(out, fmt.Sprintf(format, item))
		}
		return `"` + name + `":[` + strings.Join(out, ",") + `]`
	}
	return "{" + members(
		list("addresses", ready, `{"ip":"10.0.0.%s"}`), list("notReadyAddresses", notReady, `{"ip":"10.0.0.%s"}`),
		list("ports", ports, `{"name":"p%[1]s","port":%[1]s,"protocol":"TCP"}`)) + "}"
}

func endpointsRows() []row {
	packed := func(name string, want []string, subsets ...string) row {
		places := map[string]string{fmt.Sprintf("subsets[%d]", len(want)): ""}
		for i, s := range want {
			places[fmt.Sprintf("subsets[%d]", i)] = s
		}
		return row{name: name + " M14", kind: "endpoints", body: endpoints(subsets...), want: places}
	}
	address := func(name, ip, why string) row {
		return row{name: name + " M15", kind: "endpoints", body: endpoints(`{"addresses":[{"ip":"` + ip + `"}]}`),
			errs: []string{`subsets[0].addresses[0].ip: Invalid value: "` + ip + `": ` + why}}
	}
	onNode := func(list, node string) string {
		return endpoints(`{"` + list + `":[{"ip":"10.0.0.1"` + node + `}],"ports":[{"port":1}]}`)
	}
	var many []string
	for i := range 300 {
		many = append(many, subset(strings.Repeat("1 ", 20), strings.Repeat("2 ", 20), fmt.Sprintf("%d %d", i+1, i+2)))
	}
	return []row{
		packed("one", []string{subset("1 2", "3", "1")}, subset("1 2", "3", "1")),
		packed("sorted", []string{subset("1 2", "", "1 2")}, subset("2 1", "", "2 1")),
		packed("merged by ports", []string{subset("1 2", "3", "1")}, subset("1", "", "1"), subset("2", "3", "1")),
		packed("merged by addresses", []string{subset("1", "2", "1 2")}, subset("1", "2", "1"), subset("1", "2", "2")),
		packed("split by ports", []string{subset("1", "", "1"), subset("1 2", "", "2"), subset("2", "", "3")},
			subset("1", "", "1 2"), subset("2", "", "2 3")),
		packed("repeated", []string{subset("1", "2", "1")}, subset("1 1", "2 2", "1")),
		packed("ready wins", []string{subset("1 2", "", "1")}, subset("1", "2", "1"), subset("2", "1", "1")),
		packed("ready wins in one", []string{subset("1", "", "1")}, subset("1", "1", "1")),
		packed("without ports apart", []string{subset("1", "", ""), subset("1", "", "1")}, subset("1", "", "1"), subset("1", "", "")),
		packed("without ports merged", []string{subset("1 2", "", "")}, subset("2", "", ""), subset("1", "", "")),
		{name: "none M14", kind: "endpoints", body: endpoints(), want: map[string]string{"subsets": "null"}},
		{name: "no address M15", kind: "endpoints", body: endpoints(`{"ports":[{"port":1}]}`),
			errs: []string{"subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"}},
		address("unspecified", "0.0.0.0", "may not be unspecified (0.0.0.0)"),
		address("loopback", "127.9.9.9", "may not be in the loopback range (127.0.0.0/8)"),
		address("loopback of the other family", "::1", "may not be in the loopback range (127.0.0.0/8)"),
		address("link-local", "169.254.1.1", "may not be in the link-local range (169.254.0.0/16)"),
		address("link-local multicast", "224.0.0.1", "may not be in the link-local multicast range (224.0.0.0/24)"),
		{name: "one port without a name M15", kind: "endpoints", body: onNode("addresses", ""),
			want: map[string]string{"subsets[0].ports[0].protocol": `"TCP"`}},
		{name: "more ports without names M15", kind: "endpoints", body: endpoints(`{"addresses":[{"ip":"10.0.0.1"}],"ports":[{"port":1},{"name":"a","port":2}]}`),
			errs: []string{"subsets[0].ports[0].name: Required value"}},
		{name: "more ports of one name M15", kind: "endpoints", body: endpoints(`{"addresses":[{"ip":"10.0.0.1"}],"ports":[{"name":"a","port":1},{"name":"a","port":2}]}`),
			errs: []string{`subsets[0].ports[1].name: Duplicate value: "a"`}},
		{name: "node stays", kind: "endpoints", op: schema.Update, old: onNode("addresses", `,"nodeName":"m"`),
			body: onNode("notReadyAddresses", `,"nodeName":"m"`)},
		{name: "node is forgotten", kind: "endpoints", op: schema.Update, old: onNode("addresses", `,"nodeName":"m"`), body: onNode("addresses", "")},
		{name: "node is found", kind: "endpoints", op: schema.Update, old: onNode("addresses", ""), body: onNode("addresses", `,"nodeName":"m"`)},
		{name: "node changes", kind: "endpoints", op: schema.Update, old: onNode("addresses", `,"nodeName":"m"`),
			body: onNode("notReadyAddresses", `,"nodeName":"l"`),
			errs: []string{"subsets[0].notReadyAddresses[0].nodeName: Forbidden: Cannot change NodeName for 10.0.0.1 to l"}},
		{name: "many", kind: "endpoints", body: endpoints(many...), want: map[string]string{
			"subsets[0].addresses": `[{"ip":"10.0.0.1"}]`, "subsets[0].ports[300].port": "99", "subsets[1]": ""}},
		{name: "too many unfolded", kind: "endpoints", body: endpoints(unfolding()...),
			errs: []string{"subsets: Too many: 160399: must have at most 131072 items"}},
	}
}

// unfolding returns a few subsets that overlap so that each port has different addresses: one with
// many addresses and ports, and one more for each port.
func unfolding() []string {
	const n = 400
	var ports, addresses, others []string
	for i := range n {
		port := fmt.Sprintf(`{"name":"p%d","port":%d}`, i, i+1)
		ports = append(ports, port)
		addresses = append(addresses, fmt.Sprintf(`{"ip":"10.%d.%d.1"}`, i/250, i%250))
		if i < n-1 {
			others = append(others, fmt.Sprintf(`{"addresses":[{"ip":"11.0.0.%d"}],"ports":[%s]}`, i%250, port))
		}
	}
	all := `{"addresses":[` + strings.Join(addresses, ",") + `],"ports":[` + strings.Join(ports, ",") + `]}`
	return append([]string{all}, others...)
}
