package validation

import "quorate/apiserver/objects/schema"

func thirdPartyRows() []row {
	body := func(name, versions string) string {
		return `{"metadata":{"name":"` + name + `"},"versions":[` + versions + `]}`
	}
	const v1 = `{"name":"v1"}`
	return []row{
		{name: "kind and group K1", kind: "thirdpartyresources", body: body("cron-tab.stable.example.com", v1+`,{"name":"v2"}`)},
		{name: "group without a domain K2", kind: "thirdpartyresources", body: body("cron-tab.com", v1),
			errs: []string{`metadata.name: Invalid value: "cron-tab.com": must be at least three segments long: <kind>.<domain>.<tld>`}},
		{name: "group of the platform K11", kind: "thirdpartyresources", body: body("thing.image.platform.io", v1),
			errs: []string{`metadata.name: Invalid value: "thing.image.platform.io": the groups of platform.io are reserved`}},
		{name: "group of stock clients K11", kind: "thirdpartyresources", body: body("thing.coordination.k8s.io", v1),
			errs: []string{`metadata.name: Invalid value: "thing.coordination.k8s.io": the groups of k8s.io are reserved`}},
		{name: "domain of stock clients itself K11", kind: "thirdpartyresources", body: body("thing.k8s.io", v1),
			errs: []string{`metadata.name: Invalid value: "thing.k8s.io": the groups of k8s.io are reserved`}},
		{name: "versions of one name K3", kind: "thirdpartyresources", body: body("a.b.c", v1+","+v1), errs: []string{`versions[1].name: Duplicate value: "v1"`}},
		{name: "no version K3", kind: "thirdpartyresources", body: body("a.b.c", ""), errs: []string{"versions: Required value"}},
		{name: "versions change E30", kind: "thirdpartyresources", op: schema.Update, old: body("a.b.c", v1), body: body("a.b.c", `{"name":"v2"}`)},
	}
}
