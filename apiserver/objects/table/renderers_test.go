package table_test

import (
	"encoding/json"
	"testing"

	"quorate/apiserver/objects/table"
)

const (
	meta = `"metadata":{"name":"x","creationTimestamp":"` + created + `"}`
	tmpl = `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"nodeSelector":{"disk":"ssd","zone":"a"},` +
		`"containers":[{"name":"c","image":"i:1"},{"name":"d","image":"j:2"}]}}`
	core = "/api/v1"
	rbac = "/apis/rbac.authorization.platform.io/v1"
)

// TestCells checks the row of each kind, including wide columns (M36–M51).
func TestCells(t *testing.T) {
	t.Parallel()
	c := catalog(t)
	for _, tc := range []struct{ row, prefix, plural, object, want string }{
		{"M37", core, "nodes", `{` + meta + `}`,
			`["x","Unknown","<none>","5m30s","","<none>","<none>","<unknown>","<unknown>","<unknown>"]`},
		{"M37 ready and roles", core, "nodes", `{"metadata":{"name":"x","creationTimestamp":"` + created + `","labels":{
			"node-role.platform.io/master":"","platform.io/role":"infra","node-role.platform.io/":"none","other":"y"}},
			"spec":{"unschedulable":true},"status":{"conditions":[{"type":"OutOfDisk","status":"True"},{"type":"Ready","status":"True"}],
			"addresses":[{"type":"Hostname","address":"h"},{"type":"InternalIP","address":"10.0.0.1"},{"type":"InternalIP","address":"10.0.0.2"},
			{"type":"ExternalIP","address":"192.0.2.1"}],"nodeInfo":{"platformletVersion":"v1","osImage":"O","kernelVersion":"6.1","containerRuntimeVersion":"r://1"}}}`,
			`["x","Ready,SchedulingDisabled","infra,master","5m30s","v1","10.0.0.1","192.0.2.1","O","6.1","r://1"]`},
		{"M37 not ready", core, "nodes", `{` + meta + `,"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}}`,
			`["x","NotReady","<none>","5m30s","","<none>","<none>","<unknown>","<unknown>","<unknown>"]`},
		{"M38", core, "namespaces", `{` + meta + `,"status":{"phase":"Active"}}`, `["x","Active","5m30s"]`},
		{"M39", core, "configmaps", `{` + meta + `,"data":{"a":"1","b":"2"}}`, `["x","2","5m30s"]`},
		{"M39 with bytes", core, "configmaps", `{` + meta + `,"data":{"a":"1"},"binaryData":{"b":"","c":"AA=="}}`, `["x","3","5m30s"]`},
		{"M39 without data", core, "configmaps", `{` + meta + `}`, `["x","0","5m30s"]`},
		{"M40", core, "endpoints", `{` + meta + `}`, `["x","<none>","5m30s"]`},
		{"M40 none ready", core, "endpoints", `{` + meta + `,"subsets":[{"notReadyAddresses":[{"ip":"10.0.0.1"}],"ports":[{"port":80}]}]}`,
			`["x","","5m30s"]`},
		{"M40 no ports", core, "endpoints", `{` + meta + `,"subsets":[{"addresses":[{"ip":"10.0.0.1"},{"ip":"fd00::1"}]}]}`,
			`["x","10.0.0.1,fd00::1","5m30s"]`},
		{"M40 more", core, "endpoints", `{` + meta + `,"subsets":[{"addresses":[{"ip":"10.0.0.1"},{"ip":"fd00::1"}],"ports":[{"port":80},{"port":443}]},
			{"addresses":[{"ip":"10.0.0.3"}],"ports":[{"port":53}]}]}`, `["x","10.0.0.1:80,[fd00::1]:80,10.0.0.1:443 + 2 more...","5m30s"]`},
		{"M41", core, "events", `{` + meta + `,"involvedObject":{"kind":"Pod","name":"p","fieldPath":"spec.c"},"type":"Normal","reason":"Started",
			"message":"two\nlines","source":{"component":"agent","host":"n1"},"firstTimestamp":"2026-01-02T01:04:05Z","lastTimestamp":"2026-01-02T03:04:00Z","count":3}`,
			`["5s","Normal","Started","pod/p","spec.c","agent, n1","two\nlines","120m","3","x"]`},
		{"M41 bare", core, "events", `{` + meta + `,"involvedObject":{},"source":{"host":"n1"}}`,
			`["<unknown>","","","/","","n1","","<unknown>","","x"]`},
		{"M42", core, "persistentvolumes", `{` + meta + `,"spec":{"capacity":{"storage":"10240Mi"},"accessModes":["ReadWriteMany","ReadWriteOnce"],
			"persistentVolumeReclaimPolicy":"Retain","storageClassName":"fast","claimRef":{"namespace":"shop","name":"data"}},"status":{"phase":"Failed","reason":"Gone"}}`,
			`["x","10Gi","RWO,RWX","Retain","Failed","shop/data","fast","Gone","5m30s"]`},
		{"M42 going", core, "persistentvolumes", `{"metadata":{"name":"x","creationTimestamp":"` + created + `","deletionTimestamp":"` + created + `"},
			"status":{"phase":"Bound"}}`, `["x","","","","Terminating","","","","5m30s"]`},
		{"M43", "/apis/apps/v1beta2", "statefulsets", `{` + meta + `,"spec":{"replicas":3,` + tmpl + `},"status":{"readyReplicas":2}}`,
			`["x","2/3","5m30s","c,d","i:1,j:2"]`},
		{"M44", "/apis/apps/v1beta2", "daemonsets", `{` + meta + `,"spec":{"selector":{"matchLabels":{"z":"1","b":"2"},"matchExpressions":[
			{"key":"c","operator":"In","values":["y","x"]},{"key":"a","operator":"DoesNotExist"},{"key":"q","operator":"NotIn","values":["v"]},{"key":"e","operator":"Exists"}]},` +
			tmpl + `},"status":{"desiredNumberScheduled":5,"currentNumberScheduled":4,"numberReady":3,"updatedNumberScheduled":2,"numberAvailable":1}}`,
			`["x",5,4,3,2,1,"disk=ssd,zone=a","5m30s","c,d","i:1,j:2","!a,b=2,c in (x,y),e,q notin (v),z=1"]`},
		{"M44 empty", "/apis/apps/v1beta2", "daemonsets", `{` + meta + `,"spec":{"selector":{},"template":{"spec":{"containers":[]}}}}`,
			`["x",0,0,0,0,0,"<none>","5m30s","","","<none>"]`},
		{"M45", "/apis/batch/v1beta1", "cronjobs", `{` + meta + `,"spec":{"schedule":"@daily","suspend":true,"jobTemplate":{"spec":{"selector":{"matchLabels":{"a":"b"}},` + tmpl + `}}},
			"status":{"active":[{"name":"j"}],"lastScheduleTime":"2026-01-01T01:04:05Z"}}`,
			`["x","@daily","True",1,"26h","5m30s","c,d","i:1,j:2","a=b"]`},
		{"M45 never", "/apis/batch/v1beta1", "cronjobs", `{` + meta + `,"spec":{"schedule":"@daily","suspend":false}}`,
			`["x","@daily","False",0,"<none>","5m30s","","","<none>"]`},
		{"M46", "/apis/autoscaling/v2beta1", "horizontalpodautoscalers", `{` + meta + `,"spec":{"maxReplicas":9,"minReplicas":2,"scaleTargetRef":{"kind":"StatefulSet","name":"w"},
			"metrics":[{"type":"Resource","resource":{"name":"cpu","targetAverageUtilization":80}},{"type":"Pods","pods":{"metricName":"m","targetAverageValue":"500m"}}]},
			"status":{"currentReplicas":4,"currentMetrics":[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":42,"currentAverageValue":"1"}}]}}`,
			`["x","StatefulSet/w","42%/80%, <unknown>/500m","2",9,4,"5m30s"]`},
		{"M46 values", "/apis/autoscaling/v2beta1", "horizontalpodautoscalers", `{` + meta + `,"spec":{"maxReplicas":9,"scaleTargetRef":{"kind":"K","name":"w"},
			"metrics":[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}},{"type":"Object","object":{"metricName":"m","targetValue":"1k"}},
			{"type":"Resource","resource":{"name":"cpu"}}]},"status":{"currentMetrics":[{"type":"Resource","resource":{"currentAverageValue":"512Mi"}},
			{"type":"Object","object":{"currentValue":"7"}}]}}`,
			`["x","K/w","512Mi/1Gi, 7/1k + 1 more...","<unset>",9,0,"5m30s"]`},
		{"M46 none", "/apis/autoscaling/v2beta1", "horizontalpodautoscalers", `{` + meta + `,"spec":{"maxReplicas":1,"scaleTargetRef":{}}}`,
			`["x","/","<none>","<unset>",1,0,"5m30s"]`},
		{"M47", "/apis/rbac.authorization.platform.io/v1beta1", "clusterroles", `{` + meta + `}`, `["x","` + created + `"]`},
		{"M47 Role", rbac, "roles", `{` + meta + `}`, `["x","` + created + `"]`},
		{"M48", rbac, "clusterrolebindings", `{` + meta + `,"roleRef":{"kind":"ClusterRole","name":"r"},"subjects":[{"kind":"User","name":"u"},
			{"kind":"Group","name":"g"},{"kind":"ServiceAccount","namespace":"n","name":"s"},{"kind":"User","name":"v"}]}`,
			`["x","ClusterRole/r","5m30s","u,v","g","n/s"]`},
		{"M48 legacy", "/oapi/v1", "clusterrolebindings", `{` + meta + `,"roleRef":{"name":"r"},"subjects":[{"kind":"User","name":"u"},{"kind":"Group","name":"g"},
			{"kind":"ServiceAccount","namespace":"n","name":"s"},{"kind":"Robot","name":"z"}]}`, `["x","/r","","","n/s","Robot/z"]`},
		{"M49", "/apis/extensions/v1beta1", "thirdpartyresources", `{` + meta + `,"description":"D","versions":[{"name":"v1"},{"name":"v2"}]}`,
			`["x","D","v1,v2"]`},
		{"M50 Image", "/apis/image.platform.io/v1", "images", `{` + meta + `,"containerImageReference":"r/i:1"}`, `["x","r/i:1"]`},
		{"M50 HostSubnet", "/oapi/v1", "hostsubnets", `{` + meta + `,"host":"h","hostIP":"10.0.0.1","subnet":"10.1.0.0/23","egressIPs":["10.0.0.8","10.0.0.9"]}`,
			`["x","h","10.0.0.1","10.1.0.0/23","10.0.0.8,10.0.0.9"]`},
		{"M50 ClusterNetwork", "/apis/network.platform.io/v1", "clusternetworks", `{` + meta + `,"network":"10.1.0.0/16","hostsubnetlength":9,"serviceNetwork":"10.2.0.0/16","pluginName":"p"}`,
			`["x","10.1.0.0/16",9,"10.2.0.0/16","p"]`},
		{"M50 OAuthClient", "/apis/oauth.platform.io/v1", "oauthclients", `{` + meta + `,"secret":"hidden","respondWithChallenges":true,"redirectURIs":["https://a","https://b"]}`,
			`["x",true,"https://a,https://b"]`},
	} {
		t.Run(tc.row, func(t *testing.T) {
			t.Parallel()
			k := c.Kind(tc.prefix, tc.plural)
			got, err := json.Marshal(cellsOf(t, rows(t, c, k, "v1", table.None), stored(t, k, tc.object)))
			if err != nil {
				t.Fatal(err)
			}
			var want any
			if err := json.Unmarshal([]byte(tc.want), &want); err != nil {
				t.Fatal(err)
			}
			if again, _ := json.Marshal(want); string(again) != string(got) {
				t.Errorf("got  %s\nwant %s", got, again)
			}
		})
	}
}
