{{- define "chart.nodes" -}}
{{- $labels := deepCopy .Values.nodes.selector }}
{{- with .Values.nodes.arch }}
{{- $_ := set $labels "kubernetes.io/arch" . }}
{{- end }}
{{- if and .Values.npu.labels (ne .Values.family "cpu") }}
{{- $_ := set $labels "accelerator" (include "chart.family" . | fromYaml).accelerator }}
{{- with .Values.nodes.arch }}
{{- $_ := set $labels "host-arch" (ternary "huawei-arm" "huawei-x86" (eq . "arm64")) }}
{{- end }}
{{- end }}
{{- with $labels }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodes.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- if include "chart.grow" . }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "chart.selector" (list . "server") | nindent 8 }}
{{- end }}
{{- end }}

{{/* One definition of health, the image's own. */}}
{{- define "chart.probe" -}}
exec:
  command: [/opt/bundle/.venv/bundle/bin/python, -m, scripts.health, {{ . }}]
periodSeconds: 15
timeoutSeconds: 40
{{- end }}

{{- define "chart.environment" -}}
{{ include "chart.settings" . }}
{{- range $name, $value := .Values.env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- /* Volcano notes the cards there, but only for whole ones; else nobody writes it. */}}
{{- if and .Values.volcano (regexMatch "^huawei.com/(Ascend910|Ascend310P|npu)$" (include "chart.resource" .)) }}
- name: ASCEND_VISIBLE_DEVICES
  valueFrom:
    fieldRef:
      fieldPath: metadata.annotations['{{ include "chart.resource" . }}']
{{- end }}
{{- end }}

{{/* name, path on the node and type of what the driver's host has. */}}
{{- define "chart.driver" -}}
{{- if ne .Values.family "cpu" }}
{{- if eq .Values.npu.driver "mount" }}
{{- if (include "chart.family" . | fromYaml).wholeDriver }}
- {name: driver, path: /usr/local/Ascend/driver, type: Directory}
{{- else }}
- {name: driver, path: /usr/local/Ascend/driver/lib64, type: Directory}
- {name: driver-version, path: /usr/local/Ascend/driver/version.info, type: File}
{{- end }}
- {name: dcmi, path: /usr/local/dcmi, type: Directory}
- {name: npu-smi, path: {{ .Values.npu.npuSmi }}, target: /usr/local/bin/npu-smi, type: File}
{{- else }}
- {name: driver-version, path: /usr/local/Ascend/driver/version.info, type: File}
{{- end }}
- {name: install-info, path: /etc/ascend_install.info, type: File}
{{- end }}
{{- end }}

{{/* The same folders as in compose.yaml. */}}
{{- define "chart.mounts" -}}
- {name: run, mountPath: /run/bundle}
- {name: readings, mountPath: /run/bundle/readings}
- {name: cache, mountPath: /var/cache/bundle}
- {name: tmp, mountPath: /tmp}
- {name: home, mountPath: /home/HwHiAiUser}
- {name: shm, mountPath: /dev/shm}
{{- if ne .Values.model.source "image" }}
- {name: models, mountPath: /models, readOnly: true}
{{- end }}
{{- range include "chart.driver" . | fromYamlArray }}
- {name: {{ .name }}, mountPath: {{ .target | default .path }}, readOnly: true}
{{- end }}
{{- end }}

{{- define "chart.volumes" -}}
- {name: run, emptyDir: {medium: Memory, sizeLimit: 64Mi}}
- {name: readings, emptyDir: {medium: Memory, sizeLimit: 4Mi}}
- name: cache
  {{- if .Values.cacheClaim }}
  persistentVolumeClaim: {claimName: {{ .Values.cacheClaim }}}
  {{- else }}
  emptyDir: {}
  {{- end }}
- {name: tmp, emptyDir: {}}
- {name: home, emptyDir: {}}
- {name: shm, emptyDir: {medium: Memory, sizeLimit: {{ .Values.shmSize }}}}
{{- if eq .Values.model.source "pvc" }}
- {name: models, persistentVolumeClaim: {claimName: {{ .Values.model.claim }}, readOnly: true}}
{{- else if eq .Values.model.source "oci" }}
- {name: models, image: {reference: {{ .Values.model.oci }}, pullPolicy: IfNotPresent}}
{{- end }}
{{- range include "chart.driver" . | fromYamlArray }}
- {name: {{ .name }}, hostPath: {path: {{ .path }}, type: {{ .type }}}}
{{- end }}
{{- end }}
