package deploy_test

import (
	"bytes"
	"errors"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// kedaObject has the used members of KEDA's kinds. Other members are refused, so that typing errors are found.
type kedaObject struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct{ Name string }
	Spec       struct {
		SecretTargetRef []struct{ Parameter, Name, Key string } `yaml:"secretTargetRef"`
		ScaleTargetRef  struct{ Name string }                   `yaml:"scaleTargetRef"`
		PollingInterval int                                     `yaml:"pollingInterval"`
		MinReplicaCount int                                     `yaml:"minReplicaCount"`
		MaxReplicaCount int                                     `yaml:"maxReplicaCount"`
		Fallback        struct {
			FailureThreshold int `yaml:"failureThreshold"`
			Replicas         int
			Behavior         string
		}
		Triggers []struct {
			Type              string
			MetricType        string `yaml:"metricType"`
			Metadata          map[string]string
			AuthenticationRef struct{ Name string } `yaml:"authenticationRef"`
		}
	}
}

// KEDA must never scale to zero because the service cannot be asked.
func TestKedaManifest(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("keda/scaledobject.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]kedaObject{}
	for in := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()); ; {
		var o kedaObject
		if err := in.Decode(&o); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if o.APIVersion != "keda.sh/v1alpha1" || o.Metadata.Name == "" {
			t.Errorf("%s has the version %q and the name %q", o.Kind, o.APIVersion, o.Metadata.Name)
		}
		objects[o.Kind] = o
	}
	login, scaled := objects["TriggerAuthentication"], objects["ScaledObject"].Spec
	if len(objects) != 2 || len(login.Spec.SecretTargetRef) != 1 || login.Spec.SecretTargetRef[0].Parameter != "apiKey" {
		t.Fatalf("got %+v, want a ScaledObject and a TriggerAuthentication with an apiKey", objects)
	}
	if f := scaled.Fallback; f.Replicas < 1 || f.FailureThreshold < 1 || f.Behavior != "currentReplicasIfHigher" {
		t.Errorf("the fallback is %+v; it must keep the replicas, and never be 0", f)
	}
	if scaled.MinReplicaCount < 1 || scaled.MaxReplicaCount < scaled.MinReplicaCount || len(scaled.Triggers) != 1 {
		t.Fatalf("got %+v, want at least one replica and one trigger", scaled)
	}
	trigger := scaled.Triggers[0]
	address, err := url.Parse(trigger.Metadata["url"])
	if err != nil || !strings.HasSuffix(address.Path, "/plans/current/scaling") || address.Query().Get("min") == "0" {
		t.Errorf("the address is %q (%v)", trigger.Metadata["url"], err)
	}
	target, err := strconv.ParseFloat(trigger.Metadata["targetValue"], 64)
	if err != nil || target <= 0 || trigger.Type != "metrics-api" || trigger.MetricType != "AverageValue" || trigger.Metadata["valueLocation"] != "vms.total" ||
		trigger.Metadata["authModes"] != "apiKey" || trigger.Metadata["keyParamName"] != "X-API-KEY" || trigger.AuthenticationRef.Name != login.Metadata.Name {
		t.Errorf("the trigger is %+v (%v)", trigger, err)
	}
}
