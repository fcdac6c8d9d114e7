package validation

import "quorate/apiserver/objects/schema"

func persistentVolume(spec string) string {
	return `{"metadata":{"name":"x"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],` + spec + `}}`
}

func persistentVolumeRows() []row {
	const host = `"hostPath":{"path":"/a"}`
	return []row{
		{name: "new is pending A58 M12", kind: "persistentvolumes",
			body: `{"metadata":{"name":"x"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/a"}},"status":{"phase":"Bound"}}`,
			want: map[string]string{"status": `{"phase":"Pending"}`, "spec.persistentVolumeReclaimPolicy": `"Retain"`}},
		{name: "no source M12", kind: "persistentvolumes", body: persistentVolume(`"claimRef":{"name":"c"}`),
			errs: []string{"spec: Required value: must specify a volume type"}},
		{name: "two sources M12", kind: "persistentvolumes", body: persistentVolume(host + `,"local":{"path":"/b"}`),
			errs: []string{"spec.local: Forbidden: may not specify more than 1 volume type"}},
		{name: "local path", kind: "persistentvolumes", body: persistentVolume(`"local":{"path":"/b"}`)},
		{name: "local path upwards", kind: "persistentvolumes", body: persistentVolume(`"local":{"path":".."}`),
			errs: []string{`spec.local.path: Invalid value: "..": must not contain '..'`}},
		{name: "capacity of more M12", kind: "persistentvolumes",
			body: `{"metadata":{"name":"x"},"spec":{"capacity":{"storage":"1Gi","cpu":"1"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/a"}}}`,
			errs: []string{`spec.capacity: Unsupported value: {"cpu":"1","storage":"1Gi"}: supported values: "storage"`}},
		{name: "recycled", kind: "persistentvolumes", body: persistentVolume(host + `,"persistentVolumeReclaimPolicy":"Recycle"`)},
		{name: "whole host recycled", kind: "persistentvolumes",
			body: persistentVolume(`"hostPath":{"path":"//"},"persistentVolumeReclaimPolicy":"Recycle"`),
			errs: []string{"spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"}},
		{name: "update keeps the status E17", kind: "persistentvolumes", op: schema.Update, old: persistentVolume(host),
			body: `{"metadata":{"name":"x"},"spec":{"capacity":{"storage":"2Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/a"}},"status":{"phase":"Bound"}}`,
			want: map[string]string{"status.phase": `"Pending"`, "spec.capacity.storage": `"2Gi"`}},
		{name: "source moves E26", kind: "persistentvolumes", op: schema.Update, old: persistentVolume(host),
			body: persistentVolume(`"hostPath":{"path":"/b"}`),
			errs: []string{"spec.persistentvolumesource: Forbidden: is immutable after creation"}},
		{name: "source becomes another E26", kind: "persistentvolumes", op: schema.Update, old: persistentVolume(host),
			body: persistentVolume(`"local":{"path":"/a"}`),
			errs: []string{"spec.persistentvolumesource: Forbidden: is immutable after creation"}},
		{name: "status keeps the spec", kind: "persistentvolumes", op: schema.UpdateStatus, old: persistentVolume(host),
			body: `{"metadata":{"name":"x","resourceVersion":"7"},"status":{"phase":"Bound"}}`,
			want: map[string]string{"status.phase": `"Bound"`, "spec.hostPath.path": `"/a"`}},
		{name: "status without a version", kind: "persistentvolumes", op: schema.UpdateStatus, old: persistentVolume(host),
			body: `{"metadata":{"name":"x"},"status":{"phase":"Bound"}}`,
			errs: []string{"metadata.resourceVersion: Required value"}},
	}
}
