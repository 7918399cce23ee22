package deploy

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/kubernetes/scheme"
)

// requiredValues returns only the required values of the chart.
func requiredValues() map[string]any {
	return map[string]any{
		"image":     map[string]any{"repository": "registry.example.com/pressroom"},
		"publicURL": "https://press.example.com", "blobs": "s3://pressroom?endpoint=https://s3.example.com",
		"secrets": map[string]any{"database": map[string]any{"name": "db"}, "sealingKey": map[string]any{"name": "sealing"}},
	}
}

// allValues returns all values of the chart.
func allValues() map[string]any {
	v := requiredValues()
	v["redis"], v["trustedProxies"] = "redis://valkey:6379/0", []any{"10.0.0.0/8"}
	v["settings"] = map[string]any{"PRESSROOM_WORKERS": 32, "PRESSROOM_LEASE": "10s"}
	v["worker"] = map[string]any{"settings": map[string]any{"PRESSROOM_WORKERS": 64}}
	v["api"] = map[string]any{"autoscaling": map[string]any{"enabled": false}, "replicas": 3}
	v["ingress"] = map[string]any{
		"enabled": true, "className": "nginx", "host": "press.example.com", "tlsSecret": "tls", "annotations": map[string]any{"a": "b"},
	}
	v["networkPolicy"] = map[string]any{
		"from":        []any{map[string]any{"namespaceSelector": map[string]any{"matchLabels": map[string]any{"x": "y"}}}},
		"metricsFrom": []any{map[string]any{"podSelector": map[string]any{}}},
	}
	secrets, _ := v["secrets"].(map[string]any)
	secrets["s3"], secrets["more"] = map[string]any{"name": "s3"}, []any{"mail"}
	v["securityContact"] = "mailto:security@example.com"
	v["image"] = map[string]any{
		"repository": "registry.example.com/pressroom", "tag": "v1", "digest": "sha256:" + strings.Repeat("0", 64),
		"pullSecrets": []any{map[string]any{"name": "pull"}},
	}
	v["metrics"] = map[string]any{
		"serviceMonitor": map[string]any{"enabled": true, "interval": "15s", "labels": map[string]any{"release": "prometheus"}},
		"prometheusRule": map[string]any{"enabled": true, "labels": map[string]any{"release": "prometheus"}},
		"dashboard":      map[string]any{"enabled": true, "annotations": map[string]any{"grafana_folder": "Services"}},
	}
	v["nodeSelector"], v["podAnnotations"] = map[string]any{"a": "b"}, map[string]any{"c": "d"}
	v["tolerations"] = []any{map[string]any{"key": "x", "operator": "Exists"}}
	return v
}

func render(t *testing.T, values map[string]any) (map[string]string, error) {
	t.Helper()
	chart, err := loader.Load(file("helm", "pressroom"))
	if err != nil {
		t.Fatal(err)
	}
	given, err := chartutil.ToRenderValues(chart, values,
		chartutil.ReleaseOptions{Name: "press", Namespace: "press", IsInstall: true}, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	return engine.Render(chart, given)
}

// objects renders the chart and decodes the objects strictly: unknown fields are errors.
func objects(t *testing.T, values map[string]any) []runtime.Object {
	t.Helper()
	rendered, err := render(t, values)
	if err != nil {
		t.Fatal(err)
	}
	if err := monitoring.AddToScheme(scheme.Scheme); err != nil {
		t.Fatal(err)
	}
	strict := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme,
		json.SerializerOptions{Yaml: true, Strict: true})
	out := []runtime.Object{}
	for _, name := range slices.Sorted(maps.Keys(rendered)) {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		for document := range strings.SplitSeq("\n"+rendered[name], "\n---") {
			if strings.TrimSpace(document) == "" {
				continue
			}
			object, _, err := strict.Decode([]byte(document), nil, nil)
			if err != nil {
				t.Errorf("%s: %v\n%s", name, err, document)
				continue
			}
			out = append(out, object)
		}
	}
	return out
}

// helm lint reports no warnings for the chart, with the required values and with all values.
func TestHelmLint(t *testing.T) {
	for _, values := range []map[string]any{requiredValues(), allValues()} {
		found := lint.All(file("helm", "pressroom"), values, "press", true)
		for _, message := range found.Messages {
			if message.Severity > support.InfoSev {
				t.Error(message)
			}
		}
	}
}

