"""A CustomResourceDefinition, and objects of it as dictionaries."""
import time

from trial import client, refused

definitions, objects = client.ApiextensionsV1Api(), client.CustomObjectsApi()
definitions.create_custom_resource_definition({"metadata": {"name": "lamps.demo.example.com"}, "spec": {
    "group": "demo.example.com", "scope": "Namespaced", "names": {"kind": "Lamp", "plural": "lamps"}, "versions": [{
        "name": "v1", "served": True, "storage": True,
        "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.bulbs", "statusReplicasPath": ".status.bulbs"}},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "spec": {"type": "object", "properties": {"bulbs": {"type": "integer", "minimum": 0, "default": 1}}},
            "status": {"type": "object", "properties": {"bulbs": {"type": "integer"}}}}}}}]}})
for _ in range(100):
    read = definitions.read_custom_resource_definition("lamps.demo.example.com")
    if any(c.type == "Established" and c.status == "True" for c in read.status.conditions or []):
        break
    time.sleep(0.1)
lamps = ("demo.example.com", "v1", "default", "lamps")
objects.create_namespaced_custom_object(*lamps, {"apiVersion": "demo.example.com/v1", "kind": "Lamp", "metadata": {"name": "desk"}, "spec": {}})
assert objects.get_namespaced_custom_object(*lamps, "desk")["spec"]["bulbs"] == 1
refused(422, objects.patch_namespaced_custom_object, *lamps, "desk", {"spec": {"bulbs": -1}})
objects.patch_namespaced_custom_object_scale(*lamps, "desk", {"spec": {"replicas": 4}})
objects.patch_namespaced_custom_object_status(*lamps, "desk", {"status": {"bulbs": 4}, "spec": {"bulbs": 9}})
lamp = objects.get_namespaced_custom_object(*lamps, "desk")
assert (lamp["spec"]["bulbs"], lamp["status"]["bulbs"]) == (4, 4), lamp
assert len(objects.list_cluster_custom_object("demo.example.com", "v1", "lamps")["items"]) == 1
definitions.delete_custom_resource_definition("lamps.demo.example.com")
