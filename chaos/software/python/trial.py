"""The clients that all scripts use, for the cluster of the kubeconfig."""
import os

from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.rest import ApiException

config.load_kube_config(os.environ["KUBECONFIG"])
core, apps, batch = client.CoreV1Api(), client.AppsV1Api(), client.BatchV1Api()


def refused(status, call, *args, **named):
    """Calls a method that must fail with the status."""
    try:
        call(*args, **named)
    except ApiException as e:
        assert e.status == status, e
        return
    raise AssertionError("not refused")
