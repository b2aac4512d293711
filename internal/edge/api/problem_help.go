package api

import (
	"example.org/headroom/internal/edge/api/docs"
)

// problemHelp explains a kind of problem and its remedy.
type problemHelp struct{ Meaning, Cure string }

// problemHelps explains every kind of problem, by name.
var problemHelps = map[string]problemHelp{
	malformed.name: {
		"The text is no JSON, a member or parameter is unknown, missing, repeated or of another type than it must be.",
		"Mend what \"errors\" names: each entry has the pointer to the member or the name of the parameter, and often a hint with the right name."},
	unauthenticated.name: {
		"The operation needs a key and there is none, or the key, session or link opens nothing: it is mistyped, used up, over or revoked. All of these are answered alike.",
		"Send a valid key as \"Authorization: Bearer hrk_…\" or \"X-API-KEY: hrk_…\", in one of the two alone. Browsers sign in again at /sign-in."},
	forbidden.name: {
		"The key is valid, but its role or its list of clusters does not reach that far; or a browser's page of another site sent the request.",
		"Ask an administrator for a key with the role that \"detail\" names, or send the request from a page of this server."},
	notFound.name: {
		"There is nothing under this address, or the key may not know of it.",
		"Check the names in the address, and with GET /v1/session what your key may see."},
	methodNotAllowed.name: {
		"The address exists, but not with this method.",
		"Use one of the methods in the header Allow."},
	tooSlow.name: {
		"The body, or the next part of a file, did not come within the time that the server waits for it.",
		"Send it again over a connection that is fast enough, or in parts. Nothing was written."},
	conflict.name: {
		"The name is taken, the thing is still used by another one, two periods overlap, the same request is being answered already, or a place is asked for in a cluster that has no plan.",
		"Read what \"detail\" names, then change one of the two. Nothing was written."},
	gone.name: {
		"The lease was ended, or no heartbeat came in time; its place may be another job's by now.",
		"Stop the job, or ask for a new place. Send heartbeats at a third of \"ttl_s\"."},
	outdated.name: {
		"Somebody changed it after you read it, so that your change would undo theirs.",
		"Read it again, apply your change to what is there now, and send it with the new ETag in If-Match."},
	tooLarge.name: {
		"The body is larger than this server reads.",
		"Send it in parts, or ask the administrator to raise HEADROOM_MAX_BODY_MB."},
	beyondEnd.name: {
		"The header Range asks for bytes after the end of the file.",
		"If you go on with a download, it is whole already; otherwise leave the header out."},
	unsupportedMedia.name: {
		"The body is not plain JSON in UTF-8.",
		"Send it uncompressed, with \"Content-Type: application/json\"."},
	misdirection.name: {
		"The server was asked under a name that is not one of its own. It refuses, because a hostile page could make a name of its own point to this server.",
		"Use its address or localhost, or add the name to the setting HEADROOM_HOSTS."},
	invalid.name: {
		"Every member can be read, but together they make no sense: a contract that ends before it starts, a moment without a price, more promised jobs than wanted ones. The same goes for an Idempotency-Key that belongs to another request.",
		"Mend what \"errors\" names; hints carry the value to put in. Nothing was written."},
	infeasible.name: {
		"The promised jobs cannot all be served: a deadline is too early for any number of slots, or more VMs are needed than can be had.",
		"Look at \"conflicts\": each says what contradicts what, with a hint wherever one change alone cures it."},
	versionNeeded.name: {
		"A change or deletion must say which version it was made for, so that nobody overwrites what they have not seen.",
		"Read the thing first and send its ETag in If-Match; a whole new cluster document is sent with \"If-None-Match: *\"."},
	tooManyRequests.name: {
		"The key, or the address where there is no key, asks more often than it may, or has shown too many keys that open nothing.",
		"Wait as many seconds as Retry-After says; X-RateLimit-Limit says how often you may ask in a second."},
	internalError.name: {
		"This is a mistake of the server, not of the request.",
		"Tell the administrator the id in \"instance\": the server's log says more under it."},
	busy.name: {
		"All places for solving are taken and as many wait as may, the database does not answer, or the server is stopping. Nothing was written by halves.",
		"Send the request again after as many seconds as Retry-After says; with an Idempotency-Key that is harmless for POST, too."},
}

// Problems returns every kind of problem with its cause and its cure.
func Problems() []docs.Problem {
	list := make([]docs.Problem, 0, len(problemKinds))
	for _, k := range problemKinds {
		help := problemHelps[k.name]
		list = append(list, docs.Problem{Name: k.name, Status: k.status, Title: k.title, Meaning: help.Meaning, Cure: help.Cure})
	}
	return list
}
