"""Roles, as every client writes them."""
from trial import client

roles = client.RbacAuthorizationV1Api()
roles.create_cluster_role({"metadata": {"name": "reader"}, "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]})
roles.create_cluster_role_binding({"metadata": {"name": "reader"}, "subjects": [{"kind": "User", "name": "jane", "apiGroup": "rbac.authorization.k8s.io"}],
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"}})
review = client.AuthorizationV1Api().create_subject_access_review({"spec": {"user": "jane", "resourceAttributes": {"verb": "list", "resource": "pods"}}})
assert review.status.allowed, review
