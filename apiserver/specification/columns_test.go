package specification

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// columnRows prove the columns of each kind's Table (M36–M51), those in parentheses for wide output
// only, and the cells of an object. Ages of objects just made read as "0s".
var columnRows = []row{
	inTable("M36", "Pod", "Name, Ready, Status, Restarts, Age (IP, Node)", `{"spec":{"nodeName":"n1"}}`,
		`{"status":{"phase":"Running","podIP":"10.1.2.3","containerStatuses":[{"name":"c","image":"i","imageID":"i","ready":true,"restartCount":3,"state":{"running":{}}}]}}`,
		`["$name","1/1","Running",3,"0s","10.1.2.3","n1"]`),
	inTable("M37", "Node", "Name, Status, Roles, Age, Version (Internal-IP, External-IP, OS-Image, Kernel-Version, Container-Runtime)",
		`{"metadata":{"labels":{"node-role.platform.io/infra":""}},"spec":{"unschedulable":true}}`,
		`{"status":{"conditions":[{"type":"Ready","status":"True"}],"addresses":[{"type":"InternalIP","address":"10.0.0.1"}],"nodeInfo":{"platformletVersion":"v1","osImage":"Linux"}}}`,
		`["$name","Ready,SchedulingDisabled","infra","0s","v1","10.0.0.1","<none>","Linux","<unknown>","<unknown>"]`),
	inTable("M38", "Namespace", "Name, Status, Age", `{}`, ``, `["$name","Active","0s"]`),
	inTable("M39", "ConfigMap", "Name, Data, Age", `{"data":{"l":"w"}}`, ``, `["$name","2","0s"]`),
	inTable("M40", "Endpoints", "Name, Endpoints, Age", `{}`, ``, `["$name","10.0.0.1:80","0s"]`),
	inTable("M41", "Event", "Last Seen, Type, Reason, Object, Message (Subobject, Source, First Seen, Count, Name)",
		`{"type":"Warning","message":"It broke","source":{"component":"c","host":"h"},"count":2,"involvedObject":{"fieldPath":"spec.f"}}`, ``,
		`["<unknown>","Warning","Tested","pod/p","spec.f","c, h","It broke","<unknown>","2","$name"]`),
	inTable("M42", "PersistentVolume", "Name, Capacity, Access Modes, Reclaim Policy, Status, Claim, StorageClass, Reason, Age",
		`{"spec":{"accessModes":["ReadOnlyMany","ReadWriteOnce"],"storageClassName":"fast","claimRef":{"namespace":"n","name":"c"}}}`,
		`{"status":{"phase":"Bound","reason":"R"}}`, `["$name","1Gi","RWO,ROX","Retain","Bound","n/c","fast","R","0s"]`),
	inTable("M43", "StatefulSet", "Name, Ready, Age (Containers, Images)", `{"spec":{"replicas":3}}`, `{"status":{"replicas":2,"readyReplicas":1}}`,
		`["$name","1/3","0s","c","registry.example/app:1"]`),
	inTable("M44", "DaemonSet", "Name, Desired, Current, Ready, Up-to-date, Available, Node Selector, Age (Containers, Images, Selector)",
		`{"spec":{"template":{"spec":{"nodeSelector":{"b":"c","a":"d"}}}}}`,
		`{"status":{"desiredNumberScheduled":5,"currentNumberScheduled":4,"numberReady":3,"updatedNumberScheduled":2,"numberAvailable":1}}`,
		`["$name",5,4,3,2,1,"a=d,b=c","0s","c","registry.example/app:1","app=a"]`),
	inTable("M45", "CronJob", "Name, Schedule, Suspend, Active, Last Schedule, Age (Containers, Images, Selector)", `{}`, `{"status":{"active":[{"name":"j"}]}}`,
		`["$name","0 * * * *","False",1,"<none>","0s","c","i:1","<none>"]`),
	inTable("M46", "HorizontalPodAutoscaler", "Name, Reference, Targets, MinPods, MaxPods, Replicas, Age", `{}`, ``,
		`["$name","StatefulSet/w","<unknown>/80%","1",3,0,"0s"]`),
	inTable("M47", "ClusterRole", "Name, Created At", `{}`, ``, `["$name","$created"]`),
	inTable("M47", "Role", "Name, Created At", `{}`, ``, `["$name","$created"]`),
	inTable("M48", "ClusterRoleBinding", "Name, Role, Age (Users, Groups, ServiceAccounts)",
		`{"subjects":[{"kind":"User","name":"u"},{"kind":"Group","name":"g"},{"kind":"ServiceAccount","namespace":"n","name":"s"}]}`, ``,
		`["$name","ClusterRole/r","0s","u","g","n/s"]`),
	// The legacy form shows what its fields hold; its kind file wins.
	inTable("M48", "LegacyBinding", "Name, Role, Users, Groups, Service Accounts, Subjects", `{}`, ``, `["$name","/r","u","","",""]`),
	inTable("M49", "ThirdPartyResource", "Name, Description, Version(s)", `{"description":"D","versions":[{"name":"v1"},{"name":"v2"}]}`, ``,
		`["$name","D","v1,v2"]`),
	inTable("M50", "Image", "Name, Image Ref", `{}`, ``, `["$name","registry.example/app:1"]`),
	inTable("M50", "HostSubnet", "Name, Host, Host IP, Subnet, Egress IPs", `{"egressIPs":["10.0.0.8","10.0.0.9"]}`, ``,
		`["$name","$name","192.0.2.1","10.128.0.0/23","10.0.0.8,10.0.0.9"]`),
	// A column that row M50 does not name is for wide output.
	inTable("M50", "ClusterNetwork", "Name, Cluster Network, Service Network, Plugin Name (Host Subnet Length)", `{}`, ``,
		`["$name","10.128.0.0/14",9,"172.30.0.0/16","p"]`),
	inTable("M50", "OAuthClient", "Name, WWW-Challenge, Redirect URIs", `{"respondWithChallenges":true}`, ``, `["$name",true,"https://c.example/cb"]`),
	{"M51", func(t *testing.T, s *testserver.Server) {
		k, ns := define(t, s, "m51", "v1"), namespace(t, s)
		ok(t, s.Do("POST", k.path("v1", ns), k.object("v1", "i")))
		body := ok(t, s.Do("GET", k.path("v1", ns), "", "Accept: "+asTable))
		if got := columns(t, body); got != "Name, Age" {
			t.Errorf("columns %s", got)
		}
		want(t, ages.ReplaceAllString(body, `"0s"`), "rows.0.cells", `["i","0s"]`)
	}},
}

