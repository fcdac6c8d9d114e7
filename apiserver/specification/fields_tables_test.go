package specification

// The tables of fields of §2, as the specification has them. "a{b, c[]{d}}" is the fields a.b and
// a.c[].d.

// Shapes that several tables use.
const (
	metadataShape = `{annotations, clusterName, creationTimestamp, deletionGracePeriodSeconds, deletionTimestamp, finalizers[], generateName,
		generation, initializers{pending[]{name}, result` + statusShape + `}, labels, name, namespace,
		ownerReferences[]{apiVersion, blockOwnerDeletion, controller, kind, name, uid}, resourceVersion, selfLink, uid}`
	statusShape = `{apiVersion, code, details{causes[]{field, message, reason}, group, kind, name, retryAfterSeconds, uid}, kind, message,
		metadata{resourceVersion, selfLink}, reason, status}`
	referenceShape   = `{apiVersion, fieldPath, kind, name, namespace, resourceVersion, uid}`
	conditionShape   = `{lastProbeTime, lastTransitionTime, message, reason, status, type}`
	crossShape       = `{apiVersion, kind, name}`
	selectorShape    = `{matchExpressions[]{key, operator, values[]}, matchLabels}`
	rulesShape       = `rules[]{apiGroups[], nonResourceURLs[], resourceNames[], resources[], verbs[]}`
	itemsShape       = `items[]{key, mode, path}`
	fileShape        = `items[]{fieldRef{apiVersion, fieldPath}, mode, path, resourceFieldRef{containerName, divisor, resource}}`
	handlerShape     = `exec{command[]}, httpGet{host, httpHeaders[]{name, value}, path, port, scheme}, tcpSocket{host, port}`
	probeShape       = `{` + handlerShape + `, failureThreshold, initialDelaySeconds, periodSeconds, successThreshold, timeoutSeconds}`
	linuxShape       = `seLinuxOptions{level, role, type, user}`
	termShape        = `{labelSelector` + selectorShape + `, namespaces[], topologyKey}`
	podAffinityShape = `{preferredDuringSchedulingIgnoredDuringExecution[]{podAffinityTerm` + termShape + `, weight},
		requiredDuringSchedulingIgnoredDuringExecution[]` + termShape + `}`
	expressionsShape = `{matchExpressions[]{key, operator, values[]}}`
	stateShape       = `{running{startedAt}, terminated{containerID, exitCode, finishedAt, message, reason, signal, startedAt}, waiting{message, reason}}`
)

// containerShape is the container of §2.21 without probes and lifecycle, which init containers must
// not have.
const containerShape = `args[], command[],
	env[]{name, value, valueFrom{configMapKeyRef{key, name, optional}, fieldRef{apiVersion, fieldPath},
		resourceFieldRef{containerName, divisor, resource}, secretKeyRef{key, name, optional}}},
	envFrom[]{configMapRef{name, optional}, prefix, secretRef{name, optional}},
	image, imagePullPolicy, name, ports[]{containerPort, hostIP, hostPort, name, protocol}, resources{limits, requests},
	securityContext{capabilities{add[], drop[]}, privileged, readOnlyRootFilesystem, runAsNonRoot, runAsUser, ` + linuxShape + `},
	stdin, stdinOnce, terminationMessagePath, terminationMessagePolicy, tty, volumeMounts[]{mountPath, name, readOnly, subPath}, workingDir`

// podSpecShape is §2.21 but for what only some kinds have.
const podSpecShape = `affinity{
		nodeAffinity{preferredDuringSchedulingIgnoredDuringExecution[]{preference` + expressionsShape + `, weight},
			requiredDuringSchedulingIgnoredDuringExecution{nodeSelectorTerms[]` + expressionsShape + `}},
		podAffinity` + podAffinityShape + `, podAntiAffinity` + podAffinityShape + `},
	automountServiceAccountToken,
	containers[]{` + containerShape + `, lifecycle{postStart{` + handlerShape + `}, preStop{` + handlerShape + `}},
		livenessProbe` + probeShape + `, readinessProbe` + probeShape + `},
	initContainers[]{` + containerShape + `},
	dnsPolicy, hostAliases[]{hostnames[], ip}, hostIPC, hostNetwork, hostPID, hostname, imagePullSecrets[]{name}, nodeName, nodeSelector,
	restartPolicy, schedulerName, securityContext{fsGroup, runAsNonRoot, runAsUser, ` + linuxShape + `, supplementalGroups[]},
	serviceAccount, serviceAccountName, subdomain, terminationGracePeriodSeconds, tolerations[]{effect, key, operator, tolerationSeconds, value},
	volumes[]{name}`

