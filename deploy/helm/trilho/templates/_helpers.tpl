{{- define "trilho.labels" -}}
app.kubernetes.io/name: trilho
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "trilho.selector" -}}
app.kubernetes.io/name: trilho
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "trilho.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- define "trilho.pod" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: secrets
    secret: { secretName: {{ .Values.secret.name }}, defaultMode: 0440 }
{{- end }}

{{- define "trilho.container" -}}
name: trilho
image: {{ include "trilho.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: secrets, mountPath: /run/trilho, readOnly: true }
{{- end }}

{{- define "trilho.environment" -}}
HTTP_ADDR: ":8080"
TRILHO_ADMIN_ADDR: ":9100"
TRILHO_MIGRATE_ON_START: "false"
{{- range $name, $value := .Values.settings }}
{{ $name }}: {{ $value | quote }}
{{- end }}
{{- range $name, $file := .Values.secret.files }}
{{ $name }}: /run/trilho/{{ $file }}
{{- end }}
{{- end }}
