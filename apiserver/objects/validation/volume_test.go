package validation

func volumeRows() []row {
	volume := func(v string) string { return pod(`"volumes":[{` + members(`"name":"v"`, v) + `}]`) }
	projected := func(v string) string { return volume(`"projected":{"sources":[` + v + `]}`) }
	file := func(v string) string { return volume(`"downwardAPI":{"items":[{"path":"p"` + v + `}]}`) }
	return []row{
		{name: "names M32", kind: "pods", body: pod(`"volumes":[{"name":"v"},{"name":"w"},{"name":"v"}]`),
			errs: []string{`spec.volumes[2].name: Duplicate value: "v"`}},
		{name: "no source is an empty directory", kind: "pods", body: volume(""), want: map[string]string{"spec.volumes[0]": `{"emptyDir":{},"name":"v"}`}},
		{name: "one source M32", kind: "pods", body: volume(`"secret":{"secretName":"s"}`),
			want: map[string]string{"spec.volumes[0]": `{"name":"v","secret":{"defaultMode":420,"secretName":"s"}}`}},
		{name: "two sources M32", kind: "pods", body: volume(`"secret":{"secretName":"s"},"hostPath":{"path":"/a"}`),
			errs: []string{"spec.volumes[0].secret: Forbidden: may not specify more than 1 volume type"}},
		{name: "host path", kind: "pods", body: volume(`"hostPath":{"path":"/a..b"}`)},
		{name: "host path upwards", kind: "pods", body: volume(`"hostPath":{"path":"/a/../b"}`),
			errs: []string{`spec.volumes[0].hostPath.path: Invalid value: "/a/../b": must not contain '..'`}},
		{name: "file of a key", kind: "pods", body: volume(`"secret":{"secretName":"s","items":[{"key":"k","path":"a/..b"}]}`)},
		{name: "reserved file of a key", kind: "pods", body: volume(`"secret":{"secretName":"s","items":[{"key":"k","path":"..data"}]}`),
			errs: []string{`spec.volumes[0].secret.items[0].path: Invalid value: "..data": must not start with '..'`}},
		{name: "file of a key upwards", kind: "pods", body: volume(`"secret":{"secretName":"s","items":[{"key":"k","path":"../a"}]}`),
			errs: []string{`spec.volumes[0].secret.items[0].path: Invalid value: "../a": must not contain '..'`}},
		{name: "one field in a file", kind: "pods", body: file(`,"fieldRef":{"fieldPath":"metadata.name"}`)},
		{name: "no field in a file", kind: "pods", body: file(""),
			errs: []string{"spec.volumes[0].downwardAPI.items[0]: Required value: one of fieldRef and resourceFieldRef is required"}},
		{name: "two fields in a file", kind: "pods",
			body: file(`,"fieldRef":{"fieldPath":"metadata.name"},"resourceFieldRef":{"containerName":"c","resource":"limits.cpu"}`),
			errs: []string{`spec.volumes[0].downwardAPI.items[0]: Invalid value: "resource": fieldRef and resourceFieldRef can not be specified simultaneously`}},
		{name: "projected files", kind: "pods",
			body: projected(`{"secret":{"name":"s","items":[{"key":"k","path":"a"}]}},{"configMap":{"name":"s","items":[{"key":"k","path":"b"}]}}`)},
		{name: "projected files over each other", kind: "pods",
			body: projected(`{"secret":{"name":"s","items":[{"key":"k","path":"a"}]}},{"downwardAPI":{"items":[{"path":"a","fieldRef":{"fieldPath":"metadata.name"}}]}}`),
			errs: []string{`spec.volumes[0].projected.sources[1].downwardAPI.items[0].path: Invalid value: "a": conflicting duplicate paths`}},
		{name: "projection of two", kind: "pods", body: projected(`{"secret":{"name":"s"},"configMap":{"name":"s"}}`),
			errs: []string{"spec.volumes[0].projected.sources[0].configMap: Forbidden: may not specify more than 1 volume type"}},
	}
}
