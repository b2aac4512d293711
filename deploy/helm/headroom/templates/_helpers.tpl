{{- define "headroom.name" -}}
{{- default .Release.Name .Values.nameOverride | trunc 53 | trimSuffix "-" -}}
{{- end -}}

{{- define "headroom.selector" -}}
app.kubernetes.io/name: headroom
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "headroom.labels" -}}
{{ include "headroom.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end -}}

{{/* The names by which the servers are asked; others are refused. */}}
{{- define "headroom.hosts" -}}
{{- $name := include "headroom.name" . -}}
{{- $space := .Release.Namespace -}}
{{ $name }},{{ $name }}.{{ $space }},{{ $name }}.{{ $space }}.svc,{{ $name }}.{{ $space }}.svc.cluster.local
{{- if .Values.ingress.enabled }},{{ .Values.ingress.host }}{{ end -}}
{{- range .Values.hosts }},{{ . }}{{ end -}}
{{- end -}}
