// What Envoy Gateway's API reference (v1alpha1) says of the fields that k8s/ uses. Written by hand, since no registry
// carries its CRDs; closed, so that a field it does not name is an error.

interface Metadata {
  name: string;
  namespace?: string;
  labels?: Record<string, string>;
}

interface TargetRef {
  group: "gateway.networking.k8s.io";
  kind: string;
  name: string;
}

export interface EnvoyExtensionPolicy {
  metadata: Metadata;
  spec: {
    targetRefs: Array<TargetRef & { kind: "Gateway" | "HTTPRoute" | "GRPCRoute"; sectionName?: string }>;
    wasm?: Array<{
      name?: string;
      rootID?: string;
      code: {
        type: "HTTP" | "Image";
        http?: { url: string; sha256?: string };
        image?: { url: string; sha256?: string; pullSecretRef?: { group?: string; kind?: string; name: string; namespace?: string } };
        pullPolicy?: "IfNotPresent" | "Always";
      };
      /** Handed to the module as a JSON string. */
      config?: Record<string, unknown>;
      failOpen?: boolean;
      env?: { hostKeys?: string[] };
    }>;
  };
}

export interface EnvoyPatchPolicy {
  metadata: Metadata;
  spec: {
    type: "JSONPatch";
    priority?: number;
    targetRef: TargetRef & { kind: "Gateway" | "GatewayClass" };
    jsonPatches?: Array<{
      type:
        | "type.googleapis.com/envoy.config.listener.v3.Listener"
        | "type.googleapis.com/envoy.config.route.v3.RouteConfiguration"
        | "type.googleapis.com/envoy.config.cluster.v3.Cluster"
        | "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"
        | "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
      name: string;
      operation: {
        op: "add" | "remove" | "replace" | "move" | "copy" | "test";
        path?: string;
        jsonPath?: string;
        from?: string;
        value?: unknown;
      };
    }>;
  };
}

export interface EnvoyProxy {
  metadata: Metadata;
  spec: {
    bootstrap?: { type: "Merge" | "Replace"; value: string };
    telemetry?: {
      tracing?: {
        samplingRate?: number;
        provider: {
          type: "OpenTelemetry" | "Zipkin" | "Datadog";
          backendRefs: [{ group?: ""; kind?: "Service"; name: string; namespace?: string; port: number }];
        };
      };
    };
  };
}
