package validation

import "strings"

func volumeSourceRows() []row {
	volume := func(v string) string { return pod(`"volumes":[{"name":"v",` + v + `}]`) }
	template := func(v string) string {
		return workload(`"selector":{"matchLabels":{"a":"b"}}`, `"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"i"}],"volumes":[{"name":"v",`+v+`}]}`)
	}
	iscsi := func(v string) string {
		return `"iscsi":{"iqn":"iqn.2001-04.com.example:disk",` + v + `}`
	}
	const initiator = `,"initiatorName":"iqn.2001-04.com.example:me"`
	portal := strings.Repeat("p", 62)
	return []row{
		{name: "iscsi with a secret", kind: "pods", body: volume(iscsi(`"targetPortal":"p","chapAuthSession":true,"secretRef":{"name":"s"}`)),
			want: map[string]string{"spec.volumes[0].iscsi.iscsiInterface": `"default"`}},
		{name: "iscsi without its secret", kind: "pods", body: volume(iscsi(`"targetPortal":"p","chapAuthDiscovery":true`)),
			errs: []string{"spec.volumes[0].iscsi.secretRef: Required value"}},
		{name: "iscsi portal of any length", kind: "daemonsets", body: template(iscsi(`"targetPortal":"p` + portal + `"`))},
		{name: "iscsi session of 64", kind: "daemonsets", body: template(iscsi(`"targetPortal":"` + portal + `"` + initiator))},
		{name: "iscsi session of 65", kind: "daemonsets", body: template(iscsi(`"targetPortal":"p` + portal + `"` + initiator)),
			errs: []string{`spec.template.spec.volumes[0].iscsi.targetPortal: Invalid value: "p` + portal + `": Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.`}},
		{name: "fibre channel by names", kind: "pods", body: volume(`"fc":{"targetWWNs":["a"],"lun":0}`)},
		{name: "fibre channel by identifiers", kind: "daemonsets", body: template(`"fc":{"wwids":["a"]}`)},
		{name: "fibre channel by nothing", kind: "pods", body: volume(`"fc":{"lun":1}`),
			errs: []string{"spec.volumes[0].fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both"}},
		{name: "fibre channel by both", kind: "daemonsets", body: template(`"fc":{"targetWWNs":["a"],"wwids":["b"],"lun":1}`),
			errs: []string{`spec.template.spec.volumes[0].fc.targetWWNs: Invalid value: ["a"]: targetWWNs and wwids can not be specified simultaneously`}},
		{name: "fibre channel without a unit", kind: "pods", body: volume(`"fc":{"targetWWNs":["a"]}`),
			errs: []string{"spec.volumes[0].fc.lun: Required value: lun is required if targetWWNs is specified"}},
		{name: "dataset by name", kind: "pods", body: volume(`"vendorAVolume":{"datasetName":"d"}`)},
		{name: "dataset by nothing", kind: "pods", body: volume(`"vendorAVolume":{}`),
			errs: []string{"spec.volumes[0].vendorAVolume: Required value: one of datasetName and datasetUUID is required"}},
		{name: "dataset by both and a path", kind: "pods", body: volume(`"vendorAVolume":{"datasetName":"a/b","datasetUUID":"u"}`),
			errs: []string{
				`spec.volumes[0].vendorAVolume: Invalid value: "resource": datasetName and datasetUUID can not be specified simultaneously`,
				`spec.volumes[0].vendorAVolume.datasetName: Invalid value: "a/b": must not contain '/'`}},
		{name: "managed disk", kind: "pods", body: volume(`"cloudBDisk":{"diskName":"d","diskURI":"/subscriptions/1","kind":"Managed"}`),
			want: map[string]string{"spec.volumes[0].cloudBDisk.cachingMode": `"ReadWrite"`}},
		{name: "managed disk elsewhere", kind: "pods", body: volume(`"cloudBDisk":{"diskName":"d","diskURI":"https://d","kind":"Managed"}`),
			errs: []string{`spec.volumes[0].cloudBDisk.diskURI: Unsupported value: "https://d": supported values: "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/{provider}/disks/{disk-id}"`}},
		{name: "shared disk elsewhere", kind: "pods", body: volume(`"cloudBDisk":{"diskName":"d","diskURI":"http://d"}`),
			errs: []string{`spec.volumes[0].cloudBDisk.diskURI: Unsupported value: "http://d": supported values: "https://{account-name}.{blob-domain}/{container-name}/{disk-name}.vhd"`}},
		{name: "driver options", kind: "pods", body: volume(`"flexVolume":{"driver":"d","options":{"a":"b","notkubernetes.io/a":"b"}}`)},
		{name: "driver options of the platform", kind: "pods", body: volume(`"flexVolume":{"driver":"d","options":{"X.kubernetes.io/a":"b","k8s.io":"c"}}`),
			errs: []string{
				`spec.volumes[0].flexVolume.options[X.kubernetes.io/a]: Invalid value: "X.kubernetes.io/a": kubernetes.io, k8s.io and platform.io namespaces are reserved`,
				`spec.volumes[0].flexVolume.options[k8s.io]: Invalid value: "k8s.io": kubernetes.io, k8s.io and platform.io namespaces are reserved`}},
		{name: "secret of a pod's volume", kind: "pods", body: volume(`"vendorEVolume":{"volumeName":"v","secretRef":{"name":"s"}}`)},
		{name: "secret without a name", kind: "pods", body: volume(`"vendorEVolume":{"volumeName":"v","secretRef":{}}`),
			errs: []string{"spec.volumes[0].vendorEVolume.secretRef.name: Required value"}},
		{name: "secret of a persistent volume", kind: "persistentvolumes",
			body: persistentVolume(`"vendorEVolume":{"volumeName":"v","secretRef":{"name":"s"}}`),
			errs: []string{"spec.vendorEVolume.secretRef.namespace: Required value"}},
	}
}
