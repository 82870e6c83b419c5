//! What holds for every object, whatever overlay it is in: pods are restricted, bounded, probed and closed to the network;
//! whatever one object names in another is there.

use serde_json::{Value, json};

use crate::manifests::{OVERLAYS, called, find, objects};

const NAMESPACE: &str = "agent-sentinel";
/// Secrets that the user makes; the last one only with the chart, where its name is a value.
const SECRETS: [&str; 4] =
    ["embedding-service-redis", "agent-gateway-clients", "agent-gateway-keys", "control-key"];

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn pod(object: &Value) -> Option<&Value> {
    matches!(object["kind"].as_str(), Some("Deployment" | "StatefulSet" | "DaemonSet" | "Job"))
        .then(|| &object["spec"]["template"])
}

/// Containers, sidecars among them.
fn containers(template: &Value) -> impl Iterator<Item = &Value> {
    list(&template["spec"]["containers"]).chain(list(&template["spec"]["initContainers"]))
}

/// Whether a `matchLabels` (empty: everything) fits these labels.
fn selects(selector: &Value, labels: &Value) -> bool {
    selector.as_object().into_iter().flatten().all(|(key, value)| labels[key] == *value)
}

/// Everything that is wrong with these objects.
pub fn faults(objects: &[Value]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut fault = |object: &Value, what: String| faults.push(format!("{}: {what}", called(object)));
    for object in objects {
        if object["kind"] == "Secret" {
            fault(object, "a secret does not belong into a repository".to_owned());
        }
        if object["kind"] == "ServiceAccount" && object["automountServiceAccountToken"] != json!(false) {
            fault(object, "hands out a token".to_owned());
        }
        if object["kind"] == "Service" {
            for what in of_a_service(object, objects) {
                fault(object, what);
            }
        }
        if let Some(template) = pod(object) {
            for what in of_a_pod(template, objects).into_iter().chain(of_a_workload(object, objects)) {
                fault(object, what);
            }
        }
    }
    faults
}

fn of_a_pod(template: &Value, objects: &[Value]) -> Vec<String> {
    let mut faults = Vec::new();
    let spec = &template["spec"];
    let security = &spec["securityContext"];
    let mut must = |holds: bool, what: &str| {
        if !holds {
            faults.push(what.to_owned());
        }
    };
    must(spec["automountServiceAccountToken"] == json!(false), "mounts a token");
    must(security["runAsNonRoot"] == json!(true), "may run as root");
    must(security["runAsUser"].as_u64().is_some_and(|user| user > 0), "runs as user 0, or as any");
    must(security["seccompProfile"]["type"] == "RuntimeDefault", "has no seccomp profile");
    for host in ["hostNetwork", "hostPID", "hostIPC"] {
        must(spec[host].as_bool() != Some(true), "uses the host's namespaces");
    }
    for volume in list(&spec["volumes"]) {
        must(volume.get("hostPath").is_none(), "mounts a folder of the host");
        if let Some(name) = volume["configMap"]["name"].as_str() {
            must(
                objects.iter().any(|o| o["kind"] == "ConfigMap" && o["metadata"]["name"] == name),
                "mounts a ConfigMap that is not there",
            );
        }
        if let Some(name) = volume["secret"]["secretName"].as_str() {
            must(SECRETS.contains(&name), "mounts a Secret that the documentation does not name");
        }
        if let Some(image) = volume["image"]["reference"].as_str() {
            must(is_pinned(image), "mounts an image without a version");
        }
    }
    for container in containers(template) {
        let name = container["name"].as_str().unwrap_or("?");
        faults.extend(
            of_a_container(container, objects).into_iter().map(|what| format!("container {name} {what}")),
        );
    }
    faults
}

fn of_a_container(container: &Value, objects: &[Value]) -> Vec<String> {
    let mut faults = Vec::new();
    let security = &container["securityContext"];
    let mut must = |holds: bool, what: &str| {
        if !holds {
            faults.push(what.to_owned());
        }
    };
    must(container["image"].as_str().is_some_and(is_pinned), "has an image without a version");
    must(security["allowPrivilegeEscalation"] == json!(false), "may gain privileges");
    must(security["readOnlyRootFilesystem"] == json!(true), "may write to its root");
    must(security["capabilities"]["drop"] == json!(["ALL"]), "keeps capabilities");
    must(
        security.get("privileged").is_none() && security["capabilities"].get("add").is_none(),
        "is privileged",
    );
    for kind in ["requests", "limits"] {
        for resource in ["cpu", "memory"] {
            must(container["resources"][kind][resource].is_string(), "has no requests or limits");
        }
    }
    must(container["resources"]["limits"] != json!({}), "has no limits");
    for probe in ["startupProbe", "livenessProbe"] {
        must(container.get(probe).is_some(), "is not probed");
    }
    for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
        for kind in ["grpc", "httpGet", "tcpSocket"] {
            if let Some(port) = container[probe][kind].get("port") {
                let known =
                    list(&container["ports"]).any(|p| p["containerPort"] == *port || p["name"] == *port);
                must(known, "is probed on a port that it does not have");
            }
        }
    }
    for source in list(&container["envFrom"]) {
        let there = objects
            .iter()
            .any(|o| o["kind"] == "ConfigMap" && o["metadata"]["name"] == source["configMapRef"]["name"]);
        must(there, "takes its environment from a ConfigMap that is not there");
    }
    for variable in list(&container["env"]) {
        let secret = &variable["valueFrom"]["secretKeyRef"]["name"];
        must(
            secret.as_str().is_none_or(|name| SECRETS.contains(&name)),
            "wants a Secret that the documentation does not name",
        );
        must(variable.get("value").is_none(), "has a setting outside of its ConfigMap");
    }
    faults
}

