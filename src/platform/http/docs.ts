import stylePath from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import scriptPath from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import type { Route } from './route.ts'

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
  fileRoute('/docs', 'Interactive API page', 'text/html; charset=utf-8', () => page),
  fileRoute('/docs/start.js', 'Starts the page', 'text/javascript; charset=utf-8', () => start),
  fileRoute('/docs/swagger-ui.js', 'Script', 'text/javascript; charset=utf-8', () =>
    Bun.file(scriptPath),
  ),
  fileRoute('/docs/swagger-ui.css', 'Style', 'text/css; charset=utf-8', () => Bun.file(stylePath)),
]

const fileRoute = (
  path: string,
  summary: string,
  contentType: string,
  content: () => string | Blob,
): Route => ({
  method: 'GET',
  path,
  scope: 'public',
  document: {
    operation: undefined,
    summary,
    tag: 'Documentation',
    responses: { 200: { description: summary } },
  },
  handle: () =>
    new Response(content(), {
      headers: {
        'Content-Type': contentType,
        'Content-Security-Policy': pagePolicy,
        'Cache-Control': 'no-cache',
        'Referrer-Policy': 'no-referrer',
      },
    }),
})
