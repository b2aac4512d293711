// Code generated from openapi.yaml by scripts/rules. DO NOT EDIT.

package rules

// Operations lists the operations by path and method.
var Operations = []Operation{
	{ID: "asset", Method: "GET", Path: "/assets/{file}", Role: "open", Parameters: []Parameter{
		{Name: "file", In: "path", Required: true, About: "The file's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}},
	{ID: "docs", Method: "GET", Path: "/docs", Role: "open"},
	{ID: "guide", Method: "GET", Path: "/docs/{chapter}/{page}", Role: "open", Parameters: []Parameter{
		{Name: "chapter", In: "path", Required: true, About: "A chapter of the documentation.", Shape: &Shape{Kind: Text, Rules: "min=1,max=100"}},
		{Name: "page", In: "path", Required: true, About: "A page of the chapter; `search` of `about` looks for words.", Shape: &Shape{Kind: Text, Rules: "min=1,max=100"}},
		{Name: "q", In: "query", About: "The words that `/docs/about/search` looks for.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
	}},
	{ID: "livez", Method: "GET", Path: "/livez", Role: "open"},
	{ID: "metrics", Method: "GET", Path: "/metrics", Role: "viewer", AllClusters: true},
	{ID: "openapi", Method: "GET", Path: "/openapi.yaml", Role: "open"},
	{ID: "problemPage", Method: "GET", Path: "/problems/{kind}", Role: "open", Parameters: []Parameter{
		{Name: "kind", In: "path", Required: true, About: "The last part of a problem's `type`.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}},
	{ID: "readyz", Method: "GET", Path: "/readyz", Role: "open"},
	{ID: "signIn", Method: "GET", Path: "/sign-in", Role: "open", Parameters: []Parameter{
		{Name: "trouble", In: "query", About: "Why a sign-in at the issuer's page did not succeed; the page says it in words.", Shape: &Shape{Kind: Text, Rules: "oneof=other refused role away none untrusted database"}},
		{Name: "done", In: "query", About: "After a sign-in at the issuer's page; the page goes on to where it was left.", Shape: &Shape{Kind: Text, Rules: "oneof=true"}},
	}},
	{ID: "endSignIn", Method: "GET", Path: "/sign-in/back", Role: "open", Parameters: []Parameter{
		{Name: "code", In: "query", About: "The issuer's code.", Shape: &Shape{Kind: Text, Rules: "max=4096"}},
		{Name: "state", In: "query", About: "It must be that of the browser's cookie.", Shape: &Shape{Kind: Text, Rules: "max=256"}},
		{Name: "error", In: "query", About: "The issuer's reason for no code.", Shape: &Shape{Kind: Text, Rules: "max=256"}},
		{Name: "iss", In: "query", About: "Added by some issuers: the issuer itself, or nobody is signed in.", Shape: &Shape{Kind: Text, Rules: "max=2048"}},
	}},
	{ID: "beginSignIn", Method: "GET", Path: "/sign-in/issuer", Role: "open"},
	{ID: "about", Method: "GET", Path: "/v1/about", Role: "viewer"},
	{ID: "listAllowedHosts", Method: "GET", Path: "/v1/allowed-hosts", Role: "admin", AllClusters: true, Parameters: []Parameter{
		{Name: "limit", In: "query", About: "The maximum number of items on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "createAllowedHost", Method: "POST", Path: "/v1/allowed-hosts", Role: "admin", AllClusters: true, Parameters: []Parameter{
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true, Body: &shapeAllowedHost},
	{ID: "deleteAllowedHost", Method: "DELETE", Path: "/v1/allowed-hosts/{id}", Role: "admin", AllClusters: true, Parameters: []Parameter{
		{Name: "id", In: "path", Required: true, About: "The entry's id.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}},
	{ID: "listAudit", Method: "GET", Path: "/v1/audit", Role: "admin", Parameters: []Parameter{
		{Name: "limit", In: "query", About: "The maximum number of items on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "cluster", In: "query", About: "Only changes of this cluster.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "bounds", Method: "POST", Path: "/v1/bounds", Role: "planner", Bulk: true, Sends: true, Needs: true},
	{ID: "calibrateExecutions", Method: "POST", Path: "/v1/calibrate", Role: "planner", Bulk: true, Sends: true, Needs: true},
	{ID: "classifyTasks", Method: "POST", Path: "/v1/classify", Role: "planner", Bulk: true, Sends: true, Needs: true},
	{ID: "listClusters", Method: "GET", Path: "/v1/clusters", Role: "viewer", Parameters: []Parameter{
		{Name: "limit", In: "query", About: "The maximum number of items on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "createCluster", Method: "POST", Path: "/v1/clusters", Role: "operator", Parameters: []Parameter{
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true, Body: &shapeCluster},
	{ID: "deleteCluster", Method: "DELETE", Path: "/v1/clusters/{cluster}", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "If-Match", In: "header", About: "The ETag last seen. Without it the request is refused with 428.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}},
	{ID: "getCluster", Method: "GET", Path: "/v1/clusters/{cluster}", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "replaceCluster", Method: "PUT", Path: "/v1/clusters/{cluster}", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "If-Match", In: "header", About: "The ETag last seen. Without it the request is refused with 428.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}, Sends: true, Needs: true, Body: &shapeCluster},
	{ID: "listAdmissions", Method: "GET", Path: "/v1/clusters/{cluster}/admissions", Role: "viewer", Agent: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "class", In: "query", About: "Only leases of this class.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "limit", In: "query", About: "The maximum number of items on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "createAdmission", Method: "POST", Path: "/v1/clusters/{cluster}/admissions", Role: "planner", Agent: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true, Body: &shapeAdmissionRequest},
	{ID: "listAdmissionCounts", Method: "GET", Path: "/v1/clusters/{cluster}/admissions/summary", Role: "viewer", Agent: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "limit", In: "query", About: "The maximum number of items on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "endAdmission", Method: "DELETE", Path: "/v1/clusters/{cluster}/admissions/{id}", Role: "planner", Agent: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "id", In: "path", Required: true, About: "The lease's id.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}},
	{ID: "getAdmission", Method: "GET", Path: "/v1/clusters/{cluster}/admissions/{id}", Role: "viewer", Agent: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "id", In: "path", Required: true, About: "The lease's id.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}},
	{ID: "keepAdmission", Method: "POST", Path: "/v1/clusters/{cluster}/admissions/{id}/heartbeat", Role: "planner", Agent: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "id", In: "path", Required: true, About: "The lease's id.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}, Sends: true, Body: &shapeHeartbeat},
	{ID: "packClasses", Method: "POST", Path: "/v1/clusters/{cluster}/class-packings", Role: "planner", KeyAsync: true, Bulk: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "compare", In: "query", About: "Pack by every algorithm: `compared` instead of `packing`.", Shape: &Shape{Kind: Bool}},
		{Name: "one_more", In: "query", About: "Say as well what one more machine makes of it.", Shape: &Shape{Kind: Bool}},
		{Name: "by_hours", In: "query", About: "Find the fewest machines on which the batch is done within so many hours: `machines` instead of `packing`. The batch needs no number of machines then.", Shape: &Shape{Kind: Number, Rules: "gt=0,lte=2777"}},
		{Name: "by", In: "query", About: "Likewise, until the cluster's clocks show this time of day, the next after the start.", Shape: &Shape{Kind: Text, Rules: "matches=^([01][0-9]0x7C2[0-3]):[0-5][0-9]$", About: "Likewise, until the cluster's clocks show this time of day, the next after the start."}},
		{Name: "start", In: "query", About: "The start of the batch, for `by`; left out, now.", Shape: &Shape{Kind: Time, Rules: "moment"}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
		{Name: "Prefer", In: "header", About: "respond-async: work in the background.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
	}, Sends: true, Needs: true},
	{ID: "listClasses", Method: "GET", Path: "/v1/clusters/{cluster}/classes", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "limit", In: "query", About: "The maximum number of rows on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=5000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "numbers", In: "query", About: "The form of exact amounts: texts (`decimal`), or JSON numbers with the same digits (`float`), for programs that draw.", Shape: &Shape{Kind: Text, Rules: "oneof=decimal float"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "createClass", Method: "POST", Path: "/v1/clusters/{cluster}/classes", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true, Body: &shapeClass},
	{ID: "classesFromHistory", Method: "POST", Path: "/v1/clusters/{cluster}/classes/from-history", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
	}, Sends: true, Needs: true, Body: &shapeClassesFromHistory},
	{ID: "deleteClass", Method: "DELETE", Path: "/v1/clusters/{cluster}/classes/{name}", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The class's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-Match", In: "header", About: "The ETag last seen. Without it the request is refused with 428.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}},
	{ID: "getClass", Method: "GET", Path: "/v1/clusters/{cluster}/classes/{name}", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The class's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "replaceClass", Method: "PUT", Path: "/v1/clusters/{cluster}/classes/{name}", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The class's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-Match", In: "header", About: "The ETag last seen. Without it the request is refused with 428.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}, Sends: true, Needs: true, Body: &shapeClass},
	{ID: "getClassCalibration", Method: "GET", Path: "/v1/clusters/{cluster}/classes/{name}/calibration", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The class's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "job", In: "query", About: "The job whose executions are the class's; that of the profile, unless given.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "from", In: "query", About: "Only executions submitted at this moment or later.", Shape: &Shape{Kind: Time, Rules: "moment"}},
		{Name: "until", In: "query", About: "Only executions submitted before this moment.", Shape: &Shape{Kind: Time, Rules: "moment"}},
		{Name: "coverage", In: "query", About: "The part of executions that a calibrated time is to hold for.", Shape: &Shape{Kind: Number, Rules: "gte=0.5,lte=0.999"}},
		{Name: "format", In: "query", About: "The report, or a table of the executions.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "adoptClassCalibration", Method: "PUT", Path: "/v1/clusters/{cluster}/classes/{name}/calibration", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The class's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-Match", In: "header", About: "The ETag last seen. Without it the request is refused with 428.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}, Sends: true, Needs: true, Body: &shapeCalibrationRequest},
	{ID: "getClassCalibrationQuestion", Method: "GET", Path: "/v1/clusters/{cluster}/classes/{name}/calibration/question", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The class's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "job", In: "query", About: "The job whose executions are the class's; that of the profile, unless given.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "from", In: "query", About: "Only executions submitted at this moment or later.", Shape: &Shape{Kind: Time, Rules: "moment"}},
		{Name: "until", In: "query", About: "Only executions submitted before this moment.", Shape: &Shape{Kind: Time, Rules: "moment"}},
		{Name: "coverage", In: "query", About: "The part of executions that a calibrated time is to hold for.", Shape: &Shape{Kind: Number, Rules: "gte=0.5,lte=0.999"}},
	}},
	{ID: "getClassifier", Method: "GET", Path: "/v1/clusters/{cluster}/classifier", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
	}},
	{ID: "listContracts", Method: "GET", Path: "/v1/clusters/{cluster}/contracts", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "limit", In: "query", About: "The maximum number of rows on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=5000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "numbers", In: "query", About: "The form of exact amounts: texts (`decimal`), or JSON numbers with the same digits (`float`), for programs that draw.", Shape: &Shape{Kind: Text, Rules: "oneof=decimal float"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "createContract", Method: "POST", Path: "/v1/clusters/{cluster}/contracts", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true, Body: &shapeContract},
	{ID: "deleteContract", Method: "DELETE", Path: "/v1/clusters/{cluster}/contracts/{name}", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The contract's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-Match", In: "header", About: "The ETag last seen. Without it the request is refused with 428.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}},
	{ID: "getContract", Method: "GET", Path: "/v1/clusters/{cluster}/contracts/{name}", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The contract's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "replaceContract", Method: "PUT", Path: "/v1/clusters/{cluster}/contracts/{name}", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The contract's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-Match", In: "header", About: "The ETag last seen. Without it the request is refused with 428.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}, Sends: true, Needs: true, Body: &shapeContract},
	{ID: "listLiveDecisions", Method: "GET", Path: "/v1/clusters/{cluster}/decisions", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "from", In: "query", About: "Only of this moment or later.", Shape: &Shape{Kind: Time, Rules: "moment"}},
		{Name: "until", In: "query", About: "Only of before this moment.", Shape: &Shape{Kind: Time, Rules: "moment"}},
		{Name: "node", In: "query", About: "Only tasks of this node.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "job", In: "query", About: "Only tasks of the job with this number.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1"}},
		{Name: "outcome", In: "query", About: "Only tasks of which this has become.", Shape: &Shape{Kind: Text, Rules: "oneof=running done failed lost"}},
		{Name: "limit", In: "query", About: "The maximum number of items on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "getDocument", Method: "GET", Path: "/v1/clusters/{cluster}/document", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "applyDocument", Method: "PUT", Path: "/v1/clusters/{cluster}/document", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "dry_run", In: "query", About: "Only say what would change.", Shape: &Shape{Kind: Bool}},
		{Name: "If-Match", In: "header", About: "The ETag last seen. Without it the request is refused with 428.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}, Sends: true, Needs: true, Body: &shapeDocument},
	{ID: "holdDriver", Method: "POST", Path: "/v1/clusters/{cluster}/drivers/{engine}", Role: "operator", Agent: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "engine", In: "path", Required: true, About: "The engine's name, such as `slurm`: small letters, digits and hyphens.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9-]+$", About: "The engine's name, such as `slurm`: small letters, digits and hyphens."}},
	}, Sends: true, Needs: true, Body: &shapeDriverClaim},
	{ID: "deleteExecutions", Method: "DELETE", Path: "/v1/clusters/{cluster}/executions", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "job", In: "query", About: "Only executions of this job.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "outcome", In: "query", About: "Only executions that ended so.", Shape: &Shape{Kind: Text, Rules: "oneof=succeeded failed killed unfinished"}},
		{Name: "user", In: "query", About: "Only executions of this user.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "queue", In: "query", About: "Only executions in this queue.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "from", In: "query", About: "Only executions submitted at this moment or later.", Shape: &Shape{Kind: Time, Rules: "moment"}},
		{Name: "until", In: "query", About: "Only executions submitted before this moment.", Shape: &Shape{Kind: Time, Rules: "moment"}},
	}},
	{ID: "listExecutions", Method: "GET", Path: "/v1/clusters/{cluster}/executions", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "job", In: "query", About: "Only executions of this job.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "outcome", In: "query", About: "Only executions that ended so.", Shape: &Shape{Kind: Text, Rules: "oneof=succeeded failed killed unfinished"}},
		{Name: "user", In: "query", About: "Only executions of this user.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "queue", In: "query", About: "Only executions in this queue.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "from", In: "query", About: "Only executions submitted at this moment or later.", Shape: &Shape{Kind: Time, Rules: "moment"}},
		{Name: "until", In: "query", About: "Only executions submitted before this moment.", Shape: &Shape{Kind: Time, Rules: "moment"}},
		{Name: "limit", In: "query", About: "The maximum number of rows on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=5000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "importExecutions", Method: "POST", Path: "/v1/clusters/{cluster}/executions", Role: "operator", Agent: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "dry_run", In: "query", About: "Only say what would change.", Shape: &Shape{Kind: Bool}},
	}, Sends: true, Needs: true, Body: &shapeExecutionBatch},
	{ID: "getExecution", Method: "GET", Path: "/v1/clusters/{cluster}/executions/{execution}", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "execution", In: "path", Required: true, About: "The execution's id here, which is not the one in its record.", Shape: &Shape{Kind: Text, Rules: "min=1,max=60"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "listFits", Method: "GET", Path: "/v1/clusters/{cluster}/fits", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "job", In: "query", About: "Only of this job.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "kind", In: "query", About: "Only of this kind.", Shape: &Shape{Kind: Text, Rules: "oneof=power rate task_time usage"}},
		{Name: "limit", In: "query", About: "The maximum number of items on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "getFit", Method: "GET", Path: "/v1/clusters/{cluster}/fits/{job}/{kind}", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "job", In: "path", Required: true, About: "The job's name, as in its measurements.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "kind", In: "path", Required: true, About: "The kind of measurements.", Shape: &Shape{Kind: Text, Rules: "oneof=power rate task_time usage"}},
		{Name: "version", In: "query", About: "Which version; left out, the latest.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1"}},
		{Name: "method", In: "query", About: "Of `power`: `log` makes squared differences of logarithms least, `nls` those of seconds. Of `task_time`: `constrained` fits are positive and never longer with more of a node by their signs, `unconstrained` ones are taken only where they are that too.", Shape: &Shape{Kind: Text, Rules: "oneof=log nls constrained unconstrained"}},
		{Name: "vms", In: "query", About: "On how many VMs.", Shape: &Shape{Kind: Number, Rules: "gte=1,lte=1e+09"}},
		{Name: "residual", In: "query", About: "With which part of a node left; 1 is a dedicated one.", Shape: &Shape{Kind: Number, Rules: "gte=0,lte=1"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "listFitVersions", Method: "GET", Path: "/v1/clusters/{cluster}/fits/{job}/{kind}/versions", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "job", In: "path", Required: true, About: "The job's name, as in its measurements.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "kind", In: "path", Required: true, About: "The kind of measurements.", Shape: &Shape{Kind: Text, Rules: "oneof=power rate task_time usage"}},
		{Name: "limit", In: "query", About: "The maximum number of items on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "deleteForecasts", Method: "DELETE", Path: "/v1/clusters/{cluster}/forecasts", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "class", In: "query", About: "Only rows of this class.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "from", In: "query", About: "Only hours that start at this time or later.", Shape: &Shape{Kind: Time, Rules: "moment"}},
		{Name: "until", In: "query", About: "Only hours that start before this time.", Shape: &Shape{Kind: Time, Rules: "moment"}},
	}},
	{ID: "listForecasts", Method: "GET", Path: "/v1/clusters/{cluster}/forecasts", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "limit", In: "query", About: "The maximum number of items on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "wide", In: "query", About: "As CSV: a row an hour and a column a class. There are no pages then.", Shape: &Shape{Kind: Bool}},
		{Name: "class", In: "query", About: "Only rows of this class.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "from", In: "query", About: "Only hours that start at this time or later.", Shape: &Shape{Kind: Time, Rules: "moment"}},
		{Name: "until", In: "query", About: "Only hours that start before this time.", Shape: &Shape{Kind: Time, Rules: "moment"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "putForecasts", Method: "PUT", Path: "/v1/clusters/{cluster}/forecasts", Role: "operator", Bulk: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "dry_run", In: "query", About: "Only say what would be written.", Shape: &Shape{Kind: Bool}},
		{Name: "counts", In: "query", About: "Of CSV with a column for each class: what the numbers count, executions that arrive in the hour or jobs that run at once.", Shape: &Shape{Kind: Text, Rules: "oneof=arrivals running"}},
		{Name: "holes", In: "query", About: "Of CSV: what hours without a row mean between the first and the last of a class. `refuse`: they are a mistake; `own`: the class's own maximum, and rows stored for them are deleted; `keep`: what is stored stays. Rows of JSON always keep it.", Shape: &Shape{Kind: Text, Rules: "oneof=refuse own keep"}},
	}, Sends: true, Needs: true, CSV: true},
	{ID: "forecastFromHistory", Method: "POST", Path: "/v1/clusters/{cluster}/forecasts/from-history", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
	}, Sends: true, Needs: true, Body: &shapeForecastFromHistory},
	{ID: "getForecastPattern", Method: "GET", Path: "/v1/clusters/{cluster}/forecasts/pattern", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "class", In: "query", Required: true, About: "The class.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "from", In: "query", About: "Only hours that start at this time or later.", Shape: &Shape{Kind: Time, Rules: "moment"}},
		{Name: "until", In: "query", About: "Only hours that start before this time.", Shape: &Shape{Kind: Time, Rules: "moment"}},
	}},
	{ID: "putWeeklyForecast", Method: "POST", Path: "/v1/clusters/{cluster}/forecasts/weekly", Role: "operator", Bulk: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
	}, Sends: true, Needs: true},
	{ID: "importHistory", Method: "POST", Path: "/v1/clusters/{cluster}/history-imports", Role: "operator", Agent: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "job", In: "query", About: "The job's name, of executions whose history names none.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "dry_run", In: "query", About: "Only say what would change.", Shape: &Shape{Kind: Bool}},
	}, Sends: true, Needs: true, CSV: true, Body: &Shape{}},
	{ID: "fetchHistory", Method: "POST", Path: "/v1/clusters/{cluster}/history-imports/fetch", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true, Body: &shapeHistoryFetch},
	{ID: "clusterHorizon", Method: "POST", Path: "/v1/clusters/{cluster}/horizons", Role: "planner", KeyAsync: true, Bulk: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "format", In: "query", About: "The form of the answer: a document, a table, a spreadsheet, or rows in the shape of FOCUS 1.2 (CSV).", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx focus"}},
		{Name: "per", In: "query", About: "The time or thing that a row of a horizon's table stands for.", Shape: &Shape{Kind: Text, Rules: "oneof=period day month"}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
		{Name: "Prefer", In: "header", About: "respond-async: work in the background.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
	}, Sends: true, Needs: true},
	{ID: "listLiveJobs", Method: "GET", Path: "/v1/clusters/{cluster}/jobs", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "state", In: "query", About: "Only jobs in this state.", Shape: &Shape{Kind: Text, Rules: "oneof=active done failed killed"}},
		{Name: "limit", In: "query", About: "The maximum number of items on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "createLiveJob", Method: "POST", Path: "/v1/clusters/{cluster}/jobs", Role: "planner", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true, Body: &shapeLiveJobRequest},
	{ID: "killLiveJob", Method: "DELETE", Path: "/v1/clusters/{cluster}/jobs/{job}", Role: "planner", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "job", In: "path", Required: true, About: "The job's number.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1"}},
	}},
	{ID: "getLiveJob", Method: "GET", Path: "/v1/clusters/{cluster}/jobs/{job}", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "job", In: "path", Required: true, About: "The job's number.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1"}},
	}},
	{ID: "getLiveSettings", Method: "GET", Path: "/v1/clusters/{cluster}/live", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "replaceLiveSettings", Method: "PUT", Path: "/v1/clusters/{cluster}/live", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "If-Match", In: "header", About: "The ETag last seen. Without it the request is refused with 428.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}, Sends: true, Needs: true, Body: &shapeLiveSettings},
	{ID: "dryRunPolicy", Method: "POST", Path: "/v1/clusters/{cluster}/live/dry-run", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
	}, Sends: true, Needs: true, Body: &shapePolicyTrialRequest},
	{ID: "deleteMeasurements", Method: "DELETE", Path: "/v1/clusters/{cluster}/measurements", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "job", In: "query", About: "Only of this job.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "kind", In: "query", About: "Only of this kind.", Shape: &Shape{Kind: Text, Rules: "oneof=power rate task_time usage"}},
		{Name: "from", In: "query", About: "Only what was measured at this moment or later.", Shape: &Shape{Kind: Time, Rules: "moment"}},
		{Name: "until", In: "query", About: "Only what was measured before this moment.", Shape: &Shape{Kind: Time, Rules: "moment"}},
	}},
	{ID: "listMeasurements", Method: "GET", Path: "/v1/clusters/{cluster}/measurements", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "job", In: "query", About: "Only of this job.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "kind", In: "query", About: "Only of this kind.", Shape: &Shape{Kind: Text, Rules: "oneof=power rate task_time usage"}},
		{Name: "from", In: "query", About: "Only what was measured at this moment or later.", Shape: &Shape{Kind: Time, Rules: "moment"}},
		{Name: "until", In: "query", About: "Only what was measured before this moment.", Shape: &Shape{Kind: Time, Rules: "moment"}},
		{Name: "limit", In: "query", About: "The maximum number of rows on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=5000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "addMeasurements", Method: "POST", Path: "/v1/clusters/{cluster}/measurements", Role: "operator", Agent: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true, Body: &shapeMeasurementBatch},
	{ID: "listLiveNodes", Method: "GET", Path: "/v1/clusters/{cluster}/nodes", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "limit", In: "query", About: "The maximum number of items on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "removeLiveNode", Method: "DELETE", Path: "/v1/clusters/{cluster}/nodes/{node}", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "node", In: "path", Required: true, About: "The node's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}},
	{ID: "getLiveNode", Method: "GET", Path: "/v1/clusters/{cluster}/nodes/{node}", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "node", In: "path", Required: true, About: "The node's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}},
	{ID: "putLiveNode", Method: "PUT", Path: "/v1/clusters/{cluster}/nodes/{node}", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "node", In: "path", Required: true, About: "The node's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}, Sends: true, Needs: true, Body: &shapeLiveNode},
	{ID: "sendHeartbeat", Method: "POST", Path: "/v1/clusters/{cluster}/nodes/{node}/heartbeats", Role: "operator", Agent: true, Bulk: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "node", In: "path", Required: true, About: "The node's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}, Sends: true, Needs: true},
	{ID: "listObservations", Method: "GET", Path: "/v1/clusters/{cluster}/observations", Role: "viewer", Agent: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "from", In: "query", About: "Only of this moment or later.", Shape: &Shape{Kind: Time, Rules: "moment"}},
		{Name: "until", In: "query", About: "Only of before this moment.", Shape: &Shape{Kind: Time, Rules: "moment"}},
		{Name: "limit", In: "query", About: "The maximum number of rows on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=5000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "createObservation", Method: "POST", Path: "/v1/clusters/{cluster}/observations", Role: "operator", Agent: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true, Body: &shapeObservationRequest},
	{ID: "getObservation", Method: "GET", Path: "/v1/clusters/{cluster}/observations/{observation}", Role: "viewer", Agent: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "observation", In: "path", Required: true, About: "The observation's id, or `latest`.", Shape: &Shape{Kind: Text, Rules: "max=36,matches=^(latest0x7C[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$", About: "The observation's id, or `latest`."}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "listOffers", Method: "GET", Path: "/v1/clusters/{cluster}/offers", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "limit", In: "query", About: "The maximum number of rows on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=5000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "numbers", In: "query", About: "The form of exact amounts: texts (`decimal`), or JSON numbers with the same digits (`float`), for programs that draw.", Shape: &Shape{Kind: Text, Rules: "oneof=decimal float"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "createOffer", Method: "POST", Path: "/v1/clusters/{cluster}/offers", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true, Body: &shapeStandingOffer},
	{ID: "deleteOffer", Method: "DELETE", Path: "/v1/clusters/{cluster}/offers/{name}", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The offer's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-Match", In: "header", About: "The ETag last seen. Without it the request is refused with 428.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}},
	{ID: "getOffer", Method: "GET", Path: "/v1/clusters/{cluster}/offers/{name}", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The offer's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "replaceOffer", Method: "PUT", Path: "/v1/clusters/{cluster}/offers/{name}", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The offer's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-Match", In: "header", About: "The ETag last seen. Without it the request is refused with 428.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}, Sends: true, Needs: true, Body: &shapeStandingOffer},
	{ID: "listPackings", Method: "GET", Path: "/v1/clusters/{cluster}/packings", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "limit", In: "query", About: "The maximum number of items on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "createPacking", Method: "POST", Path: "/v1/clusters/{cluster}/packings", Role: "planner", Bulk: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
		{Name: "Prefer", In: "header", About: "respond-async: work in the background.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
	}, Sends: true, Needs: true},
	{ID: "deletePacking", Method: "DELETE", Path: "/v1/clusters/{cluster}/packings/{packing}", Role: "planner", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "packing", In: "path", Required: true, About: "The packing's id.", Shape: &Shape{Kind: Text, Rules: "min=1,max=60"}},
	}},
	{ID: "getPacking", Method: "GET", Path: "/v1/clusters/{cluster}/packings/{packing}", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "packing", In: "path", Required: true, About: "The packing's id.", Shape: &Shape{Kind: Text, Rules: "min=1,max=60"}},
		{Name: "format", In: "query", About: "The packing, or a table of its jobs.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "listPlans", Method: "GET", Path: "/v1/clusters/{cluster}/plans", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "in_force", In: "query", About: "A row for each time in which a plan was in force, instead of one for each plan.", Shape: &Shape{Kind: Bool}},
		{Name: "from", In: "query", About: "With `in_force`: only plans that were in force after this moment.", Shape: &Shape{Kind: Time, Rules: "moment"}},
		{Name: "until", In: "query", About: "With `in_force`: only plans that were in force before this moment.", Shape: &Shape{Kind: Time, Rules: "moment"}},
		{Name: "limit", In: "query", About: "The maximum number of rows on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=5000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "numbers", In: "query", About: "The form of exact amounts: texts (`decimal`), or JSON numbers with the same digits (`float`), for programs that draw.", Shape: &Shape{Kind: Text, Rules: "oneof=decimal float"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "createPlan", Method: "POST", Path: "/v1/clusters/{cluster}/plans", Role: "planner", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
		{Name: "Prefer", In: "header", About: "respond-async: plan in the background.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
	}, Sends: true, Body: &shapePlanRequest},
	{ID: "getCurrentPlan", Method: "GET", Path: "/v1/clusters/{cluster}/plans/current", Role: "viewer", Agent: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "format", In: "query", About: "The form of the answer: a document, a table, or a spreadsheet.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
		{Name: "Prefer", In: "header", About: "wait=N: wait up to N seconds, at most 60, for another plan than the one in If-None-Match.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
	}},
	{ID: "getScaling", Method: "GET", Path: "/v1/clusters/{cluster}/plans/current/scaling", Role: "viewer", Agent: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "class", In: "query", About: "Only this class in classes and items; it keeps the part it has among all.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "headroom", In: "query", About: "A factor from 0.1 to 10 for vms.total, which is rounded up.", Shape: &Shape{Kind: Text, Rules: `matches=^[0-9]{10x2C2}(\.[0-9]{10x2C9})?$`, About: "A factor from 0.1 to 10 for vms.total, which is rounded up."}},
		{Name: "min", In: "query", About: "The least vms.total may be.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=1e+09"}},
		{Name: "max", In: "query", About: "The most vms.total may be.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1e+09"}},
		{Name: "lead", In: "query", About: "The seconds that a VM takes until it can work. Every count of VMs is then the most of any moment up to then, by itself, and `next` lists the moments of a day ahead. 0 is no lead.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=86400"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "diffPlans", Method: "GET", Path: "/v1/clusters/{cluster}/plans/diff", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "from", In: "query", About: "The plan to compare from, by number, id, or `current`; `before` is the one that held before the plan compared with.", Shape: &Shape{Kind: Text, Rules: "max=36,matches=^(current0x7Cbefore0x7C[1-9][0-9]{00x2C17}0x7C[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$", About: "The plan to compare from, by number, id, or `current`; `before` is the one that held before the plan compared with."}},
		{Name: "to", In: "query", About: "The plan to compare with, by number, id, or `current`.", Shape: &Shape{Kind: Text, Rules: "max=36,matches=^(current0x7C[1-9][0-9]{00x2C17}0x7C[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$", About: "The plan to compare with, by number, id, or `current`."}},
	}},
	{ID: "watchPlans", Method: "GET", Path: "/v1/clusters/{cluster}/plans/events", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "next", In: "query", About: "Also tell which VMs the coming day needs.", Shape: &Shape{Kind: Bool}},
		{Name: "Last-Event-ID", In: "header", About: "The number of the last plan seen.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=0"}},
	}},
	{ID: "unpinPlan", Method: "DELETE", Path: "/v1/clusters/{cluster}/plans/pin", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
	}},
	{ID: "getPin", Method: "GET", Path: "/v1/clusters/{cluster}/plans/pin", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
	}},
	{ID: "pinPlan", Method: "PUT", Path: "/v1/clusters/{cluster}/plans/pin", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
	}, Sends: true, Needs: true, Body: &shapePinRequest},
	{ID: "getPlan", Method: "GET", Path: "/v1/clusters/{cluster}/plans/{plan}", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "plan", In: "path", Required: true, About: "The plan's number, its id, or `current`.", Shape: &Shape{Kind: Text, Rules: "max=36,matches=^(current0x7C[1-9][0-9]{00x2C17}0x7C[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$", About: "The plan's number, its id, or `current`."}},
		{Name: "format", In: "query", About: "The form of the answer: a document, a table, or a spreadsheet.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "getPlanProblem", Method: "GET", Path: "/v1/clusters/{cluster}/plans/{plan}/problem", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "plan", In: "path", Required: true, About: "The plan's number, its id, or `current`.", Shape: &Shape{Kind: Text, Rules: "max=36,matches=^(current0x7C[1-9][0-9]{00x2C17}0x7C[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$", About: "The plan's number, its id, or `current`."}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "verifyPlan", Method: "POST", Path: "/v1/clusters/{cluster}/plans/{plan}/verify", Role: "planner", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "plan", In: "path", Required: true, About: "The plan's number, its id, or `current`.", Shape: &Shape{Kind: Text, Rules: "max=36,matches=^(current0x7C[1-9][0-9]{00x2C17}0x7C[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$", About: "The plan's number, its id, or `current`."}},
	}},
	{ID: "deletePoolSettings", Method: "DELETE", Path: "/v1/clusters/{cluster}/pool", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "If-Match", In: "header", About: "The ETag last seen. Without it the request is refused with 428.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}},
	{ID: "getPoolSettings", Method: "GET", Path: "/v1/clusters/{cluster}/pool", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "replacePoolSettings", Method: "PUT", Path: "/v1/clusters/{cluster}/pool", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "If-Match", In: "header", About: "The ETag last seen. Without it the request is refused with 428.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}, Sends: true, Needs: true, Body: &shapePoolSettings},
	{ID: "getPoolBasis", Method: "GET", Path: "/v1/clusters/{cluster}/pool/basis", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
	}},
	{ID: "getPoolMachines", Method: "GET", Path: "/v1/clusters/{cluster}/pool/machines", Role: "viewer", Agent: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "replacePoolMachines", Method: "PUT", Path: "/v1/clusters/{cluster}/pool/machines", Role: "operator", Agent: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
	}, Sends: true, Needs: true, Body: &shapePoolMachineList},
	{ID: "listPoolPlans", Method: "GET", Path: "/v1/clusters/{cluster}/pool/plans", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "limit", In: "query", About: "The maximum number of rows on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=5000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "numbers", In: "query", About: "The form of exact amounts: texts (`decimal`), or JSON numbers with the same digits (`float`), for programs that draw.", Shape: &Shape{Kind: Text, Rules: "oneof=decimal float"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "getCurrentPoolPlan", Method: "GET", Path: "/v1/clusters/{cluster}/pool/plans/current", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "getPoolScaling", Method: "GET", Path: "/v1/clusters/{cluster}/pool/plans/current/scaling", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "getPoolPlan", Method: "GET", Path: "/v1/clusters/{cluster}/pool/plans/{number}", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "number", In: "path", Required: true, About: "Of the plan.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "listStorageSamples", Method: "GET", Path: "/v1/clusters/{cluster}/pool/storage-samples", Role: "viewer", Agent: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "limit", In: "query", About: "The maximum number of items on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "addStorageSamples", Method: "POST", Path: "/v1/clusters/{cluster}/pool/storage-samples", Role: "operator", Agent: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true, Body: &shapeStorageSampleBatch},
	{ID: "planClusterPool", Method: "POST", Path: "/v1/clusters/{cluster}/pools", Role: "planner", KeyAsync: true, Bulk: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
		{Name: "Prefer", In: "header", About: "respond-async: work in the background.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
	}, Sends: true, Needs: true},
	{ID: "importPrices", Method: "POST", Path: "/v1/clusters/{cluster}/price-imports", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "region", In: "query", About: "Take the instances of this region, by its code or name; left out, the sheet must have one region alone.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "instance", In: "query", About: "Take this instance, or those like m5.*, or all but !m5.metal; given again for each. Left out: all.", Shape: &Shape{Kind: Array, Rules: "max=200", Items: &Shape{Kind: Text, Rules: "min=1,max=200"}}},
		{Name: "as", In: "query", About: "Which VM type an instance is, as INSTANCE:VM_TYPE; given again for each. Left out: the one that is called like the instance.", Shape: &Shape{Kind: Array, Rules: "max=1000", Items: &Shape{Kind: Text, Rules: "min=3,max=500"}}},
		{Name: "from", In: "query", About: "The moment from which the prices hold; left out, at the beginning of this hour.", Shape: &Shape{Kind: Time, Rules: "moment"}},
		{Name: "on_demand_only", In: "query", About: "Leave reserved offers out.", Shape: &Shape{Kind: Bool}},
		{Name: "zero_prices", In: "query", About: "Take a price of 0 for one and not for a mistake.", Shape: &Shape{Kind: Bool}},
		{Name: "dry_run", In: "query", About: "Say what would change, and change nothing.", Shape: &Shape{Kind: Bool}},
	}, Sends: true, Needs: true, CSV: true, Body: &Shape{}},
	{ID: "fetchPrices", Method: "POST", Path: "/v1/clusters/{cluster}/price-imports/fetch", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true, Body: &shapePriceFetch},
	{ID: "listPrices", Method: "GET", Path: "/v1/clusters/{cluster}/prices", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "limit", In: "query", About: "The maximum number of rows on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=5000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "numbers", In: "query", About: "The form of exact amounts: texts (`decimal`), or JSON numbers with the same digits (`float`), for programs that draw.", Shape: &Shape{Kind: Text, Rules: "oneof=decimal float"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "createPrice", Method: "POST", Path: "/v1/clusters/{cluster}/prices", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true, Body: &shapePrice},
	{ID: "deletePrice", Method: "DELETE", Path: "/v1/clusters/{cluster}/prices/{id}", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "id", In: "path", Required: true, About: "The price period's id.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-Match", In: "header", About: "The ETag last seen. Without it the request is refused with 428.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}},
	{ID: "getPrice", Method: "GET", Path: "/v1/clusters/{cluster}/prices/{id}", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "id", In: "path", Required: true, About: "The price period's id.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "replacePrice", Method: "PUT", Path: "/v1/clusters/{cluster}/prices/{id}", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "id", In: "path", Required: true, About: "The price period's id.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-Match", In: "header", About: "The ETag last seen. Without it the request is refused with 428.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}, Sends: true, Needs: true, Body: &shapePrice},
	{ID: "getProblem", Method: "GET", Path: "/v1/clusters/{cluster}/problem", Role: "viewer", Agent: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "at", In: "query", About: "The moment to plan for; now, unless given.", Shape: &Shape{Kind: Time, Rules: "moment"}},
	}},
	{ID: "listProfiles", Method: "GET", Path: "/v1/clusters/{cluster}/profiles", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "limit", In: "query", About: "The maximum number of items on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "createProfile", Method: "POST", Path: "/v1/clusters/{cluster}/profiles", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true, Body: &shapeProfile},
	{ID: "profileFromHistory", Method: "POST", Path: "/v1/clusters/{cluster}/profiles/from-history", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
	}, Sends: true, Needs: true, Body: &shapeProfileFromHistory},
	{ID: "deleteProfile", Method: "DELETE", Path: "/v1/clusters/{cluster}/profiles/{name}", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The profile's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-Match", In: "header", About: "The ETag last seen. Without it the request is refused with 428.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}},
	{ID: "getProfile", Method: "GET", Path: "/v1/clusters/{cluster}/profiles/{name}", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The profile's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "listProfileVersions", Method: "GET", Path: "/v1/clusters/{cluster}/profiles/{name}/versions", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The profile's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "limit", In: "query", About: "The maximum number of items on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "addProfileVersion", Method: "POST", Path: "/v1/clusters/{cluster}/profiles/{name}/versions", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The profile's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true, Body: &shapeProfile},
	{ID: "getProfileVersion", Method: "GET", Path: "/v1/clusters/{cluster}/profiles/{name}/versions/{version}", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The profile's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "version", In: "path", Required: true, About: "The version's number, from 1.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "clusterPurchase", Method: "POST", Path: "/v1/clusters/{cluster}/purchases", Role: "planner", KeyAsync: true, Bulk: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "format", In: "query", About: "The form of the answer: a document, a table, a spreadsheet, or rows in the shape of FOCUS 1.2 (CSV).", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx focus"}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
		{Name: "Prefer", In: "header", About: "respond-async: work in the background.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
	}, Sends: true, Needs: true},
	{ID: "askCluster", Method: "POST", Path: "/v1/clusters/{cluster}/questions", Role: "planner", Bulk: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "format", In: "query", About: "The form of the answer: a document, a table, or a spreadsheet.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
	}, Sends: true, Needs: true},
	{ID: "listRecordedJobs", Method: "GET", Path: "/v1/clusters/{cluster}/recorded-jobs", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "limit", In: "query", About: "The maximum number of items on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "relearn", Method: "POST", Path: "/v1/clusters/{cluster}/relearn", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
	}},
	{ID: "listReportSchedules", Method: "GET", Path: "/v1/clusters/{cluster}/report-schedules", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "limit", In: "query", About: "The maximum number of items on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "createReportSchedule", Method: "POST", Path: "/v1/clusters/{cluster}/report-schedules", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true, Body: &shapeReportSchedule},
	{ID: "deleteReportSchedule", Method: "DELETE", Path: "/v1/clusters/{cluster}/report-schedules/{name}", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The schedule's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-Match", In: "header", About: "The ETag last seen. Without it the request is refused with 428.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}},
	{ID: "getReportSchedule", Method: "GET", Path: "/v1/clusters/{cluster}/report-schedules/{name}", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The schedule's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "replaceReportSchedule", Method: "PUT", Path: "/v1/clusters/{cluster}/report-schedules/{name}", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The schedule's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-Match", In: "header", About: "The ETag last seen. Without it the request is refused with 428.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}, Sends: true, Needs: true, Body: &shapeReportSchedule},
	{ID: "listReports", Method: "GET", Path: "/v1/clusters/{cluster}/reports", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "limit", In: "query", About: "The maximum number of items on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "schedule", In: "query", About: "Only those of the schedule of this name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "createReport", Method: "POST", Path: "/v1/clusters/{cluster}/reports", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true, Body: &shapeReportRequest},
	{ID: "getReport", Method: "GET", Path: "/v1/clusters/{cluster}/reports/{report}", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "report", In: "path", Required: true, About: "The report's id, which is its run's.", Shape: &Shape{Kind: Text, Rules: "min=1,max=60"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "getReportFile", Method: "GET", Path: "/v1/clusters/{cluster}/reports/{report}/file", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "report", In: "path", Required: true, About: "The report's id, which is its run's.", Shape: &Shape{Kind: Text, Rules: "min=1,max=60"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
		{Name: "Range", In: "header", About: "Which bytes, such as bytes=1000- to go on where a download broke off.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
		{Name: "If-Range", In: "header", About: "The ETag of what the first part was of.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
	}},
	{ID: "listScenarios", Method: "GET", Path: "/v1/clusters/{cluster}/scenarios", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "limit", In: "query", About: "The maximum number of items on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "createScenario", Method: "POST", Path: "/v1/clusters/{cluster}/scenarios", Role: "planner", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true, Body: &shapeScenario},
	{ID: "compareScenarios", Method: "GET", Path: "/v1/clusters/{cluster}/scenarios/compare", Role: "planner", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "query", Required: true, About: "Which ones; given again for each.", Shape: &Shape{Kind: Array, Rules: "min=1,max=4", Items: &Shape{Kind: Text, Rules: "min=1,max=200"}}},
		{Name: "at", In: "query", About: "The moment planned for; left out, now.", Shape: &Shape{Kind: Time, Rules: "moment"}},
		{Name: "format", In: "query", About: "The form of the list.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv"}},
	}},
	{ID: "deleteScenario", Method: "DELETE", Path: "/v1/clusters/{cluster}/scenarios/{name}", Role: "planner", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The scenario's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-Match", In: "header", About: "The ETag last seen. Without it the request is refused with 428.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}},
	{ID: "getScenario", Method: "GET", Path: "/v1/clusters/{cluster}/scenarios/{name}", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The scenario's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "replaceScenario", Method: "PUT", Path: "/v1/clusters/{cluster}/scenarios/{name}", Role: "planner", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The scenario's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-Match", In: "header", About: "The ETag last seen. Without it the request is refused with 428.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}, Sends: true, Needs: true, Body: &shapeScenario},
	{ID: "answerScenario", Method: "GET", Path: "/v1/clusters/{cluster}/scenarios/{name}/answer", Role: "planner", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The scenario's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "at", In: "query", About: "The moment planned for; left out, now.", Shape: &Shape{Kind: Time, Rules: "moment"}},
		{Name: "format", In: "query", About: "The form of the list.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv"}},
	}},
	{ID: "clusterSchedule", Method: "POST", Path: "/v1/clusters/{cluster}/schedules", Role: "planner", Bulk: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
	}, Sends: true, Needs: true},
	{ID: "getFollowedSchedule", Method: "GET", Path: "/v1/clusters/{cluster}/schedules/current", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
	}},
	{ID: "clusterSimulation", Method: "POST", Path: "/v1/clusters/{cluster}/simulations", Role: "planner", KeyAsync: true, Bulk: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "format", In: "query", About: "The form of the answer: a document, a table, or a spreadsheet.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "Prefer", In: "header", About: "respond-async: simulate in the background.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true},
	{ID: "clusterScheduleSimulation", Method: "POST", Path: "/v1/clusters/{cluster}/simulations/schedule", Role: "planner", KeyAsync: true, Bulk: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "format", In: "query", About: "The form of the answer: a document, a table, or a spreadsheet.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "Prefer", In: "header", About: "respond-async: simulate in the background.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true},
	{ID: "clusterSweep", Method: "POST", Path: "/v1/clusters/{cluster}/sweeps", Role: "planner", KeyAsync: true, Bulk: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "format", In: "query", About: "The form of the answer: a document, a table, or a spreadsheet.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "Prefer", In: "header", About: "respond-async: plan in the background.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true},
	{ID: "clusterTargets", Method: "POST", Path: "/v1/clusters/{cluster}/targets", Role: "planner", KeyAsync: true, Bulk: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "format", In: "query", About: "The form of the answer: a document, a table, or a spreadsheet.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "Prefer", In: "header", About: "respond-async: simulate in the background.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true},
	{ID: "listVMTypes", Method: "GET", Path: "/v1/clusters/{cluster}/vm-types", Role: "viewer", Agent: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "limit", In: "query", About: "The maximum number of rows on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=5000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "numbers", In: "query", About: "The form of exact amounts: texts (`decimal`), or JSON numbers with the same digits (`float`), for programs that draw.", Shape: &Shape{Kind: Text, Rules: "oneof=decimal float"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "createVMType", Method: "POST", Path: "/v1/clusters/{cluster}/vm-types", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true, Body: &shapeVMType},
	{ID: "deleteVMType", Method: "DELETE", Path: "/v1/clusters/{cluster}/vm-types/{name}", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The VM type's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-Match", In: "header", About: "The ETag last seen. Without it the request is refused with 428.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}},
	{ID: "getVMType", Method: "GET", Path: "/v1/clusters/{cluster}/vm-types/{name}", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The VM type's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "replaceVMType", Method: "PUT", Path: "/v1/clusters/{cluster}/vm-types/{name}", Role: "operator", Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "name", In: "path", Required: true, About: "The VM type's name.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-Match", In: "header", About: "The ETag last seen. Without it the request is refused with 428.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}, Sends: true, Needs: true, Body: &shapeVMType},
	{ID: "clusterWaiting", Method: "POST", Path: "/v1/clusters/{cluster}/waiting", Role: "planner", KeyAsync: true, Bulk: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "format", In: "query", About: "The form of the answer: a document, a table, or a spreadsheet.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "Prefer", In: "header", About: "respond-async: plan in the background.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true},
	{ID: "clusterWhatIf", Method: "POST", Path: "/v1/clusters/{cluster}/what-if", Role: "planner", Bulk: true, Parameters: []Parameter{
		{Name: "cluster", In: "path", Required: true, About: "The cluster's name: small letters, digits and hyphens inside.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "The cluster's name: small letters, digits and hyphens inside."}},
		{Name: "format", In: "query", About: "The form of the list.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv"}},
	}, Sends: true, Needs: true},
	{ID: "decideSlot", Method: "POST", Path: "/v1/decide", Role: "planner", Bulk: true, Sends: true, Needs: true},
	{ID: "fitMeasurements", Method: "POST", Path: "/v1/fit", Role: "planner", Bulk: true, Sends: true, Needs: true},
	{ID: "horizon", Method: "POST", Path: "/v1/horizons", Role: "planner", KeyAsync: true, Bulk: true, Parameters: []Parameter{
		{Name: "format", In: "query", About: "The form of the answer: a document, a table, a spreadsheet, or rows in the shape of FOCUS 1.2 (CSV).", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx focus"}},
		{Name: "per", In: "query", About: "The time or thing that a row of a horizon's table stands for.", Shape: &Shape{Kind: Text, Rules: "oneof=period day month"}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
		{Name: "Prefer", In: "header", About: "respond-async: work in the background.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
	}, Sends: true, Needs: true},
	{ID: "getInstanceTypes", Method: "GET", Path: "/v1/instance-types", Role: "viewer", Parameters: []Parameter{
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "estimateInterference", Method: "POST", Path: "/v1/interference/estimate", Role: "planner", Bulk: true, Sends: true, Needs: true},
	{ID: "judgePromise", Method: "POST", Path: "/v1/judge", Role: "planner", Bulk: true, Sends: true, Needs: true},
	{ID: "listKeys", Method: "GET", Path: "/v1/keys", Role: "admin", AllClusters: true, Parameters: []Parameter{
		{Name: "limit", In: "query", About: "The maximum number of items on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "createKey", Method: "POST", Path: "/v1/keys", Role: "admin", AllClusters: true, Parameters: []Parameter{
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true, Body: &shapeNewKey},
	{ID: "revokeKey", Method: "DELETE", Path: "/v1/keys/{id}", Role: "admin", AllClusters: true, Parameters: []Parameter{
		{Name: "id", In: "path", Required: true, About: "The key's id.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}},
	{ID: "learnLessons", Method: "POST", Path: "/v1/learn", Role: "planner", Bulk: true, Sends: true, Needs: true},
	{ID: "getOverview", Method: "GET", Path: "/v1/overview", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "query", About: "Only the line of this cluster.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63"}},
		{Name: "limit", In: "query", About: "The maximum number of items on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "pack", Method: "POST", Path: "/v1/packings", Role: "planner", KeyAsync: true, Bulk: true, Parameters: []Parameter{
		{Name: "compare", In: "query", About: "Pack by every algorithm: `compared` instead of `packing`. The swarm is left out of batches of more than 60 jobs.", Shape: &Shape{Kind: Bool}},
		{Name: "one_more", In: "query", About: "Say as well what one more machine makes of it.", Shape: &Shape{Kind: Bool}},
		{Name: "by_hours", In: "query", About: "Find the fewest machines on which the batch is done within so many hours: `machines` instead of `packing`. The batch's own number of machines does not count.", Shape: &Shape{Kind: Number, Rules: "gt=0,lte=2777"}},
		{Name: "format", In: "query", About: "The answer, or a table: of the packing's jobs, of packings beside one another, or of numbers of machines.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv"}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
		{Name: "Prefer", In: "header", About: "respond-async: work in the background.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
	}, Sends: true, Needs: true},
	{ID: "planPool", Method: "POST", Path: "/v1/pools", Role: "planner", KeyAsync: true, Bulk: true, Parameters: []Parameter{
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
		{Name: "Prefer", In: "header", About: "respond-async: work in the background.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
	}, Sends: true, Needs: true},
	{ID: "evaluatePool", Method: "POST", Path: "/v1/pools/evaluate", Role: "planner", Bulk: true, Sends: true, Needs: true},
	{ID: "planPoolRounds", Method: "POST", Path: "/v1/pools/rounds", Role: "planner", KeyAsync: true, Bulk: true, Parameters: []Parameter{
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
		{Name: "Prefer", In: "header", About: "respond-async: work in the background.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
	}, Sends: true, Needs: true},
	{ID: "poolVMTypes", Method: "POST", Path: "/v1/pools/vm-types", Role: "planner", Bulk: true, Parameters: []Parameter{
		{Name: "reference", In: "query", Required: true, About: "The type that speeds are relative to.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "whole_vms", In: "query", About: "Speeds of VMs and not of slots, for classes that are given by their VMs per job.", Shape: &Shape{Kind: Bool}},
	}, Sends: true, Needs: true},
	{ID: "purchase", Method: "POST", Path: "/v1/purchases", Role: "planner", KeyAsync: true, Bulk: true, Parameters: []Parameter{
		{Name: "format", In: "query", About: "The form of the answer: a document, a table, a spreadsheet, or rows in the shape of FOCUS 1.2 (CSV).", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx focus"}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
		{Name: "Prefer", In: "header", About: "respond-async: work in the background.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
	}, Sends: true, Needs: true},
	{ID: "ask", Method: "POST", Path: "/v1/questions", Role: "planner", Bulk: true, Parameters: []Parameter{
		{Name: "format", In: "query", About: "The form of the answer: a document, a table, or a spreadsheet.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
	}, Sends: true, Needs: true},
	{ID: "listRuns", Method: "GET", Path: "/v1/runs", Role: "viewer", Parameters: []Parameter{
		{Name: "cluster", In: "query", About: "Only runs of this cluster.", Shape: &Shape{Kind: Text, Rules: "min=1,max=63"}},
		{Name: "state", In: "query", About: "Only runs in this state.", Shape: &Shape{Kind: Text, Rules: "oneof=queued running succeeded failed cancelled"}},
		{Name: "kind", In: "query", About: "Only runs of this kind.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "limit", In: "query", About: "The maximum number of items on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "cancelRun", Method: "DELETE", Path: "/v1/runs/{id}", Role: "planner", Parameters: []Parameter{
		{Name: "id", In: "path", Required: true, About: "The run's id.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}},
	{ID: "getRun", Method: "GET", Path: "/v1/runs/{id}", Role: "viewer", Parameters: []Parameter{
		{Name: "id", In: "path", Required: true, About: "The run's id.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
		{Name: "Prefer", In: "header", About: "wait=N: wait up to N seconds, at most 60, for another version than the one in If-None-Match.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
	}},
	{ID: "watchRun", Method: "GET", Path: "/v1/runs/{id}/events", Role: "viewer", Parameters: []Parameter{
		{Name: "id", In: "path", Required: true, About: "The run's id.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "Last-Event-ID", In: "header", About: "The id of the last event seen.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=0"}},
	}},
	{ID: "getRunResult", Method: "GET", Path: "/v1/runs/{id}/result", Role: "viewer", Parameters: []Parameter{
		{Name: "id", In: "path", Required: true, About: "The run's id.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "format", In: "query", About: "The form of the answer: a document, a table, a spreadsheet, or rows in the shape of FOCUS 1.2 (CSV).", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx focus"}},
		{Name: "per", In: "query", About: "The time or thing that a row of a horizon's table stands for.", Shape: &Shape{Kind: Text, Rules: "oneof=period day month"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "retryRun", Method: "POST", Path: "/v1/runs/{id}/retry", Role: "planner", Parameters: []Parameter{
		{Name: "id", In: "path", Required: true, About: "The run's id.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}},
	{ID: "schedule", Method: "POST", Path: "/v1/schedule", Role: "planner", Bulk: true, Sends: true, Needs: true},
	{ID: "deleteSession", Method: "DELETE", Path: "/v1/session", Role: "any"},
	{ID: "getSession", Method: "GET", Path: "/v1/session", Role: "any"},
	{ID: "createSession", Method: "POST", Path: "/v1/session", Role: "open", Sends: true, Needs: true, Body: &shapeToken},
	{ID: "planShares", Method: "POST", Path: "/v1/share-plans", Role: "planner", KeyAsync: true, Bulk: true, Parameters: []Parameter{
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
		{Name: "Prefer", In: "header", About: "respond-async: work in the background.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
	}, Sends: true, Needs: true},
	{ID: "simulation", Method: "POST", Path: "/v1/simulations", Role: "planner", KeyAsync: true, Bulk: true, Parameters: []Parameter{
		{Name: "format", In: "query", About: "The form of the answer: a document, a table, or a spreadsheet.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "Prefer", In: "header", About: "respond-async: simulate in the background.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true},
	{ID: "scheduleSimulation", Method: "POST", Path: "/v1/simulations/schedule", Role: "planner", KeyAsync: true, Bulk: true, Parameters: []Parameter{
		{Name: "format", In: "query", About: "The form of the answer: a document, a table, or a spreadsheet.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "Prefer", In: "header", About: "respond-async: simulate in the background.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true},
	{ID: "workloadSimulation", Method: "POST", Path: "/v1/simulations/workload", Role: "planner", KeyAsync: true, Bulk: true, Parameters: []Parameter{
		{Name: "format", In: "query", About: "The form of the answer: a document, a table, or a spreadsheet.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "Prefer", In: "header", About: "respond-async: simulate in the background.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true},
	{ID: "solve", Method: "POST", Path: "/v1/solve", Role: "planner", Agent: true, Bulk: true, Sends: true, Needs: true},
	{ID: "sweep", Method: "POST", Path: "/v1/sweeps", Role: "planner", KeyAsync: true, Bulk: true, Parameters: []Parameter{
		{Name: "format", In: "query", About: "The form of the answer: a document, a table, or a spreadsheet.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "Prefer", In: "header", About: "respond-async: plan in the background.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true},
	{ID: "targets", Method: "POST", Path: "/v1/targets", Role: "planner", KeyAsync: true, Bulk: true, Parameters: []Parameter{
		{Name: "format", In: "query", About: "The form of the answer: a document, a table, or a spreadsheet.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "Prefer", In: "header", About: "respond-async: simulate in the background.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true},
	{ID: "waiting", Method: "POST", Path: "/v1/waiting", Role: "planner", KeyAsync: true, Bulk: true, Parameters: []Parameter{
		{Name: "format", In: "query", About: "The form of the answer: a document, a table, or a spreadsheet.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "Prefer", In: "header", About: "respond-async: plan in the background.", Shape: &Shape{Kind: Text, Rules: "max=200"}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true},
	{ID: "listWebhooks", Method: "GET", Path: "/v1/webhooks", Role: "admin", AllClusters: true, Parameters: []Parameter{
		{Name: "limit", In: "query", About: "The maximum number of items on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "createWebhook", Method: "POST", Path: "/v1/webhooks", Role: "admin", AllClusters: true, Parameters: []Parameter{
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Needs: true, Body: &shapeNewWebhook},
	{ID: "deleteWebhook", Method: "DELETE", Path: "/v1/webhooks/{id}", Role: "admin", AllClusters: true, Parameters: []Parameter{
		{Name: "id", In: "path", Required: true, About: "The webhook's id.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-Match", In: "header", About: "The ETag last seen. Without it the request is refused with 428.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}},
	{ID: "getWebhook", Method: "GET", Path: "/v1/webhooks/{id}", Role: "admin", AllClusters: true, Parameters: []Parameter{
		{Name: "id", In: "path", Required: true, About: "The webhook's id.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "replaceWebhook", Method: "PUT", Path: "/v1/webhooks/{id}", Role: "admin", AllClusters: true, Parameters: []Parameter{
		{Name: "id", In: "path", Required: true, About: "The webhook's id.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "If-Match", In: "header", About: "The ETag last seen. Without it the request is refused with 428.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}, Sends: true, Needs: true, Body: &shapeWebhook},
	{ID: "listDeliveries", Method: "GET", Path: "/v1/webhooks/{id}/deliveries", Role: "admin", AllClusters: true, Parameters: []Parameter{
		{Name: "id", In: "path", Required: true, About: "The webhook's id.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "limit", In: "query", About: "The maximum number of items on a page.", Shape: &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{Name: "cursor", In: "query", About: "The `next_cursor` of the page before.", Shape: &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{Name: "format", In: "query", About: "The form of the list: a document, a table, or a spreadsheet. Without `limit` a table has every row, and a spreadsheet 1,000 at most; its header Link leads to the next ones.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv xlsx"}},
		{Name: "If-None-Match", In: "header", About: "The ETag last seen; where nothing has changed the answer is 304.", Shape: &Shape{Kind: Text, Rules: "min=1,max=4000"}},
	}},
	{ID: "retryDelivery", Method: "POST", Path: "/v1/webhooks/{id}/deliveries/{delivery}/retry", Role: "admin", AllClusters: true, Parameters: []Parameter{
		{Name: "id", In: "path", Required: true, About: "The webhook's id.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "delivery", In: "path", Required: true, About: "The delivery's id.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}},
	{ID: "rotateWebhookSecret", Method: "POST", Path: "/v1/webhooks/{id}/secret", Role: "admin", AllClusters: true, Parameters: []Parameter{
		{Name: "id", In: "path", Required: true, About: "The webhook's id.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{Name: "Idempotency-Key", In: "header", About: "Makes repeating the request harmless, for 24 hours.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[!-~]+$", About: "Makes repeating the request harmless, for 24 hours."}},
	}, Sends: true, Body: &shapeSecretRequest},
	{ID: "testWebhook", Method: "POST", Path: "/v1/webhooks/{id}/test", Role: "admin", AllClusters: true, Parameters: []Parameter{
		{Name: "id", In: "path", Required: true, About: "The webhook's id.", Shape: &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}, Sends: true, Body: &shapeEmpty},
	{ID: "whatIf", Method: "POST", Path: "/v1/what-if", Role: "planner", Bulk: true, Parameters: []Parameter{
		{Name: "format", In: "query", About: "The form of the list.", Shape: &Shape{Kind: Text, Rules: "oneof=json csv"}},
	}, Sends: true, Needs: true},
}

var (
	shapeAddedSupply = Shape{Kind: Object, Members: []Member{
		{"contract", &shapeSupplyContract},
		{"slots_per_vm", &Shape{Kind: Object, Rules: "max=10000", Rest: &shapeSlotsOnVM}},
		{"speed", &Shape{Kind: Object, Rules: "max=10000", Rest: &Shape{Kind: Number, Rules: "gte=0,lte=1000"}}},
		{"vm_type", &shapeVMTypeSupply},
	}, Closed: true}
	shapeAdmissionRequest = Shape{Kind: Object, Members: []Member{
		{"class", &shapeName},
		{"deadline_s", &Shape{Kind: Number, Rules: "gt=0,lte=1e+07"}},
		{"holder", &Shape{Kind: Text, Rules: "max=200"}},
		{"maps", &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1e+07"}},
		{"reduces", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=1e+07"}},
		{"ttl_s", &Shape{Kind: Number, Rules: "gte=10,lte=3600"}},
	}, Required: []string{"class"}, Closed: true}
	shapeAllowedHost = Shape{Kind: Object, Members: []Member{
		{"created_at", &Shape{Kind: Time, Rules: "moment"}},
		{"created_by", &Shape{Kind: Text}},
		{"host", &Shape{Kind: Text, Rules: "min=1,max=253"}},
		{"http", &Shape{Kind: Bool}},
		{"id", &Shape{Kind: Text}},
		{"networks", &Shape{Kind: Array, Rules: "max=50", Items: &Shape{Kind: Text, Rules: "min=1,max=50"}}},
		{"port", &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=65535"}},
	}, Required: []string{"host"}, Closed: true}
	shapeBilling = Shape{Kind: Text, Rules: "oneof=used always"}
	shapeBudget  = Shape{Kind: Object, Members: []Member{
		{"total", &shapeMaybeMoney},
		{"vm_cost", &shapeMaybeMoney},
	}, Closed: true}
	shapeBusySlots = Shape{Kind: Object, Members: []Member{
		{"map", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=1e+12"}},
		{"reduce", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=1e+12"}},
	}, Required: []string{"map", "reduce"}, Closed: true}
	shapeCalibration = Shape{Kind: Object, Members: []Member{
		{"bound", &Shape{Kind: Text, Rules: "oneof=lower average upper"}},
		{"factor", &Shape{Kind: Number, Rules: "gte=0.001,lte=1000"}},
	}, Required: []string{"bound", "factor"}, Closed: true}
	shapeCalibrationRequest = Shape{Kind: Object, Members: []Member{
		{"bound", &Shape{Kind: Text, Rules: "oneof=lower average upper"}},
		{"coverage", &Shape{Kind: Number, Rules: "gte=0.5,lte=0.999"}},
		{"factor", &Shape{Kind: Number, Rules: "gte=0.001,lte=1000"}},
		{"from", &Shape{Kind: Time, Rules: "moment"}},
		{"job", &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{"until", &Shape{Kind: Time, Rules: "moment"}},
	}, Closed: true}
	shapeClass = Shape{Kind: Object, Members: []Member{
		{"calibration", &shapeCalibration},
		{"confidence", &Shape{Kind: Number, Rules: "gte=0.5,lte=0.999"}},
		{"created_at", &Shape{Kind: Time, Rules: "moment"}},
		{"deadline_s", &Shape{Kind: Number, Rules: "gte=0,lte=1e+07"}},
		{"demand", &shapeDemand},
		{"drift", &Shape{AllOf: []*Shape{&shapeDrift}}},
		{"due", &Shape{Kind: Text, Rules: "max=5"}},
		{"due_s", &Shape{Kind: Number, Rules: "gte=0,lte=1e+07"}},
		{"jobs", &shapeJobRange},
		{"name", &shapeName},
		{"penalty", &shapeMoney},
		{"profile", &shapeProfileRef},
		{"promise", &shapePromise},
		{"slots_per_vm", &shapeSlotsPerVM},
		{"speed", &shapeSpeed},
		{"target", &Shape{Kind: Number, Rules: "gte=0.5,lte=0.9999"}},
		{"updated_at", &Shape{Kind: Time, Rules: "moment"}},
		{"version", &Shape{Kind: Whole, Rules: "whole,int64"}},
		{"vms_per_job", &shapeDecimal},
		{"warnings", &Shape{Kind: Array, Items: &shapeWarning}},
	}, Required: []string{"name", "jobs", "penalty"}, Closed: true}
	shapeClassesFromHistory = Shape{Kind: Object, Members: []Member{
		{"after", &Shape{Kind: Text, Rules: "max=1000"}},
		{"dry_run", &Shape{Kind: Bool}},
		{"jobs", &Shape{Kind: Array, Rules: "min=1,max=100", Items: &shapeJobToPlan}},
		{"slots", &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1e+06"}},
		{"until", &Shape{Kind: Time, Rules: "moment"}},
	}, Closed: true}
	shapeCluster = Shape{Kind: Object, Members: []Member{
		{"budget", &shapeBudget},
		{"created_at", &Shape{Kind: Time, Rules: "moment"}},
		{"currency", &Shape{Kind: Text, Rules: "min=3,max=3,matches=^[A-Z]{3}$", About: "Of every price and cost; three capital letters."}},
		{"description", &Shape{Kind: Text, Rules: "max=2000"}},
		{"hold_s", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=86400"}},
		{"inputs_version", &Shape{Kind: Whole, Rules: "whole,int64"}},
		{"name", &Shape{Kind: Text, Rules: "min=1,max=63,matches=^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", About: "Small letters, digits and hyphens inside; part of addresses, so it never changes."}},
		{"options", &shapeOptions},
		{"period_s", &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=3.16224e+07"}},
		{"time_zone", &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{"updated_at", &Shape{Kind: Time, Rules: "moment"}},
		{"version", &Shape{Kind: Whole, Rules: "whole,int64"}},
	}, Required: []string{"name"}, Closed: true}
	shapeContract = Shape{Kind: Object, Members: []Member{
		{"billing", &shapeBilling},
		{"created_at", &Shape{Kind: Time, Rules: "moment"}},
		{"from", &Shape{Kind: Time, Rules: "moment"}},
		{"name", &shapeName},
		{"price", &shapeMoney},
		{"until", &Shape{Kind: Time, Rules: "moment"}},
		{"updated_at", &Shape{Kind: Time, Rules: "moment"}},
		{"upfront", &shapeMoney},
		{"version", &Shape{Kind: Whole, Rules: "whole,int64"}},
		{"vm_type", &shapeName},
		{"vms", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=1e+09"}},
	}, Required: []string{"name", "vm_type", "vms", "price", "from", "until"}, Closed: true}
	shapeDecimal = Shape{OneOf: []*Shape{&Shape{Kind: Text, Rules: `max=100,matches=^(00x7C[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{10x2C2})?$`}, &Shape{Kind: Number, Rules: "gte=0,lte=1e+09"}}}
	shapeDemand  = Shape{Kind: Object, Members: []Member{
		{"fixed_s", &Shape{Kind: Number, Rules: "gte=-1e+07,lte=1e+07"}},
		{"map_work_s", &Shape{Kind: Number, Rules: "gte=0,lte=1e+14"}},
		{"reduce_work_s", &Shape{Kind: Number, Rules: "gte=0,lte=1e+14"}},
	}, Required: []string{"map_work_s", "reduce_work_s", "fixed_s"}, Closed: true}
	shapeDocument = Shape{Kind: Object, Members: []Member{
		{"classes", &Shape{Kind: Array, Items: &shapeClass}},
		{"cluster", &shapeCluster},
		{"contracts", &Shape{Kind: Array, Items: &shapeContract}},
		{"forecasts", &Shape{Kind: Array, Rules: "max=100000", Items: &shapeForecast}},
		{"offers", &Shape{Kind: Array, Items: &shapeStandingOffer}},
		{"prices", &Shape{Kind: Array, Items: &shapePrice}},
		{"profiles", &Shape{Kind: Array, Items: &shapeProfile}},
		{"vm_types", &Shape{Kind: Array, Items: &shapeVMType}},
	}, Required: []string{"cluster"}, Closed: true}
	shapeDrift = Shape{Kind: Object, Members: []Member{
		{"detail", &Shape{Kind: Text}},
		{"exceeded", &Shape{Kind: Whole, Rules: "whole,int64"}},
		{"executions", &Shape{Kind: Whole, Rules: "whole,int64"}},
		{"expected", &Shape{Kind: Number}},
		{"facts", &Shape{Kind: Array, Items: &shapeFact}},
		{"since", &Shape{Kind: Time, Nullable: true, Rules: "moment"}},
		{"state", &Shape{Kind: Text, Rules: "oneof=unchanged slower faster"}},
	}, Required: []string{"state", "since", "executions", "exceeded", "expected", "detail"}}
	shapeDriverClaim = Shape{Kind: Object, Members: []Member{
		{"holder", &Shape{Kind: Text, Rules: "min=1,max=200,matches=^[ -~]+$", About: "The driver's own id, another one for each process."}},
		{"ttl_s", &Shape{Kind: Number, Rules: "gte=0,lte=3600"}},
	}, Required: []string{"holder", "ttl_s"}, Closed: true}
	shapeEmpty     = Shape{Kind: Object, Closed: true}
	shapeExecution = Shape{Kind: Object, Members: []Member{
		{"first_shuffle_avg_s", &Shape{Kind: Number, Rules: "gte=0,lte=1e+07"}},
		{"first_shuffle_max_s", &Shape{Kind: Number, Rules: "gte=0,lte=1e+07"}},
		{"map_avg_s", &Shape{Kind: Number, Rules: "gte=0,lte=1e+07"}},
		{"map_max_s", &Shape{Kind: Number, Rules: "gte=0,lte=1e+07"}},
		{"map_tasks", &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1e+07"}},
		{"overhead_s", &Shape{Kind: Number, Rules: "gte=0,lte=1e+07"}},
		{"reduce_avg_s", &Shape{Kind: Number, Rules: "gte=0,lte=1e+07"}},
		{"reduce_max_s", &Shape{Kind: Number, Rules: "gte=0,lte=1e+07"}},
		{"reduce_tasks", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=1e+07"}},
		{"shuffle_avg_s", &Shape{Kind: Number, Rules: "gte=0,lte=1e+07"}},
		{"shuffle_max_s", &Shape{Kind: Number, Rules: "gte=0,lte=1e+07"}},
		{"stages", &Shape{Kind: Array, Rules: "min=1,max=10000", Items: &shapeStage}},
	}, Closed: true, AnyOf: []*Shape{&Shape{Title: "a profile of stages", Required: []string{"stages"}}, &Shape{Title: "a profile with reduce tasks", Required: []string{"map_tasks", "reduce_tasks", "map_avg_s", "map_max_s", "first_shuffle_avg_s", "first_shuffle_max_s", "shuffle_avg_s", "shuffle_max_s", "reduce_avg_s", "reduce_max_s"}}, &Shape{Title: "a map-only profile", Members: []Member{
		{"reduce_tasks", &Shape{Kind: Whole, Rules: "whole,int64,lte=0"}},
	}, Required: []string{"map_tasks", "reduce_tasks", "map_avg_s", "map_max_s"}}}}
	shapeExecutionBatch = Shape{Kind: Object, Members: []Member{
		{"executions", &Shape{Kind: Array, Rules: "max=2000", Items: &shapeExecutionRecord}},
	}, Required: []string{"executions"}, Closed: true}
	shapeExecutionRecord = Shape{Kind: Object, Members: []Member{
		{"chain", &Shape{Kind: Object, Nullable: true, AllOf: []*Shape{&shapeHistoryChain}}},
		{"execution", &Shape{Kind: Text, Rules: "max=1000"}},
		{"finished_at", &Shape{Kind: Time, Nullable: true, Rules: "moment"}},
		{"form", &Shape{Kind: Text, Rules: "oneof=map_reduce stages"}},
		{"job", &Shape{Kind: Text, Rules: "max=1000"}},
		{"outcome", &Shape{Kind: Text, Rules: "oneof=succeeded failed killed unfinished"}},
		{"queue", &Shape{Kind: Text, Rules: "max=1000"}},
		{"refused", &Shape{Kind: Text, Rules: "max=4000"}},
		{"sample", &Shape{Kind: Object, Nullable: true, AllOf: []*Shape{&shapeHistorySample}}},
		{"seconds", &Shape{Kind: Number, Nullable: true, Rules: "gte=0"}},
		{"submitted_at", &Shape{Kind: Time, Nullable: true, Rules: "moment"}},
		{"user", &Shape{Kind: Text, Rules: "max=1000"}},
	}, Required: []string{"job"}, Closed: true}
	shapeFact = Shape{Kind: Object, Members: []Member{
		{"claim", &Shape{Kind: Text}},
		{"figures", &Shape{Kind: Array, Items: &shapeFigure}},
		{"kind", &Shape{Kind: Text}},
		{"subject", &Shape{Kind: Text}},
	}, Required: []string{"kind", "figures"}}
	shapeFigure = Shape{Kind: Object, Members: []Member{
		{"name", &Shape{Kind: Text}},
		{"unit", &Shape{Kind: Text}},
		{"value", &Shape{Kind: Text}},
	}, Required: []string{"name", "value", "unit"}}
	shapeForecast = Shape{Kind: Object, Members: []Member{
		{"arrivals", &Shape{Kind: Number, Rules: "gte=0,lte=1e+12"}},
		{"class", &shapeName},
		{"hour", &Shape{Kind: Time, Rules: "moment"}},
		{"jobs", &Shape{Kind: Number, Rules: "gte=0,lte=1e+06"}},
	}, Required: []string{"class", "hour"}, Closed: true, AnyOf: []*Shape{&Shape{Title: "a forecast of arrivals", Required: []string{"arrivals"}}, &Shape{Title: "a forecast of jobs at once", Required: []string{"jobs"}}}}
	shapeForecastFromHistory = Shape{Kind: Object, Members: []Member{
		{"class", &shapeName},
		{"counts", &Shape{Kind: Text, Rules: "oneof=arrivals running"}},
		{"dry_run", &Shape{Kind: Bool}},
		{"from", &Shape{Kind: Time, Rules: "moment"}},
		{"job", &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{"measured_from", &Shape{Kind: Time, Rules: "moment"}},
		{"measured_until", &Shape{Kind: Time, Rules: "moment"}},
		{"queue", &Shape{Kind: Text, Rules: "max=1000"}},
		{"repeat", &Shape{Kind: Text, Rules: "oneof=none weekly"}},
		{"statistic", &Shape{Kind: Text, Rules: "oneof=average most"}},
		{"until", &Shape{Kind: Time, Rules: "moment"}},
		{"user", &Shape{Kind: Text, Rules: "max=1000"}},
	}, Required: []string{"class", "job"}, Closed: true}
	shapeHeartbeat = Shape{Kind: Object, Members: []Member{
		{"maps", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=1e+07"}},
		{"reduces", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=1e+07"}},
		{"ttl_s", &Shape{Kind: Number, Rules: "gte=10,lte=3600"}},
	}, Closed: true}
	shapeHistoryChain = Shape{Kind: Object, Members: []Member{
		{"id", &Shape{Kind: Text, Rules: "max=1000"}},
		{"left_out", &shapeLeftOut},
		{"map_slots", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=2e+07"}},
		{"name", &Shape{Kind: Text, Rules: "max=1000"}},
		{"notes", &Shape{Kind: Array, Rules: "max=100", Items: &Shape{Kind: Text, Rules: "max=4000"}}},
		{"overhead_s", &Shape{Kind: Number, Rules: "gte=0"}},
		{"phases", &Shape{Kind: Array, Rules: "min=1,max=10000", Items: &shapeHistoryPhase}},
		{"seconds", &Shape{Kind: Number, Nullable: true, Rules: "gte=0"}},
	}, Required: []string{"phases"}, Closed: true}
	shapeHistoryFetch = Shape{Kind: Object, Members: []Member{
		{"dry_run", &Shape{Kind: Bool}},
		{"from", &Shape{Kind: Time, Rules: "moment"}},
		{"job", &Shape{Kind: Text, Rules: "max=1000"}},
		{"kind", &Shape{Kind: Text, Rules: "oneof=auto file mapreduce spark"}},
		{"limit", &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=100000"}},
		{"queue", &Shape{Kind: Text, Rules: "max=1000"}},
		{"until", &Shape{Kind: Time, Rules: "moment"}},
		{"url", &Shape{Kind: Text, Rules: "min=1,max=2000"}},
		{"user", &Shape{Kind: Text, Rules: "max=1000"}},
	}, Required: []string{"url"}, Closed: true}
	shapeHistoryPhase = Shape{Kind: Object, Members: []Member{
		{"after", &Shape{Kind: Array, Rules: "max=10000", Items: &Shape{Kind: Whole, Rules: "whole,int64,gte=0"}}},
		{"name", &Shape{Kind: Text, Rules: "max=1000"}},
		{"stage", &Shape{Kind: Whole, Rules: "whole,int64"}},
		{"task", &shapeTaskDurations},
		{"tasks", &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=2e+07"}},
	}, Required: []string{"tasks", "task"}, Closed: true}
	shapeHistorySample = Shape{Kind: Object, Members: []Member{
		{"first_shuffle", &shapeTaskDurations},
		{"id", &Shape{Kind: Text, Rules: "max=1000"}},
		{"left_out", &shapeLeftOut},
		{"map", &shapeTaskDurations},
		{"map_slots", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=2e+07"}},
		{"name", &Shape{Kind: Text, Rules: "max=1000"}},
		{"notes", &Shape{Kind: Array, Rules: "max=100", Items: &Shape{Kind: Text, Rules: "max=4000"}}},
		{"profile", &shapeExecution},
		{"reduce", &shapeTaskDurations},
		{"reduce_slots", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=2e+07"}},
		{"seconds", &Shape{Kind: Number, Nullable: true, Rules: "gte=0"}},
		{"shuffle", &shapeTaskDurations},
	}, Required: []string{"profile"}, Closed: true}
	shapeJobRange = Shape{Kind: Object, Members: []Member{
		{"all", &Shape{Kind: Bool}},
		{"max", &Shape{Kind: Number, Rules: "gte=0,lte=1e+06"}},
		{"min", &Shape{Kind: Number, Rules: "gte=0,lte=1e+06"}},
	}, Required: []string{"max"}, Closed: true}
	shapeJobToPlan = Shape{Kind: Object, Members: []Member{
		{"deadline_s", &Shape{Kind: Number, Rules: "gt=0,lte=1e+07"}},
		{"job", &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{"name", &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}, Required: []string{"job"}, Closed: true}
	shapeJobUtility = Shape{Kind: Object, Members: []Member{
		{"budget", &Shape{Kind: Number, Rules: "gte=0,lte=1e+12"}},
		{"price", &Shape{Kind: Number, Rules: "gte=0,lte=1e+12"}},
		{"promised", &Shape{Kind: Number, Rules: "gte=0,lte=1"}},
		{"revenue", &Shape{Kind: Number, Rules: "gte=0,lte=1e+09"}},
		{"worth", &Shape{Kind: Number, Rules: "gte=0,lte=1e+09"}},
	}, Closed: true}
	shapeLeftOut = Shape{Kind: Object, Members: []Member{
		{"failed", &Shape{Kind: Whole, Rules: "whole,int64,gte=0"}},
		{"killed", &Shape{Kind: Whole, Rules: "whole,int64,gte=0"}},
		{"other", &Shape{Kind: Whole, Rules: "whole,int64,gte=0"}},
		{"repeated", &Shape{Kind: Whole, Rules: "whole,int64,gte=0"}},
		{"retried", &Shape{Kind: Whole, Rules: "whole,int64,gte=0"}},
		{"speculative", &Shape{Kind: Whole, Rules: "whole,int64,gte=0"}},
		{"unfinished", &Shape{Kind: Whole, Rules: "whole,int64,gte=0"}},
	}, Closed: true}
	shapeLiveJobRequest = Shape{Kind: Object, Members: []Member{
		{"class", &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{"deadline_at", &Shape{Kind: Time, Rules: "moment"}},
		{"deadline_s", &Shape{Kind: Number, Rules: "gte=0,lte=1e+07"}},
		{"local", &Shape{Kind: Array, Rules: "max=100000", Items: &shapeLocalMap}},
		{"maps", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=100000"}},
		{"max_attempts", &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=100"}},
		{"min_share", &Shape{Kind: Number, Rules: "gte=0,lte=1"}},
		{"name", &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{"read_mb_s", &Shape{Kind: Number, Rules: "gte=0,lte=1e+09"}},
		{"reduces", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=100000"}},
		{"slowstart", &Shape{Kind: Number, Rules: "gte=0,lte=1"}},
		{"usage", &shapeTasksUsage},
		{"usage_from", &Shape{Kind: Text, Rules: "max=200"}},
		{"utility", &shapeJobUtility},
		{"weight", &Shape{Kind: Number, Rules: "gte=1e-06,lte=1e+06"}},
	}, Required: []string{"name", "maps"}, Closed: true}
	shapeLiveNode = Shape{Kind: Object, Members: []Member{
		{"boot", &Shape{Kind: Text}},
		{"compute_units", &Shape{Kind: Number, Rules: "gte=0,lte=100000"}},
		{"cores", &Shape{Kind: Number, Rules: "gte=0.01,lte=100000"}},
		{"created_at", &Shape{Kind: Time, Rules: "moment"}},
		{"dedicated", &Shape{Kind: Bool}},
		{"last_heartbeat_at", &Shape{Kind: Time, Nullable: true, Rules: "moment"}},
		{"name", &Shape{Kind: Text}},
		{"report", &Shape{Kind: Object, Nullable: true, AllOf: []*Shape{&shapeNodeReport}}},
		{"residual", &Shape{Kind: Number}},
		{"running", &Shape{Kind: Whole, Rules: "whole,int64"}},
		{"seq", &Shape{Kind: Whole, Rules: "whole,int64"}},
		{"slots", &shapeNodeSlots},
		{"state", &Shape{Kind: Text, Rules: "oneof=new alive dead"}},
		{"type", &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{"updated_at", &Shape{Kind: Time, Rules: "moment"}},
	}, Required: []string{"type", "cores", "slots"}, Closed: true}
	shapeLiveSettings = Shape{Kind: Object, Members: []Member{
		{"admission", &Shape{Kind: Text, Rules: "oneof=open paper strict"}},
		{"heartbeat_s", &Shape{Kind: Number, Rules: "gte=0.1,lte=3600"}},
		{"node_timeout_s", &Shape{Kind: Number, Rules: "gte=1,lte=86400"}},
		{"policy", &shapePolicy},
		{"shares", &Shape{Kind: Array, Rules: "max=1000", Items: &shapeSlotShare}},
		{"slots", &Shape{Kind: Text, Rules: "oneof=shared separate"}},
		{"updated_at", &Shape{Kind: Time, Rules: "moment"}},
		{"version", &Shape{Kind: Whole, Rules: "whole,int64"}},
	}, Required: []string{"policy"}, Closed: true}
	shapeLocalMap = Shape{Kind: Object, Members: []Member{
		{"nodes", &Shape{Kind: Array, Rules: "min=1,max=10", Items: &Shape{Kind: Text, Rules: "min=1,max=200"}}},
		{"task", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=99999"}},
	}, Required: []string{"task", "nodes"}, Closed: true}
	shapeMaybeMoney       = Shape{OneOf: []*Shape{&Shape{Kind: Text, Nullable: true, Rules: `max=100,matches=^(00x7C[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{10x2C2})?$`}, &Shape{Kind: Number, Rules: "gte=0,lte=1e+09"}}}
	shapeMeasurementBatch = Shape{Kind: Object, Members: []Member{
		{"measurements", &Shape{Kind: Array, Rules: "min=1,max=2000", Items: &shapeNewMeasurement}},
	}, Required: []string{"measurements"}, Closed: true}
	shapeMoney = Shape{OneOf: []*Shape{&Shape{Kind: Text, Rules: `max=100,matches=^(00x7C[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{10x2C2})?$`}, &Shape{Kind: Number, Rules: "gte=0,lte=1e+09"}}}
	shapeName  = Shape{Kind: Text, Rules: "min=1,max=200"}
	shapeNear  = Shape{Kind: Object, Members: []Member{
		{"jobs", &Shape{Kind: Object, Rest: &Shape{Kind: Number, Rules: "gte=0,lte=1e+06"}}},
		{"vms", &Shape{Kind: Number, Rules: "gte=0"}},
	}, Required: []string{"vms", "jobs"}, Closed: true}
	shapeNewKey = Shape{Kind: Object, Members: []Member{
		{"clusters", &Shape{Kind: Array, Nullable: true, Rules: "min=1,max=1000", Items: &Shape{Kind: Text, Rules: "min=1,max=63"}}},
		{"expires_at", &Shape{Kind: Time, Nullable: true, Rules: "moment"}},
		{"name", &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{"role", &shapeRole},
	}, Required: []string{"name", "role"}, Closed: true}
	shapeNewMeasurement = Shape{Kind: Object, Members: []Member{
		{"at", &Shape{Kind: Time, Rules: "moment"}},
		{"cpu_percent", &Shape{Kind: Number, Rules: "gte=0,lte=100"}},
		{"io_mb_s", &Shape{Kind: Number, Rules: "gte=0,lte=1e+09"}},
		{"job", &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{"kind", &Shape{Kind: Text, Rules: "oneof=power rate task_time usage"}},
		{"node_type", &Shape{Kind: Text, Rules: "max=200"}},
		{"residual", &Shape{Kind: Number, Rules: "gte=0,lte=1"}},
		{"seconds", &Shape{Kind: Number, Rules: "gte=1e-09,lte=1e+07"}},
		{"utilization", &Shape{Kind: Number, Rules: "gte=0,lte=1"}},
		{"vms", &Shape{Kind: Number, Rules: "gte=1,lte=1e+09"}},
	}, Required: []string{"job", "kind"}, Closed: true}
	shapeNewWebhook = Shape{Kind: Object, Members: []Member{
		{"clusters", &Shape{Kind: Array, Nullable: true, Rules: "min=1,max=1000", Items: &Shape{Kind: Text, Rules: "min=1,max=63"}}},
		{"created_at", &Shape{Kind: Time, Rules: "moment"}},
		{"disabled_reason", &Shape{Kind: Text}},
		{"enabled", &Shape{Kind: Bool}},
		{"events", &Shape{Kind: Array, Rules: "min=1,max=10", Items: &shapeWebhookEvent}},
		{"failing_since", &Shape{Kind: Time, Nullable: true, Rules: "moment"}},
		{"id", &Shape{Kind: Text}},
		{"name", &shapeName},
		{"secret", &Shape{Kind: Text, Rules: "max=200"}},
		{"updated_at", &Shape{Kind: Time, Rules: "moment"}},
		{"url", &Shape{Kind: Text, Rules: "min=1,max=2000"}},
		{"version", &Shape{Kind: Whole, Rules: "whole,int64"}},
	}, Required: []string{"name", "url", "events"}, Closed: true}
	shapeNodeFeature = Shape{Kind: Object, Members: []Member{
		{"edges", &Shape{Kind: Array, Rules: "max=98", Items: &Shape{Kind: Number}}},
		{"name", &shapeName},
		{"words", &Shape{Kind: Array, Rules: "max=98", Items: &Shape{Kind: Text}}},
	}, Required: []string{"name"}, Closed: true}
	shapeNodeReport = Shape{Kind: Object, Members: []Member{
		{"cpu_percent", &Shape{Kind: Number, Rules: "gte=0,lte=100"}},
		{"disk_mb_s", &Shape{Kind: Number, Rules: "gte=0,lte=1e+09"}},
		{"features", &Shape{Kind: Object, Rules: "max=32", Rest: &Shape{OneOf: []*Shape{&Shape{Kind: Number, Rules: "gte=-1e+15,lte=1e+15"}, &Shape{Kind: Text, Rules: "max=200"}}}}},
		{"load1", &Shape{Kind: Number, Rules: "gte=0,lte=1e+06"}},
		{"memory_percent", &Shape{Kind: Number, Rules: "gte=0,lte=100"}},
		{"net_mb_s", &Shape{Kind: Number, Rules: "gte=0,lte=1e+09"}},
		{"residual", &Shape{Kind: Number, Rules: "gte=0,lte=1"}},
	}, Closed: true}
	shapeNodeSlots = Shape{Kind: Object, Members: []Member{
		{"map", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=500"}},
		{"reduce", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=500"}},
	}, Required: []string{"map", "reduce"}, Closed: true}
	shapeObservationRequest = Shape{Kind: Object, Members: []Member{
		{"at", &Shape{Kind: Time, Rules: "moment"}},
		{"slots", &shapeBusySlots},
		{"vms", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=1e+09"}},
	}, Required: []string{"vms"}, Closed: true}
	shapeOnDemand = Shape{Kind: Object, Members: []Member{
		{"price", &shapeMoney},
		{"quota", &Shape{Kind: Whole, Nullable: true, Rules: "whole,int64,gte=0,lte=1e+09"}},
	}, Required: []string{"price"}, Closed: true}
	shapeOptions = Shape{Kind: Object, Members: []Member{
		{"bound", &Shape{Kind: Text, Rules: "oneof=lower average upper calibrated"}},
		{"engine", &Shape{Kind: Text, Rules: "oneof=cbc exact auto"}},
		{"gap", &Shape{Kind: Number, Rules: "gte=0,lte=0.1"}},
		{"integrality", &Shape{Kind: Text, Rules: "oneof=relaxed integer executable"}},
		{"max_solve_ms", &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=600000"}},
		{"near", &shapeNear},
		{"one_slot_per_job", &Shape{Kind: Bool}},
		{"sharing", &Shape{Kind: Text, Rules: "oneof=shared dedicated"}},
	}, Closed: true}
	shapeOverloadRule = Shape{Kind: Object, Members: []Member{
		{"limit", &Shape{Kind: Number, Rules: "gte=0,lte=1e+12"}},
		{"metric", &Shape{Kind: Text, Rules: "oneof=load1 cpu_pct mem_pct net_mb_s disk_mb_s"}},
		{"per", &Shape{Kind: Text, Rules: "oneof=node cpu"}},
	}, Required: []string{"metric", "limit"}, Closed: true}
	shapePinRequest = Shape{Kind: Object, Members: []Member{
		{"id", &Shape{Kind: Text}},
		{"number", &Shape{Kind: Whole, Rules: "whole,int64,gte=1"}},
		{"until", &Shape{Kind: Time, Rules: "moment"}},
	}, Required: []string{"until"}, Closed: true}
	shapePlanRequest = Shape{Kind: Object, Members: []Member{
		{"at", &Shape{Kind: Time, Rules: "moment"}},
	}, Closed: true}
	shapePolicy = Shape{Kind: Object, Members: []Member{
		{"affinity_threshold", &Shape{Kind: Number, Rules: "gt=0,lte=1000"}},
		{"classifier", &Shape{Kind: Text, Rules: "oneof=naive_bayes perceptron"}},
		{"evaluation_delay_heartbeats", &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{"features", &Shape{Kind: Array, Rules: "max=20", Items: &shapeNodeFeature}},
		{"io_cap_mb_s", &Shape{Kind: Number, Rules: "gt=0,lte=1e+09"}},
		{"kind", &Shape{Kind: Text, Rules: "oneof=fifo edf fair capacity progress-share max-progress learned"}},
		{"late", &Shape{Kind: Text, Rules: "oneof=keep demote"}},
		{"least_residual", &Shape{Kind: Number, Rules: "gte=0,lte=1"}},
		{"max_skips", &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1e+06"}},
		{"mode", &Shape{Kind: Text, Rules: "oneof=default paper"}},
		{"probe_when_idle", &Shape{Kind: Bool}},
		{"rules", &Shape{Kind: Array, Rules: "max=20", Items: &shapeOverloadRule}},
		{"target", &Shape{Kind: Number, Rules: "gt=0,lte=1000"}},
		{"tasks_per_heartbeat", &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{"time_factor", &Shape{Kind: Number, Rules: "gte=1,lte=100"}},
		{"utilities", &Shape{Kind: Array, Rules: "max=10", Items: &shapeUtility}},
		{"whole_tasks", &Shape{Kind: Bool}},
	}, Required: []string{"kind"}, Closed: true}
	shapePolicyTrialRequest = Shape{Kind: Object, Members: []Member{
		{"policy", &shapePolicy},
		{"shares", &Shape{Kind: Array, Rules: "max=1000", Items: &shapeSlotShare}},
		{"window_s", &Shape{Kind: Number, Rules: "gte=1,lte=86400"}},
	}, Required: []string{"policy"}, Closed: true}
	shapePoolDisks = Shape{Kind: Object, Members: []Member{
		{"data_gb", &Shape{Kind: Number, Rules: "gte=0,lte=1e+12"}},
		{"fill", &Shape{Kind: Number, Rules: "gte=0.01,lte=1"}},
		{"replication", &Shape{Kind: Number, Rules: "gte=1,lte=100"}},
	}, Closed: true}
	shapePoolMachine = Shape{Kind: Object, Members: []Member{
		{"as", &Shape{Kind: Text, Rules: "oneof=core accelerator"}},
		{"count", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=100000"}},
		{"paid_until", &Shape{Kind: Time, Rules: "moment"}},
		{"since", &Shape{Kind: Time, Rules: "moment"}},
		{"type", &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}, Required: []string{"type", "count"}, Closed: true}
	shapePoolMachineList = Shape{Kind: Object, Members: []Member{
		{"machines", &Shape{Kind: Array, Rules: "max=2000", Items: &shapePoolMachine}},
	}, Required: []string{"machines"}, Closed: true}
	shapePoolOptions = Shape{Kind: Object, Members: []Member{
		{"max_solve_ms", &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=600000"}},
	}, Closed: true}
	shapePoolSettings = Shape{Kind: Object, Members: []Member{
		{"first_round_at", &Shape{Kind: Time, Nullable: true, Rules: "moment"}},
		{"hours", &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=744"}},
		{"jobs", &Shape{Kind: Array, Rules: "max=500", Items: &shapePoolSource}},
		{"measured_hours", &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=8784"}},
		{"options", &shapePoolOptions},
		{"rounds", &Shape{Kind: Whole, Rules: "whole,int64,gte=2,lte=24"}},
		{"startup_hours", &Shape{Kind: Number, Rules: "gte=0,lte=744"}},
		{"storage", &shapePoolDisks},
		{"types", &Shape{Kind: Array, Rules: "min=1,max=500", Items: &shapePoolType}},
		{"updated_at", &Shape{Kind: Time, Rules: "moment"}},
		{"version", &Shape{Kind: Whole, Rules: "whole,int64"}},
	}, Required: []string{"hours", "types"}, Closed: true}
	shapePoolSource = Shape{Kind: Object, Members: []Member{
		{"class", &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{"deadline_hours", &Shape{Kind: Number, Rules: "gte=0,lte=744"}},
		{"leaves_gb", &Shape{Kind: Number, Rules: "gte=0,lte=1e+12"}},
		{"memory_gib_per_task", &Shape{Kind: Number, Rules: "gte=0,lte=1e+12"}},
		{"name", &shapeName},
		{"rates", &Shape{Kind: Object, Rest: &Shape{Kind: Number, Rules: "gte=0,lte=1e+06"}}},
		{"rates_from", &Shape{Kind: Text, Rules: "max=200"}},
		{"recorded_as", &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{"submissions", &Shape{Kind: Number, Rules: "gte=0,lte=1e+09"}},
		{"work", &Shape{Kind: Number, Rules: "gte=1e-06,lte=1e+09"}},
	}, Required: []string{"name", "work"}, Closed: true}
	shapePoolType = Shape{Kind: Object, Members: []Member{
		{"accelerator", &Shape{Kind: Bool}},
		{"compute_units", &Shape{Kind: Number, Rules: "gte=0,lte=1e+06"}},
		{"core", &Shape{Kind: Bool}},
		{"disk_gb", &Shape{Kind: Number, Rules: "gte=0,lte=1e+12"}},
		{"memory_gib", &Shape{Kind: Number, Rules: "gte=0,lte=1e+12"}},
		{"most", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=100000"}},
		{"name", &shapeName},
		{"per_hour", &shapeMoney},
		{"slots", &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1e+06"}},
		{"startup_hours", &Shape{Kind: Number, Rules: "gte=0,lte=744"}},
	}, Required: []string{"name"}, Closed: true}
	shapePrice = Shape{Kind: Object, Members: []Member{
		{"created_at", &Shape{Kind: Time, Rules: "moment"}},
		{"from", &Shape{Kind: Time, Rules: "moment"}},
		{"id", &Shape{Kind: Text}},
		{"price", &shapeMoney},
		{"purchase", &Shape{Kind: Text, Rules: "oneof=on_demand spot"}},
		{"until", &Shape{Kind: Time, Nullable: true, Rules: "moment"}},
		{"updated_at", &Shape{Kind: Time, Rules: "moment"}},
		{"version", &Shape{Kind: Whole, Rules: "whole,int64"}},
		{"vm_type", &shapeName},
	}, Required: []string{"vm_type", "price", "from"}, Closed: true}
	shapePriceFetch = Shape{Kind: Object, Members: []Member{
		{"as", &Shape{Kind: Object, Rules: "max=1000", Rest: &Shape{Kind: Text, Rules: "min=1,max=200"}}},
		{"dry_run", &Shape{Kind: Bool}},
		{"from", &Shape{Kind: Time, Rules: "moment"}},
		{"instances", &Shape{Kind: Array, Rules: "max=200", Items: &Shape{Kind: Text, Rules: "min=1,max=200"}}},
		{"on_demand_only", &Shape{Kind: Bool}},
		{"region", &Shape{Kind: Text, Rules: "max=200"}},
		{"url", &Shape{Kind: Text, Rules: "min=1,max=2000"}},
		{"zero_prices", &Shape{Kind: Bool}},
	}, Required: []string{"url"}, Closed: true}
	shapeProfile = Shape{Kind: Object, Members: []Member{
		{"created_at", &Shape{Kind: Time, Rules: "moment"}},
		{"name", &shapeName},
		{"note", &Shape{Kind: Text, Rules: "max=2000"}},
		{"profile", &shapeExecution},
		{"source", &Shape{Kind: Object, Rest: &Shape{}}},
		{"version", &Shape{Kind: Whole, Rules: "whole,int64"}},
	}, Required: []string{"name", "profile"}, Closed: true}
	shapeProfileFromHistory = Shape{Kind: Object, Members: []Member{
		{"dry_run", &Shape{Kind: Bool}},
		{"from", &Shape{Kind: Time, Rules: "moment"}},
		{"job", &Shape{Kind: Text, Rules: "min=1,max=1000"}},
		{"last", &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=10000"}},
		{"profile", &Shape{Kind: Text, Rules: "max=200"}},
		{"queue", &Shape{Kind: Text, Rules: "max=1000"}},
		{"until", &Shape{Kind: Time, Rules: "moment"}},
		{"user", &Shape{Kind: Text, Rules: "max=1000"}},
	}, Required: []string{"job"}, Closed: true}
	shapeProfileRef = Shape{Kind: Object, Members: []Member{
		{"name", &shapeName},
		{"version", &Shape{Kind: Whole, Rules: "whole,int64,gte=0"}},
	}, Required: []string{"name"}, Closed: true}
	shapePromise = Shape{Kind: Object, Members: []Member{
		{"confidence", &Shape{Kind: Number, Rules: "gte=0.5,lte=0.999"}},
		{"deadline_s", &Shape{Kind: Number, Rules: "gte=0,lte=1e+07"}},
		{"executions", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=1e+07"}},
		{"expected", &Shape{Kind: Number, Rules: "gte=0,lte=1"}},
		{"factor", &Shape{Kind: Number, Rules: "gte=0.001,lte=1000"}},
		{"fixed_s", &Shape{Kind: Number}},
		{"high", &Shape{Kind: Number, Rules: "gte=0,lte=1"}},
		{"jobs_from", &Shape{Kind: Number, Rules: "gte=0,lte=1e+09"}},
		{"jobs_until", &Shape{Kind: Number, Rules: "gte=0,lte=1e+09"}},
		{"lending", &Shape{Kind: Text, Rules: "oneof=all class none"}},
		{"low", &Shape{Kind: Number, Rules: "gte=0,lte=1"}},
		{"map_work_s", &Shape{Kind: Number, Rules: "gte=0"}},
		{"missed", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=1e+07"}},
		{"reduce_work_s", &Shape{Kind: Number, Rules: "gte=0"}},
		{"replications", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=1e+07"}},
		{"seed", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=9.007199254740991e+15"}},
		{"target", &Shape{Kind: Number, Rules: "gte=0.5,lte=0.9999"}},
	}, Required: []string{"factor", "target", "confidence", "expected", "low", "high", "executions", "missed", "replications", "seed", "lending", "deadline_s", "map_work_s", "reduce_work_s", "fixed_s", "jobs_from", "jobs_until"}, Closed: true}
	shapeReportEvery   = Shape{Kind: Text, Rules: "oneof=day week month"}
	shapeReportRequest = Shape{Kind: Object, Members: []Member{
		{"covers", &Shape{Kind: Text, Rules: "oneof=ahead behind"}},
		{"every", &Shape{Kind: Text, Rules: "oneof=day week month"}},
		{"format", &Shape{Kind: Text, Rules: "oneof=xlsx csv focus json"}},
		{"schedule", &Shape{Kind: Text, Rules: "min=1,max=200"}},
	}, Closed: true}
	shapeReportSchedule = Shape{Kind: Object, Members: []Member{
		{"covers", &Shape{Kind: Text, Rules: "oneof=ahead behind"}},
		{"created_at", &Shape{Kind: Time, Rules: "moment"}},
		{"enabled", &Shape{Kind: Bool}},
		{"every", &shapeReportEvery},
		{"format", &Shape{Kind: Text, Rules: "oneof=xlsx csv focus json"}},
		{"hour", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=23"}},
		{"keep", &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{"name", &shapeName},
		{"next_at", &Shape{Kind: Time, Nullable: true, Rules: "moment"}},
		{"updated_at", &Shape{Kind: Time, Rules: "moment"}},
		{"version", &Shape{Kind: Whole, Rules: "whole,int64"}},
	}, Required: []string{"name", "every"}, Closed: true}
	shapeRole     = Shape{Kind: Text, Rules: "oneof=viewer planner operator admin agent"}
	shapeScenario = Shape{Kind: Object, Members: []Member{
		{"changes", &Shape{Kind: Array, Rules: "max=100", Items: &shapeScenarioChange}},
		{"created_at", &Shape{Kind: Time, Rules: "moment"}},
		{"name", &shapeName},
		{"note", &Shape{Kind: Text, Rules: "max=2000"}},
		{"updated_at", &Shape{Kind: Time, Rules: "moment"}},
		{"version", &Shape{Kind: Whole, Rules: "whole,int64"}},
	}, Required: []string{"name", "changes"}, Closed: true}
	shapeScenarioChange = Shape{Kind: Object, Members: []Member{
		{"add", &shapeAddedSupply},
		{"bound", &Shape{Kind: Text, Rules: "oneof=lower average upper calibrated"}},
		{"class", &Shape{Kind: Text, Rules: "max=200"}},
		{"contract", &Shape{Kind: Text, Rules: "max=200"}},
		{"factor", &Shape{Kind: Number, Rules: "gte=0,lte=1000"}},
		{"purchase", &Shape{Kind: Text, Rules: "oneof=on_demand spot"}},
		{"value", &shapeMoney},
		{"vm_type", &Shape{Kind: Text, Rules: "max=200"}},
		{"what", &Shape{Kind: Text, Rules: "oneof=deadline demand promised penalty price quota contract budget total spot_share due bound add_contract drop_contract add_vm_type drop_vm_type"}},
	}, Required: []string{"what"}, Closed: true}
	shapeSecretRequest = Shape{Kind: Object, Members: []Member{
		{"secret", &Shape{Kind: Text, Rules: "max=200"}},
	}, Closed: true}
	shapeSlotShare = Shape{Kind: Object, Members: []Member{
		{"class", &Shape{Kind: Text, Rules: "min=1,max=200"}},
		{"min", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=100000"}},
		{"most", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=100000"}},
		{"most_per_job", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=100000"}},
		{"weight", &Shape{Kind: Number, Rules: "gte=0,lte=1e+06"}},
	}, Required: []string{"class", "weight"}, Closed: true}
	shapeSlotsOnVM = Shape{Kind: Object, Title: "slots per VM", Members: []Member{
		{"map", &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
		{"reduce", &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1000"}},
	}, Required: []string{"map", "reduce"}, Closed: true}
	shapeSlotsPerVM = Shape{Kind: Object, Rest: &Shape{}, AnyOf: []*Shape{&Shape{Kind: Object, Rules: "min=1,max=50", Title: "slots by VM type", Rest: &shapeSlotsOnVM}, &shapeSlotsOnVM}}
	shapeSpeed      = Shape{Kind: Object, Rules: "max=50", Rest: &Shape{Kind: Number, Rules: "gte=0,lte=1000"}}
	shapeSpot       = Shape{Kind: Object, Members: []Member{
		{"max_share", &Shape{Kind: Number, Rules: "gte=0,lte=1"}},
		{"price", &shapeMoney},
	}, Required: []string{"price", "max_share"}, Closed: true}
	shapeSpotTerms = Shape{Kind: Object, Nullable: true, Members: []Member{
		{"max_share", &Shape{Kind: Number, Rules: "gte=0,lte=1"}},
	}, Required: []string{"max_share"}, Closed: true}
	shapeStage = Shape{Kind: Object, Members: []Member{
		{"avg_s", &Shape{Kind: Number, Rules: "gte=0,lte=1e+07"}},
		{"max_s", &Shape{Kind: Number, Rules: "gte=0,lte=1e+07"}},
		{"name", &Shape{Kind: Text, Rules: "max=200"}},
		{"tasks", &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=1e+07"}},
	}, Required: []string{"tasks", "avg_s", "max_s"}, Closed: true}
	shapeStandingOffer = Shape{Kind: Object, Members: []Member{
		{"billing", &shapeBilling},
		{"created_at", &Shape{Kind: Time, Rules: "moment"}},
		{"max", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=1e+06"}},
		{"name", &shapeName},
		{"note", &Shape{Kind: Text, Rules: "max=2000"}},
		{"price", &shapeMoney},
		{"term_hours", &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=87840"}},
		{"term_years", &Shape{Kind: Whole, Rules: "whole,int64,gte=1,lte=10"}},
		{"updated_at", &Shape{Kind: Time, Rules: "moment"}},
		{"upfront", &shapeMoney},
		{"version", &Shape{Kind: Whole, Rules: "whole,int64"}},
		{"vm_type", &shapeName},
	}, Required: []string{"name", "vm_type", "price"}, Closed: true}
	shapeStorageSampleBatch = Shape{Kind: Object, Members: []Member{
		{"samples", &Shape{Kind: Array, Rules: "min=1,max=1000", Items: &shapeStorageSampleRequest}},
	}, Required: []string{"samples"}, Closed: true}
	shapeStorageSampleRequest = Shape{Kind: Object, Members: []Member{
		{"at", &Shape{Kind: Time, Rules: "moment"}},
		{"data_gb", &Shape{Kind: Number, Rules: "gte=0,lte=1e+12"}},
	}, Required: []string{"data_gb"}, Closed: true}
	shapeSupplyContract = Shape{Kind: Object, Members: []Member{
		{"billing", &shapeBilling},
		{"name", &shapeName},
		{"price", &shapeMoney},
		{"vms", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=1e+09"}},
	}, Required: []string{"name", "vms", "price"}, Closed: true}
	shapeTaskDurations = Shape{Kind: Object, Members: []Member{
		{"count", &Shape{Kind: Whole, Rules: "whole,int64,gte=0,lte=2e+07"}},
		{"max", &Shape{Kind: Number, Rules: "gte=0"}},
		{"mean", &Shape{Kind: Number, Rules: "gte=0"}},
		{"p50", &Shape{Kind: Number, Rules: "gte=0"}},
		{"p95", &Shape{Kind: Number, Rules: "gte=0"}},
		{"quantiles", &Shape{Kind: Array, Rules: "max=21", Items: &Shape{Kind: Number, Rules: "gte=0"}}},
	}, Required: []string{"count", "mean", "max"}, Closed: true}
	shapeTaskUsage = Shape{Kind: Object, Members: []Member{
		{"cpu", &Shape{Kind: Number, Rules: "gte=0,lte=10"}},
		{"disk", &Shape{Kind: Number, Rules: "gte=0,lte=10"}},
		{"memory", &Shape{Kind: Number, Rules: "gte=0,lte=10"}},
		{"network", &Shape{Kind: Number, Rules: "gte=0,lte=10"}},
	}, Closed: true}
	shapeTasksUsage = Shape{Kind: Object, Members: []Member{
		{"map", &shapeTaskUsage},
		{"reduce", &shapeTaskUsage},
	}, Closed: true}
	shapeToken = Shape{Kind: Object, Members: []Member{
		{"token", &Shape{Kind: Text, Rules: "min=1,max=8192"}},
	}, Required: []string{"token"}, Closed: true}
	shapeUtility = Shape{Kind: Object, Members: []Member{
		{"kind", &Shape{Kind: Text, Rules: "oneof=constant fifo map_before_reduce budget dedicated_capacity revenue"}},
		{"slow_start", &Shape{Kind: Number, Rules: "gte=0,lte=1"}},
		{"value", &Shape{Kind: Number, Rules: "gt=0,lte=1e+09"}},
	}, Required: []string{"kind"}, Closed: true}
	shapeVMStart = Shape{Kind: Object, Members: []Member{
		{"lead_s", &Shape{Kind: Number, Rules: "gte=0,lte=3600"}},
		{"min_billed_s", &Shape{Kind: Number, Rules: "gte=0,lte=3600"}},
		{"price", &shapeMoney},
	}, Closed: true}
	shapeVMType = Shape{Kind: Object, Members: []Member{
		{"created_at", &Shape{Kind: Time, Rules: "moment"}},
		{"description", &Shape{Kind: Text, Rules: "max=2000"}},
		{"gpus", &Shape{Kind: Whole, Nullable: true, Rules: "whole,int64,gte=0,lte=1e+06"}},
		{"in_use", &Shape{Kind: Bool}},
		{"memory_gib", &Shape{Kind: Number, Nullable: true, Rules: "gte=0,lte=1e+06"}},
		{"name", &shapeName},
		{"quota", &Shape{Kind: Whole, Nullable: true, Rules: "whole,int64,gte=0,lte=1e+09"}},
		{"spot", &shapeSpotTerms},
		{"start_lead_s", &Shape{Kind: Whole, Nullable: true, Rules: "whole,int64,gte=0,lte=3600"}},
		{"start_price", &shapeMaybeMoney},
		{"updated_at", &Shape{Kind: Time, Rules: "moment"}},
		{"vcpu", &Shape{Kind: Number, Nullable: true, Rules: "gte=0,lte=1e+06"}},
		{"version", &Shape{Kind: Whole, Rules: "whole,int64"}},
	}, Required: []string{"name"}, Closed: true}
	shapeVMTypeSupply = Shape{Kind: Object, Members: []Member{
		{"contracts", &Shape{Kind: Array, Rules: "max=1000", Items: &shapeSupplyContract}},
		{"name", &shapeName},
		{"on_demand", &shapeOnDemand},
		{"spot", &shapeSpot},
		{"start", &shapeVMStart},
	}, Required: []string{"name", "on_demand"}, Closed: true}
	shapeWarning = Shape{Kind: Object, Members: []Member{
		{"code", &Shape{Kind: Text}},
		{"detail", &Shape{Kind: Text}},
		{"pointer", &Shape{Kind: Text}},
	}, Required: []string{"code", "detail"}}
	shapeWebhook = Shape{Kind: Object, Members: []Member{
		{"clusters", &Shape{Kind: Array, Nullable: true, Rules: "min=1,max=1000", Items: &Shape{Kind: Text, Rules: "min=1,max=63"}}},
		{"created_at", &Shape{Kind: Time, Rules: "moment"}},
		{"disabled_reason", &Shape{Kind: Text}},
		{"enabled", &Shape{Kind: Bool}},
		{"events", &Shape{Kind: Array, Rules: "min=1,max=10", Items: &shapeWebhookEvent}},
		{"failing_since", &Shape{Kind: Time, Nullable: true, Rules: "moment"}},
		{"id", &Shape{Kind: Text}},
		{"name", &shapeName},
		{"updated_at", &Shape{Kind: Time, Rules: "moment"}},
		{"url", &Shape{Kind: Text, Rules: "min=1,max=2000"}},
		{"version", &Shape{Kind: Whole, Rules: "whole,int64"}},
	}, Required: []string{"name", "url", "events"}, Closed: true}
	shapeWebhookEvent = Shape{Kind: Text, Rules: "oneof=plan.changed plan.failed run.finished report.made"}
)
