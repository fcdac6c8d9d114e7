"""Leader election: of two candidates one leads."""
import os
import sys
import threading

from kubernetes.leaderelection import leaderelection, electionconfig
from kubernetes.leaderelection.resourcelock.configmaplock import ConfigMapLock

from trial import core

led = []
def candidate(name):
    def lead():
        led.append(name)
        done.set()
    return electionconfig.Config(ConfigMapLock("election", "default", name), lease_duration=15, renew_deadline=10, retry_period=2,
        onstarted_leading=lead, onstopped_leading=None)
done = threading.Event()
for name in ("first", "second"):
    threading.Thread(target=leaderelection.LeaderElection(candidate(name)).run, daemon=True).start()
assert done.wait(30) and len(led) == 1, led
record = core.read_namespaced_config_map("election", "default").metadata.annotations["control-plane.alpha.kubernetes.io/leader"]
assert led[0] in record, record
print(record)
sys.stdout.flush()
os._exit(0)
