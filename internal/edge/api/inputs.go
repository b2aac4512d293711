package api

import (
	"context"
	"fmt"

	"example.org/headroom/internal/ask/whatif"
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/data/inputs"
	"example.org/headroom/internal/data/storage"
	"example.org/headroom/internal/service/auth"
	"example.org/headroom/internal/service/report"
	"example.org/headroom/internal/service/report/reporting"
)

// The inputs of clusters: each handler passes its request on and answers the result.

func (s *server) ListClusters(ctx context.Context, r ListClustersRequest) (reply[ClusterList], error) {
	return listed(ctx, s, paging(r.Params), "clusters", report.Clusters, func(ctx context.Context, p storage.Page) (storage.Listed[inputs.Cluster], error) {
		return s.app.Stores.Inputs.Clusters(ctx, auth.From(ctx).Clusters, p)
	})
}

func (s *server) CreateCluster(ctx context.Context, r CreateClusterRequest) (reply[Cluster], error) {
	c, err := s.app.Clusters.Create(ctx, *r.Body)
	return created(c, c.Version, c.Name, err)
}

func (s *server) GetCluster(ctx context.Context, r GetClusterRequest) (reply[Cluster], error) {
	c, err := s.app.Stores.Inputs.Cluster(ctx, r.Cluster)
	return versioned(c, c.Version, err)
}

func (s *server) ReplaceCluster(ctx context.Context, r ReplaceClusterRequest) (reply[Cluster], error) {
	version, err := seenVersion(r.Params.IfMatch)
	if err == nil {
		err = sameName("/name", r.Cluster, r.Body.Name)
	}
	if err != nil {
		return reply[Cluster]{}, err
	}
	c, err := s.app.Clusters.Replace(ctx, version, *r.Body)
	return versioned(c, c.Version, err)
}

func (s *server) DeleteCluster(ctx context.Context, r DeleteClusterRequest) (reply[nothing], error) {
	version, err := seenVersion(r.Params.IfMatch)
	if err != nil {
		return done(err)
	}
	return done(s.app.Clusters.Delete(ctx, r.Cluster, version))
}

// sameName refuses a body that renames the thing of its address.
func sameName(pointer, inPath, inBody string) error {
	if findings := fault.Findings(storage.SameName(pointer, inPath, inBody)); findings != nil {
		return refusal{invalid.aboutBody(findings)}
	}
	return nil
}

// key returns the name of a stored thing in addresses, and its version.
func key(item any) (name string, version int64) {
	switch x := item.(type) {
	case inputs.VMType:
		return x.Name, x.Version
	case inputs.PricePeriod:
		return x.ID, x.Version
	case inputs.SignedContract:
		return x.Name, x.Version
	case inputs.PlannedClass:
		return x.Name, x.Version
	case whatif.Scenario:
		return x.Name, x.Version
	case inputs.StandingOffer:
		return x.Name, x.Version
	case reporting.ReportSchedule:
		return x.Name, x.Version
	}
	panic(fmt.Sprintf("%T is not kept in a collection", item))
}

func listInputs[T any](ctx context.Context, s *server, in storage.Collection[T], cluster, what string, p paging, table func([]T) report.Table) (reply[list[T]], error) {
	return listed(ctx, s, p, cluster+"-"+what, table, func(ctx context.Context, p storage.Page) (storage.Listed[T], error) {
		return in.List(ctx, cluster, p)
	})
}

func createInput[T any](ctx context.Context, in storage.Collection[T], cluster string, item *T) (reply[T], error) {
	stored, err := in.Create(ctx, cluster, *item)
	name, version := key(stored)
	return created(stored, version, name, err)
}

func getInput[T any](ctx context.Context, in storage.Collection[T], cluster, name string) (reply[T], error) {
	stored, err := in.Get(ctx, cluster, name)
	_, version := key(stored)
	return versioned(stored, version, err)
}

func replaceInput[T any](ctx context.Context, in storage.Collection[T], cluster, name string, ifMatch *string, item *T) (reply[T], error) {
	version, err := seenVersion(ifMatch)
	if _, price := any(*item).(inputs.PricePeriod); err == nil && !price {
		given, _ := key(*item)
		err = sameName("/name", name, given)
	}
	if err != nil {
		return reply[T]{}, err
	}
	stored, err := in.Replace(ctx, cluster, name, version, *item)
	_, version = key(stored)
	return versioned(stored, version, err)
}

func deleteInput[T any](ctx context.Context, in storage.Collection[T], cluster, name string, ifMatch *string) (reply[nothing], error) {
	version, err := seenVersion(ifMatch)
	if err != nil {
		return done(err)
	}
	return done(in.Delete(ctx, cluster, name, version))
}

func (s *server) ListVMTypes(ctx context.Context, r ListVMTypesRequest) (reply[VMTypeList], error) {
	l, err := listInputs(ctx, s, s.app.Clusters.VMTypes(), r.Cluster, "vm-types", paging{r.Params.Limit, r.Params.Cursor, r.Params.Format}, report.VMTypes)
	return withNumbers(r.Params.Numbers, l, err)
}

func (s *server) CreateVMType(ctx context.Context, r CreateVMTypeRequest) (reply[VMType], error) {
	return createInput(ctx, s.app.Clusters.VMTypes(), r.Cluster, r.Body)
}

func (s *server) GetVMType(ctx context.Context, r GetVMTypeRequest) (reply[VMType], error) {
	return getInput(ctx, s.app.Clusters.VMTypes(), r.Cluster, r.Name)
}

