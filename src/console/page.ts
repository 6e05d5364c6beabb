import { randomBytes } from 'node:crypto'
import type { Assets } from './assets.ts'

/** The page that starts the console: a script, a style, an icon, each by the nonce of this very answer. */
export const consolePage = ({ script, style, icon }: Assets): Response => {
  const nonce = randomBytes(16).toString('base64')
  const path = (name: string): string => `/console/assets/${name}`
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Trilho</title>
<link rel="icon" href="${path(icon)}">
<link rel="stylesheet" nonce="${nonce}" href="${path(style)}">
<script type="module" nonce="${nonce}" src="${path(script)}"></script>
<body><div id="app"></div>
`
  return new Response(html, {
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policyOf(nonce),
      ...pageHeaders,
    },
  })
}

const policyOf = (nonce: string): string =>
  [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    // Codes to scan come as data. An image runs nothing.
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')

/** A nonce is for one answer, so no cache may keep it. */
const pageHeaders = {
  'Cache-Control': 'no-store',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
}
