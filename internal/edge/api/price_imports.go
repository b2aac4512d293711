package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/service/clusters"
)

// sheetTypes lists the accepted media types of price sheets. The form follows from the content.
var sheetTypes = []string{"application/octet-stream", "text/csv", "application/json", "application/gzip"}

// importPrices takes over a price sheet that is the request's body. It is read as it comes and is never in
// memory whole.
func (s *server) importPrices(w http.ResponseWriter, r *http.Request) {
	takeUpload(s, w, r, sheetWords, s.importSent)
}

var sheetWords = uploadWords{
	name: "sheet", types: sheetTypes, kept: "nothing of it was taken over",
	smaller: "take that of one region, or ask the administrator to raise HEADROOM_IMPORT_MAX_BYTES",
}

func (s *server) importSent(r *http.Request, sent *upload) (clusters.PriceImport, error) {
	o, err := selectionOf(r)
	if err != nil {
		return clusters.PriceImport{}, err
	}
	made, err := s.app.Clusters.ImportPrices(r.Context(), pathValue(r, "cluster"), o, sent)
	if err != nil && sent.err != nil {
		err = sent.err // the part that was read may look like a fault of the sheet
	}
	return made, aboutSheet(err)
}

// selectionOf returns the query's selection; openapi.yaml's rules were already checked.
func selectionOf(r *http.Request) (o clusters.PriceSelection, err error) {
	query := r.URL.Query()
	flag := func(name string) bool { return query.Get(name) == "true" }
	o = clusters.PriceSelection{Region: query.Get("region"), Instances: query["instance"], OnDemandOnly: flag("on_demand_only"), ZeroPrices: flag("zero_prices"), DryRun: flag("dry_run")}
	if text := query.Get("from"); text != "" {
		from, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return o, refusal{aboutParameter("from", "type", fmt.Sprintf("%.60q is no time.", text), nil)}
		}
		o.From = &from
	}
	for _, text := range query["as"] {
		instance, vmType, ok := strings.Cut(text, ":")
		if !ok || instance == "" || vmType == "" {
			return o, refusal{aboutParameter("as", "text", fmt.Sprintf("%.100q does not say which VM type an instance is; write it like m5.xlarge:worker.", text), nil)}
		}
		if before, twice := o.As[instance]; twice && before != vmType {
			return o, refusal{aboutParameter("as", "duplicate", fmt.Sprintf("The instance %.60q is said to be %.60q and %.60q; give one of them.", instance, before, vmType), nil)}
		}
		if o.As == nil {
			o.As = map[string]string{}
		}
		o.As[instance] = vmType
	}
	return o, nil
}

// aboutSheet turns an import's error into one that names the parameter at fault, if it is a parameter.
func aboutSheet(err error) error {
	input := (*fault.InputError)(nil)
	if !errors.As(err, &input) {
		return err
	}
	about := readingProblem(err).(refusal)
	for i, f := range about.Errors {
		for member, parameter := range map[string]string{"/region": "region", "/instances": "instance", "/as": "as", "/from": "from"} {
			if f.Pointer != nil && (*f.Pointer == member || strings.HasPrefix(*f.Pointer, member+"/")) {
				about.Errors[i].Pointer, about.Errors[i].Parameter = nil, parameter
				if f.Hint != nil {
					f.Hint.Pointer = ""
				}
				break
			}
		}
	}
	return about
}

// priceFetch asks for a price sheet at an address.
type priceFetch struct {
	URL string `json:"url"`
	clusters.PriceSelection
}

func (s *server) FetchPrices(ctx context.Context, r FetchPricesRequest) (reply[Run], error) {
	return startedRun[Run](s.app.Clusters.StartPriceImport(ctx, r.Cluster, r.Body.URL, r.Body.PriceSelection))
}
