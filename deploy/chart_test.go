package deploy_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/goccy/go-yaml"
)

// object is an object of YAML.
type object = map[string]any

const chartDir = "helm/headroom"

// at walks through objects and lists; it returns nil if there is nothing.
func at(value any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			o, _ := value.(object)
			value = o[step]
		case int:
			l, _ := value.([]any)
			if step >= len(l) {
				return nil
			}
			value = l[step]
		}
	}
	return value
}

func readYAML(t *testing.T, file string) object {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return parseYAML(t, file, text)
}

func parseYAML(t *testing.T, name string, text []byte) object {
	t.Helper()
	var o object
	if err := yaml.UnmarshalWithOptions(text, &o, yaml.Strict()); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, text)
	}
	return o
}

// merge lays values over others, as helm does with --set.
func merge(base, over object) object {
	out := maps.Clone(base)
	for name, value := range over {
		if inner, ok := value.(object); ok {
			if old, ok := out[name].(object); ok {
				value = merge(old, inner)
			}
		}
		out[name] = value
	}
	return out
}

func isEmpty(value any) bool {
	return value == nil || reflect.ValueOf(value).IsZero() || reflect.ValueOf(value).Kind() == reflect.Map && reflect.ValueOf(value).Len() == 0
}

// engine is the part of helm's that the chart uses: a template that needs more does not parse here.
func engine(t *testing.T) *template.Template {
	t.Helper()
	all := template.New("chart").Option("missingkey=zero")
	pad := func(spaces int, text string) string {
		return strings.Repeat(" ", spaces) + strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", spaces))
	}
	all.Funcs(template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var out strings.Builder
			err := all.ExecuteTemplate(&out, name, data)
			return out.String(), err
		},
		"default": func(standby, value any) any {
			if isEmpty(value) {
				return standby
			}
			return value
		},
		"quote": func(value any) string { return fmt.Sprintf("%q", fmt.Sprint(value)) },
		"toYaml": func(value any) (string, error) {
			text, err := yaml.Marshal(value)
			return strings.TrimSuffix(string(text), "\n"), err
		},
		"nindent": func(spaces int, text string) string { return "\n" + pad(spaces, text) },
		"trunc":   func(length int, text string) string { return text[:min(length, len(text))] },
		"trimSuffix": func(suffix, text string) string {
			return strings.TrimSuffix(text, suffix)
		},
		"required": func(message string, value any) (any, error) {
			if isEmpty(value) {
				return nil, fmt.Errorf("required: %s", message)
			}
			return value, nil
		},
		"fail": func(message string) (string, error) { return "", fmt.Errorf("fail: %s", message) },
	})
	files, err := filepath.Glob(chartDir + "/templates/*")
	if err != nil || len(files) < 5 {
		t.Fatalf("got %d templates, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := all.New(filepath.Base(file)).Parse(string(text)); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// render makes the chart's objects by kind, as helm install would for a release in a namespace.
func render(t *testing.T, release string, over object) (map[string]object, error) {
	t.Helper()
	chart := readYAML(t, chartDir+"/Chart.yaml")
	values := merge(readYAML(t, chartDir+"/values.yaml"), over)
	data := object{
		"Values":  values,
		"Release": object{"Name": release, "Namespace": "planning", "Service": "Helm"},
		"Chart":   object{"Name": chart["name"], "Version": chart["version"], "AppVersion": chart["appVersion"]},
	}
	all := engine(t)
	kinds := map[string]object{}
	for _, part := range all.Templates() {
		if strings.HasPrefix(part.Name(), "_") || !strings.Contains(part.Name(), ".yaml") && part.Name() != "NOTES.txt" {
			continue
		}
		var out bytes.Buffer
		if err := part.Execute(&out, data); err != nil {
			return nil, err
		}
		if strings.Contains(out.String(), "<no value>") {
			t.Errorf("%s uses a value that values.yaml does not have:\n%s", part.Name(), &out)
		}
		if part.Name() == "NOTES.txt" || strings.TrimSpace(out.String()) == "" {
			continue
		}
		o := parseYAML(t, part.Name(), out.Bytes())
		kind, _ := o["kind"].(string)
		if kinds[kind] != nil {
			t.Errorf("%s is the second %s", part.Name(), kind)
		}
		kinds[kind] = o
	}
	return kinds, nil
}

// required holds the values that every installation must set.
var required = object{
	"image":    object{"repository": "registry.example.com/headroom"},
	"database": object{"secret": "headroom-database"},
}

// everything turns all options on.
var everything = merge(required, object{
	"image":            object{"repository": "registry.example.com/headroom", "tag": "1.2.3"},
	"imagePullSecrets": []any{object{"name": "registry"}},
	"database":         object{"secret": "headroom-database", "migrateUrlKey": "owner", "directUrlKey": "direct"},
	"adminKey":         object{"secret": "headroom-admin"},
	"settings":         object{"HEADROOM_MAX_CLASSES": "20000"},
	"hosts":            []any{"plans.example.com"},
	"service":          object{"annotations": object{"a": "b"}},
	"ingress":          object{"enabled": true, "className": "nginx", "tlsSecret": "tls", "annotations": object{"a": "b"}},
	"autoscaling":      object{"enabled": true},
	"serviceMonitor":   object{"enabled": true, "secret": "headroom-metrics", "labels": object{"release": "prometheus"}},
	"networkPolicy":    object{"enabled": true, "from": []any{object{"namespaceSelector": object{}}}, "database": []any{object{"ipBlock": object{"cidr": "192.0.2.0/24"}}}, "egress": []any{object{"ports": []any{object{"port": 443}}}}},
	"podAnnotations":   object{"a": "b"},
	"podLabels":        object{"team": "data"},
	"nodeSelector":     object{"kubernetes.io/os": "linux"},
	"tolerations":      []any{object{"key": "batch", "operator": "Exists"}},
	"affinity":         object{"podAntiAffinity": object{}},
	"replicas":         3,
})

func TestChartWithLittleAndWithEverything(t *testing.T) {
	t.Parallel()
	always := []string{"Deployment", "PodDisruptionBudget", "Service"}
	for _, c := range []struct {
		situation string
		release   string
		values    object
		kinds     []string
	}{
		{"required values alone", "headroom", required, always},
		{"everything", "headroom", everything, append(slices.Clone(always), "HorizontalPodAutoscaler", "Ingress", "NetworkPolicy", "ServiceMonitor")},
		{"a long name", strings.Repeat("abcdefghi-", 5) + "abc", everything, append(slices.Clone(always), "HorizontalPodAutoscaler", "Ingress", "NetworkPolicy", "ServiceMonitor")},
		{"another name", "headroom", merge(required, object{"nameOverride": strings.Repeat("x", 52) + "-yz-and-much-more", "podDisruptionBudget": object{"enabled": false}}), []string{"Deployment", "Service"}},
	} {
		t.Run(c.situation, func(t *testing.T) {
			kinds, err := render(t, c.release, c.values)
			if err != nil {
				t.Fatal(err)
			}
			got := slices.Sorted(maps.Keys(kinds))
			if want := slices.Sorted(slices.Values(c.kinds)); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			pod := at(kinds["Deployment"], "spec", "template").(object)
			labels := at(pod, "metadata", "labels").(object)
			name := at(kinds["Deployment"], "metadata", "name")
			for kind, o := range kinds {
				checkObject(t, kind, o)
				for path, selector := range map[string]any{
					"selector.matchLabels":    at(o, "spec", "selector", "matchLabels"),
					"selector":                at(kinds["Service"], "spec", "selector"),
					"podSelector.matchLabels": at(o, "spec", "podSelector", "matchLabels"),
				} {
					for key, value := range asObject(selector) {
						if labels[key] != value {
							t.Errorf("%s: %s asks for %s=%v, the pods have %v", kind, path, key, value, labels[key])
						}
					}
				}
			}
			checkPod(t, at(pod, "spec").(object))
			// Selectors must not change with a release: a rolling update would lose its pods.
			for _, s := range []any{at(kinds["Service"], "spec", "selector"), at(kinds["Deployment"], "spec", "selector", "matchLabels")} {
				if got := slices.Sorted(maps.Keys(asObject(s))); !slices.Equal(got, []string{"app.kubernetes.io/instance", "app.kubernetes.io/name"}) {
					t.Errorf("got a selector of %v", got)
				}
			}
			if hpa := kinds["HorizontalPodAutoscaler"]; hpa != nil {
				if got := at(hpa, "spec", "scaleTargetRef", "name"); got != name {
					t.Errorf("the autoscaler scales %v, want %v", got, name)
				}
				if at(kinds["Deployment"], "spec", "replicas") != nil {
					t.Error("the Deployment sets replicas against the autoscaler")
				}
			}
			if ingress := kinds["Ingress"]; ingress != nil {
				if got := at(ingress, "spec", "rules", 0, "http", "paths", 0, "backend", "service", "name"); got != name {
					t.Errorf("the Ingress leads to %v, want %v", got, name)
				}
			}
			if monitor := kinds["ServiceMonitor"]; monitor != nil {
				credentials := at(monitor, "spec", "endpoints", 0, "authorization", "credentials")
				if !reflect.DeepEqual(credentials, object{"name": "headroom-metrics", "key": "key"}) || at(monitor, "spec", "endpoints", 0, "path") != "/metrics" {
					t.Errorf("the ServiceMonitor asks with %v", credentials)
				}
				if at(monitor, "spec", "endpoints", 0, "port") != at(kinds["Service"], "spec", "ports", 0, "name") {
					t.Error("the ServiceMonitor asks a port that the Service does not have")
				}
			}
			if policy := kinds["NetworkPolicy"]; policy != nil && at(policy, "spec", "ingress", 0, "ports", 0, "port") != at(pod, "spec", "containers", 0, "ports", 0, "name") {
				t.Error("the NetworkPolicy opens a port that the pods do not have")
			} else if policy != nil { // pods ask one another
				own := object{"podSelector": object{"matchLabels": at(kinds["Deployment"], "spec", "selector", "matchLabels")}}
				if from := at(policy, "spec", "ingress", 0, "from").([]any); !reflect.DeepEqual(from[len(from)-1], own) {
					t.Errorf("the NetworkPolicy lets in %v", from)
				}
				if got := at(policy, "spec", "egress", 0); !reflect.DeepEqual(got, object{"ports": []any{object{"protocol": "TCP", "port": "http"}}, "to": []any{own}}) {
					t.Errorf("the NetworkPolicy lets pods ask %v", got)
				}
			}
		})
	}
}

func asObject(value any) object { o, _ := value.(object); return o }

// checkObject checks the requirements for every object of Kubernetes.
func checkObject(t *testing.T, kind string, o object) {
	t.Helper()
	versions := map[string]string{
		"Deployment": "apps/v1", "Service": "v1", "Ingress": "networking.k8s.io/v1", "NetworkPolicy": "networking.k8s.io/v1",
		"HorizontalPodAutoscaler": "autoscaling/v2", "PodDisruptionBudget": "policy/v1", "ServiceMonitor": "monitoring.coreos.com/v1",
	}
	if o["apiVersion"] != versions[kind] {
		t.Errorf("%s: got apiVersion %v, want %q", kind, o["apiVersion"], versions[kind])
	}
	if name, _ := at(o, "metadata", "name").(string); !isDNSLabel(name) {
		t.Errorf("%s: %q is no name of at most 63 letters, digits and hyphens", kind, name)
	}
	for key, value := range asObject(at(o, "metadata", "labels")) {
		if text, ok := value.(string); !ok || len(text) > 63 {
			t.Errorf("%s: the label %s is %v, want a text of at most 63 characters", kind, key, value)
		}
	}
}

func isDNSLabel(s string) bool {
	return s != "" && len(s) <= 63 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" && s[0] != '-' && s[len(s)-1] != '-'
}

// checkPod checks that a pod has few rights, that its settings exist, and that secrets come from Secrets.
func checkPod(t *testing.T, spec object) {
	t.Helper()
	container := at(spec, "containers", 0).(object)
	for _, want := range []struct {
		value any
		path  []any
		want  any
	}{
		{spec, []any{"securityContext", "runAsNonRoot"}, true},
		{spec, []any{"securityContext", "runAsUser"}, uint64(imageUser)},
		{spec, []any{"securityContext", "seccompProfile", "type"}, "RuntimeDefault"},
		{spec, []any{"automountServiceAccountToken"}, false},
		{spec, []any{"enableServiceLinks"}, false},
		{container, []any{"securityContext", "allowPrivilegeEscalation"}, false},
		{container, []any{"securityContext", "readOnlyRootFilesystem"}, true},
		{container, []any{"securityContext", "capabilities", "drop"}, []any{"ALL"}},
		{container, []any{"startupProbe", "httpGet", "path"}, "/livez"},
		{container, []any{"livenessProbe", "httpGet", "path"}, "/livez"},
		{container, []any{"readinessProbe", "httpGet", "path"}, "/readyz"},
	} {
		if got := at(want.value, want.path...); !reflect.DeepEqual(got, want.want) {
			t.Errorf("%v: got %v, want %v", want.path, got, want.want)
		}
	}
	port := at(container, "ports", 0).(object)
	for _, probe := range []string{"startupProbe", "livenessProbe", "readinessProbe"} {
		if got := at(container, probe, "httpGet", "port"); got != port["name"] {
			t.Errorf("%s asks the port %v, want %v", probe, got, port["name"])
		}
	}
	for _, path := range [][]any{{"resources", "requests", "cpu"}, {"resources", "requests", "memory"}, {"resources", "limits", "memory"}} {
		if at(container, path...) == nil {
			t.Errorf("%v is not set", path)
		}
	}
	known, seen := settingsOfTheServer(t), map[string]bool{}
	for _, entry := range container["env"].([]any) {
		name, _ := at(entry, "name").(string)
		if name == "POD_IP" { // which the address for the other pods is made of
			if got := at(entry, "valueFrom", "fieldRef", "fieldPath"); got != "status.podIP" {
				t.Errorf("POD_IP: got %v", got)
			}
			continue
		}
		setting, ok := known[name]
		if !ok {
			t.Errorf("%s is no setting of the server", name)
		}
		if seen[name] {
			t.Errorf("%s is set twice", name)
		}
		seen[name] = true
		value, plain := at(entry, "value").(string)
		switch {
		case setting.secret && (plain || at(entry, "valueFrom", "secretKeyRef", "name") == nil):
			t.Errorf("%s is a secret and does not come from a Secret", name)
		case !setting.secret && !plain:
			t.Errorf("%s: got %v, want a text", name, at(entry, "value"))
		case name == "HEADROOM_PEER_ADDRESS" && value != fmt.Sprintf("[$(POD_IP)]:%v", port["containerPort"]):
			t.Errorf("the other pods are told to ask %s, but the port is %v", value, port["containerPort"])
		case name == "HEADROOM_LISTEN" && value != fmt.Sprintf("0.0.0.0:%v", port["containerPort"]):
			t.Errorf("the server listens on %s, the port is %v", value, port["containerPort"])
		case name == "HEADROOM_HOSTS":
			for _, host := range strings.Split(value, ",") {
				for _, label := range strings.Split(host, ".") {
					if !isDNSLabel(label) {
						t.Errorf("HEADROOM_HOSTS has %q, which is no name", host)
					}
				}
			}
		}
	}
	for _, want := range []string{"DATABASE_URL", "HEADROOM_LISTEN", "HEADROOM_HOSTS", "HEADROOM_PEER_ADDRESS"} {
		if !seen[want] {
			t.Errorf("%s is not set", want)
		}
	}
	// The pause before the stop and the server's own time to answer must fit, or requests are cut off.
	if grace, _ := at(spec, "terminationGracePeriodSeconds").(uint64); grace < 5+8+5+10 {
		t.Errorf("the grace period is %d s", grace)
	}
}

func TestChartRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		situation string
		values    object
		says      string
	}{
		{"no database", object{"image": required["image"]}, "set database.secret"},
		{"no image", object{"database": required["database"]}, "set image.repository"},
		{"a secret among the settings", merge(required, object{"settings": object{"HEADROOM_ADMIN_KEY": "hrk_x"}}), "HEADROOM_ADMIN_KEY is a secret"},
		{"a client secret among the settings", merge(required, object{"settings": object{"HEADROOM_OIDC_CLIENT_SECRET": "x"}}), "HEADROOM_OIDC_CLIENT_SECRET is a secret"},
		{"a database among the settings", merge(required, object{"settings": object{"DATABASE_URL": "postgres://"}}), "DATABASE_URL is a secret"},
		{"what the chart sets", merge(required, object{"settings": object{"HEADROOM_HOSTS": "a"}}), "set by the chart"},
		{"a monitor without a key", merge(required, object{"serviceMonitor": object{"enabled": true}}), "set serviceMonitor.secret"},
	} {
		if _, err := render(t, "headroom", c.values); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %q", c.situation, err, c.says)
		}
	}
}

// Every secret setting of the server is refused in plain values, also future ones.
func TestChartRefusesEverySecretSetting(t *testing.T) {
	t.Parallel()
	for name, setting := range settingsOfTheServer(t) {
		_, err := render(t, "headroom", merge(required, object{"settings": object{name: "x"}}))
		if refused := err != nil && strings.Contains(err.Error(), "is a secret"); refused != setting.secret {
			t.Errorf("%s: refused as a secret: %v, want %v (%v)", name, refused, setting.secret, err)
		}
	}
}
