package deploy

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// The ServiceMonitor selects a Service with the metrics of pods of both roles. These pods then have no scrape
// annotations, which would count everything twice.
func TestHelmServiceMonitor(t *testing.T) {
	var monitor *monitoring.ServiceMonitor
	services, pods := []*core.Service{}, []core.PodTemplateSpec{}
	for _, object := range objects(t, allValues()) {
		switch o := object.(type) {
		case *monitoring.ServiceMonitor:
			monitor = o
		case *core.Service:
			services = append(services, o)
		case *apps.Deployment:
			pods = append(pods, o.Spec.Template)
		}
	}
	endpoint := monitor.Spec.Endpoints[0]
	if monitor.Labels["release"] != "prometheus" || endpoint.Interval != "15s" || endpoint.Path != "/metrics" {
		t.Errorf("%v %+v", monitor.Labels, endpoint)
	}
	selected := slices.DeleteFunc(services, func(s *core.Service) bool { return !contains(s.Labels, monitor.Spec.Selector.MatchLabels) })
	if len(selected) != 1 || selected[0].Spec.Ports[0].Name != endpoint.Port || !selected[0].Spec.PublishNotReadyAddresses {
		t.Fatalf("%+v", selected)
	}
	for _, pod := range pods {
		if !contains(pod.Labels, selected[0].Spec.Selector) || pod.Annotations["prometheus.io/scrape"] != "" {
			t.Errorf("%v %v", pod.Labels, pod.Annotations)
		}
	}
	for _, object := range objects(t, requiredValues()) {
		if o, ok := object.(*apps.Deployment); ok && o.Spec.Template.Annotations["prometheus.io/scrape"] != "true" {
			t.Errorf("%s has no annotations for scraping", o.Name)
		}
	}
}

func contains(labels, selector map[string]string) bool {
	for name, value := range selector {
		if labels[name] != value {
			return false
		}
	}
	return true
}

// The chart's PrometheusRule has the alerts of deploy/prometheus, and its ConfigMap the dashboard of deploy/grafana.
// That dashboard has no inputs, because Grafana does not ask for inputs when it provisions a dashboard.
func TestHelmAlertsAndDashboard(t *testing.T) {
	var want monitoring.PrometheusRuleSpec
	if err := yaml.UnmarshalStrict(read(t, "prometheus", "rules.yaml"), &want); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, object := range objects(t, allValues()) {
		switch o := object.(type) {
		case *monitoring.PrometheusRule:
			found++
			rules := o.Spec.Groups[0].Rules
			if len(rules) != len(want.Groups[0].Rules) || o.Labels["release"] != "prometheus" {
				t.Fatalf("%d rules, want %d; %v", len(rules), len(want.Groups[0].Rules), o.Labels)
			}
			for i, rule := range want.Groups[0].Rules {
				if rules[i].Alert != rule.Alert || rules[i].Annotations["summary"] != rule.Annotations["summary"] ||
					rules[i].Expr != rule.Expr {
					t.Errorf("%+v, want %+v", rules[i], rule)
				}
			}
		case *core.ConfigMap:
			found++
			board := o.Data["pressroom.json"]
			if !json.Valid([]byte(board)) || strings.Contains(board, "${DS_") || !strings.Contains(board, `"uid": "pressroom"`) ||
				o.Labels["grafana_dashboard"] != "1" || o.Annotations["grafana_folder"] != "Services" {
				t.Errorf("%v %v %.200s", o.Labels, o.Annotations, board)
			}
		}
	}
	if found != 2 {
		t.Errorf("%d objects", found)
	}
}

// A person who imports the dashboard chooses a Prometheus data source. All panels use it, limited to the selected
// jobs and nodes.
func TestGrafanaInputs(t *testing.T) {
	var board struct {
		Inputs   []struct{ Name, PluginID string } `json:"__inputs"`
		Requires []struct{ Type, ID string }       `json:"__requires"`
		ID       *int                              `json:"id"`
		Panels   []struct {
			Type, Title string
			Datasource  *struct{ UID string }
			Targets     []struct{ Expr string }
		}
		Templating struct {
			List []struct {
				Name, Type string
				Current    struct{ Value string }
			}
		}
	}
	if err := json.Unmarshal(read(t, "grafana", "pressroom.json"), &board); err != nil {
		t.Fatal(err)
	}
	variables := []string{}
	for _, variable := range board.Templating.List {
		variables = append(variables, variable.Name)
	}
	if !slices.Equal(variables, []string{"datasource", "job", "instance"}) || board.ID != nil || len(board.Inputs) != 1 ||
		board.Templating.List[0].Current.Value != "${"+board.Inputs[0].Name+"}" {
		t.Errorf("%v %+v", variables, board.Inputs)
	}
	required := []string{}
	for _, part := range board.Requires {
		required = append(required, part.Type+" "+part.ID)
	}
	for _, panel := range board.Panels {
		if panel.Type == "row" {
			continue
		}
		if !slices.Contains(required, "panel "+panel.Type) || panel.Datasource == nil || panel.Datasource.UID != "${datasource}" {
			t.Errorf("%s: %s %+v", panel.Title, panel.Type, panel.Datasource)
		}
		for _, target := range panel.Targets {
			if selectors := strings.Count(target.Expr, "{"); selectors == 0 ||
				strings.Count(target.Expr, `{job=~"$job"`) != selectors {
				t.Errorf("%s: %s", panel.Title, target.Expr)
			}
		}
	}
}