// templateShape is what only pods of templates have (§2.20, §2.21).
const templateShape = `priority, priorityClassName,
	containers[]{securityContext{allowPrivilegeEscalation}, volumeMounts[]{mountPropagation}}`

// templateVolumes are fields that only volumes of templates have (§2.20).
const templateVolumes = `volumes[]{fc{wwids[]}, hostPath{type}, iscsi{initiatorName, name}}`

// volumeSources are the sources of §2.20 that pods and persistent volumes share; podVolumes and the
// one of persistentVolumes are in one of them only.
const (
	volumeSources = `cloudAElasticBlockStore{fsType, partition, readOnly, volumeID},
		cloudBDisk{cachingMode, diskName, diskURI, fsType, kind, readOnly}, cloudBFile{readOnly, secretName, shareName},
		cephfs{monitors[], path, readOnly, secretFile, secretRef{name}, user}, cinder{fsType, readOnly, volumeID},
		fc{fsType, lun, readOnly, targetWWNs[]}, flexVolume{driver, fsType, options, readOnly, secretRef{name}},
		vendorAVolume{datasetName, datasetUUID}, cloudCPersistentDisk{fsType, partition, pdName, readOnly},
		glusterfs{endpoints, path, readOnly}, hostPath{path},
		iscsi{chapAuthDiscovery, chapAuthSession, fsType, iqn, iscsiInterface, lun, portals[], readOnly, secretRef{name}, targetPortal},
		nfs{path, readOnly, server}, virtBPersistentDisk{fsType, pdID}, vendorBVolume{fsType, readOnly, volumeID},
		vendorCVolume{group, readOnly, registry, user, volume},
		rbd{fsType, image, keyring, monitors[], pool, readOnly, secretRef{name}, user},
		vendorDVolume{fsType, gateway, protectionDomain, readOnly, secretRef{name}, sslEnabled, storageMode, storagePool, system, volumeName},
		vendorEVolume{fsType, readOnly, secretRef` + referenceShape + `, volumeName, volumeNamespace},
		virtAVolume{fsType, storagePolicyID, storagePolicyName, volumePath}`
	podVolumes = `configMap{defaultMode, ` + itemsShape + `, name, optional}, downwardAPI{defaultMode, ` + fileShape + `},
		emptyDir{medium, sizeLimit}, gitRepo{directory, repository, revision}, persistentVolumeClaim{claimName, readOnly},
		projected{defaultMode, sources[]{configMap{` + itemsShape + `, name, optional}, downwardAPI{` + fileShape + `},
			secret{` + itemsShape + `, name, optional}}},
		secret{defaultMode, ` + itemsShape + `, optional, secretName}`
	persistentVolumes = `local{path}`
)

