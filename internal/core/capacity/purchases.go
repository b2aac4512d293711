package capacity

// Purchase names a way to pay for a VM.
type Purchase string

// The purchases that have a price of their own besides contracts.
const (
	PurchaseOnDemand Purchase = "on_demand"
	PurchaseSpot     Purchase = "spot"
)

var Purchases = []Purchase{PurchaseOnDemand, PurchaseSpot}
