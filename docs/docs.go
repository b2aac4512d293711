// Package docs holds the documentation: scripts/guide renders the pages, and servers show the pictures.
package docs

import "embed"

// Pages holds the pages in Markdown.
//
//go:embed *.md */*.md
var Pages embed.FS

// Pictures holds the pictures of the pages.
//
//go:embed pictures
var Pictures embed.FS
