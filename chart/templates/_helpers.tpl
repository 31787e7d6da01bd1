{{/* What is generated from the bundle's code: ports, families, models. */}}
{{- define "chart.facts" -}}
{{ .Files.Get "files/facts.yaml" }}
{{- end }}

{{- define "chart.family" -}}
{{ toYaml (index (include "chart.facts" . | fromYaml).families .Values.family) }}
{{- end }}

{{- define "chart.name" -}}
{{ .Release.Name | trunc 45 | trimSuffix "-" }}
{{- end }}

{{/* (list $ "server"): what a Service, a policy or a router selects by. */}}
{{- define "chart.selector" -}}
app.kubernetes.io/name: ascend-chat
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "chart.labels" -}}
{{ include "chart.selector" . }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
helm.sh/chart: {{ (index . 0).Chart.Name }}-{{ (index . 0).Chart.Version }}
{{- end }}

{{/* (list $ "server"): what is named in images, or the bundle's own. The server's differs
by family, and has no weights where they are mounted. */}}
{{- define "chart.image" -}}
{{- $root := index . 0 }}{{ $name := index . 1 }}
{{- $tag := $root.Chart.AppVersion }}{{ $repository := $name }}
{{- if eq $name "server" }}
{{- $tag = print $tag (include "chart.family" $root | fromYaml).suffix }}
{{- if ne $root.Values.model.source "image" }}{{ $repository = "server-slim" }}{{ end }}
{{- end }}
{{- $own := printf "ascend-chat-bundle/%s:%s" $repository $tag }}
{{- with $root.Values.images.registry }}{{ $own = printf "%s/%s" . $own }}{{ end }}
{{- index $root.Values.images $name | default $own }}
{{- end }}

{{/* What all pods have: no token, no service links, uid 1000, whose the device nodes are. */}}
{{- define "chart.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.images.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{/* (list $ "server"): what all containers have. */}}
{{- define "chart.container" -}}
image: {{ include "chart.image" . }}
imagePullPolicy: {{ (index . 0).Values.images.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{- define "chart.settings" -}}
- name: BUNDLE_MODEL
  value: {{ .Values.model.name }}
- name: BUNDLE_DEVICE
  value: {{ ternary "cpu" "ascend" (eq .Values.family "cpu") }}
{{- range $name, $value := .Values.settings }}
{{- /* As JSON, since a large number would else be written as 1e+06. */}}
{{- $text := kindIs "string" $value | ternary $value (toJson $value) }}
{{- if $text }}
- name: BUNDLE_{{ $name | snakecase | upper }}
  value: {{ $text | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* Cards of one pod: what the engine spans, unless more is asked. */}}
{{- define "chart.cards" -}}
{{- with .Values.settings -}}
{{ max (mul .tensorParallelSize .dataParallelSize) $.Values.npu.count }}
{{- end }}
{{- end }}

{{- define "chart.resource" -}}
{{ .Values.npu.resource | default (include "chart.family" . | fromYaml).resource }}
{{- end }}

{{- define "chart.grow" -}}
{{ or .Values.keda.enabled (gt (int .Values.replicas) 1) | ternary "yes" "" }}
{{- end }}