// tables are the fields of each kind, by section. Metadata is that of §2.1.
var tables = map[string]string{
	"Endpoints": `subsets[]{addresses[]{hostname, ip, nodeName, targetRef` + referenceShape + `},
		notReadyAddresses[]{hostname, ip, nodeName, targetRef` + referenceShape + `}, ports[]{name, port, protocol}}`,
	"Namespace": `spec{finalizers[]}, status{phase}`,
	"ConfigMap": `data`,
	"Event": `count, firstTimestamp, involvedObject` + referenceShape + `, lastTimestamp, message, reason,
		source{component, host}, type`,
	"PersistentVolume": `spec{accessModes[], capacity, claimRef` + referenceShape + `, persistentVolumeReclaimPolicy, storageClassName},
		status{message, phase, reason}`,
	"Node": `spec{externalID, podCIDR, providerID, taints[]{effect, key, timeAdded, value}, unschedulable},
		status{addresses[]{address, type}, allocatable, capacity,
			conditions[]{lastHeartbeatTime, lastTransitionTime, message, reason, status, type},
			daemonEndpoints{platformletEndpoint{Port}}, images[]{names[], sizeBytes},
			nodeInfo{architecture, bootID, containerRuntimeVersion, kernelVersion, platformProxyVersion, platformletVersion, machineID,
				operatingSystem, osImage, systemUUID},
			phase, volumesAttached[]{devicePath, name}, volumesInUse[]}`,
	"ClusterNetwork": `hostsubnetlength, network, pluginName, serviceNetwork`,
	"Image": `containerImageConfig, containerImageLayers[]{mediaType, name, size}, containerImageManifest, containerImageManifestMediaType,
		containerImageMetadata, containerImageMetadataVersion, containerImageReference, containerImageSignatures[],
		signatures[]{apiVersion, conditions[]` + conditionShape + `, content, created, imageIdentity, issuedBy{commonName, organization},
			issuedTo{commonName, organization}, publicKeyID, kind, metadata{name}, signedClaims, type}`,
	"ThirdPartyResource": `description, versions[]{name}`,
	"ClusterRole":        rulesShape,
	"Role":               rulesShape,
	"OAuthClient": `additionalSecrets[], grantMethod, redirectURIs[], respondWithChallenges,
		scopeRestrictions[]{clusterRole{allowEscalation, namespaces[], roleNames[]}, literals[]}, secret`,
	"HostSubnet":         `egressIPs[], host, hostIP, subnet`,
	"LegacyBinding":      `groupNames[], roleRef` + referenceShape + `, subjects[]` + referenceShape + `, userNames[]`,
	"ClusterRoleBinding": `roleRef{apiGroup, kind, name}, subjects[]{apiGroup, kind, name, namespace}`,
	"HorizontalPodAutoscaler": `spec{maxReplicas, minReplicas, scaleTargetRef` + crossShape + `,
			metrics[]{type, object{metricName, target` + crossShape + `, targetValue}, pods{metricName, targetAverageValue},
				resource{name, targetAverageUtilization, targetAverageValue}}},
		status{conditions[]{lastTransitionTime, message, reason, status, type}, currentReplicas, desiredReplicas, lastScaleTime,
			observedGeneration,
			currentMetrics[]{type, object{currentValue, metricName, target` + crossShape + `}, pods{currentAverageValue, metricName},
				resource{currentAverageUtilization, currentAverageValue, name}}}`,
	"DaemonSet": `spec{minReadySeconds, revisionHistoryLimit, selector` + selectorShape + `, updateStrategy{rollingUpdate{maxUnavailable}, type},
			template{metadata{labels}, spec{` + podSpecShape + `}}},
		status{collisionCount, currentNumberScheduled, desiredNumberScheduled, numberAvailable, numberMisscheduled, numberReady,
			numberUnavailable, observedGeneration, updatedNumberScheduled}`,
	"CronJob": `spec{concurrencyPolicy, failedJobsHistoryLimit, schedule, startingDeadlineSeconds, successfulJobsHistoryLimit, suspend,
			jobTemplate{metadata{labels}, spec{activeDeadlineSeconds, backoffLimit, completions, manualSelector, parallelism,
				template{metadata{labels}, spec{activeDeadlineSeconds, ` + podSpecShape + `}}}}},
		status{active[]` + referenceShape + `, lastScheduleTime}`,
	"StatefulSet": `spec{podManagementPolicy, replicas, revisionHistoryLimit, serviceName, selector` + selectorShape + `,
			template{metadata{labels}, spec{` + podSpecShape + `}}, updateStrategy{rollingUpdate{partition}, type},
			volumeClaimTemplates[]{apiVersion, kind, metadata{name},
				spec{accessModes[], resources{limits, requests}, selector` + selectorShape + `, storageClassName, volumeName},
				status{accessModes[], capacity, conditions[]` + conditionShape + `, phase}}},
		status{collisionCount, currentReplicas, currentRevision, observedGeneration, readyReplicas, replicas, updateRevision, updatedReplicas}`,
	"Pod": `spec{activeDeadlineSeconds, ` + podSpecShape + `},
		status{conditions[]` + conditionShape + `, containerStatuses[]` + containerStatus + `, initContainerStatuses[]` + containerStatus + `,
			hostIP, message, phase, podIP, qosClass, reason, startTime}`,
}

const containerStatus = `{containerID, image, imageID, lastState` + stateShape + `, name, ready, restartCount, state` + stateShape + `}`

// unkept are fields of the tables that no stored object of the kind has: rules that a Role cannot
// have, and what the rbac form, which the legacy bindings are stored in, has no place for.
var unkept = map[string]string{
	"Role": `rules[]{nonResourceURLs[]}`,
	"LegacyBinding": `roleRef{apiVersion, fieldPath, kind, namespace, resourceVersion, uid},
		subjects[]{apiVersion, fieldPath, resourceVersion, uid}`,
}
