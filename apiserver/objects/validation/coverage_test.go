package validation

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"quorate/apiserver/kinds"
)

// text is a rule in words in the kind and type files, and the hooks named next to it.
type text struct {
	place string // "PodSpec.hostNetwork rule"
	words string
	hooks []string // of the key that implements the text's key
}

// hookKeys maps the keys of rules in words to the keys that name their hooks.
func hookKeys() map[string]string {
	return map[string]string{
		"rule": "validate", "itemRule": "validate", "oneOf": "validate", "enumEnv": "validate", "enumVolume": "validate",
		"requiredWhen": "requiredIf", "defaultRule": "defaulter", "defaultWhen": "defaultIf", "immutableRule": "immutableCheck",
	}
}

// elsewhere maps each rule in words that has no hook beside it to the hooks that implement it, as
// "hook at place". A place is a message, a field, or a key of a kind file.
// TestEveryRuleTextHasAHook checks that these hooks exist.
func elsewhere() map[string][]string {
	return map[string][]string{
		"ClusterRoleBindingLegacy.userNames rule":             {"namesReplaceSubjects at clusterrolebinding.legacy afterDecode", "rbacToLegacyBinding at clusterrolebinding.legacy fromStorage"},
		"ClusterRoleBindingLegacy.groupNames rule":            {"namesReplaceSubjects at clusterrolebinding.legacy afterDecode"},
		"Container.image immutableRule":                       {"podUpdate at pod validateUpdate"},
		"DaemonSetStatus.collisionCount rule":                 {"neverDecremented at DaemonSetStatus.collisionCount"},
		"DaemonSetSpec.selector rule":                         {"selectorNotEmpty at DaemonSetSpec.selector", "selectorMatchesTemplate at DaemonSetSpec"},
		"EndpointAddress.nodeName immutableRule":              {"endpointNodesFixed at endpoints validateUpdate"},
		"EndpointSubset.addresses requiredWhen":               {"subsetHasAddress at EndpointSubset"},
		"EndpointSubset.notReadyAddresses requiredWhen":       {"subsetHasAddress at EndpointSubset"},
		"EnvVar.valueFrom rule":                               {"oneEnvSource at EnvVarSource"},
		"FCVolumeSource.lun requiredWhen":                     {"wwnsOrWWIDs at FCVolumeSource"},
		"FCVolumeSource.targetWWNs requiredWhen":              {"wwnsOrWWIDs at FCVolumeSource"},
		"FCVolumeSource.wwids requiredWhen":                   {"wwnsOrWWIDs at FCVolumeSource"},
		"HostSubnet.host immutableRule":                       {"hostIsName at HostSubnet.host"},
		"ISCSIVolumeSource.initiatorName rule":                {"iscsiSessionName at ISCSIVolumeSource"},
		"Image.containerImageConfig immutableRule":            {"keepImageContent at image prepareForUpdate"},
		"Image.containerImageLayers immutableRule":            {"keepImageContent at image prepareForUpdate"},
		"Image.containerImageManifest immutableRule":          {"keepImageContent at image prepareForUpdate"},
		"Image.containerImageManifest rule":                   {"fillImageFromManifest at image prepareForCreate"},
		"Image.containerImageMetadata immutableRule":          {"keepImageContent at image prepareForUpdate"},
		"Image.containerImageMetadataVersion immutableRule":   {"keepImageContent at image prepareForUpdate"},
		"Image.containerImageReference immutableRule":         {"keepImageContent at image prepareForUpdate"},
		"ImageSignature.conditions rule":                      {"imageSignature at ImageSignature"},
		"ImageSignature.imageIdentity rule":                   {"imageSignature at ImageSignature"},
		"ImageSignature.issuedBy rule":                        {"imageSignature at ImageSignature"},
		"ImageSignature.issuedTo rule":                        {"imageSignature at ImageSignature"},
		"ImageSignature.metadata rule":                        {"imageSignature at ImageSignature"},
		"ImageSignature.signedClaims rule":                    {"imageSignature at ImageSignature"},
		"JobSpec.manualSelector rule":                         {"selectorIsGenerated at JobSpec"},
		"JobSpec.selector rule":                               {"selectorIsGenerated at JobSpec"},
		"LabelSelectorRequirement.values requiredWhen":        {"labelRequirementValues at LabelSelectorRequirement"},
		"NamespaceSpec.finalizers defaultRule":                {"activateNamespace at namespace prepareForCreate"},
		"NamespaceSpec.finalizers immutableRule":              {"keepSpec at namespace prepareForUpdate", "keepSpec at namespace prepareForStatusUpdate"},
		"NodeSelectorRequirement.values requiredWhen":         {"nodeRequirementValues at NodeSelectorRequirement"},
		"PodSpec.activeDeadlineSeconds immutableRule":         {"podUpdate at pod validateUpdate"},
		"PodSpec.activeDeadlineSeconds rule":                  {"runsForever at DaemonSetSpec.template", "runsForever at StatefulSetSpec.template"},
		"PodSpec.containers rule":                             {"containerNames at PodSpec"},
		"PodSpec.hostNetwork rule":                            {"hostNetworkPorts at PodSpec", "hostNetworkHostPort at ContainerPort.hostPort"},
		"PodSpec.initContainers rule":                         {"containerNames at PodSpec", "initContainersRunOnce at PodSpec.initContainers"},
		"PodSpec.nodeName immutableRule":                      {"podUpdate at pod validateUpdate"},
		"PodSpec.restartPolicy rule":                          {"runsForever at DaemonSetSpec.template", "runsForever at StatefulSetSpec.template", "runsToCompletion at JobSpec.template"},
		"PodSpec.serviceAccount defaultRule":                  {"aliasServiceAccount at PodSpec"},
		"PodSpec.tolerations immutableRule":                   {"podUpdate at pod validateUpdate"},
		"PolicyRule.apiGroups requiredWhen":                   {"policyRule at PolicyRule"},
		"PolicyRule.nonResourceURLs rule":                     {"policyRule at PolicyRule"},
		"PolicyRule.resources requiredWhen":                   {"policyRule at PolicyRule"},
		"Probe.successThreshold rule":                         {"livenessSucceedsAtOnce at Container.livenessProbe"},
		"PodDNSConfig.nameservers requiredWhen":               {"resolvesAlone at PodDNSConfig.nameservers"},
		"PodSpec.dnsConfig requiredWhen":                      {"resolvesAlone at PodSpec.dnsConfig"},
		"PodSpec.evictionResponders rule":                     {"evictionResponders at PodSpec.evictionResponders"},
		"ReplicationControllerSpec.selector defaultRule":      {"labelsFromTemplate at ReplicationController"},
		"ReplicationControllerSpec.selector rule":             {"labelsMatchTemplate at ReplicationControllerSpec"},
		"ResourceMetricSource.targetAverageUtilization rule":  {"oneResourceTarget at ResourceMetricSource"},
		"ResourceRequirements.requests defaultRule":           {"requestsFromLimits at ResourceRequirements"},
		"ResourceRequirements.requests rule":                  {"requestsWithinLimits at ResourceRequirements"},
		"SecurityContext.allowPrivilegeEscalation rule":       {"privilegeEscalation at SecurityContext"},
		"StatefulSetSpec.podManagementPolicy immutableRule":   {"statefulSetUpdate at statefulset validateUpdate"},
		"StatefulSetSpec.revisionHistoryLimit immutableRule":  {"statefulSetUpdate at statefulset validateUpdate"},
		"StatefulSetSpec.selector immutableRule":              {"statefulSetUpdate at statefulset validateUpdate"},
		"StatefulSetSpec.selector rule":                       {"selectorNotEmpty at StatefulSetSpec.selector", "selectorMatchesTemplate at StatefulSetSpec"},
		"StatefulSetSpec.serviceName immutableRule":           {"statefulSetUpdate at statefulset validateUpdate"},
		"StatefulSetSpec.volumeClaimTemplates immutableRule":  {"statefulSetUpdate at statefulset validateUpdate"},
		"StatefulSetStatus.currentReplicas rule":              {"replicasOfStatus at StatefulSetStatus"},
		"StatefulSetStatus.readyReplicas rule":                {"replicasOfStatus at StatefulSetStatus"},
		"StatefulSetStatus.updatedReplicas rule":              {"replicasOfStatus at StatefulSetStatus"},
		"StatefulSetUpdateStrategy.rollingUpdate defaultRule": {"statefulSetRollingUpdate at StatefulSetUpdateStrategy"},
		"StatefulSetUpdateStrategy.rollingUpdate rule":        {"onlyRollingUpdates at StatefulSetUpdateStrategy"},
		"Subject.apiGroup defaultRule":                        {"subjectGroup at Subject.apiGroup", "subjectGroupOfKind at Subject"},
		"Toleration.effect rule":                              {"toleration at Toleration"},
		"Toleration.key rule":                                 {"toleration at Toleration"},
		"Toleration.value rule":                               {"toleration at Toleration"},
		"VendorAVolumeSource.datasetName rule":                {"datasetNameOrUUID at VendorAVolumeSource"},
		"VendorAVolumeSource.datasetUUID rule":                {"datasetNameOrUUID at VendorAVolumeSource"},
		"VolumeMount.mountPath rule":                          {"mountPathsUnique at Container.volumeMounts"},
		"VolumeMount.name rule":                               {"mountsNameVolumes at PodSpec"},
		"clusterrolebinding.legacy immutable":                 {"legacyRoleRefFixed at ClusterRoleBindingLegacy.roleRef"},
		"clusterrolebinding.legacy onCreate":                  {"legacyBindingToRbac at clusterrolebinding.legacy toStorage"},
		"clusterrolebinding.legacy onUpdate.main":             {"legacyBindingToRbac at clusterrolebinding.legacy toStorage"},
		"clusterrolebinding.rbac immutable":                   {"roleRefFixed at ClusterRoleBindingRbac.roleRef"},
		"rolebinding immutable":                               {"roleRefFixed at RoleBinding.roleRef"},
		"MutatingWebhook.admissionReviewVersions rule":        {"webhook at MutatingWebhook"},
		"MutatingWebhook.name rule":                           {"webhook at MutatingWebhook"},
		"MutatingWebhook.timeoutSeconds rule":                 {"webhook at MutatingWebhook"},
		"ValidatingWebhook.admissionReviewVersions rule":      {"webhook at ValidatingWebhook"},
		"ValidatingWebhook.name rule":                         {"webhook at ValidatingWebhook"},
		"ValidatingWebhook.timeoutSeconds rule":               {"webhook at ValidatingWebhook"},
		"cronjob onCreate":                                    {"resetStatus at cronjob prepareForCreate"},
		"cronjob onUpdate.main":                               {"keepStatus at cronjob prepareForUpdate"},
		"cronjob onUpdate.status":                             {"keepSpec at cronjob prepareForStatusUpdate"},
		"customresourcedefinition onCreate":                   {"beginDefinition at customresourcedefinition prepareForCreate", "keepInstances at customresourcedefinition prepareForCreate"},
		"customresourcedefinition onUpdate.main":              {"keepStatus at customresourcedefinition prepareForUpdate", "storeDefinition at customresourcedefinition prepareForUpdate", "keepInstances at customresourcedefinition prepareForUpdate"},
		"customresourcedefinition onUpdate.status":            {"keepSpec at customresourcedefinition prepareForStatusUpdate", "keepInstances at customresourcedefinition prepareForStatusUpdate"},
		"customresourcedefinition nameRule":                   {"definitionName at customresourcedefinition validate"},
		"CustomResourceConversion.strategy rule":              {"definitionConversion at CustomResourceDefinitionSpec.conversion"},
		"daemonset onCreate":                                  {"resetStatus at daemonset prepareForCreate"},
		"daemonset onUpdate.main":                             {"keepStatus at daemonset prepareForUpdate"},
		"daemonset onUpdate.status":                           {"keepSpec at daemonset prepareForStatusUpdate"},
		"endpoints onCreate":                                  {"repackSubsets at endpoints canonicalize"},
		"endpoints onUpdate.main":                             {"repackSubsets at endpoints canonicalize"},
		"horizontalpodautoscaler onCreate":                    {"resetStatus at horizontalpodautoscaler prepareForCreate"},
		"horizontalpodautoscaler onUpdate.main":               {"keepStatus at horizontalpodautoscaler prepareForUpdate"},
		"horizontalpodautoscaler onUpdate.status":             {"keepSpec at horizontalpodautoscaler prepareForStatusUpdate"},
		"horizontalpodautoscaler.v1 onCreate":                 {"resetStatus at horizontalpodautoscaler.v1 prepareForCreate"},
		"horizontalpodautoscaler.v1 onUpdate.main":            {"keepStatus at horizontalpodautoscaler.v1 prepareForUpdate", "keepStatusAnnotations at horizontalpodautoscaler.v1 prepareForUpdate"},
		"horizontalpodautoscaler.v1 onUpdate.status":          {"keepSpec at horizontalpodautoscaler.v1 prepareForStatusUpdate", "keepSpecAnnotations at horizontalpodautoscaler.v1 prepareForStatusUpdate"},
		"horizontalpodautoscaler.v2 onCreate":                 {"resetStatus at horizontalpodautoscaler.v2 prepareForCreate"},
		"horizontalpodautoscaler.v2 onUpdate.main":            {"keepStatus at horizontalpodautoscaler.v2 prepareForUpdate"},
		"horizontalpodautoscaler.v2 onUpdate.status":          {"keepSpec at horizontalpodautoscaler.v2 prepareForStatusUpdate"},
		"event.events onCreate":                               {"completeEvent at event.events validate"},
		"image immutable":                                     {"keepImageContent at image prepareForUpdate"},
		"image onCreate":                                      {"fillImageFromManifest at image prepareForCreate"},
		"image onUpdate.main":                                 {"keepImageContent at image prepareForUpdate"},
		"namespace onCreate":                                  {"activateNamespace at namespace prepareForCreate"},
		"namespace onUpdate.finalize":                         {"keepStatus at namespace prepareForFinalize"},
		"namespace onUpdate.main":                             {"keepSpec at namespace prepareForUpdate", "keepStatus at namespace prepareForUpdate"},
		"namespace onUpdate.status":                           {"keepSpec at namespace prepareForStatusUpdate", "namespacePhase at NamespaceStatus.phase"},
		"node mutableOnly":                                    {"nodeFieldSetOnce at NodeSpec.podCIDR", "nodeFieldSetOnce at NodeSpec.providerID"},
		"node onUpdate.main":                                  {"keepStatus at node prepareForUpdate"},
		"node onUpdate.status":                                {"keepSpec at node prepareForStatusUpdate"},
		"persistentvolume immutable":                          {"volumeSourceFixed at persistentvolume validateUpdate"},
		"persistentvolume onCreate":                           {"resetStatus at persistentvolume prepareForCreate"},
		"persistentvolume onUpdate.main":                      {"keepStatus at persistentvolume prepareForUpdate"},
		"persistentvolume onUpdate.status":                    {"keepSpec at persistentvolume prepareForStatusUpdate", "statusNeedsVersion at persistentvolume validateUpdate"},
		"pod mutableOnly":                                     {"podUpdate at pod validateUpdate"},
		"pod onCreate":                                        {"resetStatus at pod prepareForCreate", "newPodPhase at PodStatus.phase", "qosClass at PodStatus.qosClass"},
		"pod onUpdate.main":                                   {"keepStatus at pod prepareForUpdate"},
		"pod onUpdate.status":                                 {"keepSpec at pod prepareForStatusUpdate", "keepOwnerReferences at pod prepareForStatusUpdate"},
		"statefulset mutableOnly":                             {"statefulSetUpdate at statefulset validateUpdate"},
		"statefulset onCreate":                                {"resetStatus at statefulset prepareForCreate"},
		"statefulset onUpdate.main":                           {"keepStatus at statefulset prepareForUpdate"},
		"statefulset onUpdate.status":                         {"keepSpec at statefulset prepareForStatusUpdate"},
		"secret onCreate":                                     {"stringDataIsData at secret afterDecode"},
		"configmap onUpdate.main":                             {"configMapStaysSealed at configmap validateUpdate"},
		"secret onUpdate.main":                                {"stringDataIsData at secret afterDecode", "secretStaysSealed at secret validateUpdate"},
		"serviceaccount onCreate":                             {"secretsByName at serviceaccount prepareForCreate"},
		"serviceaccount onUpdate.main":                        {"secretsByName at serviceaccount prepareForUpdate"},
		"service onCreate":                                    {"resetStatus at service prepareForCreate"},
		"service onUpdate.main":                               {"keepStatus at service prepareForUpdate", "followServiceType at service prepareForUpdate", "pairClusterIPs at service prepareForUpdate"},
		"service onUpdate.status":                             {"keepSpec at service prepareForStatusUpdate"},
		"thirdpartyresource nameRule":                         {"thirdPartyName at thirdpartyresource validate"},
	}
}

