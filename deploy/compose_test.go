package deploy_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.org/headroom/internal/edge/postgres"
	"example.org/headroom/internal/edge/postgres/schema"
	"example.org/headroom/internal/test/pgtest"
)

var composeVariable = regexp.MustCompile(`\$\{([A-Z_]+)(:[-?])?([^}]*)\}`)

func TestCompose(t *testing.T) {
	t.Parallel()
	compose := readYAML(t, "../docker-compose.yml")
	services, volumes, networks := asObject(compose["services"]), asObject(compose["volumes"]), asObject(compose["networks"])
	if len(services) != 2 {
		t.Errorf("got %d services", len(services))
	}
	settings := settingsOfTheServer(t)
	mandatory := map[string]bool{"POSTGRES_PASSWORD": true, "HEADROOM_ADMIN_KEY": true}
	for name, service := range services {
		for variable, value := range asObject(at(service, "environment")) {
			text, ok := value.(string)
			if !ok {
				t.Errorf("%s: %s is %v, want a text", name, variable, value)
			}
			if _, known := settings[variable]; name == "headroom" && !known {
				t.Errorf("%s is no setting of the server", variable)
			}
			secret := settings[variable].secret || strings.Contains(variable, "PASSWORD")
			uses := composeVariable.FindAllStringSubmatch(text, -1)
			if secret && len(uses) == 0 {
				t.Errorf("%s: %s has its secret in the file", name, variable)
			}
			for _, use := range uses {
				switch {
				case mandatory[use[1]] && (use[2] != ":?" || len(strings.Fields(use[3])) < 5):
					t.Errorf("%s: without %s it must fail with a sentence that says what to set", name, use[1])
				case !mandatory[use[1]] && use[2] != ":-":
					t.Errorf("%s: %s has no default", name, use[1])
				}
			}
		}
		if at(service, "healthcheck", "test") == nil || at(service, "restart") != "unless-stopped" || at(service, "stop_grace_period") == nil {
			t.Errorf("%s: wants a health check, a restart and time to stop", name)
		}
		for _, network := range at(service, "networks").([]any) {
			if _, ok := networks[network.(string)]; !ok {
				t.Errorf("%s: the network %v is not declared", name, network)
			}
		}
		mounts, _ := at(service, "volumes").([]any)
		for _, mount := range mounts {
			volume, _, _ := strings.Cut(mount.(string), ":")
			if _, ok := volumes[volume]; !ok {
				t.Errorf("%s: the volume %s is not declared", name, volume)
			}
		}
		for _, port := range portsOf(service) {
			if !strings.HasPrefix(port, "${HEADROOM_PUBLISH:-127.0.0.1:") {
				t.Errorf("%s: %s is open to other machines unless somebody says otherwise", name, port)
			}
		}
	}
	if len(portsOf(services["database"])) > 0 || at(networks, "inside", "internal") != true || len(at(services, "database", "networks").([]any)) != 1 {
		t.Error("the database can be reached from outside")
	}
	if at(services, "headroom", "depends_on", "database", "condition") != "service_healthy" {
		t.Error("the server does not wait for its database")
	}
	if at(services, "headroom", "read_only") != true || at(services, "headroom", "cap_drop", 0) != "ALL" {
		t.Error("the server's container may do more than it needs")
	}
	url, _ := at(services, "headroom", "environment", "DATABASE_URL").(string)
	plain := composeVariable.ReplaceAllString(url, "x")
	if want := "postgres://headroom:x@database:5432/headroom?sslmode=disable"; plain != want {
		t.Errorf("got the address %s, want %s", plain, want)
	}
}

// The script that makes the database gives Headroom a user who is no superuser, and with whom the schema can be made and
// the service works as its role.
func TestComposeGivesTheServiceFewRights(t *testing.T) {
	t.Parallel()
	compose := readYAML(t, "../docker-compose.yml")
	if source, target := at(compose, "services", "database", "configs", 0, "source"), at(compose, "services", "database", "configs", 0, "target"); source != "database" ||
		!strings.HasPrefix(fmt.Sprint(target), "/docker-entrypoint-initdb.d/") {
		t.Fatalf("the script %v is put at %v, where Postgres's image does not run it", source, target)
	}
	text, _ := at(compose, "configs", "database", "content").(string)
	where, err := url.Parse(pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("compose_%d", os.Getpid())
	script := strings.NewReplacer("$$", "$", "--username=postgres", "--username="+where.User.Username()+" --dbname=postgres", "headroom", name).Replace(text)
	command := exec.Command("sh", "-ec", script)
	command.Env = append(os.Environ(), "POSTGRES_PASSWORD=it's", "PGHOST="+where.Query().Get("host"), "PGPORT="+where.Query().Get("port"))
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("the script fails: %v\n%s", err, said)
	}
	own := *where
	own.User, own.Path = url.UserPassword(name, "it's"), "/"+name
	store, err := postgres.Open(t.Context(), postgres.Config{URL: own.String()})
	if err != nil {
		t.Fatalf("the service's user cannot make the schema: %v", err)
	}
	store.Close()
	conn, err := pgx.Connect(t.Context(), own.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var super, asRole bool
	if err := conn.QueryRow(t.Context(), `SELECT rolsuper, pg_has_role(rolname, $1, 'MEMBER') FROM pg_roles WHERE rolname = current_user`, schema.Role).Scan(&super, &asRole); err != nil {
		t.Fatal(err)
	}
	if super || !asRole {
		t.Errorf("superuser: %t, may work as the service's role: %t", super, asRole)
	}
}

func portsOf(service any) (ports []string) {
	list, _ := at(service, "ports").([]any)
	for _, p := range list {
		ports = append(ports, p.(string))
	}
	return ports
}

// Every YAML file that is not a template can be read, including future ones.
func TestEveryYAMLFileCanBeRead(t *testing.T) {
	t.Parallel()
	seen := 0
	err := filepath.WalkDir(".", func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if entry != nil && entry.Name() == "templates" {
				return filepath.SkipDir
			}
			return err
		}
		if ext := filepath.Ext(name); ext != ".yaml" && ext != ".yml" {
			return nil
		}
		seen++
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, document := range regexp.MustCompile(`(?m)^---$`).Split(string(text), -1) {
			if strings.TrimSpace(document) != "" {
				parseYAML(t, name, []byte(document))
			}
		}
		return nil
	})
	if err != nil || seen < 2 {
		t.Errorf("read %d files, %v", seen, err)
	}
}
