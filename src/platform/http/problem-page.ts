import { createHash } from 'node:crypto'
import { ApiError, type ErrorDefinition, textOf } from './errors.ts'
import type { Language } from './language.ts'
import { type ErrorStyle, errorTypePrefix, renderError } from './render.ts'

const style = `:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}
code,pre{font-family:ui-monospace,monospace}
pre{overflow:auto;padding:1rem;border:1px solid color-mix(in srgb,currentColor 25%,transparent);border-radius:.4rem}
td{padding:.2rem 1rem .2rem 0;vertical-align:top}`

/** Our own style, told by its hash, and nothing else. */
const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`

const words = {
  en: {
    all: 'All errors',
    cause: 'Cause',
    remedy: 'Remedy',
    example: 'Example',
    again: 'The same request may succeed later without a change.',
    changed: 'Do not repeat the request as it is.',
  },
  'pt-BR': {
    all: 'Todos os erros',
    cause: 'Causa',
    remedy: 'Solução',
    example: 'Exemplo',
    again: 'A mesma requisição pode dar certo mais tarde, sem alteração.',
    changed: 'Não repita a requisição como está.',
  },
} as const satisfies Record<Language, unknown>

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const page = (language: Language, title: string, within: string): Response =>
  new Response(
    `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title} · Trilho</title><style>${style}</style></head><body><main>${within}</main></body></html>`,
    {
      headers: {
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Security-Policy': policy,
        'Referrer-Policy': 'no-referrer',
      },
    },
  )

/** The page behind the `type` of a problem, for people: cause, remedy, and how the answer looks. */
export const problemPage = async (
  definition: ErrorDefinition,
  look: ErrorStyle,
  language: Language,
): Promise<Response> => {
  const { code, status, retryable } = definition
  const { title, meaning, remedy } = textOf(definition, language)
  const say = words[language]
  const error = new ApiError(definition, definition.meaning)
  const answer = renderError(error, look, 'req_5db0d79c7499ac93_1', language)
  const told = answer.headers.get('content-language')
  const head = [
    `HTTP/1.1 ${status}`,
    ...(told === null ? [] : [`Content-Language: ${told}`]),
    '',
    '',
  ]
  const example = head.join('\n') + JSON.stringify(await answer.json(), null, 2)
  return page(
    language,
    escaped(title),
    [
      `<p><a href="${errorTypePrefix.slice(0, -1)}">${say.all}</a></p>`,
      `<h1>${escaped(title)}</h1><p><code>${code}</code>, HTTP ${status}</p>`,
      `<h2>${say.cause}</h2><p>${escaped(meaning)}</p>`,
      `<h2>${say.remedy}</h2><p>${escaped(remedy)} ${retryable ? say.again : say.changed}</p>`,
      `<h2>${say.example}</h2><pre>${escaped(example)}</pre>`,
    ].join(''),
  )
}

/** All of them, by status. */
export const problemsPage = (
  definitions: readonly ErrorDefinition[],
  language: Language,
): Response => {
  const rows = definitions.map((definition) => {
    const { code, status } = definition
    const { title, meaning } = textOf(definition, language)
    return `<tr><td>${status}</td><td><a href="${errorTypePrefix}${code}"><code>${code}</code></a></td><td>${escaped(title)}. ${escaped(meaning)}</td></tr>`
  })
  const title = words[language].all
  return page(language, title, `<h1>${title}</h1><table>${rows.join('')}</table>`)
}