// exceptions maps texts that no hook implements to the reason.
func exceptions() map[string]string {
	const (
		engine = "the engine does it for the metadata of every kind"
		plain  = "says that there is nothing to do"
		access = "decided with the caller's permissions, which rules don't see"
		data   = "done by the file's other keys"
	)
	return map[string]string{
		"Initializer.name rule":                               engine,
		"Initializers.result immutableRule":                   engine,
		"Initializers.result rule":                            engine,
		"ObjectMeta.clusterName immutableRule":                engine,
		"ObjectMeta.clusterName rule":                         engine,
		"ObjectMeta.creationTimestamp immutableRule":          engine,
		"ObjectMeta.deletionGracePeriodSeconds immutableRule": engine,
		"ObjectMeta.deletionTimestamp immutableRule":          engine,
		"ObjectMeta.finalizers rule":                          engine,
		"ObjectMeta.generateName rule":                        "apiserver makes names before anything is prepared",
		"ObjectMeta.generation rule":                          engine,
		"ObjectMeta.initializers rule":                        engine,
		"ObjectMeta.name immutableRule":                       engine,
		"ObjectMeta.name requiredWhen":                        engine,
		"ObjectMeta.namespace immutableRule":                  engine,
		"ObjectMeta.namespace requiredWhen":                   engine,
		"ObjectMeta.namespace rule":                           engine,
		"ObjectMeta.ownerReferences rule":                     engine,
		"ObjectMeta.resourceVersion rule":                     "apiserver compares versions",
		"ObjectMeta.uid immutableRule":                        engine,
		"PodTemplateSpec.metadata rule":                       engine,
		"Status.metadata rule":                                "a Status is an answer; no client writes one on its own",
		"DeleteOptions.orphanDependents rule":                 "apiserver reads delete options, from body and query together",
		"DeleteOptions.propagationPolicy rule":                "apiserver reads delete options, from body and query together",
		"ContainerState oneOf":                                "upstream checks nothing in a pod's status",
		"PodSpec.imagePullSecrets rule":                       "the message has only a name, so anything else is an unknown field",
		"PersistentVolumeClaimSpec.accessModes requiredWhen":  "says that it is not checked where claims occur here",
		"PersistentVolumeClaimSpec.resources requiredWhen":    "says that it is not checked where claims occur here",
		"clusternetwork immutable":                            "left open by the text; this server has no configured network to compare with",
		"clusterrole onCreate":                                access,
		"clusterrole onUpdate.main":                           access,
		"clusterrolebinding.rbac onCreate":                    access,
		"clusterrolebinding.rbac onUpdate.main":               access,
		"role onCreate":                                       access,
		"role onUpdate.main":                                  access,
		"rolebinding onCreate":                                access,
		"rolebinding onUpdate.main":                           access,
		"daemonset immutable":                                 data,
		"event onUpdate.main":                                 plain,
		"event.events onUpdate.main":                          data,
		"hostsubnet immutable":                                data,
		"namespace onDelete":                                  "package deletion",
		"node onCreate":                                       plain,
		"thirdpartyresource onCreate":                         "names are made for every kind alike",
	}
}

