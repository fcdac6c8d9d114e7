"""The typed client: every verb, selectors, pages and a watch from a version."""
from trial import client, core, refused, watch

core.create_namespace({"metadata": {"name": "typed"}})
made = core.create_namespaced_config_map("typed", {"metadata": {"name": "one", "labels": {"tier": "front"}}, "data": {"a": "1"}})
refused(409, core.create_namespaced_config_map, "typed", {"metadata": {"name": "one"}})
refused(404, core.read_namespaced_config_map, "two", "typed")
assert core.read_namespaced_config_map("one", "typed").data == {"a": "1"}
core.create_namespaced_config_map("typed", {"metadata": {"name": "two"}})
names = lambda **by: [o.metadata.name for o in core.list_namespaced_config_map("typed", **by).items]
assert names(label_selector="tier=front") == ["one"] and names(field_selector="metadata.name=two") == ["two"], names()
page = core.list_namespaced_config_map("typed", limit=1)
rest = core.list_namespaced_config_map("typed", limit=1, _continue=page.metadata._continue)
assert [o.metadata.name for o in page.items + rest.items] == ["one", "two"]
core.patch_namespaced_config_map("one", "typed", {"data": {"b": "2"}})
core.patch_namespaced_config_map("one", "typed", [{"op": "remove", "path": "/data/a"}])
after = core.read_namespaced_config_map("one", "typed")
assert after.data == {"b": "2"}, after
stale = made
stale.data = {"a": "3"}
refused(409, core.replace_namespaced_config_map, "one", "typed", stale)
core.delete_namespaced_config_map("two", "typed")
seen = []
for event in watch.Watch().stream(core.list_namespaced_config_map, "typed", resource_version=made.metadata.resource_version, timeout_seconds=5):
    seen.append((event["type"], event["object"].metadata.name))
    if event["type"] == "DELETED":
        break
assert seen == [("ADDED", "two"), ("MODIFIED", "one"), ("MODIFIED", "one"), ("DELETED", "two")], seen
core.create_namespaced_secret("typed", client.V1Secret(metadata=client.V1ObjectMeta(name="s"), string_data={"k": "v"}))
core.delete_collection_namespaced_config_map("typed")
assert names() == []
core.delete_namespace("typed")
print(client.VersionApi().get_code())