/// A tag other than `latest`, or a digest.
fn is_pinned(image: &str) -> bool {
    let last = image.rsplit('/').next().unwrap_or_default();
    image.contains("@sha256:")
        || last.split_once(':').is_some_and(|(_, tag)| !tag.is_empty() && tag != "latest")
}

fn of_a_workload(object: &Value, objects: &[Value]) -> Vec<String> {
    let mut faults = Vec::new();
    let template = &object["spec"]["template"];
    let labels = &template["metadata"]["labels"];
    let policies = |wanted: &str| {
        objects
            .iter()
            .filter(move |o| {
                o["kind"] == "NetworkPolicy" && selects(&o["spec"]["podSelector"]["matchLabels"], labels)
            })
            .filter(|o| list(&o["spec"]["policyTypes"]).any(|kind| kind == wanted))
            .collect::<Vec<_>>()
    };
    for direction in ["Ingress", "Egress"] {
        if policies(direction).is_empty() {
            faults.push(format!("no NetworkPolicy closes {direction}"));
        }
    }
    // What is opened is what is listened on, and the other way round.
    let open: Vec<u64> = policies("Ingress")
        .iter()
        .flat_map(|policy| list(&policy["spec"]["ingress"]))
        .flat_map(|rule| list(&rule["ports"]))
        .filter_map(|port| port["port"].as_u64())
        .collect();
    let ports: Vec<u64> = containers(template)
        .flat_map(|c| list(&c["ports"]))
        .filter_map(|port| port["containerPort"].as_u64())
        .collect();
    faults.extend(
        open.iter()
            .filter(|port| !ports.contains(port))
            .map(|port| format!("port {port} is open, and no container has it")),
    );
    faults.extend(
        ports
            .iter()
            .filter(|port| !open.contains(port))
            .map(|port| format!("port {port} is closed by its NetworkPolicy")),
    );

    let pause = containers(template)
        .filter_map(|c| c["lifecycle"]["preStop"]["sleep"]["seconds"].as_u64())
        .max()
        .unwrap_or(0);
    if template["spec"]["terminationGracePeriodSeconds"].as_u64().unwrap_or(30) <= pause {
        faults.push("is killed before its pause at the end is over".to_owned());
    }
    if object["kind"] == "Deployment" {
        let rolling = &object["spec"]["strategy"]["rollingUpdate"];
        if rolling["maxUnavailable"] != json!(0) || pause == 0 {
            faults.push("loses a pod while it is rolled".to_owned());
        }
        let kept = |o: &&Value| {
            o["kind"] == "PodDisruptionBudget" && selects(&o["spec"]["selector"]["matchLabels"], labels)
        };
        if objects.iter().find(kept).is_none() {
            faults.push("has no PodDisruptionBudget".to_owned());
        }
        if list(&template["spec"]["topologySpreadConstraints"])
            .any(|c| !selects(&c["labelSelector"]["matchLabels"], labels))
        {
            faults.push("is spread by labels that it does not have".to_owned());
        }
    }
    let scaled = |o: &Value| {
        let target = &o["spec"]["scaleTargetRef"];
        o["kind"] == "HorizontalPodAutoscaler"
            && (&target["kind"], &target["name"]) == (&object["kind"], &object["metadata"]["name"])
    };
    if objects.iter().any(scaled) && object["spec"].get("replicas").is_some() {
        faults.push("takes back what its autoscaler has given".to_owned());
    }
    if !selects(&object["spec"]["selector"]["matchLabels"], labels) {
        faults.push("does not select its own pods".to_owned());
    }
    faults
}