// TestEveryRuleTextHasAHook checks that each rule in words in the files has a hook or an exception.
func TestEveryRuleTextHasAHook(t *testing.T) {
	texts, hooks := readFiles(t)
	if len(texts) < 160 {
		t.Fatalf("only %d texts: the files are not read as they should be", len(texts))
	}
	away, none := elsewhere(), exceptions()
	for _, x := range texts {
		where, isAway := away[x.place]
		_, isException := none[x.place]
		if len(x.hooks) == 0 && !isAway && !isException {
			t.Errorf("%s: no hook does what it says: %s", x.place, x.words)
		}
		for _, w := range where {
			hook, place, _ := strings.Cut(w, " at ")
			if !slices.Contains(hooks[place], hook) {
				t.Errorf("%s: there is no hook %s at %s", x.place, hook, place)
			}
		}
		delete(away, x.place)
		delete(none, x.place)
	}
	for place := range away {
		t.Errorf("elsewhere: there is no text at %s", place)
	}
	for place := range none {
		t.Errorf("exceptions: there is no text at %s", place)
	}
}

// TestEveryHookIsUsed checks that some file uses each hook.
func TestEveryHookIsUsed(t *testing.T) {
	_, hooks := readFiles(t)
	var named []string
	for _, names := range hooks {
		named = append(named, names...)
	}
	var l laboratory
	l.hooks()
	for _, m := range l.all {
		if !slices.Contains(named, m.name) {
			t.Errorf("no file names the %s %s", m.table, m.name)
		}
	}
}

