import { route } from './asked.ts'
import script from './docs-page/page.client.js' with { type: 'text' }
import style from './docs-page/page.css' with { type: 'text' }
import page from './docs-page/page.html' with { type: 'text' }
import schemaScript from './docs-page/schema.client.js' with { type: 'text' }
import { answerFile, type KeptFile, keepFile } from './file.ts'
import type { Route, RouteContract } from './route.ts'

/** Our own files only, and nothing written within them. */
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

const scriptType = 'text/javascript; charset=utf-8'

/** The interactive page at /docs: every file comes from this process, nothing from elsewhere. */
export const docsRoutes = (): readonly Route[] => [
  route(
    hidden('/', 'To the page'),
    () => new Response(null, { status: 302, headers: { Location: '/docs' } }),
  ),
  fileRoute('/docs', 'Interactive API page', 'text/html; charset=utf-8', page as unknown as string),
  fileRoute('/docs/page.css', 'Its style', 'text/css; charset=utf-8', style),
  fileRoute('/docs/page.client.js', 'Its script', scriptType, script),
  fileRoute('/docs/schema.client.js', 'What it knows of schemas', scriptType, schemaScript),
]

const hidden = (path: string, summary: string): RouteContract => ({
  at: `GET ${path}`,
  scope: 'public',
  operation: undefined,
  summary,
  responses: { 200: { description: summary } },
})

const fileRoute = (path: string, summary: string, contentType: string, text: string): Route => {
  let kept: KeptFile | undefined
  return route(hidden(path, summary), ({ c }) => {
    kept ??= keepFile(text)
    return answerFile(c, kept, {
      'Content-Type': contentType,
      'Content-Security-Policy': pagePolicy,
      'Referrer-Policy': 'no-referrer',
    })
  })
}