// ages are those of objects just made.
var ages = regexp.MustCompile(`"[0-9]+m?[0-9]*s"`)

// inTable makes the row of a kind: an object of it, changed, with another status, and its columns
// and cells.
func inTable(id, kind, wanted, changes, status, cells string) row {
	return row{id, func(t *testing.T, s *testserver.Server) {
		ns, name := namespace(t, s), rowName(kind, strings.ToLower(id))
		made := create(t, s, kind, ns, name, changes)
		if status != "" {
			ok(t, s.Do("PATCH", item(kind, ns, name)+"/status", status, mergePatch))
		}
		body := ok(t, s.Do("GET", item(kind, ns, name)+"?includeObject=None", "", "Accept: "+asTable))
		if got := columns(t, body); got != wanted {
			t.Errorf("columns %s, want %s", got, wanted)
		}
		cells := strings.NewReplacer("$name", name, "$created", get(t, made, "metadata.creationTimestamp")).Replace(cells)
		var list any
		if err := json.Unmarshal([]byte(cells), &list); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		want(t, ages.ReplaceAllString(body, `"0s"`), "rows.0.cells", string(text))
		if strings.Contains(body, `"secret"`) || strings.Contains(body, `"description":""`) {
			t.Errorf("a secret, or a column without a description: %s", body)
		}
	}}
}

// columns are those of a Table as the rows of the semantics write them.
func columns(t *testing.T, body string) string {
	t.Helper()
	var narrow, wide []string
	for i := 0; value(t, body, fmt.Sprintf("columnDefinitions.%d", i)) != nil; i++ {
		column := get(t, body, fmt.Sprintf("columnDefinitions.%d", i))
		if get(t, column, "priority") == "0" {
			narrow = append(narrow, get(t, column, "name"))
		} else {
			wide = append(wide, get(t, column, "name"))
		}
	}
	if len(wide) == 0 {
		return strings.Join(narrow, ", ")
	}
	return strings.Join(narrow, ", ") + " (" + strings.Join(wide, ", ") + ")"
}