// values.yaml documents all values: it contains every value of the schema, and every section has a comment.
func TestHelmValuesDocumented(t *testing.T) {
	raw := read(t, "helm", "pressroom", "values.yaml")
	var values map[string]any
	if err := yaml.Unmarshal(raw, &values); err != nil {
		t.Fatal(err)
	}
	var schema object
	if err := json.Unmarshal(read(t, "helm", "pressroom", "values.schema.json"), &schema); err != nil {
		t.Fatal(err)
	}
	compare(t, "", schema, values)
	before := ""
	for line := range strings.SplitSeq(string(raw), "\n") {
		name, _, isValue := strings.Cut(line, ":")
		above := strings.HasPrefix(before, "#") || strings.HasPrefix(before, "podAnnotations") || strings.HasPrefix(before, "nodeSelector")
		if isValue && name != "" && !strings.ContainsAny(name[:1], " #") && !above && !strings.Contains(line, "#") &&
			!slices.Contains([]string{"image", "ingress", "networkPolicy"}, name) { // their values have comments
			t.Errorf("%s has no comment", name)
		}
		before = line
	}
}

type object struct {
	Properties map[string]object `json:"properties"`
}

// compare reports values that are only in the schema or only in values.yaml.
func compare(t *testing.T, path string, schema object, values map[string]any) {
	t.Helper()
	for name, property := range schema.Properties {
		value, ok := values[name]
		if !ok && path+name != "global" { // Helm defines global
			t.Errorf("values.yaml lacks %s%s", path, name)
		}
		if inner, isMap := value.(map[string]any); isMap && property.Properties != nil {
			compare(t, path+name+".", property, inner)
		}
	}
	for name := range values {
		if _, ok := schema.Properties[name]; !ok {
			t.Errorf("the schema lacks %s%s", path, name)
		}
	}
}

// Traefik's configurations in the guide are valid YAML. Each router has a service, and an entry point without a time
// limit for uploads. The service does not buffer responses.
func TestTraefik(t *testing.T) {
	guide, err := os.ReadFile(file("..", "docs", "deploy.md"))
	if err != nil {
		t.Fatal(err)
	}
	section := regexp.MustCompile("(?s)### Traefik\n(.*?)\n### ").FindSubmatch(guide)
	blocks := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllSubmatch(section[1], -1)
	if len(blocks) != 2 {
		t.Fatalf("%d configurations", len(blocks))
	}
	var config struct {
		EntryPoints map[string]struct {
			Address   string `json:"address"`
			Transport struct {
				RespondingTimeouts struct{ ReadTimeout string }
			} `json:"transport"`
		} `json:"entryPoints"`
		CertificatesResolvers map[string]any `json:"certificatesResolvers"`
		HTTP                  struct {
			Routers map[string]struct {
				Rule        string                        `json:"rule"`
				EntryPoints []string                      `json:"entryPoints"`
				Service     string                        `json:"service"`
				TLS         struct{ CertResolver string } `json:"tls"`
			} `json:"routers"`
			Services map[string]struct {
				LoadBalancer struct {
					Servers            []struct{ URL string }          `json:"servers"`
					HealthCheck        struct{ Path, Interval string } `json:"healthCheck"`
					ResponseForwarding struct{ FlushInterval string }  `json:"responseForwarding"`
				} `json:"loadBalancer"`
			} `json:"services"`
		} `json:"http"`
	}
	for _, block := range blocks {
		if err := yaml.UnmarshalStrict(block[1], &config); err != nil {
			t.Error(err)
		}
	}
	router := config.HTTP.Routers["pressroom"]
	service := config.HTTP.Services[router.Service].LoadBalancer
	if config.EntryPoints[router.EntryPoints[0]].Transport.RespondingTimeouts.ReadTimeout != "0s" ||
		config.CertificatesResolvers[router.TLS.CertResolver] == nil || service.HealthCheck.Path != "/readyz" ||
		!strings.HasPrefix(service.ResponseForwarding.FlushInterval, "-") || len(service.Servers) != 1 {
		t.Errorf("%+v", config)
	}
}
