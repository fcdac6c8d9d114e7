"""Kinds beyond ConfigMaps, their status and scale, and discovery."""
import datetime

from trial import apps, batch, client, core, utils

template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "registry.example.com/web:1"}]}}
utils.create_from_dict(client.ApiClient(), {"apiVersion": "v1", "kind": "List", "items": [
    {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
     "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template}},
    {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}}]})
apps.patch_namespaced_deployment_scale("web", "default", {"spec": {"replicas": 3}})
web = apps.read_namespaced_deployment("web", "default")
assert web.spec.replicas == 3 and web.spec.strategy.type == "RollingUpdate", web
job = {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "j", "image": "registry.example.com/job:1"}]}}}
batch.create_namespaced_job("default", {"metadata": {"name": "once"}, "spec": job})
client.BatchV1Api().create_namespaced_cron_job("default", {"metadata": {"name": "hourly"}, "spec": {"schedule": "0 * * * *", "jobTemplate": {"spec": job}}})
client.NetworkingV1Api().create_namespaced_ingress("default", {"metadata": {"name": "web"}, "spec": {"rules": [
    {"host": "web.example.com", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "web", "port": {"number": 80}}}}]}}]}})
core.create_node({"metadata": {"name": "worker"}})
core.patch_node_status("worker", {"status": {"conditions": [{"type": "Ready", "status": "True"}], "capacity": {"cpu": "4"}}})
assert core.list_node().items[0].status.capacity["cpu"] == "4"
core.create_namespaced_pod("default", {"metadata": {"name": "p"}, "spec": {"nodeName": "worker", "containers": [{"name": "c", "image": "registry.example.com/c:1"}]}})
core.patch_namespaced_pod_status("p", "default", {"status": {"phase": "Running"}})
assert core.read_namespaced_pod("p", "default").status.phase == "Running"
now = datetime.datetime.now(datetime.timezone.utc)
core.create_namespaced_event("default", client.CoreV1Event(metadata=client.V1ObjectMeta(name="e"), reason="Tried", type="Normal", message="m",
    involved_object=client.V1ObjectReference(kind="Pod", name="p", namespace="default"), first_timestamp=now, last_timestamp=now, count=1))
review = client.AuthorizationV1Api().create_self_subject_access_review({"spec": {"resourceAttributes": {"verb": "list", "resource": "pods"}}})
assert review.status.allowed, review
for group in client.ApisApi().get_api_versions().groups:
    print(group.name, group.preferred_version.version)
