// Package docs holds the documentation, so that a server shows it without files beside it.
package docs

import "embed"

// Files holds the pages in Markdown and their pictures.
//
//go:embed *.md tutorials concepts how-to reference research decisions pictures
var Files embed.FS