func (s *server) ReplaceVMType(ctx context.Context, r ReplaceVMTypeRequest) (reply[VMType], error) {
	return replaceInput(ctx, s.app.Clusters.VMTypes(), r.Cluster, r.Name, r.Params.IfMatch, r.Body)
}

func (s *server) DeleteVMType(ctx context.Context, r DeleteVMTypeRequest) (reply[nothing], error) {
	return deleteInput(ctx, s.app.Clusters.VMTypes(), r.Cluster, r.Name, r.Params.IfMatch)
}

func (s *server) ListPrices(ctx context.Context, r ListPricesRequest) (reply[PriceList], error) {
	l, err := listInputs(ctx, s, s.app.Clusters.Prices(), r.Cluster, "prices", paging{r.Params.Limit, r.Params.Cursor, r.Params.Format}, report.Prices)
	return withNumbers(r.Params.Numbers, l, err)
}

func (s *server) CreatePrice(ctx context.Context, r CreatePriceRequest) (reply[Price], error) {
	return createInput(ctx, s.app.Clusters.Prices(), r.Cluster, r.Body)
}

func (s *server) GetPrice(ctx context.Context, r GetPriceRequest) (reply[Price], error) {
	return getInput(ctx, s.app.Clusters.Prices(), r.Cluster, r.Id)
}

func (s *server) ReplacePrice(ctx context.Context, r ReplacePriceRequest) (reply[Price], error) {
	return replaceInput(ctx, s.app.Clusters.Prices(), r.Cluster, r.Id, r.Params.IfMatch, r.Body)
}

func (s *server) DeletePrice(ctx context.Context, r DeletePriceRequest) (reply[nothing], error) {
	return deleteInput(ctx, s.app.Clusters.Prices(), r.Cluster, r.Id, r.Params.IfMatch)
}

func (s *server) ListContracts(ctx context.Context, r ListContractsRequest) (reply[ContractList], error) {
	l, err := listInputs(ctx, s, s.app.Clusters.Contracts(), r.Cluster, "contracts", paging{r.Params.Limit, r.Params.Cursor, r.Params.Format}, report.Contracts)
	return withNumbers(r.Params.Numbers, l, err)
}

func (s *server) CreateContract(ctx context.Context, r CreateContractRequest) (reply[Contract], error) {
	return createInput(ctx, s.app.Clusters.Contracts(), r.Cluster, r.Body)
}

func (s *server) GetContract(ctx context.Context, r GetContractRequest) (reply[Contract], error) {
	return getInput(ctx, s.app.Clusters.Contracts(), r.Cluster, r.Name)
}

func (s *server) ReplaceContract(ctx context.Context, r ReplaceContractRequest) (reply[Contract], error) {
	return replaceInput(ctx, s.app.Clusters.Contracts(), r.Cluster, r.Name, r.Params.IfMatch, r.Body)
}

func (s *server) DeleteContract(ctx context.Context, r DeleteContractRequest) (reply[nothing], error) {
	return deleteInput(ctx, s.app.Clusters.Contracts(), r.Cluster, r.Name, r.Params.IfMatch)
}

func (s *server) ListOffers(ctx context.Context, r ListOffersRequest) (reply[StandingOfferList], error) {
	l, err := listInputs(ctx, s, s.app.Clusters.Offers(), r.Cluster, "offers", paging{r.Params.Limit, r.Params.Cursor, r.Params.Format}, report.Offers)
	return withNumbers(r.Params.Numbers, l, err)
}

func (s *server) CreateOffer(ctx context.Context, r CreateOfferRequest) (reply[StandingOffer], error) {
	return createInput(ctx, s.app.Clusters.Offers(), r.Cluster, r.Body)
}

func (s *server) GetOffer(ctx context.Context, r GetOfferRequest) (reply[StandingOffer], error) {
	return getInput(ctx, s.app.Clusters.Offers(), r.Cluster, r.Name)
}

func (s *server) ReplaceOffer(ctx context.Context, r ReplaceOfferRequest) (reply[StandingOffer], error) {
	return replaceInput(ctx, s.app.Clusters.Offers(), r.Cluster, r.Name, r.Params.IfMatch, r.Body)
}

func (s *server) DeleteOffer(ctx context.Context, r DeleteOfferRequest) (reply[nothing], error) {
	return deleteInput(ctx, s.app.Clusters.Offers(), r.Cluster, r.Name, r.Params.IfMatch)
}

func (s *server) ListClasses(ctx context.Context, r ListClassesRequest) (reply[ClassList], error) {
	l, err := listInputs(ctx, s, s.app.Clusters.Classes(), r.Cluster, "classes", paging{r.Params.Limit, r.Params.Cursor, r.Params.Format}, report.PlannedClasses)
	return withNumbers(r.Params.Numbers, l, err)
}

func (s *server) CreateClass(ctx context.Context, r CreateClassRequest) (reply[Class], error) {
	return createInput(ctx, s.app.Clusters.Classes(), r.Cluster, r.Body)
}

func (s *server) GetClass(ctx context.Context, r GetClassRequest) (reply[Class], error) {
	return getInput(ctx, s.app.Clusters.Classes(), r.Cluster, r.Name)
}

func (s *server) ReplaceClass(ctx context.Context, r ReplaceClassRequest) (reply[Class], error) {
	return replaceInput(ctx, s.app.Clusters.Classes(), r.Cluster, r.Name, r.Params.IfMatch, r.Body)
}

func (s *server) DeleteClass(ctx context.Context, r DeleteClassRequest) (reply[nothing], error) {
	return deleteInput(ctx, s.app.Clusters.Classes(), r.Cluster, r.Name, r.Params.IfMatch)
}
