package validation

import "quorate/apiserver/objects/schema"

func networkRows() []row {
	network := func(cluster, length, service string) string {
		return `{"metadata":{"name":"default"},"network":"` + cluster + `","hostsubnetlength":` + length + `,"serviceNetwork":"` + service + `"}`
	}
	host := func(host, subnet string) string {
		return `{"metadata":{"name":"x"},"host":"` + host + `","hostIP":"1.2.3.4","subnet":"` + subnet + `"}`
	}
	return []row{
		{name: "networks apart M26", kind: "clusternetworks", body: network("10.20.0.0/16", "16", "172.30.0.0/16")},
		{name: "subnets above the network M26", kind: "clusternetworks", body: network("10.20.0.0/16", "17", "172.30.0.0/16"),
			errs: []string{"hostsubnetlength: Invalid value: 17: subnet length is too large for clusterNetwork"}},
		{name: "services in the network M26", kind: "clusternetworks", body: network("10.20.0.0/16", "8", "10.20.1.0/24"),
			errs: []string{`serviceNetwork: Invalid value: "10.20.1.0/24": service network overlaps with cluster network`}},
		{name: "network in the services M26", kind: "clusternetworks", body: network("10.20.0.0/16", "8", "10.0.0.0/8"),
			errs: []string{`serviceNetwork: Invalid value: "10.0.0.0/8": service network overlaps with cluster network`}},
		{name: "host of its name M27", kind: "hostsubnets", body: host("x", "10.20.1.0/24")},
		{name: "host of another name M27", kind: "hostsubnets", body: host("y", "10.20.1.0/24"),
			errs: []string{`host: Invalid value: "y": must be the same as metadata.name: "x"`}},
		{name: "subnet changes E29", kind: "hostsubnets", op: schema.Update, old: host("x", "10.20.1.0/24"), body: host("x", "10.20.2.0/24"),
			errs: []string{`subnet: Invalid value: "10.20.2.0/24": field is immutable`}},
	}
}
