package yarn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	patience = 8 * time.Second // for an answer
	longest  = 64 << 20        // bytes of an answer: some 5,000 queues
	prefix   = "yarn.scheduler.capacity."
)

// client follows no redirect: a standby sends callers on, and is told apart by what it says of itself.
var client = &http.Client{
	Timeout:       patience,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// findActive finds the resource manager that is active.
func (y *Yarn) findActive(ctx context.Context) error {
	var failed []error
	for _, y.address = range y.Addresses {
		var answer struct {
			Info struct {
				State string `json:"state"`
				HA    string `json:"haState"`
			} `json:"clusterInfo"`
		}
		err := y.get(ctx, y.address, "info", &answer)
		switch info := answer.Info; {
		case err != nil:
		case info.State == "":
			err = unread(y.address, "info", "no state")
		case info.State != "STARTED" || info.HA != "ACTIVE":
			err = fmt.Errorf("%s is %.30q and %.30q; it must be active", y.address, info.State, info.HA)
		default:
			return nil
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// queues returns the queues below root by their paths.
func (y *Yarn) queues(ctx context.Context) (map[string]queue, error) {
	var answer struct {
		Scheduler struct {
			Info struct {
				Type   string `json:"type"`
				Queues struct {
					Queue []queue `json:"queue"`
				} `json:"queues"`
			} `json:"schedulerInfo"`
		} `json:"scheduler"`
	}
	if err := y.get(ctx, y.address, "scheduler", &answer); err != nil {
		return nil, err
	}
	if kind := answer.Scheduler.Info.Type; kind != "capacityScheduler" {
		return nil, fmt.Errorf("YARN has the scheduler %.100q, and the driver sets queues of the capacity scheduler; set yarn.resourcemanager.scheduler.class to CapacityScheduler", kind)
	}
	all := map[string]queue{}
	for _, q := range answer.Scheduler.Info.Queues.Queue {
		if q.Name == "" || !(q.Capacity >= 0 && q.Capacity <= 100) || !(q.Most >= 0 && q.Most <= 100) || q.Parallel != nil && *q.Parallel < 0 {
			return nil, unread(y.address, "scheduler", fmt.Sprintf("the queue %.100q", q.Name))
		}
		all["root."+q.Name] = q
	}
	if len(all) == 0 {
		return nil, unread(y.address, "scheduler", "no queue")
	}
	return all, nil
}

// settings returns the scheduler's settings by name. YARN tells them where it also lets them be changed.
func (y *Yarn) settings(ctx context.Context) (map[string]string, error) {
	var answer struct {
		Property []struct {
			Name, Value string
		} `json:"property"`
	}
	if err := y.get(ctx, y.address, "scheduler-conf", &answer); err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, p := range answer.Property {
		all[p.Name] = p.Value
	}
	if all[prefix+"root.queues"] == "" {
		return nil, unread(y.address, "scheduler-conf", "no "+prefix+"root.queues")
	}
	return all, nil
}

// running counts what a cluster has.
type running struct {
	Active     float64 `json:"activeNodes"`
	Processors float64 `json:"allocatedVirtualCores"`
}

func (y *Yarn) nodes(ctx context.Context) (running, error) {
	var answer struct {
		Metrics *running `json:"clusterMetrics"`
	}
	if err := y.get(ctx, y.address, "metrics", &answer); err != nil {
		return running{}, err
	}
	if m := answer.Metrics; m != nil && m.Active >= 0 && m.Processors >= 0 {
		return *m, nil
	}
	return running{}, unread(y.address, "metrics", "no number of nodes")
}

func (y *Yarn) get(ctx context.Context, address, what string, into any) error {
	text, err := y.call(ctx, http.MethodGet, address, what, nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return unread(address, what, string(text))
	}
	return nil
}

// change changes settings of the scheduler.
func (y *Yarn) change(ctx context.Context, settings any) error {
	body, err := json.Marshal(settings)
	if err != nil {
		return err
	}
	_, err = y.call(ctx, http.MethodPut, y.address, "scheduler-conf", body)
	return err
}

func (y *Yarn) call(ctx context.Context, method, address, what string, body []byte) ([]byte, error) {
	at := strings.TrimSuffix(address, "/") + "/ws/v1/cluster/" + what
	if y.User != "" {
		at += "?user.name=" + url.QueryEscape(y.User)
	}
	request, err := http.NewRequestWithContext(ctx, method, at, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("X-XSRF-HEADER", "headroom") // YARN's guard against other sites asks for it where it is on
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("YARN does not answer: %w; is %s the web address of the resource manager?", err, address)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, longest+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the answer of %s breaks off: %w", at, err)
	case len(text) > longest:
		return nil, unread(address, what, "it is too long")
	case response.StatusCode == http.StatusOK:
		return text, nil
	}
	return nil, refused(response.StatusCode, what, at, text)
}

// refused says what YARN refuses, and what helps.
func refused(status int, what, at string, text []byte) error {
	said := message(text)
	cure := ""
	switch {
	case said == "":
		cure = "no reason; look into the log of the resource manager"
	case status == http.StatusUnauthorized && !strings.Contains(said, "admin"):
		cure = "; the driver has no ticket of Kerberos, so run it where YARN takes simple names"
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		cure = "; name a user with --user that yarn.admin.acl has"
	case what == "scheduler-conf" && status == http.StatusNotFound:
		cure = "; this YARN has no interface to change its scheduler, it needs Hadoop 3.4 or newer"
	case what == "scheduler-conf" && (strings.Contains(said, "MutableConf") || strings.Contains(said, "mutable")):
		cure = "; set yarn.scheduler.configuration.store.class in yarn-site.xml to fs, leveldb or zk"
	}
	return fmt.Errorf("%s answers %d: %s%s", at, status, said, cure)
}

// message shortens what YARN says of a failure.
func message(text []byte) string {
	var of struct {
		Exception struct {
			Message string `json:"message"`
		} `json:"RemoteException"`
	}
	said := string(text)
	if json.Unmarshal(text, &of) == nil && of.Exception.Message != "" {
		said = of.Exception.Message
	}
	return fmt.Sprintf("%.300s", strings.Join(strings.Fields(said), " "))
}

func unread(address, what, text string) error {
	return fmt.Errorf("what %s says of %s cannot be read: %.200q; is it the resource manager of YARN?", address, what, text)
}
