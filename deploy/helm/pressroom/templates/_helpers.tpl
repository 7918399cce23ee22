{{- define "pressroom.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end }}

{{- define "pressroom.labels" -}}
app.kubernetes.io/name: pressroom
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "pressroom.selector" -}}
app.kubernetes.io/name: pressroom
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{/* The pods of a role: the same program, started for one thing. A dict of root and role. */}}
{{- define "pressroom.pods" -}}
{{- $v := .root.Values -}}
{{- $own := index $v .role -}}
metadata:
  labels:
    {{- include "pressroom.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
  annotations:
    {{- if not $v.metrics.serviceMonitor.enabled }}
    prometheus.io/scrape: "true"
    prometheus.io/port: "9464"
    prometheus.io/path: /metrics
    {{- end }}
    {{- with $v.podAnnotations }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  automountServiceAccountToken: false
  serviceAccountName: {{ include "pressroom.name" .root }}
  terminationGracePeriodSeconds: {{ $v.terminationGracePeriodSeconds }}
  {{- with $v.image.pullSecrets }}
  imagePullSecrets: {{ toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    seccompProfile: {type: RuntimeDefault}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels: {{- include "pressroom.selector" . | nindent 10 }}
  {{- with $v.nodeSelector }}
  nodeSelector: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with $v.tolerations }}
  tolerations: {{ toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: pressroom
      image: "{{ required "image.repository is required: push the image to your registry and set its name, such as registry.example.com/pressroom" $v.image.repository }}{{ if $v.image.digest }}@{{ $v.image.digest }}{{ else }}:{{ $v.image.tag | default .root.Chart.AppVersion }}{{ end }}"
      imagePullPolicy: {{ $v.image.pullPolicy }}
      args: [serve, --role, {{ .role }}]
      env:
        - name: PRESSROOM_ADDR
          value: 0.0.0.0:8080
        - name: PRESSROOM_METRICS_ADDR
          value: 0.0.0.0:9464
        - name: PRESSROOM_LOG_FORMAT
          value: json
        - name: PRESSROOM_SCRATCH
          value: /scratch
        - name: PRESSROOM_SHUTDOWN_DELAY # while the Service removes the pod
          value: 5s
        - name: PRESSROOM_PUBLIC_URL
          value: {{ required "publicURL is required: the public address of the service" $v.publicURL | quote }}
        - name: PRESSROOM_BLOBS
          value: {{ required "blobs is required: s3://BUCKET?endpoint=…" $v.blobs | quote }}
        {{- with $v.redis }}
        - name: PRESSROOM_REDIS
          value: {{ . | quote }}
        {{- end }}
        {{- with $v.securityContact }}
        - name: PRESSROOM_SECURITY_CONTACT
          value: {{ . | quote }}
        {{- end }}
        {{- with $v.trustedProxies }}
        - name: PRESSROOM_TRUSTED_PROXIES
          value: {{ join "," . | quote }}
        {{- end }}
        - name: PRESSROOM_DATABASE
          valueFrom:
            secretKeyRef:
              name: {{ required "secrets.database.name is required: a Secret with the address of a PostgreSQL database" $v.secrets.database.name }}
              key: {{ $v.secrets.database.key }}
        - name: PRESSROOM_SEALING_KEY
          valueFrom:
            secretKeyRef:
              name: {{ required "secrets.sealingKey.name is required: a Secret with the output of pressroom admin sealing-key" $v.secrets.sealingKey.name }}
              key: {{ $v.secrets.sealingKey.key }}
        {{- with $v.secrets.s3 }}
        {{- if .name }}
        - name: AWS_ACCESS_KEY_ID
          valueFrom:
            secretKeyRef: {name: {{ .name }}, key: {{ .accessKeyID }}}
        - name: AWS_SECRET_ACCESS_KEY
          valueFrom:
            secretKeyRef: {name: {{ .name }}, key: {{ .secretAccessKey }}}
        {{- end }}
        {{- end }}
        {{- range $name, $value := merge (dict) ($own.settings | default dict) ($v.settings | default dict) }}
        - name: {{ $name }}
          value: {{ $value | quote }}
        {{- end }}
      {{- with $v.secrets.more }}
      envFrom:
        {{- range . }}
        - secretRef: {name: {{ . }}}
        {{- end }}
      {{- end }}
      ports:
        - {name: http, containerPort: 8080}
        - {name: metrics, containerPort: 9464}
      # The first node of a new version migrates the database and the others wait for it, which may take long.
      startupProbe:
        httpGet: {path: /livez, port: http}
        periodSeconds: 2
        failureThreshold: 450
      livenessProbe:
        httpGet: {path: /livez, port: http}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: {path: /readyz, port: http}
        periodSeconds: 5
        timeoutSeconds: 4
        failureThreshold: 2
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      resources: {{- toYaml $own.resources | nindent 8 }}
      volumeMounts:
        - {name: scratch, mountPath: /scratch}
        - {name: tmp, mountPath: /tmp}
  volumes:
    - name: scratch
      emptyDir: {sizeLimit: {{ $v.scratchSize }}}
    - name: tmp
      emptyDir: {sizeLimit: 64Mi}
{{- end }}