// readFiles returns the rules in words, and the hooks by the places that name them.
func readFiles(t *testing.T) ([]text, map[string][]string) {
	t.Helper()
	var texts []text
	hooks := map[string][]string{}
	kindFiles, err := fs.Glob(kinds.Files, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	typeFiles, err := fs.Glob(kinds.Files, "types/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Concat(kindFiles, typeFiles) {
		raw, err := fs.ReadFile(kinds.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		var file map[string]any
		if err := yaml.Unmarshal(raw, &file); err != nil {
			t.Fatal(err)
		}
		kind := strings.TrimSuffix(path.Base(name), ".yaml")
		texts = append(texts, kindTexts(kind, file, hooks)...)
		for message, m := range object(file["messages"]) {
			texts = append(texts, placeTexts(message, object(m), hooks)...)
			for field, f := range object(object(m)["fields"]) {
				texts = append(texts, placeTexts(message+"."+field, object(f), hooks)...)
			}
		}
	}
	return texts, hooks
}

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func placeTexts(place string, m map[string]any, hooks map[string][]string) []text {
	var out []text
	for key, hookKey := range hookKeys() {
		hooks[place] = append(hooks[place], strings.Fields(strings.Trim(fmt.Sprint(orNothing(m[hookKey])), "[]"))...)
		if words, ok := m[key]; ok {
			hook := strings.Trim(fmt.Sprint(orNothing(m[hookKey])), "[]")
			out = append(out, text{place + " " + key, fmt.Sprint(words), strings.Fields(hook)})
		}
	}
	return out
}

func orNothing(v any) any {
	if v == nil {
		return ""
	}
	return v
}

func kindTexts(kind string, file map[string]any, hooks map[string][]string) []text {
	for key, names := range object(file["hooks"]) {
		hooks[kind+" "+key] = strings.Fields(strings.Trim(fmt.Sprint(names), "[]"))
	}
	var out []text
	strategy := object(file["strategy"])
	for _, key := range []string{"onCreate", "onDelete", "immutable", "mutableOnly"} {
		if list, _ := strategy[key].([]any); len(list) > 0 {
			out = append(out, text{kind + " " + key, fmt.Sprint(list), nil})
		}
	}
	for endpoint, words := range object(strategy["onUpdate"]) {
		if words == "plain" {
			continue
		}
		out = append(out, text{kind + " onUpdate." + endpoint, fmt.Sprint(words), nil})
	}
	if words, ok := object(file["nameRule"])["rule"]; ok {
		out = append(out, text{kind + " nameRule", fmt.Sprint(words), nil})
	}
	return out
}
