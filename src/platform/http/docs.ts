import stylePath from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import scriptPath from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import type { Route, RouteDocument } from './route.ts'

/** Our own files only; the page's inline styles are swagger-ui's. */
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Trilho API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="page"></div>
<script src="/docs/swagger-ui.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`

const start = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#page',
  deepLinking: true,
  validatorUrl: null,
  persistAuthorization: false,
  tryItOutEnabled: true,
})
`

/** The interactive page at /docs: every file comes from this process, nothing from elsewhere. */
export const docsRoutes = (): readonly Route[] => [
  {
    method: 'GET',
    path: '/',
    scope: 'public',
    document: hidden('To the page'),
    handle: () => new Response(null, { status: 302, headers: { Location: '/docs' } }),
  },
  fileRoute('/docs', 'Interactive API page', 'text/html; charset=utf-8', async () => page),
  fileRoute(
    '/docs/start.js',
    'Starts the page',
    'text/javascript; charset=utf-8',
    async () => start,
  ),
  fileRoute('/docs/swagger-ui.js', 'Script', 'text/javascript; charset=utf-8', () =>
    Bun.file(scriptPath).text(),
  ),
  fileRoute('/docs/swagger-ui.css', 'Style', 'text/css; charset=utf-8', () =>
    Bun.file(stylePath).text(),
  ),
]

const hidden = (summary: string): RouteDocument => ({
  operation: undefined,
  summary,
  tag: 'Documentation',
  responses: { 200: { description: summary } },
})

type Kept = { readonly text: string; readonly gzip: Uint8Array<ArrayBuffer>; readonly etag: string }

const keep = async (content: () => Promise<string>): Promise<Kept> => {
  const text = await content()
  return { text, gzip: Bun.gzipSync(text), etag: `"${Bun.hash(text).toString(36)}"` }
}

/** A file that is read and compressed when first asked for. */
const fileRoute = (
  path: string,
  summary: string,
  contentType: string,
  content: () => Promise<string>,
): Route => {
  let kept: Promise<Kept> | undefined
  return {
    method: 'GET',
    path,
    scope: 'public',
    document: hidden(summary),
    handle: async (c) => {
      kept ??= keep(content)
      const { text, gzip, etag } = await kept
      const headers = {
        'Content-Type': contentType,
        'Content-Security-Policy': pagePolicy,
        'Cache-Control': 'no-cache',
        'Referrer-Policy': 'no-referrer',
        ETag: etag,
        Vary: 'Accept-Encoding',
      }
      if (c.req.header('if-none-match') === etag)
        return new Response(null, { status: 304, headers })
      return /\bgzip\b/.test(c.req.header('accept-encoding') ?? '')
        ? new Response(gzip, { headers: { ...headers, 'Content-Encoding': 'gzip' } })
        : new Response(text, { headers })
    },
  }
}
