"""What Kubeflow's MPI operator and Kubernetes refuse in an MPIJob (v2beta1), as far as files of this project have it."""

import re

CLEAN_POD_POLICIES = ("None", "Running", "All")
CREATION_POLICIES = ("AtStartup", "WaitForWorkersReady")
SPEC_KEYS = {"slotsPerWorker", "runLauncherAsWorker", "runPolicy", "mpiReplicaSpecs", "sshAuthMountPath",
             "launcherCreationPolicy", "mpiImplementation"}
RUN_POLICY_KEYS = {"cleanPodPolicy", "ttlSecondsAfterFinished", "activeDeadlineSeconds", "backoffLimit", "schedulingPolicy",
                   "suspend", "managedBy"}
REPLICA_KEYS = {"replicas", "template", "restartPolicy"}
POD_KEYS = {"restartPolicy", "containers", "volumes", "affinity"}
CONTAINER_KEYS = {"name", "image", "workingDir", "command", "args", "volumeMounts", "resources", "securityContext"}
QUANTITY = re.compile(r"\d+(\.\d+)?(m|[kMGT]|[KMGT]i)?")
NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


def problems(job):
    """A line for each."""
    found = []

    def want(condition, text):
        if not condition:
            found.append(text)

    want(job.get("apiVersion") == "kubeflow.org/v2beta1", "apiVersion")
    want(job.get("kind") == "MPIJob", "kind")
    want(NAME.fullmatch(job.get("metadata", {}).get("name", "")), "metadata.name")
    spec = job.get("spec", {})
    want(spec.keys() <= SPEC_KEYS, f"spec: {spec.keys() - SPEC_KEYS}")
    want(isinstance(spec.get("slotsPerWorker"), int), "slotsPerWorker")
    want(spec.get("launcherCreationPolicy", "AtStartup") in CREATION_POLICIES, "launcherCreationPolicy")
    policy = spec.get("runPolicy", {})
    want(policy.keys() <= RUN_POLICY_KEYS, f"runPolicy: {policy.keys() - RUN_POLICY_KEYS}")
    want(policy.get("cleanPodPolicy", "None") in CLEAN_POD_POLICIES, "cleanPodPolicy")
    want(all(isinstance(policy.get(key, 0), int) for key in ("activeDeadlineSeconds", "backoffLimit")), "runPolicy")
    replicas = spec.get("mpiReplicaSpecs", {})
    want(replicas.keys() == {"Launcher", "Worker"}, f"mpiReplicaSpecs: {sorted(replicas)}")
    for name, replica in replicas.items():
        want(replica.keys() <= REPLICA_KEYS, f"{name}: {replica.keys() - REPLICA_KEYS}")
        want(isinstance(replica.get("replicas"), int) and (name == "Worker" or replica["replicas"] == 1), f"{name}.replicas")
        found += [f"{name}: {one}" for one in pod_problems(replica.get("template", {}))]
    return found


def pod_problems(template):
    pod, found = template.get("spec", {}), []
    found += [f"spec: {key}" for key in pod.keys() - POD_KEYS]
    if pod.get("restartPolicy", "Never") not in ("Never", "OnFailure"):
        found.append("restartPolicy")
    if not pod.get("containers"):
        found.append("no containers")
    volumes = {volume["name"] for volume in pod.get("volumes", [])}
    for container in pod.get("containers", []):
        found += [f"container: {key}" for key in container.keys() - CONTAINER_KEYS]
        found += [f"container: no {key}" for key in ("name", "image") if not container.get(key)]
        words = container.get("command", []) + container.get("args", [])
        found += [f"not a text: {word}" for word in words if not isinstance(word, str)]
        found += [f"no volume {mount['name']}" for mount in container.get("volumeMounts", []) if mount["name"] not in volumes]
        for of_kind in container.get("resources", {}).values():
            found += [f"{key}: {value}" for key, value in of_kind.items() if not QUANTITY.fullmatch(str(value))]
    labels = template.get("metadata", {}).get("labels", {})
    for rule in pod.get("affinity", {}).get("podAntiAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", []):
        if not rule["labelSelector"]["matchLabels"].items() <= labels.items():
            found.append("the anti-affinity is to other pods")
    return found
