"""The dynamic client, which finds kinds by discovery."""
import json

from trial import client, dynamic

dynamically = dynamic.DynamicClient(client.ApiClient())
maps = dynamically.resources.get(api_version="v1", kind="ConfigMap")
deployments = dynamically.resources.get(group="apps", api_version="v1", kind="Deployment")
maps.create(namespace="default", body={"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "dynamic"}, "data": {"a": "1"}})
maps.patch(namespace="default", name="dynamic", body={"data": {"a": "2"}}, content_type="application/merge-patch+json")
found = maps.get(namespace="default", name="dynamic")
assert found.data.a == "2", found
body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": {"a": "1"}}
maps.patch(namespace="default", name="applied", body=json.dumps(body), content_type="application/apply-patch+yaml", field_manager="python")
assert maps.get(namespace="default", name="applied").metadata.managedFields[0].manager == "python"
for event in maps.watch(namespace="default", resource_version=found.metadata.resourceVersion, timeout=5):
    assert event["object"].metadata.name == "applied", event
    break
assert deployments.get(namespace="default").kind == "DeploymentList"