fn of_a_service(service: &Value, objects: &[Value]) -> Vec<String> {
    if service["spec"]["type"] == "ExternalName" {
        return Vec::new();
    }
    let mut selector = service["spec"]["selector"].clone();
    // A label that Kubernetes gives to pods.
    selector.as_object_mut().map(|labels| labels.remove("topology.kubernetes.io/zone"));
    let Some(template) =
        objects.iter().filter_map(pod).find(|template| selects(&selector, &template["metadata"]["labels"]))
    else {
        return vec!["selects no pod".to_owned()];
    };
    let has = |target: &Value| {
        containers(template)
            .flat_map(|c| list(&c["ports"]))
            .any(|p| p["name"] == *target || p["containerPort"] == *target)
    };
    list(&service["spec"]["ports"])
        .filter(|port| !has(&port["targetPort"]))
        .map(|port| format!("port {} leads nowhere", port["name"]))
        .collect()
}

#[test]
fn nothing_is_wrong_with_what_is_shipped() {
    for folder in OVERLAYS {
        let all = objects(folder);
        assert_eq!(faults(&all), Vec::<String>::new(), "{folder}");
    }
}

#[test]
fn whoever_has_pods_closes_the_namespace_first() {
    for folder in OVERLAYS {
        let all = objects(folder);
        if !all.iter().any(|object| pod(object).is_some()) {
            continue;
        }
        let closed = find(&all, "NetworkPolicy", "nothing-by-default");
        assert_eq!(
            closed["spec"],
            json!({"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}),
            "{folder}"
        );
        let namespace = find(&all, "Namespace", NAMESPACE);
        assert_eq!(
            namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"], "restricted",
            "{folder}"
        );
    }
}

/// The checks of this file find each mistake that they are made for.
#[test]
fn what_is_wrong_is_found() {
    type Harm = fn(&mut Value);
    let harms: [(&str, Harm, &str); 13] = [
        (
            "Deployment",
            |o| o["spec"]["template"]["spec"]["containers"][0]["image"] = json!("a/b:latest"),
            "image without a version",
        ),
        (
            "Deployment",
            |o| o["spec"]["template"]["spec"]["containers"][0]["image"] = json!("host:5000/b"),
            "image without a version",
        ),
        (
            "Deployment",
            |o| o["spec"]["template"]["spec"]["securityContext"]["runAsUser"] = json!(0),
            "runs as user 0",
        ),
        (
            "Deployment",
            |o| o["spec"]["template"]["spec"]["containers"][0]["resources"] = json!({}),
            "no requests or limits",
        ),
        (
            "Deployment",
            |o| {
                o["spec"]["template"]["spec"]["containers"][0]["securityContext"]["readOnlyRootFilesystem"] =
                    json!(false)
            },
            "write to its root",
        ),
        (
            "Deployment",
            |o| o["spec"]["template"]["spec"]["securityContext"]["seccompProfile"] = json!({}),
            "seccomp",
        ),
        (
            "Deployment",
            |o| o["spec"]["template"]["spec"]["automountServiceAccountToken"] = json!(true),
            "mounts a token",
        ),
        (
            "Deployment",
            |o| {
                o["spec"]["template"]["spec"]["containers"][0]["livenessProbe"] =
                    json!({"httpGet": {"port": 1}})
            },
            "a port that it does not have",
        ),
        (
            "Deployment",
            |o| o["spec"]["template"]["spec"]["containers"][0]["ports"][0]["containerPort"] = json!(1),
            "closed by its NetworkPolicy",
        ),
        (
            "Deployment",
            |o| o["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = json!(5),
            "pause at the end",
        ),
        ("Deployment", |o| o["spec"]["replicas"] = json!(2), "takes back"),
        (
            "Service",
            |o| o["spec"]["selector"] = json!({"app.kubernetes.io/name": "nobody"}),
            "selects no pod",
        ),
        (
            "PodDisruptionBudget",
            |o| o["spec"]["selector"] = json!({"matchLabels": {"a": "b"}}),
            "has no PodDisruptionBudget",
        ),
    ];
    for (kind, harm, expected) in harms {
        let mut all = objects("overlays/cluster");
        harm(all.iter_mut().find(|object| object["kind"] == kind).unwrap());
        let found = faults(&all);
        assert!(found.iter().any(|fault| fault.contains(expected)), "{expected}: {found:?}");
    }
}

/// A fork that rewrites the log can hold all of it once more.
#[test]
fn redis_fits_twice_into_its_limit() {
    let all = objects("overlays/cluster");
    let config = &find(&all, "ConfigMap", "redis-config")["data"]["redis.conf"];
    let line = config.as_str().unwrap().lines().find_map(|line| line.strip_prefix("maxmemory ")).unwrap();
    let held: u64 = line.strip_suffix("mb").unwrap().parse().unwrap();
    let redis = &find(&all, "StatefulSet", "redis")["spec"]["template"]["spec"]["containers"][0];
    let limit = redis["resources"]["limits"]["memory"].as_str().unwrap();
    let limit: u64 = limit.strip_suffix("Mi").unwrap().parse().unwrap();
    assert!(2 * held < limit, "maxmemory {held} MB, limit {limit} MiB");
}