// The chart renders valid Kubernetes objects without secrets. Pods of both roles run without root and have probes.
func TestHelmObjects(t *testing.T) {
	for _, values := range []map[string]any{requiredValues(), allValues()} {
		kinds := map[string]int{}
		for _, object := range objects(t, values) {
			switch o := object.(type) {
			case *apps.Deployment:
				kinds["deployment"]++
				checkPod(t, o.Name, o.Spec.Template, o.Spec.Selector.MatchLabels)
			case *core.Secret:
				t.Error("the chart contains a secret")
			case *policy.PodDisruptionBudget:
				kinds["budget"]++
			case *autoscaling.HorizontalPodAutoscaler:
				kinds["scaler"]++
			case *networking.NetworkPolicy:
				kinds["policy"]++
			case *networking.Ingress:
				kinds["ingress"]++
			case *monitoring.ServiceMonitor:
				kinds["monitor"]++
			case *monitoring.PrometheusRule:
				kinds["rules"]++
			}
		}
		_, all := values["ingress"]
		want := map[string]int{"deployment": 2, "budget": 2, "policy": 2, "scaler": 1}
		if all {
			want = map[string]int{"deployment": 2, "budget": 2, "policy": 2, "ingress": 1, "monitor": 1, "rules": 1}
		}
		if !maps.Equal(kinds, want) {
			t.Errorf("%v, want %v", kinds, want)
		}
	}
}

func checkPod(t *testing.T, name string, pod core.PodTemplateSpec, selected map[string]string) {
	t.Helper()
	for label, value := range selected {
		if pod.Labels[label] != value {
			t.Errorf("%s does not select its own pods: %s", name, label)
		}
	}
	c := pod.Spec.Containers[0]
	if !regexp.MustCompile(`^registry\.example\.com/pressroom(:\d+\.\d+\.\d+|@sha256:0{64})$`).MatchString(c.Image) {
		t.Errorf("%s runs %q", name, c.Image)
	}
	if c.LivenessProbe.HTTPGet.Path != "/livez" || c.ReadinessProbe.HTTPGet.Path != "/readyz" || c.StartupProbe == nil {
		t.Errorf("%s: %+v %+v", name, c.LivenessProbe, c.ReadinessProbe)
	}
	if !*pod.Spec.SecurityContext.RunAsNonRoot || !*c.SecurityContext.ReadOnlyRootFilesystem ||
		*c.SecurityContext.AllowPrivilegeEscalation || *pod.Spec.AutomountServiceAccountToken {
		t.Errorf("%s has more privileges than it needs", name)
	}
	// A video may have 4 GiB, and a node receives several at once, so it needs space for them.
	needs := c.Resources.Requests.StorageEphemeral()
	for _, volume := range pod.Spec.Volumes {
		if volume.Name == "scratch" && (volume.EmptyDir.SizeLimit.Value() < 16<<30 || needs.Value() < 8<<30) {
			t.Errorf("%s limits the space for files to %s and requests %s", name, volume.EmptyDir.SizeLimit, needs)
		}
	}
	names := map[string]bool{}
	for _, variable := range c.Env {
		if names[variable.Name] {
			t.Errorf("%s: %s is set twice", name, variable.Name)
		}
		names[variable.Name] = true
		secret := slices.Contains([]string{"PRESSROOM_DATABASE", "PRESSROOM_SEALING_KEY", "AWS_SECRET_ACCESS_KEY"}, variable.Name)
		if secret != (variable.ValueFrom != nil) && variable.Name != "AWS_ACCESS_KEY_ID" {
			t.Errorf("%s: %s", name, variable.Name)
		}
	}
	if !names["PRESSROOM_DATABASE"] || !names["PRESSROOM_SEALING_KEY"] {
		t.Errorf("%s lacks its secrets", name)
	}
}

// Missing or invalid values are errors before any object is rendered.
func TestHelmInvalidValues(t *testing.T) {
	for want, change := range map[string]func(map[string]any){
		"publicURL is required": func(v map[string]any) { delete(v, "publicURL") },
		"secrets.database.name is required": func(v map[string]any) {
			v["secrets"] = map[string]any{"sealingKey": map[string]any{"name": "x"}}
		},
		"publicURL":                     func(v map[string]any) { v["publicURL"] = "http://press.example.com" },
		"terminationGracePeriodSeconds": func(v map[string]any) { v["terminationGracePeriodSeconds"] = 30 },
		"tlsSecret is required": func(v map[string]any) {
			v["ingress"], v["trustedProxies"] = map[string]any{"enabled": true, "host": "press.example.com"}, []any{"10.0.0.0/8"}
		},
		"trustedProxies is required": func(v map[string]any) {
			v["ingress"] = map[string]any{"enabled": true, "host": "press.example.com", "tlsSecret": "tls"}
		},
		"interval": func(v map[string]any) {
			v["metrics"] = map[string]any{"serviceMonitor": map[string]any{"interval": "often"}}
		},
		"replicaz":               func(v map[string]any) { v["api"] = map[string]any{"replicaz": 3} },
		"does not match pattern": func(v map[string]any) { v["settings"] = map[string]any{"PATH": "/"} },
	} {
		values := requiredValues()
		change(values)
		if _, err := render(t, values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
