{{/* Every object's metadata: name, namespace, labels. (list . "name" "the value of app.kubernetes.io/name, or nothing") */}}
{{- define "sentinel.metadata" -}}
{{- $root := index . 0 -}}
name: {{ index . 1 }}
namespace: {{ $root.Release.Namespace }}
labels:
  {{- with index . 2 }}
  app.kubernetes.io/name: {{ . }}
  {{- end }}
  app.kubernetes.io/part-of: agent-sentinel
  app.kubernetes.io/managed-by: {{ $root.Release.Service }}
  helm.sh/chart: {{ $root.Chart.Name }}-{{ $root.Chart.Version }}
{{- end }}

{{- define "sentinel.tag" -}}{{ .Values.images.tag | default .Chart.AppVersion }}{{- end }}

{{- define "sentinel.container" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* (list "user") */}}
{{- define "sentinel.pod" -}}
runAsNonRoot: true
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{/* Pods of this name over zones and nodes. */}}
{{- define "sentinel.spread" -}}
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app.kubernetes.io/name: {{ . }}}}
- maxSkew: 1
  topologyKey: kubernetes.io/hostname
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {app.kubernetes.io/name: {{ . }}}}
{{- end }}

{{- define "sentinel.dns" -}}
- to:
    - namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kube-system}}
      podSelector: {matchLabels: {k8s-app: kube-dns}}
  ports: [{protocol: UDP, port: 53}, {protocol: TCP, port: 53}]
{{- end }}

{{/* Envoy's bootstrap: that of the overlay, with this namespace, where the module is, and the filter's configuration. */}}
{{- define "sentinel.envoy" -}}
{{- $file := "envoy-standalone.yaml" -}}
{{- if eq .Values.mode "cluster" -}}{{- $file = printf "envoy-cluster-%s.yaml" .Values.module.from -}}{{- end -}}
{{- $text := .Files.Get (printf "files/%s" $file) | replace ".agent-sentinel.svc." (printf ".%s.svc." .Release.Namespace) -}}
{{- if and (eq .Values.mode "cluster") (eq .Values.module.from "url") -}}
{{- $host := regexReplaceAll "^https://([^/]+)/.*$" .Values.module.url "${1}" -}}
{{- $text = regexReplaceAll "uri: https://\\S+" $text (printf "uri: %s" .Values.module.url) -}}
{{- $text = regexReplaceAll "sha256: \"[0-9a-f]{64}\"" $text (printf "sha256: \"%s\"" .Values.module.sha256) -}}
{{- $text = replace "modules.example.com" $host $text -}}
{{- end -}}
{{- $begin := "# --- sentinel: configuration ---" -}}
{{- $end := "# --- sentinel: end of configuration ---" -}}
{{- $before := index (splitList $begin $text) 0 -}}
{{- $within := index (splitList $begin $text) 1 -}}
{{- $after := index (splitList $end $within) 1 -}}
{{- $own := index (splitList $end $within) 0 | replace "value: |" "" | fromJson -}}
{{- with $own.Error -}}{{- fail . -}}{{- end -}}
{{- $asked := dict -}}
{{- if .Values.control.secret -}}{{- $asked = dict "control" (dict "enabled" true) -}}{{- end -}}
{{ $before }}{{ $begin }}
                          value: |
{{ mergeOverwrite $own $asked .Values.configuration | toPrettyJson | indent 28 }}
                          {{ $end }}{{ $after }}
{{- end }}

{{/* The service's settings, by where it stands. */}}
{{- define "sentinel.settings" -}}
{{- $place := dict "UDS_PATH" "" "LISTEN_ADDR" "0.0.0.0:50051" -}}
{{- if eq .Values.mode "standalone" -}}
{{- $place = dict "UDS_PATH" "/run/sentinel/embedding.sock" "UDS_MODE" "0660" -}}
{{- end -}}
{{- $all := merge $place (dict "METRICS_ADDR" "0.0.0.0:9464" "CONTROL" (ternary "true" "false" (ne .Values.control.secret ""))) .Values.service.settings -}}
{{- range $name, $value := $all }}
{{ $name }}: {{ $value | toString | quote }}
{{- end -}}
{{- end }}

{{- define "sentinel.control-key" -}}
{{- if .Values.control.secret }}
- name: CONTROL_KEY
  valueFrom: {secretKeyRef: {name: {{ .Values.control.secret }}, key: key}}
{{- end }}
{{- end }}
