package validation

import (
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/util/validation"

	"quorate/apiserver/objects/schema"
)

func podSpecHooks() schema.Hooks {
	return schema.Hooks{
		Defaulters: map[string]schema.Defaulter{
			"aliasServiceAccount": aliasServiceAccount,
		},
		Validators: map[string]schema.Validator{
			"containerNames":         containerNames,
			"initContainersRunOnce":  initContainersRunOnce,
			"hostPortsUnique":        hostPortsUnique,
			"hostNetworkPorts":       hostNetworkPorts,
			"mountsNameVolumes":      mountsNameVolumes,
			"activeDeadlinePositive": activeDeadlinePositive,
		},
	}
}

// containerLists are the fields of a pod spec that hold containers.
func containerLists() [2]string { return [2]string{"containers", "initContainers"} }

// aliasServiceAccount copies serviceAccountName to the deprecated field serviceAccount, or in the
// other direction if serviceAccountName is unset.
func aliasServiceAccount(_ *schema.Context, m *schema.Value) {
	name := m.Field("serviceAccountName")
	if name.Str() == "" {
		if alias := m.Field("serviceAccount").Str(); alias != "" {
			m.Make("serviceAccountName").SetStr(alias)
		}
		return
	}
	m.Make("serviceAccount").SetStr(name.Str())
}

// containerNames requires names that are unique among all containers and init containers (M31).
func containerNames(c *schema.Context, v *schema.Value) {
	var names set[string]
	for _, list := range containerLists() {
		for i, container := range v.Field(list).Items() {
			if name := container.Field("name").Str(); name != "" && !names.add(name) {
				c.Duplicate(name, list, i, "name")
			}
		}
	}
}

// initContainersRunOnce rejects fields of init containers that only apply to containers that keep
// running, as an init container does whose own restart policy is Always.
func initContainersRunOnce(c *schema.Context, v *schema.Value) {
	for i, container := range v.Items() {
		if container.Field("restartPolicy").Str() == "Always" {
			continue
		}
		for _, name := range [...]string{"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"} {
			if f := container.Field(name); f.IsSet() {
				c.Invalid(f, "must not be set for init containers", i, name)
			}
		}
	}
}

// hostPort identifies a port of a node. Only one container can use it.
type hostPort struct {
	protocol, ip string
	port         int64
}

// hostPortsUnique requires host ports to be unique among containers that run at the same time.
func hostPortsUnique(c *schema.Context, v *schema.Value) {
	for _, list := range containerLists() {
		var taken set[hostPort]
		for i, container := range v.Field(list).Items() {
			for j, port := range container.Field("ports").Items() {
				p := hostPort{port.Field("protocol").Str(), port.Field("hostIP").Str(), port.Field("hostPort").Int()}
				if p.port != 0 && !taken.add(p) {
					c.Duplicate(fmt.Sprintf("%s/%s/%d", p.protocol, p.ip, p.port), list, i, "ports", j, "hostPort")
				}
			}
		}
	}
}

// hostNetworkPorts requires host ports equal to container ports in pods on the node's network.
func hostNetworkPorts(c *schema.Context, v *schema.Value) {
	if !v.Field("hostNetwork").Bool() {
		return
	}
	for i, container := range v.Field("containers").Items() {
		for j, port := range container.Field("ports").Items() {
			if n := port.Field("containerPort").Int(); port.Field("hostPort").Int() != n {
				c.Invalid(n, "must match `hostPort` when `hostNetwork` is true", "containers", i, "ports", j, "containerPort")
			}
		}
	}
}

// mountsNameVolumes requires every mount to name a volume of the pod, or in a stateful set one of
// its claims (M32).
func mountsNameVolumes(c *schema.Context, v *schema.Value) {
	var volumes set[string]
	for _, volume := range v.Field("volumes").Items() {
		volumes.add(volume.Field("name").Str())
	}
	for _, claim := range c.Enclosing("StatefulSetSpec").Field("volumeClaimTemplates").Items() {
		volumes.add(claim.Lookup("metadata", "name").Str())
	}
	for _, list := range containerLists() {
		for i, container := range v.Field(list).Items() {
			for j, mount := range container.Field("volumeMounts").Items() {
				if name := mount.Field("name").Str(); name != "" && !volumes.has(name) {
					c.NotFound(name, list, i, "volumeMounts", j, "name")
				}
			}
		}
	}
}

// activeDeadlinePositive requires a deadline of at least one second. An update of a pod may also
// set 0, which ends the pod at once.
func activeDeadlinePositive(c *schema.Context, v *schema.Value) {
	if v.Int() == 0 && (c.Operation == schema.Create || c.Enclosing("Pod") == nil) {
		c.Invalid(v, validation.InclusiveRangeError(1, math.MaxInt32))
	}
}
